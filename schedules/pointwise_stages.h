#pragma once

#include <Halide.h>

/// The stages of conv_pointwise(), as schedules/stages.h has those of other algorithms.
namespace selvage {

/// conv_pointwise: input -> panel -> sum -> output.
struct PointwiseStages {
    Halide::Func panel; ///< (ci, x, cb, g, y, z, n): pixels, in blocks of channels
    Halide::RDom copy;  ///< of the update of panel: channels of a block
    Halide::Func sum;   ///< (l, kb, g, x, y, z, n): bias plus all channels
    /// Of sum: channel in a step, step in a block, block.
    Halide::RDom taps;
    Halide::Func output;      ///< (k, g, x, y, z, n)
    int channel_block;        ///< input channels that lie together (ci)
    Halide::Expr strip_tiles; ///< tiles of pixels that share one panel
};

} // namespace selvage
