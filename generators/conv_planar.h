#pragma once

#include "generators/conv.h"
#include "schedules/planar_stages.h"

namespace selvage {

/// What conv_planar() reads: that of conv(), with columns at distance 1 in the input and
/// `lane_block` output channels in a tile. `strip_rows` is the height of a band. Rows of padding
/// are summed like all others and bands are accumulated whole: `top`, `rows_low`, `rows_high`,
/// `block_rows` and `border` go unused.
struct PlanarInputs : ConvInputs {
    Halide::Expr places_x; ///< extent of source_x: outputs + reach / stride, see Window
    Halide::Expr places_y; ///< extent of source_y, at least as many
    int lanes;             ///< numbers of a vector
    int vectors;           ///< vectors of a tile
};

/// The same result as conv(), summed for neighbouring pixels of one channel instead of neighbouring
/// channels of one pixel. Any kernel, stride, dilation, border and number of channels.
PlanarStages conv_planar(const PlanarInputs &in);

} // namespace selvage
