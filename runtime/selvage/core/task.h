#pragma once

#include <cstdint>

#include "selvage/core/kernel_row.h"
#include "selvage/core/problem.h"

/// What kernels are asked to compute, in whole numbers that everything else is worked out from.
///
/// A *task* is one rectangle of the output of a problem, all images and channels of it. Functions
/// take it as a template parameter with the members of runtime/task.h: `problem`, the windows `z`,
/// `y`, `x` of the rectangle, and `asked`, how a schedule wants it to be cut up. Of a specialised
/// kernel `problem` is a constant, so that the compiler leaves out what its operator does not need;
/// so it does with families of kernels that may_be() denies, and with `asked` where may_ask is
/// false. Of the problem's axes only the windows count here, never their sizes and pads.

namespace selvage {

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t block) {
    return (count + block - 1) / block;
}

constexpr std::int64_t round_up(std::int64_t count, std::int64_t block) {
    return blocks_of(count, block) * block;
}

namespace detail {

constexpr std::int64_t at_most(std::int64_t high, std::int64_t a) { return a < high ? a : high; }

constexpr std::int64_t within(std::int64_t low, std::int64_t high, std::int64_t a) {
    return at_least(low, at_most(high, a));
}

constexpr double larger(double a, double b) { return a < b ? b : a; }

} // namespace detail

/// Whether convolution kernels compute it. In planes, a depthwise channel is a group like any
/// other.
constexpr bool is_conv(const Problem &problem) {
    return problem.op == Op::conv || problem.op == Op::conv_transpose ||
           (problem.op == Op::depthwise && problem.layout == Layout::nchw);
}

/// Groups of channels that are computed on their own: of depthwise and filter every channel.
constexpr std::int64_t groups(const Problem &problem) {
    return problem.op == Op::depthwise || problem.op == Op::filter ? problem.c : problem.g;
}

/// Of lines: the neighbouring numbers of a row that belong to one pixel.
constexpr std::int64_t interleaved(const Problem &problem) {
    return problem.layout == Layout::nhwc ? problem.c : 1;
}

/// Bytes of a number of the input.
constexpr std::int64_t number_bytes(const Problem &problem) {
    return problem.type == Type::f32 ? 4 : 1;
}

/// Whether a row that is for tasks of the type is of the family.
template <class Task> constexpr bool is(const KernelRow &row, Family family) {
    return Task::may_be(family) && row.family == family;
}

} // namespace selvage
