#include "fma_peak.h"

#include <immintrin.h>

#include <stdexcept>
#include <string>

namespace bench {
namespace {

// Sums that do not depend on each other. Two units with a latency of 4 cycles need 8 fused sums in
// flight, and as many where multiplication and addition are apart; older CPUs need 10 (5 cycles).
// 12 cover all of them and leave registers for both operands even where there are only 16.
constexpr int sums = 12;

// The sums converge to 1, so they never become slow subnormal numbers. The empty assembly hides
// the operands' values and keeps the sums alive, so that nothing is computed ahead or left out.
constexpr float factor_value = 0.5f, addend_value = 0.5f;

__attribute__((target("sse4.1"))) void run_sse41(long rounds) {
    __m128 sum[sums], factor = _mm_set1_ps(factor_value), addend = _mm_set1_ps(addend_value);
    __asm__ volatile("" : "+x"(factor), "+x"(addend));
    for (__m128 &s : sum) {
        s = addend;
    }
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
        for (__m128 &s : sum) {
            s = _mm_add_ps(_mm_mul_ps(s, factor), addend);
        }
    }
    for (__m128 &s : sum) {
        __asm__ volatile("" : : "x"(s));
    }
}

__attribute__((target("avx2,fma"))) void run_avx2(long rounds) {
    __m256 sum[sums], factor = _mm256_set1_ps(factor_value), addend = _mm256_set1_ps(addend_value);
    __asm__ volatile("" : "+x"(factor), "+x"(addend));
    for (__m256 &s : sum) {
        s = addend;
    }
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
        for (__m256 &s : sum) {
            s = _mm256_fmadd_ps(s, factor, addend);
        }
    }
    for (__m256 &s : sum) {
        __asm__ volatile("" : : "x"(s));
    }
}

__attribute__((target("avx512f"))) void run_avx512(long rounds) {
    __m512 sum[sums], factor = _mm512_set1_ps(factor_value), addend = _mm512_set1_ps(addend_value);
    __asm__ volatile("" : "+v"(factor), "+v"(addend));
    for (__m512 &s : sum) {
        s = addend;
    }
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
        for (__m512 &s : sum) {
            s = _mm512_fmadd_ps(s, factor, addend);
        }
    }
    for (__m512 &s : sum) {
        __asm__ volatile("" : : "v"(s));
    }
}

} // namespace

FmaPeak fma_peak(std::string_view kernel) {
    const std::string_view isa = kernel.substr(kernel.rfind('/') + 1);
    if (isa == "sse41") {
        return {run_sse41, 2.0 * 4 * sums};
    }
    if (isa == "avx2") {
        return {run_avx2, 2.0 * 8 * sums};
    }
    if (isa == "avx512") {
        return {run_avx512, 2.0 * 16 * sums};
    }
    throw std::invalid_argument("no FMA peak for the kernel " + std::string(kernel));
}

} // namespace bench
