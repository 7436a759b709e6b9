#pragma once

#include <cstdint>
#include <string>

#include "selvage/kernels.h"

namespace selvage {

/// What one kernel is asked to compute: a rectangle of the output of a problem. To a kernel, a
/// transposed convolution is a number of ordinary ones.
struct Task {
    Problem problem;
    Window z, y, x;
    bool adjacent_pixels = false; ///< the promise of Options
    bool is_tile = false;         ///< of the input there is only what the windows read
};

/// Groups of channels that are computed on their own: of depthwise and filter every channel.
std::int64_t groups(const Problem &problem);

/// Why a row cannot compute the task, in one line with the values; empty if it can.
std::string decline(const KernelRow &row, const Task &task);

/// An estimate of the row's time in cycles, for comparison among rows that accept the task.
double cost(const KernelRow &row, const Task &task);

/// How a kernel with a strip cuts up its work.
struct Blocking {
    std::int64_t strip_rows = 1;     ///< output rows that share one strip
    std::int64_t block_rows = 1;     ///< of those, rows that are accumulated together
    std::int64_t channel_blocks = 1; ///< channel blocks of one partial sum
    std::int64_t strip_planes = 1;   ///< lines: planes that share one strip
};

Blocking blocking(const KernelRow &row, const Task &task);

/// Whether a row is a convolution's.
bool is_conv(const KernelRow &row);

/// Whether a row reads through a strip, and so wants source tables by place.
bool has_strip(const KernelRow &row);

/// Of lines: the neighbouring numbers of a row that belong to one pixel.
std::int64_t interleaved(const Problem &problem);

/// Places along an axis of the strip that serves `outputs` outputs, for one remainder of the
/// stride.
std::int64_t strip_extent(const Window &window, std::int64_t outputs);

/// The outputs of a row of pixels that a strip serves, tails of tiles included.
std::int64_t strip_columns(const KernelRow &row, const Window &x);

/// Upper bound of the temporary memory of one call, in bytes, rounding of Scratch included.
std::size_t scratch_bytes(const KernelRow &row, const Task &task);

/// Output channels that lie together in the packed weights of a convolution.
std::int64_t lane_block(const KernelRow &row);

/// Elements of packed weights. A double, since it may exceed any integer before decline().
double packed_weights(const KernelRow &row, const Task &task);

/// Output channels in packed weights and bias, with what fills them up.
std::int64_t packed_outputs(const KernelRow &row, const Problem &problem);

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t block) {
    return (count + block - 1) / block;
}

constexpr std::int64_t round_up(std::int64_t count, std::int64_t block) {
    return blocks_of(count, block) * block;
}

} // namespace selvage
