#pragma once

#include <cstddef>
#include <cstdint>

#include "selvage/kernels.h"
#include "task.h"

namespace selvage {

/// How a kernel with a strip cuts up its work.
struct Blocking {
    std::int64_t strip_rows = 1;     ///< output rows that share one strip
    std::int64_t block_rows = 1;     ///< of those, rows that are accumulated together
    std::int64_t channel_blocks = 1; ///< channel blocks of one partial sum
    std::int64_t strip_planes = 1;   ///< lines: planes that share one strip
};

Blocking blocking(const KernelRow &row, const Task &task);

/// Upper bound of the temporary memory of one call, in bytes, rounding of Scratch included.
std::size_t scratch_bytes(const KernelRow &row, const Task &task);

/// The bytes of the strip and sums that one output row needs: what the least blocking takes.
double least_strip_bytes(const KernelRow &row, const Task &task);

/// Whether a row reads through a strip, and so wants source tables by place.
bool has_strip(const KernelRow &row);

/// Places along an axis of the strip that serves `outputs` outputs, for one remainder of the
/// stride: the furthest tap lies reach / stride places behind the first.
std::int64_t strip_extent(const Window &window, std::int64_t outputs);

/// The same for all remainders.
double strip_places(const Window &window, std::int64_t outputs);

/// The outputs of a row of pixels that a strip serves, tails of tiles included.
std::int64_t strip_columns(const KernelRow &row, const Window &x);

/// A band of a planar kernel, `rows` rows of the output, as numbers (generators/conv_planar.cpp):
/// the padded input of one channel as one line, and the outputs of one tile.
struct Band {
    double line, places;
};

Band band(const KernelRow &row, const Task &task, std::int64_t rows);

} // namespace selvage
