#pragma once

#include "schedules/stages.h"

namespace selvage {

/// What conv2d() reads. Weights and bias are packed: `lane_block` output channels lie together, and
/// blocks of `channel_block` input channels follow each other; places past the last channel hold 0.
struct Conv2dInputs {
    Halide::Func input;   ///< (c, g, x, y, n)
    Halide::Func weights; ///< (l, ci, kernel column, kernel row, cb, kb, g), k = kb*lane_block + l
    Halide::Func bias;    ///< (l, kb, g)
    Halide::Expr channels, width, height; ///< extents of the input; channels of one group
    Halide::Expr kernel_x, kernel_y;
    Halide::Expr left, top; ///< `before` of the columns and rows, see Window in window.h
    Halide::Expr stride_x, stride_y;
    Halide::Expr dilation_x, dilation_y;
    Halide::Expr value;                                  ///< of the border
    Halide::Expr low, high;                              ///< limits of the activation
    Halide::Expr strip_rows, block_rows, channel_blocks; ///< how work is cut up, see Conv2dStages
    int lane_block, channel_block;
    int channel_step; ///< divides channel_block; channels are summed in multiples of it
    bool border;      ///< false: the strip lies inside the input, and nothing tests for it
};

/// out(k, g, x, y, n) = activation(bias(k, g) + sum of
///     in(c, g, stride_x*x + dilation_x*kx - left, stride_y*y + dilation_y*ky - top, n) * w(k,
///     ...))
/// with any kernel, stride, dilation and number of channels.
Conv2dStages conv2d(const Conv2dInputs &in);

} // namespace selvage
