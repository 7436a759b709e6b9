#pragma once

#include "schedules/stages.h"

namespace selvage::cpu {

/// For each block of channels of the output, computes the windows of `tile` pixels x `vectors`
/// vectors in registers. Returns the loops over the taps, which run around them.
inline Halide::Stage in_registers(WindowStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), x("x"), ko("ko"), ki("ki"), kv("kv");
    s.window.compute_at(s.output, ko).bound_extent(x, tile).bound_extent(k, lanes * vectors);
    s.window.split(k, kv, ki, lanes).reorder(ki, kv, x).vectorize(ki).unroll(kv).unroll(x);
    return s.window.update()
        .split(k, kv, ki, lanes)
        .reorder(ki, kv, x, s.taps.x, s.taps.y, s.taps.z)
        .vectorize(ki)
        .unroll(kv)
        .unroll(x);
}

/// Depthwise convolutions and pools with a kernel of known size: `tile` neighbouring pixels x
/// `vectors` vectors of channels are kept in registers, and the columns of a kernel row are
/// unrolled, so that windows that overlap share their loads. These kernels wait for memory, so the
/// input is read in place: the border's test of the columns is left to Halide's loop partitioning
/// (a body without tests for the middle of a row), that of the rows to the bounds of the tap loop.
///
/// Needs at least lanes * vectors channels; the last vectors of a pixel overlap their neighbours. A
/// tile that sticks out at the end of a row reads the border; where there is none (`border` false),
/// the last tile overlaps its neighbour too, which needs at least `tile` columns.
inline void rows(WindowStages &s, int lanes, int tile, int vectors, bool border) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n");
    Var ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi");
    s.output.split(k, ko, ki, lanes * vectors, TailStrategy::ShiftInwards)
        .split(ki, kv, ki, lanes)
        .split(x, xo, xi, tile, border ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards)
        .reorder(ki, kv, xi, ko, xo, y, z, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(xi)
        .never_partition(ko, y, z, n);
    in_registers(s, lanes, tile, vectors).unroll(s.taps.x);
    // In the loops it would be read anew: for all that a compiler knows, their stores change it.
    s.planes.compute_at(s.output, y);
}

/// The same for kernels, strides and dilations of any size, and for copies: one pixel x `vectors`
/// vectors, and only the taps that lie inside the input.
inline void taps(WindowStages &s, int lanes, int vectors) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n"), ko("ko"), ki("ki"), kv("kv");
    s.output.split(k, ko, ki, lanes * vectors, TailStrategy::ShiftInwards)
        .split(ki, kv, ki, lanes)
        .reorder(ki, kv, ko, x, y, z, n)
        .vectorize(ki)
        .unroll(kv)
        .never_partition_all();
    if (!s.window.defined())
        return;
    in_registers(s, lanes, 1, vectors);
    // Saves a loop around every tap where there is no depth: 10 % of 3x3 taps.
    s.output.specialize(s.taps.z.extent() == 1);
}

/// Any window problem, whatever its channels and layout: `lanes` neighbouring pixels of one channel
/// form a vector that is gathered lane by lane, and every tap is tested for the border.
inline void any(WindowStages &s, int lanes) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n"), xo("xo"), xi("xi");
    s.output.split(x, xo, xi, lanes, TailStrategy::GuardWithIf)
        .reorder(xi, k, xo, y, z, n)
        .vectorize(xi)
        .never_partition(k, y, z, n);
    if (!s.window.defined())
        return;
    s.window.compute_at(s.output, k).bound_extent(x, lanes).vectorize(x, lanes);
    s.window.update().vectorize(x, lanes);
}

} // namespace selvage::cpu
