#pragma once

#include <Halide.h>

/// The stages of conv_narrow(), as schedules/stages.h has those of other algorithms. Beside its
/// dimensions there are q, a number of a padded row, and ys, a padded row.
namespace selvage {

/// conv_narrow: input -> strip -> sum -> output.
struct NarrowStages {
    Halide::Func strip; ///< (q, ys, kz, g, z, n): padded rows, for each plane of the kernel
    /// Of the updates of strip: channel and position.
    Halide::RDom inside, edges;
    Halide::Func sum; ///< (l, kb, g, x, y, z, n): bias plus all taps
    /// Of sum: channel, kernel column, kernel row, kernel plane.
    Halide::RDom taps;
    Halide::Func output;     ///< (k, g, x, y, z, n)
    bool whole_rows;         ///< positions are copied without regard to where pixels begin
    Halide::Expr line;       ///< numbers of a padded row
    Halide::Expr rows;       ///< padded rows of a strip
    Halide::Expr kernel_z;   ///< planes of a strip
    Halide::Expr strip_rows; ///< output rows that share one strip
};

} // namespace selvage
