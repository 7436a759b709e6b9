#pragma once

#include <vector>

#include <Halide.h>

#include "schedules/stages.h"

/// Schedules of GPU targets: CUDA, and OpenCL by the same directives. Threads and blocks only exist
/// here; what is computed is that of every other target.
namespace selvage::gpu {

namespace detail {

/// Keeps what one number of the output is made of in a register. Halide does not see through all
/// fused loops that this is one number.
inline void in_register(Halide::Func sum, const Halide::LoopLevel &at) {
    sum.compute_at(at).store_in(Halide::MemoryType::Register);
    for (const Halide::Var &each : sum.args())
        sum.bound_extent(each, 1);
}

} // namespace detail

/// Any problem of any operator: one thread computes one number of the output, after the sum (or
/// maximum) that it is made of, if any. Neighbouring threads write neighbouring numbers, in
/// NHWC those of a row of pixels (of convolutions of one pixel), in NCHW those of a channel's
/// plane, so that loads and stores are whole lines of memory wherever the stride is 1.
inline void any(Halide::Func output, Halide::Func sum) {
    using namespace Halide;
    // Two warps along a line and four lines: 256 threads fill a multiprocessor with up to 32
    // registers each, and half of it with up to 64.
    constexpr int numbers = 64, lines = 4;
    const Var x("x"), y("y"), z("z"), n("n");
    const Var along("along"), across("across"), plane("plane"), number("number"), line("line");
    // Along and across: one or two loops each. Of three that are one, Halide cannot tell that a
    // number has one place in each.
    const auto order = [&](Stage stage, std::vector<Var> inner, std::vector<Var> outer) {
        std::vector<VarOrRVar> loops(inner.begin(), inner.end());
        loops.insert(loops.end(), outer.begin(), outer.end());
        loops.insert(loops.end(), {z, n});
        stage.reorder(loops);
        const auto join = [&](const std::vector<Var> &from, const Var &to) {
            if (from.size() > 1)
                stage.fuse(from[0], from[1], to);
            else
                stage.rename(from[0], to);
        };
        join(inner, along);
        join(outer, across);
        // Of a grid the first dimension is long, the others have at most 65535 blocks. Columns may
        // be many, with rows or channels even more.
        const bool columns_along = inner[0].name() == x.name() || inner[1].name() == x.name();
        const Var first = columns_along ? along : across, second = columns_along ? across : along;
        stage.fuse(z, n, plane)
            .split(along, along, number, numbers, TailStrategy::GuardWithIf)
            .split(across, across, line, lines, TailStrategy::GuardWithIf)
            .reorder(number, line, first, second, plane)
            .gpu_threads(number, line)
            .gpu_blocks(first, second, plane);
    };
    // (k, x, y, z, n), of convolutions (k, g, x, y, z, n).
    const std::vector<Var> all = output.args();
    const Expr dense_channels = output.output_buffers()[0].dim(0).stride() == 1;
    order(output.specialize(dense_channels), {all[0], all[1]}, {all.begin() + 2, all.end() - 2});
    order(output, {x, y}, {all.begin(), all.end() - 4});
    output.never_partition_all();
    if (sum.defined())
        detail::in_register(sum, {output, number});
}

/// The same for convolutions.
inline void any(ConvStages &s) {
    any(s.output, s.accumulator);
    detail::in_register(s.partial, {s.accumulator, s.sums[0]});
}

} // namespace selvage::gpu
