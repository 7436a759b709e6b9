#pragma once

#include <vector>

#include <Halide.h>

namespace selvage {

/// A dimension that a border surrounds, and its extent; it begins at 0.
struct Bounded {
    int dimension;
    Halide::Expr extent;
};

/// The input as if the border's value surrounded it without end: reads outside 0..extent-1 of a
/// bounded dimension yield `value`. The other dimensions are read as they are.
inline Halide::Func exterior(const Halide::Func &input, const Halide::Expr &value,
                             const std::vector<Bounded> &bounded) {
    Halide::Region bounds(input.dimensions());
    for (const Bounded &each : bounded)
        bounds[each.dimension] = {0, each.extent};
    return Halide::BoundaryConditions::constant_exterior(input, value, bounds);
}

/// A run-time number that the caller guarantees to be at least 1; knowing so keeps Halide's bounds
/// free of case distinctions.
inline Halide::Expr positive(const Halide::Expr &value) {
    return Halide::unsafe_promise_clamped(value, 1, Halide::Int(32).max());
}

/// value limited to low..high. NaN stays NaN, as for every activation; only strict arithmetic keeps
/// the compiler from turning the selections into instructions that lose it.
inline Halide::Expr activate(const Halide::Expr &value, const Halide::Expr &low,
                             const Halide::Expr &high) {
    const Halide::Expr above = Halide::select(value < low, low, value);
    return Halide::strict_float(Halide::select(above > high, high, above));
}

} // namespace selvage
