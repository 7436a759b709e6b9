#pragma once

#include <functional>
#include <utility>

#include "generators/windows.h"

namespace selvage {

/// Windows of data whose channels are too few, or too far apart, for vectors along them. Rows are
/// taken as lines of numbers: in interleaved layouts (NHWC) a row of an image, in planar ones
/// (NCHW) a row of one channel. Coordinate k counts the numbers of a line, x the planes.
///
/// The padded rows that windows read are copied to a strip, sorted by the remainders of their
/// positions: position stride*p + r is place p of remainder r. There every tap lies at a constant
/// distance from the first, so vectors of neighbouring numbers are read at any stride and dilation,
/// and the border's mode is a matter of the tables from which the strip is filled.
///
/// Fills in s.taps and s.lines, and returns what a tap reads in plane x. `plane` is the plane of
/// the input that plane x reads.
Halide::Expr lines(const WindowInputs &in, const Halide::Expr &plane, const Halide::Expr &value,
                   WindowStages &s);

/// The same as numbers of `type`, to which each number of the strip is converted once, not for each
/// window.
Halide::Expr lines_of(const Halide::Type &type, const WindowInputs &in, const Halide::Expr &plane,
                      const Halide::Expr &value, WindowStages &s);

/// The same as 16 bits, by pairs: s.taps.y counts pairs of kernel rows, and returned is what taps
/// 2y and 2y + 1 read. Both lie next to each other, as instructions want them that add up two
/// products. The last row of a kernel with an odd number of rows is paired with anything.
std::pair<Halide::Expr, Halide::Expr> lines_of_pairs(const WindowInputs &in,
                                                     const Halide::Expr &plane,
                                                     const Halide::Expr &value, WindowStages &s);

/// The sums of kernel rows as floats, added up in 16 bits once for all windows: of the strip's
/// numbers times weights(tap); s.taps has kernel rows only. For a known number of neighbouring
/// columns at stride 1, and a block of two vectors.
Halide::Expr row_sums(const WindowInputs &in, const Halide::Expr &plane, const Halide::Expr &value,
                      const Halide::Func &weights, WindowStages &s);

/// What a window becomes of one that it was and one more number.
using Combine = std::function<Halide::Expr(const Halide::Expr &number, const Halide::Expr &window)>;

/// The same after the kernel's rows were combined, when the strip was filled: s.taps has kernel
/// columns only. For a known number of neighbouring rows at stride 1, and for what may be combined
/// in any order, and with the same number more than once.
Halide::Expr column_windows(const WindowInputs &in, const Halide::Expr &plane,
                            const Halide::Expr &value, const Combine &combine, WindowStages &s);

} // namespace selvage
