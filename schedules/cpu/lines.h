#pragma once

#include <algorithm>

#include "schedules/stages.h"

namespace selvage::cpu {

/// Lanes of the vectors that fill the strip: half vectors at most, since a row of fewer numbers is
/// copied pixel by pixel.
inline int fill_lanes(const Halide::Type &type, int lanes) {
    return type.bytes() == 1 ? 16 : std::min(lanes, 8);
}

/// Windows that read lines: `tile` rows x `vectors` vectors of neighbouring numbers in registers,
/// so that a weight is loaded once for `tile` multiply-adds: 4 x 2 sums + 2 weights = 10 of 16
/// registers. Most loads of the strip straddle two cache lines, so they take longer than the
/// multiply-adds.
///
/// A strip serves `strip_rows` output rows of `strip_planes` planes. The planes are the inner loop
/// where it is filled, since short rows cost more to address than to copy.
inline void lines(WindowStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), x("x"), y("y"), z("z"), n("n");
    Var ko("ko"), ki("ki"), kv("kv"), xo("xo"), xi("xi"), yo("yo"), yi("yi");
    Var strip_y("strip_y"), row("row");
    LineStages &l = s.lines;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    s.output.split(k, ko, ki, lanes * vectors, guard)
        .split(ki, kv, ki, lanes, guard)
        .split(y, strip_y, row, l.strip_rows, guard)
        .split(row, yo, yi, tile, guard)
        .split(x, xo, xi, l.strip_planes, guard)
        .reorder(ki, kv, yi, ko, yo, xi, strip_y, z, xo, n)
        .vectorize(ki)
        .unroll(kv)
        .unroll(yi)
        .never_partition(yo, xi, strip_y, z, xo, n);

    s.window.compute_at(s.output, ko).bound_extent(k, lanes * vectors).bound_extent(y, tile);
    s.window.split(k, kv, ki, lanes).reorder(ki, kv, y).vectorize(ki).unroll(kv).unroll(y);
    s.window.update()
        .split(k, kv, ki, lanes)
        .reorder(ki, kv, y, s.taps.x, s.taps.y, s.taps.z)
        .vectorize(ki)
        .unroll(kv)
        .unroll(y);
    l.columns.compute_root();
    l.rows.compute_root();

    Var q("q"), ys("ys"), yp("yp"), kz("kz");
    l.strip.compute_at(s.output, strip_y)
        .hoist_storage_root()
        .reorder_storage(q, ys, yp, kz, x, z, n)
        .bound(q, 0, l.numbers)
        .bound_extent(ys, (l.strip_rows + (tile - 1)) / tile * tile + l.reach_rows)
        .bound(yp, 0, l.phases_y)
        .bound(kz, 0, l.kernel_z)
        .bound_extent(x, l.strip_planes);
    // Where vectors of a line overlap they hold the same; those of pixels stay in their order.
    for (int update = 0; update < 5; ++update)
        l.strip.update(update).allow_race_conditions().never_partition_all();
    l.strip.update(0)
        .reorder(l.neighbours.x, x, l.neighbours.y, ys, yp, kz)
        .vectorize(l.neighbours.x);
    l.strip.update(1).reorder(l.pairs.x, x, l.pairs.y, l.pairs.z, ys, yp, kz).vectorize(l.pairs.x);
    l.strip.update(2)
        .reorder(l.pixels.x, x, l.pixels.y, l.pixels[2], l.pixels[3], ys, yp, kz)
        .vectorize(l.pixels.x);
    l.strip.update(3).reorder(x, ys, l.edges.x, l.edges.y, l.edges.z, yp, kz);
    l.strip.update(4)
        .reorder(l.border_rows.x, l.border_rows.y, x, ys, yp, kz)
        .vectorize(l.border_rows.x);
}

} // namespace selvage::cpu
