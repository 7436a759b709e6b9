#include "bandwidth.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace bench {
namespace {

constexpr std::size_t kibi = 1024, mebi = 1024 * kibi;
constexpr std::size_t huge_page = 2 * mebi;

using Vector = int __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(64)));

// A line of memory each: enough to hide the loop, few enough to stay in 16 registers of 32 bytes.
constexpr std::size_t unrolled = 4;

} // namespace

// Compiled for each instruction set, so that loads are as wide as those of the kernels.
#define SELVAGE_EACH_ISA __attribute__((target_clones("avx512f", "avx2", "default")))

SELVAGE_EACH_ISA void read_memory(const Vector *a, std::size_t count) {
    Vector sums[unrolled] = {};
    for (std::size_t i = 0; i < count; i += unrolled) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unrolled; ++j) {
            sums[j] ^= a[i + j];
        }
    }
    Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
    __asm__ volatile("" : : "r"(&sum) : "memory"); // counts as a use
}

SELVAGE_EACH_ISA void copy_memory(Vector *a, const Vector *b, std::size_t count) {
    for (std::size_t i = 0; i < count; i += unrolled) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unrolled; ++j) {
            a[i + j] = b[i + j];
        }
        __asm__ volatile("" : : : "memory"); // else this becomes a call of memcpy
    }
}

SELVAGE_EACH_ISA void triad_memory(Floats *a, const Floats *b, const Floats *c, std::size_t count) {
    for (std::size_t i = 0; i < count; i += unrolled) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unrolled; ++j) {
            a[i + j] = b[i + j] + 0.5f * c[i + j];
        }
    }
}

const std::vector<MemoryLevel> &memory_levels() {
    const auto cache = [](int name, std::size_t unknown) {
        const long bytes = sysconf(name);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : unknown;
    };
    // Virtual machines may not tell; then sizes that most CPUs have.
    static const std::vector<MemoryLevel> levels = {
        {"L1", cache(_SC_LEVEL1_DCACHE_SIZE, 32 * kibi), false},
        {"L2", cache(_SC_LEVEL2_CACHE_SIZE, mebi), false},
        {"L3", cache(_SC_LEVEL3_CACHE_SIZE, 32 * mebi), true},
        {"DRAM", static_cast<std::size_t>(-1), true}};
    return levels;
}

const MemoryLevel &level_of(double bytes, int threads) {
    const std::vector<MemoryLevel> &levels = memory_levels();
    return *std::find_if(levels.begin(), levels.end() - 1, [&](const MemoryLevel &level) {
        return bytes <= static_cast<double>(level.capacity) * (level.shared ? 1 : threads);
    });
}

void Traffic::Free::operator()(void *memory) const { std::free(memory); }

Traffic::Traffic(const MemoryLevel &level, Move move, int threads)
    : move_(move), arrays_(move == Move::read   ? 1
                           : move == Move::copy ? 2
                                                : 3) {
    // Half of a cache of one's own. Of L3, which others use too, well more than L2 and less than a
    // quarter; and memory as large as several of L3.
    const std::vector<MemoryLevel> &levels = memory_levels();
    const std::size_t l2 = levels[1].capacity, l3 = levels[2].capacity;
    const std::size_t bytes = !level.shared        ? level.capacity / 2
                              : level.name == "L3" ? std::min(4 * l2, std::max(l3 / 4, mebi))
                                                   : std::clamp(3 * l3, 256 * mebi, 512 * mebi);
    vectors_ = bytes / arrays_ / sizeof(Vector) / unrolled * unrolled;
    for (int thread = 0; thread < threads; ++thread) {
        const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
        memory_.emplace_back(std::aligned_alloc(huge_page, rounded));
        if (memory_.back() == nullptr) {
            throw std::bad_alloc();
        }
        madvise(memory_.back().get(), rounded, MADV_HUGEPAGE); // else misses of the TLB count too
        std::memset(memory_.back().get(), 0, rounded);
    }
}

void Traffic::run(int thread) {
    Vector *a = static_cast<Vector *>(memory_[thread].get());
    Vector *b = a + vectors_ * (arrays_ - 1);
    switch (move_) {
    case Move::read: read_memory(a, vectors_); break;
    case Move::copy: copy_memory(a, b, vectors_); break;
    case Move::triad:
        triad_memory(reinterpret_cast<Floats *>(a), reinterpret_cast<Floats *>(a + vectors_),
                     reinterpret_cast<Floats *>(b), vectors_);
        break;
    }
}

double Traffic::bytes() const {
    return static_cast<double>(memory_.size()) * arrays_ * vectors_ * sizeof(Vector);
}

} // namespace bench
