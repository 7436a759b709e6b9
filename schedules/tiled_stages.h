#pragma once

#include <Halide.h>

namespace selvage {

/// A tile of a convolution on a GPU: what one block of threads computes. `rows` x `columns` pixels
/// of `lane_block` output channels; each thread has `vectors` vectors of `lanes` channels of all
/// columns of one row.
struct Tile {
    int lanes, vectors, lane_block, columns, rows;
    int channels; ///< input channels that are in shared memory at a time
    /// Kernel columns and rows of which this is so: all of a known kernel, undilated, or one by
    /// one.
    int kernel_x, kernel_y;
    int stride; ///< on both axes; 0: any
    /// Blocks of threads share the input channels, too: each has one block of channels of one
    /// kernel plane, and what it sums is added up afterwards.
    bool split;

    int lane_threads() const { return lane_block / (lanes * vectors); }
};

/// conv on a GPU: input -> strip -> sum (-> partial -> total) -> output.
struct TiledStages {
    Tile tile;
    /// Where the places of the strip lie in the input, or -1 for the border's value: the column by
    /// (xs, xp), the row by (ys, yp, kz, z), planes outside the input being rows of the border.
    Halide::Func columns, lines;
    /// (ci, xs, xp, ys, yp, cb, kz, g, z, n): the input, or the border's value, in blocks of
    /// channels.
    Halide::Func strip;
    Halide::Func weights; ///< (l, ci, kernel column, kernel row, cb, kb, g)
    /// (lane, vector, pixel, kb, g, xb, yb, z, n, q): what each thread of a block has in registers.
    /// It has no coordinate for the thread: see conv_tiled().
    Halide::Func sum;
    Halide::RDom first; ///< of the bias: the threads, along channels and rows
    /// Of the products: channel in a step, step in a piece, piece of a block, kernel column, kernel
    /// row, block, kernel plane, and the threads.
    Halide::RDom taps;
    /// Where channels are split: (k, g, x, y, z, n, q), the sum over block q % blocks of kernel
    /// plane q / blocks, with the bias where q is 0; and all of them together.
    Halide::Func partial, total;
    Halide::Expr slices; ///< extent of q
    Halide::Func output; ///< (k, g, x, y, z, n)
};

} // namespace selvage
