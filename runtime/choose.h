#pragma once

#include <cstdint>
#include <string>

#include "selvage/kernels.h"

namespace selvage {

/// Why a row cannot compute the problem, in one line with the values; empty if it can.
/// `adjacent_pixels` is the promise of Options.
std::string decline(const KernelRow &row, const Problem &problem, bool adjacent_pixels,
                    const Window &y, const Window &x);

/// An estimate of the row's time in cycles, for comparison among rows that accept the problem.
double cost(const KernelRow &row, const Problem &problem, const Window &y, const Window &x);

/// How a conv2d kernel of Family::direct cuts up its work.
struct Blocking {
    std::int64_t strip_rows = 1;     ///< output rows that share one strip
    std::int64_t block_rows = 1;     ///< of those, rows that are accumulated together
    std::int64_t channel_blocks = 1; ///< channel blocks of one partial sum
};

Blocking blocking(const KernelRow &row, const Problem &problem, const Window &y, const Window &x);

/// Upper bound of the temporary memory of one call, in bytes, rounding of Scratch included.
std::size_t scratch_bytes(const KernelRow &row, const Problem &problem, const Window &y,
                          const Window &x);

/// Elements of packed weights. A double, since it may exceed any integer before decline().
double packed_weights(const KernelRow &row, const Problem &problem);

/// Output channels in packed weights and bias, with what fills them up.
std::int64_t packed_outputs(const KernelRow &row, const Problem &problem);

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t block) {
    return (count + block - 1) / block;
}

constexpr std::int64_t round_up(std::int64_t count, std::int64_t block) {
    return blocks_of(count, block) * block;
}

} // namespace selvage
