#pragma once

#include <string_view>

namespace bench {

/// Arithmetic that never leaves the registers: the most that a kernel of an instruction set can do.
struct FmaPeak {
    /// Does `rounds` rounds of independent multiplications and additions of float vectors.
    void (*run)(long rounds) = nullptr;
    double operations_per_round = 0; ///< a multiplication and an addition are two
};

/// The arithmetic of the instruction set that a kernel's name ends with, such as
/// "conv2d/reference/avx2": "sse41" (a multiplication, then an addition), "avx2" or "avx512"
/// (fused). Throws std::invalid_argument for any other. The CPU must have the set.
FmaPeak fma_peak(std::string_view kernel);

} // namespace bench
