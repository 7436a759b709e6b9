#pragma once

#include <cstdint>
#include <string>

#include "selvage/kernels.h"
#include "task.h"

namespace selvage {

/// Whether a row is for GPUs.
bool is_for_gpu(const KernelRow &row);

/// Blocks of a GPU's grid along every axis but the first, at most; source: the CUDA C++ Programming
/// Guide, "Compute Capabilities". Along one lie the planes of all images of a call.
constexpr std::int64_t most_blocks = 65535;

/// Why a row cannot compute the task, in one line with the values; empty if it can.
std::string decline(const KernelRow &row, const Task &task);

/// An estimate of the row's time in cycles, for comparison among rows that accept the task.
double cost(const KernelRow &row, const Task &task);

} // namespace selvage
