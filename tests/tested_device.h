#pragma once

#include <string>
#include <vector>

#include "selvage/device.h"

/// The device whose kernels are tested: that of the target SELVAGE_TARGET, "cuda" or "opencl", else
/// the host. Where there is none, the program says so and ends with 1: nothing is skipped.
const selvage::Device &tested_device();

/// Its instruction sets; parameters of tests.
std::vector<std::string> tested_isas();
