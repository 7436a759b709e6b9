#pragma once

#include "schedules/planar_stages.h"

namespace selvage::cpu {

/// Register-tiled convolution of images whose pixels lie together by channel: the mirror image of
/// direct().
///
/// The innermost loops keep `tile` output channels x `vectors` vectors of pixels in registers and
/// run over the channels of one block: a load of each vector of pixels, a broadcast of each weight,
/// and tile * vectors multiply-adds. With 32 registers of 16 floats (AVX-512), 8 x 3 sums + 3
/// vectors + 1 weight = 28, or 6 x 4 + 4 + 1 = 29. With 16 registers (AVX2, SSE), 4 x 3 + 3 + 1 =
/// 16 or 6 x 2 + 2 + 1 = 15. With 32 registers of 4 (NEON), the tiles of AVX-512. Depthwise
/// convolution has one output channel for each input channel: 1 x 8 sums, the weight, and pixels
/// straight from memory.
///
/// Around that, from the inside out:
///  - a partial sum goes through the taps of a group of channel blocks, whose weights stay in the
///    L1 cache while all tiles of the band use them;
///  - the accumulator holds the sums of one band for one tile of output channels, as a line;
///    the rows of the output are cut out of it;
///  - the strip holds the padded input of one band; the border is applied while it is filled, once
///    for all output channels.
inline void planar(PlanarStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n"), p("p"), l("l"), kb("kb"), band("band");
    Var ko("ko"), ki("ki"), xo("xo"), xi("xi"), bands("bands"), row("row");
    Var po("po"), pv("pv"), pi("pi"), ci("ci");
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const int places = lanes * vectors;
    const RVar within = s.taps[0], steps = s.taps[1], kx = s.taps[2], ky = s.taps[3],
               block = s.taps[4];

    s.output.split(k, ko, ki, tile, guard)
        .split(y, bands, row, s.band_rows, guard)
        .split(x, xo, xi, lanes, TailStrategy::Predicate)
        .reorder(xi, xo, row, ki, ko, bands, g, z, n)
        .vectorize(xi)
        .never_partition_all();
    // Parts of a transposed convolution write every stride-th column, one by one.
    s.output.specialize(s.output.output_buffer().dim(2).stride() == 1);

    s.accumulator.compute_at(s.output, ko)
        .align_extent(p, places)
        .bound(l, 0, tile)
        .bound_extent(kb, 1)
        .bound_extent(band, 1);
    s.accumulator.update()
        .split(p, po, pi, places)
        .split(pi, pv, pi, lanes)
        .reorder(pi, pv, l, po, s.sums)
        .vectorize(pi)
        .unroll(pv)
        .unroll(l);

    s.partial.compute_at(s.accumulator, po)
        .bound_extent(p, places)
        .bound(l, 0, tile)
        .split(p, pv, pi, lanes)
        .reorder(pi, pv, l)
        .vectorize(pi)
        .unroll(pv)
        .unroll(l);
    s.partial.update()
        .split(p, pv, pi, lanes)
        .reorder(pi, pv, l, within, steps, kx, ky, block)
        .vectorize(pi)
        .unroll(pv)
        .unroll(l)
        .unroll(within);

    // Divisions for each tap and block, once a call.
    s.offsets.compute_root();
    s.filled.compute_root();

    s.strip.compute_at(s.output, bands)
        .bound(ci, 0, s.channel_block)
        .bound_extent(band, 1)
        .bound_extent(p, s.line)
        .split(p, po, pi, lanes)
        .vectorize(pi);
    int update = 0;
    for (const RDom &copy : s.copies) {
        // Vectors that overlap hold the same numbers where they do.
        Stage stage = s.strip.update(update++).allow_race_conditions().vectorize(copy[0]);
        // With both remainders in one body, stride 2 becomes dense loads that are taken apart.
        stage.specialize(s.stride_x == 1);
        stage.specialize(s.stride_x == 2).unroll(copy[1]);
    }
    s.strip.update(update).unscheduled();
}

} // namespace selvage::cpu
