#pragma once

#include <string>

namespace bench {

/// What Halide makes of a kernel of the table: its lowered statement ("stmt") or its assembly
/// ("asm"). `kernel` is "op/schedule/isa". Runs the kernel's generator again, as the build did.
/// Throws std::runtime_error where there is no such kernel or the generator fails.
std::string kernel_text(const std::string &kernel, const std::string &form);

} // namespace bench
