#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "selvage/core/tables.h"
#include "selvage/kernels.h"
#include "selvage/plan.h"
#include "selvage/schedule.h"
#include "task.h"

namespace selvage {

/// One call of a kernel for each group of images.
struct Part {
    Task task;
    const KernelRow *row = nullptr;
    std::size_t weights = 0; ///< which of Work::weights
    Region output;           ///< within the plan's output; of every step-th element
    std::int64_t step_z = 1, step_y = 1, step_x = 1;
    Range channels = {}; ///< of the output; task.problem has just these, and their groups
    std::int64_t input_channel = 0;                  ///< the first of task.problem
    std::size_t weights_offset = 0, bias_offset = 0; ///< of these channels, bytes in the weights
    double cost = 0;                                 ///< estimated cycles
    Range images = {};
    int share = 0; ///< parts of different shares may be computed at the same time
    Blocking blocking = {};
    Tables tables = {};
    std::size_t tables_offset = 0; ///< in Work::tables
};

/// All that a plan has decided.
struct Work {
    Problem problem;
    Device device;
    bool adjacent_pixels = false, separable = false; ///< the promises of Options
    bool is_tile = false;
    int threads = 1;
    bool fast = false;              ///< Options::accuracy
    Schedule asked;                 ///< by the caller or a table
    bool by_table = false;          ///< by a table
    Split split = Split::automatic; ///< how shares are cut
    Region output, input;           ///< Plan::output_region(), Plan::input_region()
    std::vector<PackedWeights> weights;
    std::vector<Part> parts;
    double cost = 0; ///< estimated cycles of a run
    std::string kernel = "none";
    Schedule schedule; ///< Plan::schedule()
    std::vector<Decline> declined;
    std::shared_ptr<const void> tables; ///< of all parts, in memory of the device
    int shares = 1;
    std::size_t packed_bytes = 0;
    std::size_t scratch_bytes = 0; ///< of all shares, as much for each
};

} // namespace selvage
