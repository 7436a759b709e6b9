#pragma once

#include <Halide.h>

namespace selvage {

/// The input as if the border's value surrounded it without end: columns (dimension `x`) outside
/// 0..width-1 and rows (dimension `x + 1`) outside 0..height-1 yield `value`. The other dimensions
/// are read as they are, and so are the rows where height is undefined.
inline Halide::Func exterior(const Halide::Func &input, const Halide::Expr &value, int x,
                             const Halide::Expr &width, const Halide::Expr &height) {
    Halide::Region bounds(input.dimensions());
    bounds[x] = {0, width};
    if (height.defined())
        bounds[x + 1] = {0, height};
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
