#include "generators/conv2d.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

Conv2dStages conv2d(const Conv2dInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), x("x"), y("y"), n("n"), q("q");
    const Var ci("ci"), xs("xs"), xp("xp"), ys("ys"), yp("yp"), cb("cb");
    Conv2dStages s{};
    s.lane_block = in.lane_block;
    s.channel_block = in.channel_block;
    s.strip_rows = positive(in.strip_rows);
    s.block_rows = positive(in.block_rows);
    const Expr group = positive(in.channel_blocks);
    const Expr blocks = (in.channels + in.channel_block - 1) / in.channel_block;
    const Expr stride_x = positive(in.stride_x), stride_y = positive(in.stride_y);
    const Expr dilation_x = positive(in.dilation_x), dilation_y = positive(in.dilation_y);

    // Neighbouring outputs read positions `stride` apart. Sorting the positions of a row by their
    // remainder (xp) makes those neighbours in the strip (xs), so one kernel serves every stride
    // with loads at constant distances, and remainders that no tap has are never fetched.
    s.padded = in.border ? exterior(in.input, in.value, 2, in.width, in.height) : in.input;
    s.strip = Func("strip");
    s.strip(ci, xs, xp, ys, yp, cb, g, n) =
        s.padded(min(cb * in.channel_block + ci, in.channels - 1), g, xs * stride_x + xp - in.left,
                 ys * stride_y + yp - in.top, n);

    // Of the last block only the channels that exist are summed, so what stands in its other lanes
    // (the last channel, again) does not matter, not even where it is NaN.
    s.taps = RDom(0, in.channel_block, 0, in.kernel_x, 0, in.kernel_y, 0, group, "taps");
    const Expr block = q * group + s.taps[3];
    s.taps.where(block < blocks);
    s.taps.where(s.taps[0] < in.channels - block * in.channel_block);
    const Expr tap_x = s.taps[1] * dilation_x, tap_y = s.taps[2] * dilation_y;
    const Expr phases_x = min(stride_x, (in.kernel_x - 1) * dilation_x + 1);
    const Expr phases_y = min(stride_y, (in.kernel_y - 1) * dilation_y + 1);
    s.partial = Func("partial");
    s.partial(l, kb, g, x, y, n, q) = 0.f;
    s.partial(l, kb, g, x, y, n, q) +=
        s.strip(s.taps[0], x + tap_x / stride_x, min(tap_x % stride_x, phases_x - 1),
                y + tap_y / stride_y, min(tap_y % stride_y, phases_y - 1),
                clamp(block, 0, blocks - 1), g, n) *
        in.weights(l, s.taps[0], s.taps[1], s.taps[2], block, kb, g);

    s.sums = RDom(0, (blocks + group - 1) / group, "sums");
    s.accumulator = Func("accumulator");
    s.accumulator(l, kb, g, x, y, n) = in.bias(l, kb, g);
    s.accumulator(l, kb, g, x, y, n) += s.partial(l, kb, g, x, y, n, s.sums);

    s.output = Func("result");
    s.output(k, g, x, y, n) = activate(
        s.accumulator(k % in.lane_block, k / in.lane_block, g, x, y, n), in.low, in.high);
    return s;
}

} // namespace selvage
