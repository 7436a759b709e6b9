#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workload.h"

namespace bench {

/// What one element of a dense output, in the problem's layout, has to be.
struct Expected {
    std::size_t index;
    float value;
};

/// Computes output elements with plain loops, without border tricks: all of them for small
/// problems, and otherwise a sample that takes a fraction of a second: of every pixel, other
/// channels than of the pixel before, and more of the pixels whose windows leave the input. The
/// rules of window.h tell which elements windows read; no kernel is used. For convolutions of all
/// kinds, filters with weights=f32, max and average pools; activations are not applied.
std::vector<Expected> reference(const selvage::Plan &plan, const Data &data);

/// Empty where the output has all expected values and no element that was left unwritten (NaN);
/// else a text with the first fault.
std::string fault(const selvage::Plan &plan, const std::vector<Expected> &expected,
                  const Floats &output);

} // namespace bench
