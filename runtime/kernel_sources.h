#pragma once

#include <string_view>
#include <vector>

/// What the rows of the kernel table are compiled from, for programs that compile more.
namespace selvage {

/// How kernels of one operator are made.
struct KernelGenerator {
    const char *op;         ///< KernelRow::op
    const char *program;    ///< that holds the generator
    const char *generator;  ///< its name there
    const char *parameters; ///< that tell the type of numbers; may be empty
};

/// What kernels of one instruction set are made for.
struct KernelTarget {
    const char *isa;          ///< KernelRow::isa
    const char *architecture; ///< "x86-64-linux" or "arm-64-linux"
    const char *target;       ///< as Halide spells it
};

/// Of an operator of the table; null for others.
const KernelGenerator *kernel_generator(std::string_view op);

/// Of all instruction sets; the narrowest of an architecture comes first.
const std::vector<KernelTarget> &kernel_targets();

} // namespace selvage
