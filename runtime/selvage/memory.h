#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "selvage/core/scratch.h"

namespace selvage {

/// Gives back what allocate() gave.
struct FreeMemory {
    /// Null is allowed.
    void operator()(std::byte *memory) const { std::free(memory); }
};

/// Memory for packed weights or scratch, which frees itself.
using Memory = std::unique_ptr<std::byte, FreeMemory>;

/// `bytes` bytes, aligned to `alignment`; their values are arbitrary. Null where there is no
/// memory. From 2 MiB on the system is asked for huge pages: kernels stream packed weights, and
/// every 4 KiB of them would cost a walk through page tables. Whether there are any changes nothing
/// else. Safe from any thread.
inline Memory allocate(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t(2)
                                      << 20; // of x86-64, and of ARM with 4 KiB pages
    const bool large = bytes >= huge_page;
    const std::size_t unit = large ? huge_page : alignment;
    if (bytes > ~std::size_t(0) - unit)
        return nullptr;
    const std::size_t rounded = (bytes + unit - 1) / unit * unit;
    Memory memory(static_cast<std::byte *>(std::aligned_alloc(unit, rounded)));
    if (large && memory != nullptr)
        madvise(memory.get(), rounded, MADV_HUGEPAGE); // a wish, so its failure is none
    return memory;
}

} // namespace selvage
