#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "choose.h"
#include "selvage/device.h"
#include "selvage/kernels.h"

namespace selvage {

/// What rows of the table may compute a task.
struct Choice {
    std::string isa, kernel; ///< empty: any
    /// Where it is not null, only rows that read the same packed weights.
    const KernelRow *packed_for = nullptr;
    bool fast = false;  ///< rows that round more are left, too, see Options::accuracy
    Device device = {}; ///< only rows for it
};

/// Whether the device runs kernels of an instruction set.
bool runs(const Device &device, std::string_view isa);

/// What a text calls the device: "this CPU", or the name of the GPU.
std::string who(const Device &device);

/// Whether two rows read the same packed weights, and so sum in the same order.
bool same_packing(const Problem &problem, const KernelRow &a, const KernelRow &b);

/// A row that a choice leaves.
struct Candidate {
    const KernelRow *row;
    std::string reason; ///< why it cannot take the task; empty if it can
};

/// All rows that compute the task's operator and that the choice leaves, in the order of the table.
std::vector<Candidate> candidates(const Task &task, const Choice &choice);

/// A row and its estimated time; null where no row can take the task.
struct Costed {
    const KernelRow *row = nullptr;
    double cost = std::numeric_limits<double>::infinity();
};

Costed cheapest(const Task &task, const Choice &choice);

} // namespace selvage
