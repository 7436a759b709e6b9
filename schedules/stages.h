#pragma once

#include <Halide.h>

#include "schedules/line_stages.h"

/// What an algorithm hands to a schedule: its stages by name. A schedule says in which order and
/// where they are computed; it never changes a value.
///
/// Halide identifies a Var by its name, so the dimensions are spelled the same in algorithms and
/// schedules: k output channel, g group, x column, y row, z plane, n image.
namespace selvage {

/// conv: input -> padded -> strip -> pixels -> partial -> accumulator -> output.
struct ConvStages {
    Halide::Func padded;  ///< (c, g, x, y, z, n): the input, or the border's value
    Halide::Func strip;   ///< (ci, xs, xp, ys, yp, cb, kz, g, z, n): padded, in blocks of
                          ///< channels, for each plane of the kernel
    Halide::Func columns; ///< (t): where tap t of a kernel row lies in the strip: xs and xp
    Halide::Func pixels;  ///< (i, x, sb, tx, ty, b, g, y, z, n): channel i of step sb of block b of
                          ///< the strip, by tap and output
    Halide::Func partial; ///< (l, kb, g, x, y, z, n, q): sum over the taps of channel blocks q
    /// Of partial: channel in a step, step in a block, kernel column, kernel row, block in q.
    Halide::RDom taps;
    Halide::Func accumulator; ///< (l, kb, g, x, y, z, n): bias plus all partial sums
    Halide::RDom sums;        ///< of accumulator: q
    Halide::Func output;      ///< (k, g, x, y, z, n)
    int channel_block;        ///< input channels that lie together (ci)
    Halide::Expr strip_rows;  ///< output rows that share one strip
    Halide::Expr block_rows;  ///< of those, rows that are accumulated together
};

/// The window operators: input -> padded -> window -> output. A copy has no window and no taps.
struct WindowStages {
    Halide::Func padded; ///< (c, x, y, z, n): the input, or the border's value
    Halide::Func planes; ///< (z): the input plane, where windows have but one and rows are found by
                         ///< arithmetic
    Halide::Expr left;   ///< of these: columns before the input where the first window begins
    Halide::Expr width;  ///< columns of the input
    Halide::Func window; ///< (k, x, y, z, n): sum or maximum over the taps
    Halide::RDom taps;   ///< of window: the loops over taps, innermost first
    Halide::RVar tap_x, tap_y, tap_z; ///< those of them that count kernel columns, rows, planes
    Halide::Func output;              ///< (k, x, y, z, n)
    LineStages lines;                 ///< where windows read lines, instead of padded
};

} // namespace selvage
