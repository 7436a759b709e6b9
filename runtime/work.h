#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "selvage/kernels.h"
#include "selvage/plan.h"
#include "strips.h"
#include "tables.h"

namespace selvage {

/// The taps of one axis of weights that a kernel gets: first, first + step, ...; none where its
/// outputs meet no tap.
struct Taps {
    std::int64_t first = 0, step = 1, count = 1;
};

/// Weights as one row of the table wants them. The parts of a transposed convolution have each
/// their own, all parts of other problems share one.
struct PackedWeights {
    const KernelRow *row = nullptr;
    Taps z, y, x;
    std::size_t offset = 0;      ///< in packed memory, bytes
    std::size_t bias_offset = 0; ///< the same
};

/// One call of a kernel for each group of images.
struct Part {
    Task task;
    const KernelRow *row = nullptr;
    std::size_t weights = 0; ///< which of Work::weights
    Region output;           ///< within the plan's output; of every step-th element
    std::int64_t step_z = 1, step_y = 1, step_x = 1;
    Tables tables;
    Blocking blocking;
};

/// All that a plan has decided.
struct Work {
    Problem problem;
    bool adjacent_pixels = false;
    Region output, input; ///< Plan::output_region(), Plan::input_region()
    std::vector<PackedWeights> weights;
    std::vector<Part> parts;
    std::string kernel = "none";
    std::vector<Decline> declined;
    std::size_t packed_bytes = 0, scratch_bytes = 0;
};

} // namespace selvage
