#pragma once

#include <cstddef>
#include <cstdint>

#include "selvage/scratch.h"

namespace selvage {

/// The caller's scratch memory during one call of a kernel: a stack that the hooks of
/// selvage/scratch.h take from and give back to. It is the kernel's `__user_context`.
struct Scratch {
    char *memory;
    std::size_t bytes;
    std::size_t used = 0;
    /// A kernel asked for more than the plan had foreseen, a fault of the library. It was served
    /// from the heap, so the result is right.
    bool exceeded = false;
};

/// The bytes that an allocation of `bytes` takes from the stack.
constexpr std::size_t scratch_round(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace selvage
