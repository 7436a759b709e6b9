#pragma once

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
/// Fills in s.lines for the taps s.taps and returns what a tap reads in plane x. `plane` is the
/// plane of the input that plane x reads.
Halide::Expr lines(const WindowInputs &in, const Halide::Expr &plane, const Halide::Expr &value,
                   WindowStages &s);

} // namespace selvage
