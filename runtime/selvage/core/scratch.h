#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage {

/// Packed weights and scratch memory begin at a multiple of this many bytes. Inputs and outputs
/// need not.
constexpr std::size_t alignment = 64;

/// The caller's scratch memory during one call of a kernel: a stack that the kernel's two hooks
/// (selvage/scratch.h) take from and give back to. It is the kernel's `__user_context`.
struct Scratch {
    char *memory;
    std::size_t bytes;
    std::size_t used = 0;
    bool exceeded = false; ///< a kernel asked for more than was foreseen, a fault of the library
};

/// The bytes that an allocation of `bytes` takes from the stack.
constexpr std::size_t scratch_round(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Memory aligned as the stack itself, or null and `exceeded` where there is too little left.
inline void *take(Scratch &scratch, std::size_t bytes) {
    const std::size_t rounded = scratch_round(bytes);
    if (rounded > scratch.bytes - scratch.used) {
        scratch.exceeded = true;
        return nullptr;
    }
    void *memory = scratch.memory + scratch.used;
    scratch.used += rounded;
    return memory;
}

/// Gives back what was taken last. False where the memory is not of this stack.
inline bool give_back(Scratch &scratch, void *memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(scratch.memory);
    if (address < begin || address >= begin + scratch.bytes)
        return false;
    scratch.used = address - begin;
    return true;
}

} // namespace selvage
