#pragma once

#include <Halide.h>

/// What an algorithm hands to a schedule: its stages by name. A schedule says in which order and
/// where they are computed; it never changes a value.
///
/// Halide identifies a Var by its name, so the dimensions are spelled the same in algorithms and
/// schedules: k output channel, g group, x column, y row, n image.
namespace selvage {

/// conv2d: input -> padded -> strip -> partial -> accumulator -> output.
struct Conv2dStages {
    Halide::Func padded;  ///< (c, g, x, y, n): the input, or the border's value
    Halide::Func strip;   ///< (ci, xs, xp, ys, yp, cb, g, n): padded, in blocks of channels
    Halide::Func columns; ///< (t): where tap t of a kernel row lies in the strip: xs and xp
    Halide::Func partial; ///< (l, kb, g, x, y, n, q): sum over the taps of channel blocks q
    /// Of partial: channel in a step, step in a block, kernel column, kernel row, block in q.
    Halide::RDom taps;
    Halide::Func accumulator; ///< (l, kb, g, x, y, n): bias plus all partial sums
    Halide::RDom sums;        ///< of accumulator: q
    Halide::Func output;      ///< (k, g, x, y, n)
    int channel_block;        ///< input channels that lie together (ci)
    Halide::Expr strip_rows;  ///< output rows that share one strip
    Halide::Expr block_rows;  ///< of those, rows that are accumulated together
};

/// depthwise2d and the pools: input -> padded -> window -> output.
struct WindowStages {
    Halide::Func padded; ///< (c, x, y, n): the input, or the border's value
    Halide::Func window; ///< (k, x, y, n): sum or maximum over the taps
    Halide::RDom taps;   ///< of window: kernel column, kernel row
    Halide::Func output; ///< (k, x, y, n)
};

} // namespace selvage
