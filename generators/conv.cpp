#include "generators/conv.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

ConvStages conv(const ConvInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), x("x"), y("y"), z("z"), n("n"), q("q"), t("t");
    const Var ci("ci"), xs("xs"), xp("xp"), ys("ys"), yp("yp"), cb("cb"), kz("kz");
    ConvStages s{};
    s.channel_block = in.channel_block;
    s.strip_rows = positive(in.strip_rows);
    s.block_rows = positive(in.block_rows);
    const Expr group = positive(in.channel_blocks);
    // The blocks of all channels, for each plane of the kernel. A promise that Halide simplifies
    // becomes impure, and a condition that is impure stays in the innermost loop, behind the loads
    // of staged pixels.
    const Expr whole_blocks = (in.channels + in.channel_block - 1) / in.channel_block;
    const Expr plane_blocks = positive(in.staged ? simplify(whole_blocks) : whole_blocks);
    const Expr blocks = plane_blocks * in.kernel_z;
    const Expr stride_x = positive(in.stride_x), stride_y = positive(in.stride_y);
    const Expr dilation_x = positive(in.dilation_x), dilation_y = positive(in.dilation_y);

    // Neighbouring outputs read positions `stride` apart. Sorting the positions of a row by their
    // remainder (xp) makes those neighbours in the strip (xs), so one kernel serves every stride
    // with loads at constant distances, and remainders that no tap has are never fetched. Channels
    // past the last hold 0 and meet weights of 0.
    s.padded = in.border
                   ? exterior(in.input, in.value, {{2, in.width}, {3, in.height}, {4, in.depth}})
                   : in.input;
    s.strip = Func("strip");
    const Expr channel = cb * in.channel_block + ci;
    const Expr column = in.border ? in.source_x(xs, xp) : xs * stride_x + xp - in.left;
    const Expr line = in.border ? in.source_y(ys, yp) : ys * stride_y + yp - in.top;
    const Expr source_z = in.source_z(kz, z);
    const Expr plane = in.border ? source_z : unsafe_promise_clamped(source_z, 0, in.depth - 1);
    s.strip(ci, xs, xp, ys, yp, cb, kz, g, z, n) =
        select(channel < in.channels,
               s.padded(min(channel, in.channels - 1), g, column, line, plane, n), 0.f);

    // The last block is summed as far as it has channels, in steps of channel_step.
    const int step = in.channel_step;
    s.taps =
        RDom(0, step, 0, in.channel_block / step, 0, in.kernel_x, 0, in.kernel_y, 0, group, "taps");
    const RVar within = s.taps[0], steps = s.taps[1], kx = s.taps[2], ky = s.taps[3];
    const Expr block = q * group + s.taps[4], tap_channel = steps * step + within;
    s.taps.where(block < blocks);
    s.taps.where((block % plane_blocks) * in.channel_block + steps * step < in.channels);
    const Expr row = y * stride_y + ky * dilation_y - in.top;
    s.taps.where(row >= in.rows_low && row < in.rows_high);
    const Expr reach_x = (in.kernel_x - 1) * dilation_x, reach_y = (in.kernel_y - 1) * dilation_y;
    const Expr phases_x = min(stride_x, reach_x + 1), phases_y = min(stride_y, reach_y + 1);
    s.columns = Func("columns");
    s.columns(t) = {(t * dilation_x) / stride_x, (t * dilation_x) % stride_x};
    // What the multiply-adds read, by tap.
    const Var i("i"), sb("sb"), tx("tx"), ty("ty"), b("b");
    const Expr place = clamp(s.columns(tx)[0], 0, reach_x / stride_x);
    const Expr phase = clamp(s.columns(tx)[1], 0, phases_x - 1);
    const Expr tap_y = ty * dilation_y;
    s.pixels = Func("pixels");
    s.pixels(i, x, sb, tx, ty, b, g, y, z, n) = s.strip(
        sb * step + i, x + place, phase, y + tap_y / stride_y, min(tap_y % stride_y, phases_y - 1),
        b % plane_blocks, clamp(b / plane_blocks, 0, in.kernel_z - 1), g, z, n);
    s.partial = Func("partial");
    s.partial(l, kb, g, x, y, z, n, q) = 0.f;
    s.partial(l, kb, g, x, y, z, n, q) += s.pixels(within, x, steps, kx, ky, block, g, y, z, n) *
                                          in.weights(l, tap_channel, kx, ky, block, kb, g);

    s.sums = RDom(0, (blocks + group - 1) / group, "sums");
    s.accumulator = Func("accumulator");
    s.accumulator(l, kb, g, x, y, z, n) = in.bias(l, kb, g);
    s.accumulator(l, kb, g, x, y, z, n) += s.partial(l, kb, g, x, y, z, n, s.sums);

    s.output = Func("result");
    s.output(k, g, x, y, z, n) = activate(
        s.accumulator(k % in.lane_block, k / in.lane_block, g, x, y, z, n), in.low, in.high);
    return s;
}

} // namespace selvage
