#pragma once

#include "schedules/pointwise_stages.h"

namespace selvage::cpu {

/// Matrix product of pixels and weights in register tiles.
///
/// `tile` pixels x `vectors` vectors of output channels stay in registers over all input channels,
/// from the bias to the activation: a load of each weight vector, a broadcast of each pixel, and
/// tile * vectors multiply-adds. With 32 registers of 16 floats (AVX-512), 5 x 4 sums + 4 weights +
/// 1 broadcast = 25 leave some for loads ahead, and take 9 loads for 20 multiply-adds. 14 x 2 + 2 +
/// 1 = 31 leave none, so that sums are moved from register to register. 4 x 6 + 6 + 1 = 31 is for
/// 96 output channels, 8 x 3 + 3 + 1 = 28 for 48, 12 x 2 + 2 + 1 = 27 for 32. With 16 registers
/// (AVX2, SSE), 6 x 2 + 2 + 1 = 15 or 4 x 3 + 3 + 1 = 16.
///
/// The panel, `strip_tiles` tiles of pixels, is a copy in blocks of channels: run-time distances
/// between pixels would take an address register each, and pixels 4 KiB apart would compete for the
/// same lines of a cache. It stays in the L1 cache while the weights of one tile of output channels
/// after the other pass by.
inline void pointwise(PointwiseStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n"), l("l"), kb("kb"), ci("ci"), cb("cb");
    Var ko("ko"), ki("ki"), kv("kv"), strip("strip"), xo("xo"), xi("xi"), li("li");
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const RVar within = s.taps.x, steps = s.taps.y, block = s.taps.z;
    const int copy_lanes = std::min(lanes, s.channel_block);

    s.output.split(k, ko, ki, lanes * vectors, guard)
        .split(ki, kv, ki, lanes, guard)
        .split(x, xo, xi, tile, guard)
        .split(xo, strip, xo, s.strip_tiles, guard)
        .reorder(ki, kv, xi, xo, ko, strip, g, y, z, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(xi)
        .never_partition(strip, g, y, z, n);

    s.sum.compute_at(s.output, xo)
        .bound_extent(x, tile)
        .bound(l, 0, lanes * vectors)
        .bound_extent(kb, 1)
        .split(l, l, li, lanes)
        .reorder(li, l, x)
        .vectorize(li)
        .unroll(l)
        .unroll(x);
    s.sum.update()
        .split(l, l, li, lanes)
        .reorder(li, l, x, within, steps, block)
        .vectorize(li)
        .unroll(l)
        .unroll(x)
        .unroll(within);

    RVar co("co"), cv("cv");
    s.panel.compute_at(s.output, strip)
        .bound(ci, 0, s.channel_block)
        .bound_extent(x, s.strip_tiles * tile)
        .reorder_storage(ci, x, cb, g, y, z, n)
        .vectorize(ci, copy_lanes)
        .reorder(ci, x, cb);
    s.panel.update()
        .split(s.copy, co, cv, copy_lanes)
        .reorder(cv, co, x, cb)
        .vectorize(cv)
        .never_partition_all();
}

} // namespace selvage::cpu
