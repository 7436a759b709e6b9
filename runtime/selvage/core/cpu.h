#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/// What the CPU has, asked of the CPU itself, so that no run-time library is needed.

namespace selvage {

constexpr bool same_text(const char *a, const char *b) {
    while (*a != 0 && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

#if defined(__x86_64__)

/// The instruction sets of the build's architecture, narrowest first. Each asks for exactly the
/// features in the SELVAGE_TARGET_* of cmake/Kernels.cmake.
constexpr const char *isas[] = {"sse41", "avx2", "avx512"};

/// How many of `isas` this CPU, and the operating system, can run; each includes those before it.
/// Source: Intel's Software Developer's Manual, volume 1, 14.3 and 15.2. Asking takes microseconds
/// under a hypervisor.
inline int usable_isas() {
    constexpr std::uint32_t sse41 = 1u << 19, fma = 1u << 12, osxsave = 1u << 27, f16c = 1u << 29;
    constexpr std::uint32_t avx2 = 1u << 5;
    // F, DQ, CD, BW, VL.
    constexpr std::uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    // Registers that the system saves: xmm and ymm; masks and the rest of zmm.
    constexpr std::uint32_t ymm = 0x6, zmm = 0xe6;
    const auto has = [](std::uint32_t word, std::uint32_t bits) { return (word & bits) == bits; };
    std::uint32_t a = 0, b = 0, c = 0, d = 0, saved = 0, unused = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, sse41))
        return 0;
    const std::uint32_t basic = c;
    if (!has(basic, osxsave | fma | f16c) || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
        return 1;
    __asm__("xgetbv" : "=a"(saved), "=d"(unused) : "c"(0));
    if (!has(b, avx2) || !has(saved, ymm))
        return 1;
    return has(b, avx512) && has(saved, zmm) ? 3 : 2;
}

#else

constexpr const char *isas[] = {"neon"};
constexpr int usable_isas() { return 1; }

#endif

/// Whether this CPU, and the operating system, can run kernels of that instruction set. An unknown
/// name is false.
inline bool cpu_runs(const char *isa) {
    const int usable = usable_isas();
    for (int i = 0; i < usable; ++i)
        if (same_text(isas[i], isa))
            return true;
    return false;
}

} // namespace selvage
