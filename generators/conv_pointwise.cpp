#include "generators/conv_pointwise.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

PointwiseStages conv_pointwise(const ConvInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), x("x"), y("y"), z("z"), n("n");
    const Var ci("ci"), cb("cb");
    PointwiseStages s{};
    s.channel_block = in.channel_block;
    s.strip_tiles = positive(in.strip_rows);

    // The last tile may go past the last pixel: it repeats it. Channels past the last hold 0 and
    // meet weights of 0.
    s.panel = Func("panel");
    s.panel(ci, x, cb, g, y, z, n) = 0.f;
    s.copy = RDom(0, in.channel_block, "copy");
    const Expr channel = cb * in.channel_block + s.copy;
    s.copy.where(channel < in.channels);
    s.panel(s.copy, x, cb, g, y, z, n) = in.input(channel, g, min(x, in.width - 1), y, z, n);

    // The last block is summed as far as it has channels, in steps of channel_step.
    const int step = in.channel_step;
    s.taps = RDom(0, step, 0, in.channel_block / step, 0,
                  (in.channels + in.channel_block - 1) / in.channel_block, "taps");
    const Expr tap_channel = s.taps.y * step + s.taps.x, block = s.taps.z;
    s.taps.where(block * in.channel_block + s.taps.y * step < in.channels);
    s.sum = Func("sum");
    s.sum(l, kb, g, x, y, z, n) = in.bias(l, kb, g);
    s.sum(l, kb, g, x, y, z, n) +=
        s.panel(tap_channel, x, block, g, y, z, n) * in.weights(l, tap_channel, 0, 0, block, kb, g);

    s.output = Func("result");
    s.output(k, g, x, y, z, n) =
        activate(s.sum(k % in.lane_block, k / in.lane_block, g, x, y, z, n), in.low, in.high);
    return s;
}

} // namespace selvage
