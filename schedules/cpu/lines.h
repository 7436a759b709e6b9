#pragma once

#include <algorithm>

#include "schedules/stages.h"

namespace selvage::cpu {

/// Lanes of the vectors that fill the strip: half vectors at most, since a row of fewer numbers is
/// copied pixel by pixel.
inline int fill_lanes(const Halide::Type &type, int lanes) {
    return type.bytes() == 1 ? 16 : std::min(lanes, 8);
}

/// Numbers of a line for which the strip's are converted together, so that the results stay in the
/// first-level cache until all rows of the strip have read them: 42 rows of floats are 35 KiB.
constexpr int line_block = 192;

/// Windows that read lines: `tile` rows x `vectors` vectors of neighbouring numbers in registers,
/// so that a weight is loaded once for `tile` multiply-adds: 4 x 2 sums + 2 weights = 10 of 16
/// registers. Most loads of the strip straddle two cache lines, so they take longer than the
/// multiply-adds.
///
/// Where the kernel's rows are known and read what is derived from the strip, they are unrolled,
/// and each is loaded once for all windows of a tile: 8 x 2 sums of 7 x 7 taps load 14 + 7 vectors
/// where they would load 56. Such a tile has 16 sums, 8 rows of one vector and a weight in 32
/// registers, and one of 4 x 1 fits in 16.
///
/// A strip serves `strip_rows` output rows of `strip_planes` planes. The planes are the inner loop
/// where it is filled, since short rows cost more to address than to copy.
inline void lines(WindowStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n");
    Var kb("kb"), kt("kt"), ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi"), yo("yo"), yi("yi");
    Var strip_y("strip_y"), row("row");
    LineStages &l = s.lines;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const int tile_numbers = lanes * vectors;
    const Expr tiles = l.block_numbers / tile_numbers;
    s.output.split(k, kb, kt, tiles * tile_numbers, guard)
        .split(kt, ko, ki, tile_numbers, guard)
        .split(ki, kv, ki, lanes, guard)
        .split(y, strip_y, row, l.strip_rows, guard)
        .split(row, yo, yi, tile, guard)
        .split(x, xo, xi, l.strip_planes, guard)
        .reorder(ki, kv, yi, ko, yo, kb, xi, strip_y, z, xo, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(yi)
        .never_partition(kb, xi, strip_y, z, xo, n);

    s.window.compute_at(s.output, ko).bound_extent(k, tile_numbers).bound_extent(y, tile);
    s.window.split(k, kv, ki, lanes).reorder(ki, kv, y).vectorize(ki).unroll(kv).unroll(y);
    s.window.update()
        .split(k, kv, ki, lanes)
        .reorder(ki, kv, y, s.taps.x, s.taps.y, s.taps.z)
        .vectorize(ki)
        .unroll(kv)
        .unroll(y);
    if (l.known_taps) {
        s.window.update().unroll(s.taps.x);
    } else {
        l.columns.compute_root();
        l.rows.compute_root();
    }

    Var q("q"), ys("ys"), yp("yp"), kz("kz"), half("half");
    const Expr strip_rows = (l.strip_rows + (tile - 1)) / tile * tile + l.reach_rows;
    if (l.derived.defined()) {
        const bool pairs = l.derived.dimensions() > l.strip.dimensions();
        l.derived.compute_at(s.output, kb)
            .hoist_storage_root()
            .bound_extent(q, l.derived_numbers)
            .bound_extent(ys, strip_rows)
            .bound(yp, 0, l.phases_y)
            .bound(kz, 0, l.kernel_z)
            .never_partition_all();
        if (pairs)
            l.derived.bound(half, 0, 2).reorder(half, q, ys).unroll(half);
        l.derived.vectorize(q, l.derived_lanes, TailStrategy::RoundUp);
    }
    l.strip.compute_at(s.output, strip_y)
        .hoist_storage_root()
        .reorder_storage(q, ys, yp, kz, x, z, n)
        .bound(q, 0, l.numbers)
        .bound_extent(ys, strip_rows + l.ahead_rows)
        .bound(yp, 0, l.phases_y)
        .bound(kz, 0, l.kernel_z)
        .bound_extent(x, l.strip_planes);
    // Where vectors of a line overlap they hold the same; those of pixels stay in their order.
    for (int update = 0; update < 6; ++update)
        l.strip.update(update).allow_race_conditions().never_partition_all();
    l.strip.update(2).reorder(l.pairs.x, x, l.pairs.y, l.pairs.z, ys, yp, kz).vectorize(l.pairs.x);
    l.strip.update(3)
        .reorder(l.pixels.x, x, l.pixels.y, l.pixels[2], l.pixels[3], ys, yp, kz)
        .vectorize(l.pixels.x);
    if (l.combined) {
        // Neighbouring rows share all but one of the rows that they read.
        Var so("so"), si("si");
        for (int update = 0; update < 2; ++update) {
            RDom &vector = update == 0 ? l.wide : l.neighbours;
            l.strip.update(update)
                .split(ys, so, si, tile, TailStrategy::RoundUp)
                .reorder(vector.x, si, vector.y, x, so, yp, kz)
                .vectorize(vector.x)
                .unroll(si);
        }
        l.strip.update(4).reorder(l.edges.x, l.edges.y, l.edges.z, x, ys, yp, kz);
    } else {
        for (int update = 0; update < 2; ++update) {
            RDom &vector = update == 0 ? l.wide : l.neighbours;
            l.strip.update(update)
                .reorder(vector.x, x, vector.y, ys, yp, kz)
                .vectorize(vector.x)
                .specialize(l.strip_planes == 1);
        }
        l.strip.update(4).reorder(x, ys, l.edges.x, l.edges.y, l.edges.z, yp, kz);
    }
    l.strip.update(5)
        .reorder(l.border_rows.x, l.border_rows.y, x, ys, yp, kz)
        .vectorize(l.border_rows.x);
}

} // namespace selvage::cpu
