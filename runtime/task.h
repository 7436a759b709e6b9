#pragma once

#include <cstdint>

#include "selvage/problem.h"

namespace selvage {

/// What one kernel is asked to compute: a rectangle of the output of a problem. To a kernel, a
/// transposed convolution is a number of ordinary ones.
struct Task {
    Problem problem;
    Window z, y, x;
    bool adjacent_pixels = false; ///< the promise of Options
    bool is_tile = false;         ///< of the input there is only what the windows read
};

/// Groups of channels that are computed on their own: of depthwise and filter every channel.
inline std::int64_t groups(const Problem &problem) {
    return problem.op == Op::depthwise || problem.op == Op::filter ? problem.c : problem.g;
}

/// Of lines: the neighbouring numbers of a row that belong to one pixel.
inline std::int64_t interleaved(const Problem &problem) {
    return problem.layout == Layout::nhwc ? problem.c : 1;
}

/// Bytes of a number of the input.
inline std::int64_t number_bytes(const Problem &problem) {
    return problem.type == Type::f32 ? 4 : 1;
}

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t block) {
    return (count + block - 1) / block;
}

constexpr std::int64_t round_up(std::int64_t count, std::int64_t block) {
    return blocks_of(count, block) * block;
}

} // namespace selvage
