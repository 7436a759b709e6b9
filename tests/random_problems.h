#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "selvage/problem.h"

/// Random numbers that are the same on every machine and with every standard library.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next();
    /// Evenly among low..high, both included.
    int between(int low, int high) { return low + int(next() % std::uint64_t(high - low + 1)); }
    bool one_in(int n) { return between(1, n) == 1; }
    template <class T> T pick(std::initializer_list<T> values) {
        return values.begin()[next() % values.size()];
    }

private:
    std::uint64_t state_;
};

/// The axes that a problem has, outermost first.
std::vector<selvage::Axis *> axes(selvage::Problem *problem);

/// A meaningful problem of the operator, of any rank, layout and type: mostly with distinct pads on
/// all sides, often with phases, dilations, strides and modes, with channels and widths around the
/// multiples of vectors, and cheap enough to compute thousands of them. Half of the problems of
/// operators that have kernels of one size are such that these take them.
selvage::Problem random_problem(selvage::Op op, std::uint64_t seed);

/// Integers in low..high. Where `density` is below 1 the others are zero, which keeps the sums of
/// long windows small enough for an upper bound like that of relu6 to matter.
std::vector<float> random_integers(Random &random, std::size_t count, int low, int high,
                                   double density = 1);
