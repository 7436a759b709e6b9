#pragma once

#include <string_view>

namespace selvage {

/// Whether this CPU, and the operating system, can run kernels of that instruction set. An unknown
/// name is false.
bool cpu_runs(std::string_view isa);

} // namespace selvage
