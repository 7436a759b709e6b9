#pragma once

#include "schedules/winograd_stages.h"

namespace selvage {

/// What conv_winograd() reads. Weights and bias are packed: `lane_block` output channels lie
/// together, and blocks of `channel_block` input channels follow each other; places past the last
/// channel hold 0. Weights are transformed as runtime/selvage/core/winograd.h says.
struct WinogradInputs {
    Halide::Func input;   ///< (c, g, x, y, z, n)
    Halide::Func weights; ///< (l, ci, cb, u, v, kb, g), k = kb*lane_block + l
    Halide::Func bias;    ///< (l, kb, g)
    /// Where the places of the strip lie in the input, or -1 for the border's value: (place, 0),
    /// from the first tile's first one on; for planes (0, output). The taps of an output and of its
    /// neighbours are neighbours there, however far apart they are in the input.
    Halide::Func source_x, source_y, source_z;
    Halide::Expr channels; ///< of one group
    Halide::Expr width, height, depth;
    /// The outputs that are stored, counted from the first tile's first one. Tiles are counted from
    /// the first output of all, whatever part of it is computed, so that it has the same bits.
    Halide::Expr first_x, end_x, first_y, end_y;
    Halide::Expr strip_rows, strip_columns; ///< outputs of a band, multiples of output_tile
    Halide::Expr value;                     ///< of the border
    Halide::Expr low, high;                 ///< limits of the activation
    int taps;                               ///< of the square kernel, along one axis
    int output_tile;                        ///< outputs of a tile, along one axis
    int tile;                               ///< tiles that are multiplied together
    int lane_block, channel_block;
    int channel_step; ///< channels are summed in multiples of it; divides channel_block
};

/// The same sums as conv() has for one plane of a square kernel, computed for whole tiles of
/// outputs by fewer multiplications; roundings differ.
WinogradStages conv_winograd(const WinogradInputs &in);

} // namespace selvage
