#include "generators/conv_narrow.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

NarrowStages conv_narrow(const NarrowInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), x("x"), y("y"), z("z"), n("n");
    const Var q("q"), ys("ys"), kz("kz");
    NarrowStages s{};
    const int channels = in.channel_block;
    const Expr stride_x = in.stride_x, stride_y = positive(in.stride_y);
    const Expr dilation_x = positive(in.dilation_x), dilation_y = positive(in.dilation_y);
    const Expr reach_x = (in.kernel_x - 1) * dilation_x, reach_y = (in.kernel_y - 1) * dilation_y;
    s.strip_rows = positive(in.strip_rows);
    s.rows = (s.strip_rows - 1) * stride_y + reach_y + 1;
    s.kernel_z = in.kernel_z;

    // A padded row is one line of numbers, of which a kernel row meets kernel_x * channels side by
    // side. Neighbouring outputs lie at a constant distance.
    constexpr int least_vector = 4;
    s.whole_rows = channels < least_vector;
    const Expr positions = in.places_x * stride_x;
    s.line = (positions * channels + in.lanes - 1) / in.lanes * in.lanes;
    const Expr begin = clamp(in.left, 0, positions);
    const Expr end = clamp(in.left + in.width, begin, positions);
    const Expr source_y = in.source_y(min(ys / stride_y, in.places_y - 1),
                                      min(ys % stride_y, min(stride_y, reach_y + 1) - 1));
    const Expr source_z = in.source_z(kz, z);
    const Expr row_inside = source_y >= 0 && source_z >= 0;
    const auto read = [&](const Expr &channel, const Expr &column) {
        return in.input(channel, g, column, clamp(source_y, 0, in.height - 1),
                        clamp(source_z, 0, in.depth - 1), n);
    };

    s.strip = Func("strip");
    s.strip(q, ys, kz, g, z, n) = in.value;
    s.inside = s.whole_rows ? RDom(0, (end - begin) * channels, "inside")
                            : RDom(0, channels, 0, end - begin, "inside");
    s.inside.where(row_inside);
    // Channels count on past the first pixel.
    if (s.whole_rows)
        s.strip(begin * channels + s.inside, ys, kz, g, z, n) =
            read((begin - in.left) * channels + s.inside, 0);
    else
        s.strip((begin + s.inside.y) * channels + s.inside.x, ys, kz, g, z, n) =
            read(s.inside.x, begin - in.left + s.inside.y);
    // Positions at both ends are looked up, those that taps read.
    const Expr phases_x = min(stride_x, reach_x + 1);
    s.edges = RDom(0, channels, 0, positions - (end - begin), "edges");
    const Expr position = s.edges.y + select(s.edges.y < begin, 0, end - begin);
    const Expr source_x = in.source_x(position / stride_x, min(position % stride_x, phases_x - 1));
    s.edges.where(row_inside);
    s.edges.where(position % stride_x < phases_x && source_x >= 0);
    s.strip(position * channels + s.edges.x, ys, kz, g, z, n) =
        read(s.edges.x, unsafe_promise_clamped(source_x, 0, in.width - 1));

    s.taps = RDom(0, channels, 0, in.kernel_x, 0, in.kernel_y, 0, in.kernel_z, "taps");
    const RVar channel = s.taps[0], tx = s.taps[1], ty = s.taps[2], tz = s.taps[3];
    const Expr row = y * stride_y + ty * dilation_y;
    s.taps.where(row - in.top >= in.rows_low && row - in.top < in.rows_high);
    s.sum = Func("sum");
    s.sum(l, kb, g, x, y, z, n) = in.bias(l, kb, g);
    s.sum(l, kb, g, x, y, z, n) +=
        s.strip((x * stride_x + tx * dilation_x) * channels + channel, row, tz, g, z, n) *
        in.weights(l, channel, tx, ty, tz, kb, g);

    s.output = Func("result");
    s.output(k, g, x, y, z, n) =
        activate(s.sum(k % in.lane_block, k / in.lane_block, g, x, y, z, n), in.low, in.high);
    return s;
}

} // namespace selvage
