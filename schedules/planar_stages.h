#pragma once

#include <vector>

#include <Halide.h>

/// The stages of conv_planar(), as schedules/stages.h has those of other algorithms. Beside its
/// dimensions there are p, a place on a line of pixels, and band, a number of rows of the output.
namespace selvage {

/// conv_planar: input -> strip -> partial -> accumulator -> output.
struct PlanarStages {
    Halide::Func strip; ///< (p, ci, cb, band, g, z, n): the padded input of a band, in lines
    /// Of the updates of strip that copy whole vectors: lane, remainder, vector and others.
    std::vector<Halide::RDom> copies;
    Halide::Func offsets; ///< (kernel column, kernel row): distance of a tap along the line
    Halide::Func filled;  ///< (cb): input channels of a block
    Halide::Func partial; ///< (p, l, kb, band, g, z, n, q): sum over the taps of channel blocks q
    /// Of partial: channel in a step, step in a block, kernel column, kernel row, block in q.
    Halide::RDom taps;
    Halide::Func accumulator; ///< (p, l, kb, band, g, z, n): bias plus all partial sums
    Halide::RDom sums;        ///< of accumulator: q
    Halide::Func output;      ///< (k, g, x, y, z, n)
    int channel_block;        ///< input channels that follow each other (ci)
    Halide::Expr line;        ///< numbers that the strip holds of each channel
    Halide::Expr band_rows;   ///< output rows of a band
    Halide::Expr stride_x;    ///< of the windows
};

} // namespace selvage
