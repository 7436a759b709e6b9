#pragma once

#include <vector>

#include "schedules/gpu/any.h"
#include "schedules/tiled_stages.h"

namespace selvage::gpu {

namespace detail {

/// Has the threads of a block copy one box of a stage to shared memory: `extents` of each of its
/// dimensions, innermost first, in vectors of `lanes`.
inline void stage(Halide::Func f, Halide::Func sum, const Halide::RVar &at,
                  const std::vector<int> &extents, int lanes, const Tile &tile) {
    using namespace Halide;
    const std::vector<Var> dims = f.args();
    const Var vector("vector"), thread("thread"), row("row"), turn("turn"), all("all");
    // What lies behind it then begins at 16 bytes, too, and is loaded by vectors.
    f.compute_at(sum, at).store_in(MemoryType::GPUShared).align_storage(dims[0], 4);
    for (std::size_t d = 0; d < dims.size(); ++d)
        f.bound_extent(dims[d], extents[d]);
    Var fused = dims[0];
    if (lanes > 1) {
        f.split(dims[0], dims[0], vector, lanes).vectorize(vector);
    }
    for (std::size_t d = 1; d < dims.size(); ++d)
        f.fuse(fused, dims[d], fused);
    const int threads = tile.lane_threads() * tile.rows;
    f.split(fused, turn, fused, threads, TailStrategy::GuardWithIf)
        .split(fused, row, thread, tile.lane_threads());
    if (lanes > 1)
        f.reorder(vector, turn, thread, row);
    else
        f.reorder(turn, thread, row);
    if (lanes > 1)
        f.unroll(turn);
    f.gpu_threads(thread, row).never_partition_all();
}

} // namespace detail

/// A thread sums 2 vectors of 4 channels x 8 pixels in 64 registers. Of 4 input channels it loads 2
/// * 4 vectors of weights and 8 of pixels from shared memory, so 16 loads are for 256 products;
/// taps of a row at stride 1 share pixels, 34 loads for 768.
constexpr int vectors = 2;

/// Of a split convolution, the pieces in which a block of channels goes through shared memory. A
/// sum is written and read again once for all of them: for 288 products where 4 pieces have 8
/// channels of 3x3 taps.
constexpr int pieces = 4;

/// Convolutions: a block of threads computes a tile. Piece by piece, the threads copy weights and a
/// strip of the input to shared memory, where the border gets its value, and then sum the products
/// of a piece in registers, with no test in this loop. The whole needs up to 168 registers a
/// thread, so that a multiprocessor (65536) has 3 blocks of 128 threads at a time, and copies of
/// one go on while others sum.
inline void tiled(TiledStages &s) {
    using namespace Halide;
    const Tile &tile = s.tile;
    const Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n");
    const Var lane("lane"), vector("vector"), pixel("pixel"), kb("kb"), xb("xb"), yb("yb"), q("q");
    const Var thread("thread"), row("row"), pixels("pixels"), channels("channels"),
        planes("planes");
    Func computed = tile.split ? s.partial : s.output;
    if (tile.split) {
        // Tiles begin at the first output, as those of the output do, whose region Halide knows
        // less of.
        const OutputImageParam result = s.output.output_buffers()[0];
        const std::vector<Var> all = s.output.args();
        for (int d = 0; d < result.dimensions(); ++d)
            s.partial.bound(all[d], 0, result.dim(d).extent());
        s.partial.bound(q, 0, s.slices);
        // A grid has three dimensions; planes of volumes are computed one after the other.
        s.partial.compute_root().reorder(q, n, z);
        any(s.output, s.total);
    }
    computed.split(k, kb, k, tile.lane_block, TailStrategy::GuardWithIf)
        .split(k, vector, k, tile.lane_block / tile.vectors)
        .split(k, thread, lane, tile.lanes)
        .split(x, xb, pixel, tile.columns, TailStrategy::GuardWithIf)
        .split(y, yb, row, tile.rows, TailStrategy::GuardWithIf)
        .reorder(lane, vector, pixel, thread, row, xb, yb, kb, g)
        .fuse(xb, yb, pixels)
        .fuse(kb, g, channels)
        .fuse(tile.split ? q : z, n, planes)
        .unroll(lane)
        .unroll(vector)
        .unroll(pixel)
        .gpu_threads(thread, row)
        .gpu_blocks(pixels, channels, planes)
        .never_partition_all();

    s.sum.compute_at(computed, pixels)
        .store_in(MemoryType::Register)
        .bound_extent(lane, tile.lanes)
        .bound_extent(vector, tile.vectors)
        .bound_extent(pixel, tile.columns)
        .never_partition_all();
    for (const Var &of_block : {kb, g, xb, yb, z, n, q})
        s.sum.bound_extent(of_block, 1);
    s.sum.update(0)
        .allow_race_conditions()
        .reorder({lane, vector, pixel, s.first.x, s.first.y})
        .vectorize(lane)
        .unroll(vector)
        .unroll(pixel)
        .gpu_threads(s.first.x, s.first.y);
    const RVar step = s.taps[0], steps = s.taps[1], piece = s.taps[2], kx = s.taps[3];
    const RVar ky = s.taps[4], block = s.taps[5], plane = s.taps[6];
    const RVar across = s.taps[7], down = s.taps[8];
    Stage products = s.sum.update(1);
    std::vector<VarOrRVar> inner = {lane, vector, pixel, step, steps}, outer = {piece, block};
    (tile.kernel_x > 1 ? inner : outer).push_back(kx);
    (tile.kernel_y > 1 ? inner : outer).push_back(ky);
    inner.insert(inner.end(), {across, down});
    inner.insert(inner.end(), outer.begin(), outer.end());
    inner.push_back(plane);
    products.allow_race_conditions().reorder(inner);
    // Neighbours share most of what they read, which one load then serves, where their stride is 1;
    // with more between them this would take too many registers.
    if (tile.kernel_x > 1 && tile.stride == 1)
        products.reorder(step, kx, steps).unroll(kx);
    else if (tile.channels > tile.lanes)
        products.unroll(steps, 2);
    products.vectorize(lane)
        .unroll(vector)
        .unroll(pixel)
        .unroll(step)
        .gpu_threads(across, down)
        .never_partition_all();

    const auto places = [&](int outputs, int kernel) {
        const int stride = std::max(tile.stride, 1);
        return std::vector<int>{outputs + (kernel - 1) / stride, std::min(stride, kernel)};
    };
    const std::vector<int> xs = places(tile.columns, tile.kernel_x),
                           ys = places(tile.rows, tile.kernel_y);
    const RVar tap = tile.kernel_x == 1 ? kx : tile.kernel_y == 1 ? ky : plane;
    detail::stage(s.columns, s.sum, tap, {xs[0], xs[1]}, 1, tile);
    detail::stage(s.lines, s.sum, tap, {ys[0], ys[1], 1, 1}, 1, tile);
    detail::stage(s.strip, s.sum, piece, {tile.channels, xs[0], xs[1], ys[0], ys[1], 1, 1, 1, 1, 1},
                  1, tile);
    detail::stage(s.weights.in(s.sum), s.sum, piece,
                  {tile.lane_block, tile.channels, tile.kernel_x, tile.kernel_y, 1, 1, 1},
                  tile.lanes, tile);
}

} // namespace selvage::gpu
