#pragma once

#include <cstdint>
#include <string_view>

#include "selvage/kernels.h"
#include "task.h"

namespace selvage {

/// Whether a row is a convolution's.
inline bool is_conv(const KernelRow &row) { return std::string_view(row.op) == "conv"; }

/// Output channels that lie together in the packed weights of a convolution.
inline std::int64_t lane_block(const KernelRow &row) {
    return row.family == Family::planar ? row.tile : row.lanes * row.vectors;
}

/// Elements of packed weights. A double, since it may exceed any integer before decline().
double packed_weights(const KernelRow &row, const Task &task);

/// Output channels in packed weights and bias, with what fills them up.
std::int64_t packed_outputs(const KernelRow &row, const Problem &problem);

} // namespace selvage
