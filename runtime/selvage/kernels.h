#pragma once

#include <cstddef>
#include <string>

#include "selvage/core/kernel_row.h"
#include "selvage/export.h"
#include "selvage/problem.h"

namespace selvage {

/// All rows, the same in every process. The first of them are the references.
SELVAGE_API const KernelRow *kernel_rows();
/// How many rows there are.
SELVAGE_API std::size_t kernel_row_count();

/// What rows that can compute the problem have as `op`: "conv" for conv, conv_transpose, and
/// depthwise in NCHW, "max_pool_u8" for a max pool of 8-bit numbers, "copy" for pad and
/// stride_sample, and so on.
SELVAGE_API std::string kernel_op(const Problem &problem);

/// "op/schedule/isa".
SELVAGE_API std::string name(const KernelRow &row);

} // namespace selvage
