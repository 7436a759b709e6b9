#pragma once

#include <string>

#include "selvage/kernels.h"
#include "task.h"

namespace selvage {

/// Why a row cannot compute the task, in one line with the values; empty if it can.
std::string decline(const KernelRow &row, const Task &task);

/// An estimate of the row's time in cycles, for comparison among rows that accept the task.
double cost(const KernelRow &row, const Task &task);

} // namespace selvage
