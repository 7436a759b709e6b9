#pragma once

#include <Halide.h>

namespace selvage {

/// The padded rows that windows read as lines, see lines() in generators/lines.h.
struct LineStages {
    /// (q, ys, yp, kz, x, z, n): number q of the lines of one row, which follow each other by the
    /// remainder of the column; row ys of remainder yp; for tap kz of output plane z.
    Halide::Func strip;
    /// Of the strip's updates, one each, in this order:
    Halide::RDom wide;        ///< lane, vector: of long rows
    Halide::RDom neighbours;  ///< lane, vector: of shorter ones
    Halide::RDom pairs;       ///< lane, vector, remainder
    Halide::RDom pixels;      ///< lane, vector of a pixel, place, remainder
    Halide::RDom edges;       ///< number of a pixel, place, remainder
    Halide::RDom border_rows; ///< lane, vector
    bool
        combined; ///< rows of the strip are windows of single columns, of several rows of the input
    /// What windows read instead, if it is defined: the strip's numbers converted, with coordinates
    /// of the same names; these by pairs of rows, with `half` before q; or sums of kernel rows.
    Halide::Func derived;
    Halide::Func columns;     ///< (t): how far tap t of a kernel row lies along q
    Halide::Expr last_column; ///< the largest of them
    Halide::Func rows;        ///< (t): at which ys and yp tap t of a kernel column lies
    /// Extents of the strip: numbers (q), rows behind the first of a window (ys), remainders (yp),
    /// taps (kz).
    Halide::Expr numbers, reach_rows, phases_y, kernel_z;
    Halide::Expr ahead_rows;      ///< rows of the strip that only `derived` reads (ys)
    Halide::Expr block_numbers;   ///< numbers of an output's line that are computed together
    Halide::Expr derived_numbers; ///< numbers of `derived` that these read
    int derived_lanes;            ///< of these, numbers that are computed together
    bool known_taps; ///< those of the innermost loop are neighbours, and their number is known
    Halide::Expr strip_rows;   ///< output rows that share a strip
    Halide::Expr strip_planes; ///< planes that share a strip
};

} // namespace selvage
