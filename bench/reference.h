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

/// Why reference() does not know the problem, in one line; empty where it does. It
/// knows convolutions of all kinds, filters with weights=f32, max and average pools, of types f32
/// and u8, without indices, as long as integer_data() keeps sums exact.
std::string not_covered(const selvage::Problem &problem);

/// Computes output elements with plain loops, without border tricks: all of them for small
/// problems, and otherwise a sample that takes a fraction of a second: of every pixel, other
/// channels than of the pixel before, and more of the pixels whose windows leave the input. The
/// rules of window.h tell which elements windows read; no kernel is used. For problems that
/// not_covered() has nothing against.
std::vector<Expected> reference(const selvage::Plan &plan, const Data &data);

/// Empty where the output has all expected values and no element that was left unwritten (NaN);
/// else a text with the first fault. Winograd kernels round, so of their plans the nearest whole
/// numbers count: what is wrong with integer_data() is wrong by one at least.
std::string fault(const selvage::Plan &plan, const std::vector<Expected> &expected,
                  const Floats &output);

} // namespace bench
