#include "generators/conv_tiled.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

TiledStages conv_tiled(const ConvInputs &in, const Tile &tile) {
    const Var k("k"), g("g"), x("x"), y("y"), z("z"), n("n");
    const Var ci("ci"), xs("xs"), xp("xp"), ys("ys"), yp("yp"), cb("cb"), kz("kz");
    const Var lane("lane"), vector("vector"), pixel("pixel"), kb("kb"), xb("xb"), yb("yb"), q("q");
    TiledStages s{};
    s.tile = tile;
    s.weights = in.weights;

    // Neighbouring outputs read positions `stride` apart; sorted by their remainder (xp) these are
    // neighbours (xs), as in conv(). Channels past the last hold 0 and meet weights of 0.
    const Expr source_z = in.source_z(kz, z);
    s.columns = Func("columns");
    s.columns(xs, xp) = in.source_x(xs, xp);
    s.lines = Func("lines");
    s.lines(ys, yp, kz, z) = select(source_z < 0, -1, in.source_y(ys, yp));
    const auto inside = [](const Expr &at, const Expr &size) {
        return unsafe_promise_clamped(max(at, 0), 0, size - 1);
    };
    const Expr channel = cb * in.channel_block + ci;
    const Expr column = s.columns(xs, xp), line = s.lines(ys, yp, kz, z);
    // What is computed at one loop is in the order of names. The strip must come after the weights,
    // whose memory would else be that of `columns` and `lines`, which Halide takes for read for the
    // last time, though the next piece of the loop reads them again.
    s.strip = Func("window");
    s.strip(ci, xs, xp, ys, yp, cb, kz, g, z, n) =
        select(channel >= in.channels, 0.f, (column | line) < 0, in.value,
               in.input(min(channel, in.channels - 1), g, inside(column, in.width),
                        inside(line, in.height), inside(source_z, in.depth), n));

    const int step = tile.lanes, threads = tile.lane_threads();
    const auto place = [&](const Expr &in_vector, const Expr &v, const Expr &thread) {
        return (v * threads + thread) * tile.lanes + in_vector;
    };
    s.sum = Func("sum");
    s.sum(lane, vector, pixel, kb, g, xb, yb, z, n, q) = undef<float>();
    s.first = RDom(0, threads, 0, tile.rows, "first");
    const Expr bias = in.bias(place(lane, vector, s.first.x), kb, g);
    s.sum(lane, vector, pixel, kb, g, xb, yb, z, n, q) =
        tile.split ? select(q == 0, bias, 0.f) : bias;
    const Expr blocks = (in.channels + in.channel_block - 1) / in.channel_block;
    s.taps = RDom({{0, step},
                   {0, tile.channels / step},
                   {0, in.channel_block / tile.channels},
                   {0, in.kernel_x},
                   {0, in.kernel_y},
                   {0, tile.split ? 1 : blocks},
                   {0, tile.split ? 1 : in.kernel_z},
                   {0, threads},
                   {0, tile.rows}},
                  "taps");
    const Expr tap_channel = (s.taps[2] * (tile.channels / step) + s.taps[1]) * step + s.taps[0];
    // Remainders as differences: by a run-time number Halide takes a remainder for any that there
    // is.
    const Expr plane = tile.split ? q / blocks : Expr(s.taps[6]);
    const Expr block = tile.split ? q - plane * blocks : Expr(s.taps[5]);
    const Expr tap_x = s.taps[3] * in.dilation_x, tap_y = s.taps[4] * in.dilation_y;
    const Expr ahead_x = tap_x / in.stride_x, ahead_y = tap_y / in.stride_y;
    // Of several taps the remainders are all that there are.
    const auto remainder = [](const Expr &tap, const Expr &ahead, const Expr &by, int taps) {
        return taps > 1 ? tap % by : tap - ahead * by;
    };
    s.sum(lane, vector, pixel, kb, g, xb, yb, z, n, q) +=
        s.strip(tap_channel, xb * tile.columns + pixel + ahead_x,
                remainder(tap_x, ahead_x, in.stride_x, tile.kernel_x),
                yb * tile.rows + s.taps[8] + ahead_y,
                remainder(tap_y, ahead_y, in.stride_y, tile.kernel_y), block, plane, g, z, n) *
        s.weights(place(lane, vector, s.taps[7]), tap_channel, s.taps[3], s.taps[4],
                  plane * blocks + block, kb, g);

    const auto sum = [&](const Expr &slice) {
        return s.sum(k % tile.lanes, k % tile.lane_block / (threads * tile.lanes), x % tile.columns,
                     k / tile.lane_block, g, x / tile.columns, y / tile.rows, z, n, slice);
    };
    s.output = Func("result");
    if (tile.split) {
        s.partial = Func("partial");
        s.partial(k, g, x, y, z, n, q) = sum(q);
        s.total = Func("total");
        s.slices = blocks * in.kernel_z;
        const RDom slices(0, s.slices, "slices");
        s.total(k, g, x, y, z, n) += s.partial(k, g, x, y, z, n, slices);
        s.output(k, g, x, y, z, n) = activate(s.total(k, g, x, y, z, n), in.low, in.high);
    } else {
        s.output(k, g, x, y, z, n) = activate(sum(0), in.low, in.high);
    }
    return s;
}

} // namespace selvage
