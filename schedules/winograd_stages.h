#pragma once

#include <Halide.h>

/// The stages of conv_winograd(), as schedules/stages.h has those of other algorithms. Beside its
/// dimensions there are band, some rows of tiles; tx and ty, a tile within its band, and p, the
/// same in one number; u and v, one of the products along columns and rows; i and j, an output row
/// and column within its tile.
namespace selvage {

/// conv_winograd: input -> padded -> strip -> half_input -> full_input -> sums -> summed ->
/// half_output -> full_output -> output.
struct WinogradStages {
    Halide::Func padded; ///< (c, g, x, y, z, n): the input, or the border's value
    Halide::Func strip;  ///< (ci, xs, cb, ys, across, band, g, z, n): padded, in blocks of channels
    Halide::Func
        half_input; ///< (ci, xs, cb, v, ty, across, band, g, z, n): strip, transformed by rows
    Halide::Func full_input;  ///< (ci, p, cb, u, v, across, band, g, z, n): and by columns
    Halide::RDom transformed; ///< of full_input: tx, ty
    Halide::RDom filling;     ///< of full_input: places behind the last tile
    Halide::Func sums;        ///< (l, p, u, v, kb, across, band, g, z, n): over channels
    Halide::RDom channels;    ///< of sums: channel in a step, step in a block, block
    Halide::Func summed;      ///< (l, p, u, v, kb, across, band, g, z, n): sums, in memory
    Halide::Func half_output; ///< (l, u, i, tx, ty, kb, across, band, g, z, n): transformed by rows
    Halide::Func full_output; ///< (l, j, i, tx, ty, kb, across, band, g, z, n): and by columns
    Halide::Func output;      ///< (k, g, x, y, z, n), updated by tiles
    Halide::RDom stored;      ///< of output: column and row in a tile, tx, ty, across, band
    int channel_block;        ///< input channels that lie together (ci)
    int output_tile;          ///< outputs of a tile along one axis
    int products;             ///< products of a tile along one axis
    Halide::Expr tiles_x, band_tiles;       ///< columns and rows of tiles in a band
    Halide::Expr places;                    ///< tiles of a band in whole register tiles (p)
    Halide::Expr strip_columns, strip_rows; ///< what the tiles of a band read
};

} // namespace selvage
