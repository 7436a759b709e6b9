#pragma once

#include "schedules/stages.h"

namespace selvage::cpu {

/// For each turn of a loop over the output, computes the windows of `tile` pixels x `vectors`
/// vectors in registers. Returns the loops over the taps, which run around them.
inline Halide::Stage in_registers(WindowStages &s, const Halide::Var &loop, int lanes, int tile,
                                  int vectors) {
    using namespace Halide;
    Var k("k"), x("x"), ki("ki"), kv("kv");
    s.window.compute_at(s.output, loop).bound_extent(x, tile).bound_extent(k, lanes * vectors);
    s.window.split(k, kv, ki, lanes).reorder(ki, kv, x).vectorize(ki).unroll(kv).unroll(x);
    return s.window.update()
        .split(k, kv, ki, lanes)
        .reorder(ki, kv, x, s.taps.x, s.taps.y, s.taps.z)
        .vectorize(ki)
        .unroll(kv)
        .unroll(x);
}

/// The kernel and stride of a schedule of one size, and the widest map that has loops of its own.
struct RowsOf {
    int kernel, stride;
    int widest_map; ///< outputs of a row; 0: none
};

/// Depthwise convolutions and pools with a kernel of known size: `tile` neighbouring pixels x
/// `vectors` vectors of channels are kept in registers, and the columns of a kernel row are
/// unrolled, so that windows that overlap share their loads: with 32 registers of 16 floats
/// (AVX-512), 7 x 2 sums + 2 weights + 14 pixels that wait for the next column = 30; with 16
/// registers (AVX2, SSE), 7 x 1 + 1 + 7 = 15. NEON has 32 registers of 4: a loop over the rows of a
/// kernel is as long as the chain of its columns' additions, 4 cycles each, so two pipes want 8
/// sums and four want 16; 14 x 1 + 1 + 14 = 29. These kernels wait for memory, so the input is read
/// in place: the border's test of the columns is left to Halide's loop partitioning (a body without
/// tests for the middle of a row), that of the rows to the bounds of the tap loop.
///
/// Needs at least lanes * vectors channels; the last vectors of a pixel overlap their neighbours. A
/// tile that sticks out at the end of a row reads the border; where there is none (`border` false),
/// the last tile overlaps its neighbour too, which needs at least `tile` columns.
///
/// On small maps the tests of the first and the last tile of each row show, and the rows that a
/// window reads do not stay in the first-level cache with all their channels. So maps of `tile`
/// outputs, and of 2, 4, ... times as many, with SAME pads (kernel - stride in all, split evenly or
/// by one) have loops of their own: there all that is tested is known, and a block of channels goes
/// through the whole map (AVX-512, 3x3 on 14x14: 0.86 of the time, 5x5 at stride 2 to 7x7: 0.65).
inline void rows(WindowStages &s, int lanes, int tile, int vectors, bool border, RowsOf of) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n");
    Var ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi"), one("one");
    s.output.split(k, ko, ki, lanes * vectors, TailStrategy::ShiftInwards)
        .split(ki, kv, ki, lanes)
        .split(x, xo, xi, tile, border ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards)
        .split(xi, one, xi, tile) // A loop of one turn is the innermost one of both orders.
        .reorder(ki, kv, xi, one, ko, xo, y, z, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(xi)
        .never_partition(one, ko, y, z, n);
    for (int outputs = tile; outputs <= of.widest_map; outputs *= 2)
        for (int left = (of.kernel - of.stride) / 2; left <= (of.kernel - 1) / 2; ++left)
            s.output
                .specialize(s.output.output_buffer().dim(1).extent() == outputs &&
                            s.width == outputs * of.stride && s.left == left)
                .reorder(ki, kv, xi, one, xo, y, ko, z, n);
    Stage taps = in_registers(s, one, lanes, tile, vectors).unroll(s.taps.x);
    // Two turns are no loop: 0.9 of the time of 2x2 pools.
    if (of.kernel == 2)
        taps.unroll(s.taps.y);
    // In the loops it would be read anew: for all that a compiler knows, their stores change it.
    s.planes.compute_at(s.output, z);
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
    in_registers(s, ko, lanes, 1, vectors);
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
