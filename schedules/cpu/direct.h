#pragma once

#include "schedules/stages.h"

namespace selvage::cpu {

/// Channels that the inner loop takes at once. Its counters run on ports that multiply-adds need:
/// one channel at a time spends 3 of them on 28 multiply-adds, four spend 3 on 112.
constexpr int channel_step = 4;

/// Register-tiled direct convolution.
///
/// The innermost loops keep `tile` pixels x `vectors` vectors of output channels in registers and
/// run over the channels of one block: a load of each weight vector, a broadcast of each pixel, and
/// tile * vectors multiply-adds. With 32 registers of 16 floats (AVX-512), 14 x 2 sums + 2 weights
/// + 1 broadcast = 31. With 16 registers (AVX2, SSE), 6 x 2 + 2 + 1 = 15. NEON has 32 of 4 and
/// multiplies by a lane: 8 x 3 sums + 3 weights + 2 pixels of 4 channels = 29, or 12 x 2 + 2 + 3
/// = 29.
///
/// Around that, from the inside out:
///  - a partial sum goes through the taps of a group of channel blocks, whose weights stay in the
///    L1 cache while all tiles of `block_rows` rows use them;
///  - the accumulator holds `block_rows` rows of one block of output channels;
///  - the strip holds the padded input of `strip_rows` output rows, re-ordered so that all loads of
///    the inner loop lie at constant distances; the border is applied while it is filled, once for
///    all output channels, so that no other loop knows of it.
inline void direct(ConvStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n"), l("l"), kb("kb");
    Var ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi"), li("li");
    Var strip_y("strip_y"), strip_row("strip_row"), block_y("block_y"), row("row");
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const RVar within = s.taps[0], steps = s.taps[1], kx = s.taps[2], ky = s.taps[3],
               block = s.taps[4];

    s.output.split(k, ko, ki, lanes * vectors, guard)
        .split(ki, kv, ki, lanes, guard)
        .split(x, xo, xi, tile, guard)
        .split(y, strip_y, strip_row, s.strip_rows, guard)
        .split(strip_row, block_y, row, s.block_rows, guard)
        .reorder(ki, kv, xi, xo, row, block_y, ko, strip_y, g, z, n)
        .vectorize(ki)
        .unroll(kv)
        .never_partition(row, block_y, strip_y, g, z, n);

    s.accumulator.compute_at(s.output, block_y)
        .align_bounds(x, tile)
        .bound(l, 0, lanes * vectors)
        .bound_extent(kb, 1)
        .split(l, l, li, lanes)
        .reorder(li, l, x, y)
        .vectorize(li)
        .unroll(l);
    s.accumulator.update()
        .split(l, l, li, lanes)
        .split(x, xo, xi, tile)
        .reorder(li, l, xi, xo, y, s.sums)
        .vectorize(li)
        .unroll(l)
        .unroll(xi);

    s.partial.compute_at(s.accumulator, xo)
        .bound_extent(x, tile)
        .bound(l, 0, lanes * vectors)
        .split(l, l, li, lanes)
        .reorder(li, l, x)
        .vectorize(li)
        .unroll(l)
        .unroll(x);
    s.partial.update()
        .split(l, l, li, lanes)
        .reorder(li, l, x, within, steps, kx, ky, block)
        .vectorize(li)
        .unroll(l)
        .unroll(x)
        .unroll(within);

    // Two divisions for each tap, once a call.
    s.columns.compute_root();

    Var xs("xs"), xp("xp"), ys("ys"), yp("yp"), cbs("cb"), kz("kz"), cis("ci"), civ("civ");
    s.strip.compute_at(s.output, strip_y)
        .bound(cis, 0, s.channel_block)
        .reorder_storage(cis, xs, xp, ys, yp, cbs, kz, g, z, n)
        .split(cis, cis, civ, std::min(lanes, s.channel_block))
        .reorder(civ, cis, xs, xp, cbs, ys, yp, kz, g, z, n)
        .vectorize(civ)
        .unroll(cis)
        .never_partition(cis, xp, ys, yp, kz, g, z, n);
}

} // namespace selvage::cpu
