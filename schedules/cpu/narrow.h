#pragma once

#include "schedules/narrow_stages.h"

namespace selvage::cpu {

/// Convolution of few channels in a group: a whole window in one loop.
///
/// `tile` pixels x `vectors` vectors of output channels stay in registers over all taps, from the
/// bias to the activation, since the weights of all taps fit into the L1 cache. With 32 registers
/// of 16 floats (AVX-512), 5 x 4 sums + 4 weights + 1 broadcast = 25, and 12 x 2 + 2 + 1 = 27 for
/// 32 output channels. With 16 registers (AVX2, SSE), 6 x 2 + 2 + 1 = 15. Groups of 8 outputs take
/// vectors of 8 lanes: 28 x 1 + 1 weight, with pixels as operands of the multiply-adds; half of
/// the peak is the limit then.
///
/// Neighbouring outputs lie stride * channels apart in the strip, so these are constants of the
/// kernel. No channel is filled up: 3 channels are summed as 3.
inline void narrow(NarrowStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n"), l("l"), kb("kb");
    Var ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi"), li("li"), strip_y("strip_y"), row("row");
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const RVar channel = s.taps[0], kx = s.taps[1], ky = s.taps[2], kz = s.taps[3];

    s.output.split(k, ko, ki, lanes * vectors, guard)
        .split(ki, kv, ki, lanes, guard)
        .split(x, xo, xi, tile, guard)
        .split(y, strip_y, row, s.strip_rows, guard)
        .reorder(ki, kv, xi, xo, ko, row, strip_y, g, z, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(xi)
        .never_partition(row, strip_y, g, z, n);

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
        .reorder(li, l, x, channel, kx, ky, kz)
        .vectorize(li)
        .unroll(l)
        .unroll(x)
        .unroll(channel);

    Var q("q"), ys("ys"), kzs("kz");
    RVar io("io"), ii("ii");
    s.strip.compute_at(s.output, strip_y)
        .bound(q, 0, s.line)
        .bound_extent(ys, s.rows)
        .bound(kzs, 0, s.kernel_z)
        .vectorize(q, lanes);
    // No two numbers share a place.
    Stage inside = s.strip.update(0).allow_race_conditions();
    if (s.whole_rows)
        inside.split(s.inside.x, io, ii, lanes, guard).reorder(ii, io, ys, kzs).vectorize(ii);
    else
        inside.reorder(s.inside.x, s.inside.y, ys, kzs).vectorize(s.inside.x);
    inside.never_partition(ys, kzs);
    s.strip.update(1).reorder(s.edges.x, s.edges.y, ys, kzs).never_partition_all();
}

} // namespace selvage::cpu
