#pragma once

#include <cstdint>
#include <vector>

#include "selvage/kernels.h"
#include "task.h"

namespace selvage {

/// What a kernel is told about one axis besides its window.
struct AxisTables {
    /// Where each tap reads: elements of the slice, or -1 for the border's value. By tap and
    /// output, the outputs of a tap in a row; for axes with a strip by remainder of the stride and
    /// place, the places of a remainder in a row.
    std::vector<std::int32_t> source;
    std::int32_t row = 0;       ///< how long a row of `source` is
    std::vector<float> counted; ///< avg_pool: the taps that count, for each output
};

/// The tables of the planes, rows and columns of one call of a kernel.
struct Tables {
    AxisTables z, y, x;
};

Tables tables(const KernelRow &row, const Task &task);

} // namespace selvage
