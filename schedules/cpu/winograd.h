#pragma once

#include <algorithm>

#include "schedules/cpu/direct.h"
#include "schedules/winograd_stages.h"

namespace selvage::cpu {

/// Winograd convolution (runtime/selvage/core/winograd.h) by bands: some rows of tiles, and of
/// these some columns.
///
/// The innermost loops are those of a matrix product: for each of a tile's products, `tile` tiles x
/// `vectors` vectors of output channels stay in registers while the channels of the input are
/// summed; registers count as in direct(). With 32 registers 14 x 2 loads less of the transformed
/// weights than 7 x 4 keeps of the tiles, so it is for small weights and few outputs, 7 x 4 for
/// weights that come from memory (512 to 512 channels on 28x28: 11.7 against 13.5 ms) and for 49
/// tiles, which it fills.
///
/// Around that, from the inside out:
///  - sums of a band for one block of output channels are transformed back tile by tile, and what
///    belongs to the output is stored;
///  - the transformed input of a band serves all blocks of output channels;
///  - the strip holds the padded input of a band for all groups, whose channels lie together:
///  groups
///    of 8 channels would read half a cache line each;
///  - what stays allocated through a band is allocated outside of it, in the order in which scratch
///    memory, a stack, can give it back.
inline void winograd(WinogradStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var k("k"), g("g"), z("z"), n("n"), l("l"), li("li"), ci("ci"), cv("cv"), cb("cb");
    Var xs("xs"), ys("ys"), p("p"), po("po"), pi("pi"), ty("ty"), u("u"), v("v"), i("i"), j("j");
    Var kb("kb"), group("group"), ko("ko"), ki("ki"), kv("kv");
    const int m = s.output_tile, block = lanes * vectors;
    const int channel_lanes = std::min(lanes, s.channel_block);
    const RVar column = s.stored[0], row = s.stored[1], tx = s.stored[2], tile_row = s.stored[3],
               across = s.stored[4], band = s.stored[5];

    // A name of its own, since the output's first definition, which is empty, has a loop g too.
    s.output.update()
        .rename(g, group)
        .split(k, ko, ki, block, TailStrategy::GuardWithIf)
        .split(ki, kv, ki, lanes, TailStrategy::GuardWithIf)
        .reorder(ki, kv, column, row, tx, tile_row, ko, group, across, band, z, n)
        .vectorize(ki)
        .unroll(kv)
        .never_partition_all();

    for (Func f : {s.full_output, s.half_output})
        f.compute_at(s.output, tx).bound(l, 0, block).bound_extent(kb, 1);
    s.full_output.split(l, l, li, lanes)
        .reorder(li, j, i, l)
        .bound(i, 0, m)
        .bound(j, 0, m)
        .vectorize(li)
        .unroll(j);
    s.half_output.split(l, l, li, lanes)
        .reorder(li, i, u, l)
        .bound(u, 0, s.products)
        .bound(i, 0, m)
        .vectorize(li)
        .unroll(i);

    s.summed.compute_at(s.output, ko)
        .bound(l, 0, block)
        .bound_extent(kb, 1)
        .bound(u, 0, s.products)
        .bound(v, 0, s.products)
        .bound(p, 0, s.places)
        .split(l, l, li, lanes)
        .split(p, po, pi, tile)
        .reorder(li, l, pi, po, u, v)
        .vectorize(li)
        .unroll(l)
        .unroll(pi);
    s.sums.compute_at(s.summed, po)
        .bound(l, 0, block)
        .bound_extent(p, tile)
        .split(l, l, li, lanes)
        .reorder(li, l, p)
        .vectorize(li)
        .unroll(l)
        .unroll(p);
    s.sums.update()
        .split(l, l, li, lanes)
        .reorder(li, l, p, s.channels[0], s.channels[1], s.channels[2])
        .vectorize(li)
        .unroll(l)
        .unroll(p)
        .unroll(s.channels[0]);

    s.full_input.compute_at(s.output, group)
        .hoist_storage(s.output, n)
        .bound(ci, 0, s.channel_block)
        .bound(u, 0, s.products)
        .bound(v, 0, s.products)
        .bound(p, 0, s.places);
    s.full_input.update(0)
        .split(ci, ci, cv, channel_lanes)
        .reorder(cv, ci, u, s.transformed[0], s.transformed[1], cb, v)
        .vectorize(cv)
        .unroll(ci)
        .unroll(u);
    s.full_input.update(1)
        .split(ci, ci, cv, channel_lanes)
        .reorder(cv, ci, s.filling, cb, u, v)
        .vectorize(cv)
        .unroll(ci);
    s.half_input.compute_at(s.output, group)
        .hoist_storage(s.output, z)
        .bound(ci, 0, s.channel_block)
        .bound(xs, 0, s.strip_columns)
        .bound(ty, 0, s.band_tiles)
        .bound(v, 0, s.products)
        .split(ci, ci, cv, channel_lanes)
        .reorder(cv, ci, v, xs, cb, ty)
        .vectorize(cv)
        .unroll(ci)
        .unroll(v);
    s.strip.compute_at(s.output, across)
        .bound(ci, 0, s.channel_block)
        .bound(xs, 0, s.strip_columns)
        .bound(ys, 0, s.strip_rows)
        .split(ci, ci, cv, channel_lanes)
        .reorder(cv, ci, cb, g, xs, ys)
        .vectorize(cv)
        .unroll(ci)
        .never_partition(ci, g, xs, ys);
}

} // namespace selvage::cpu
