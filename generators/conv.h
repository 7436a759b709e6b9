#pragma once

#include "schedules/stages.h"

namespace selvage {

/// What conv() reads. Weights and bias are packed: `lane_block` output channels lie together, and
/// blocks of `channel_block` input channels follow each other, those of each plane of the kernel in
/// turn; places past the last channel hold 0.
struct ConvInputs {
    Halide::Func input;   ///< (c, g, x, y, z, n)
    Halide::Func weights; ///< (l, ci, kernel column, kernel row, cb, kb, g), k = kb*lane_block + l
    Halide::Func bias;    ///< (l, kb, g)
    /// Where the places of the strip lie in the input, or -1 for the border's value: by place and
    /// remainder of the stride; for planes by kernel plane and output.
    Halide::Func source_x, source_y, source_z;
    Halide::Expr channels; ///< of one group
    Halide::Expr width, height, depth;
    Halide::Expr kernel_x, kernel_y, kernel_z;
    Halide::Expr left, top; ///< `before` of the columns and rows, see Window in window.h
    Halide::Expr stride_x, stride_y;
    Halide::Expr dilation_x, dilation_y;
    Halide::Expr rows_low, rows_high; ///< positions of rows that count; others hold 0
    Halide::Expr value;               ///< of the border
    Halide::Expr low, high;           ///< limits of the activation
    Halide::Expr strip_rows, block_rows, channel_blocks; ///< how work is cut up, see ConvStages
    int lane_block, channel_block;
    /// Channels are summed in multiples of it. Divides channel_block, or is all channels that there
    /// are.
    int channel_step;
    bool border; ///< false: the strip lies inside the input, and nothing tests for it
    bool staged; ///< the schedule computes ConvStages::pixels, where others inline it
};

/// out(k, g, x, y, z, n) = activation(bias(k, g) + sum over kernel planes, rows, columns and
/// channels of the input at
///     stride*position + dilation*tap - before
/// along each axis, times w(k, ...)), with any kernel, stride, dilation and number of channels.
ConvStages conv(const ConvInputs &in);

} // namespace selvage
