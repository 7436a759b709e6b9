#include "generators/conv_planar.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

PlanarStages conv_planar(const PlanarInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), x("x"), y("y"), z("z"), n("n"), q("q");
    const Var p("p"), band("band"), ci("ci"), cb("cb"), kx("kx"), ky("ky");
    PlanarStages s{};
    s.channel_block = in.channel_block;
    s.stride_x = in.stride_x;
    s.band_rows = positive(in.strip_rows);
    const Expr group = positive(in.channel_blocks);
    const Expr blocks = (in.channels + in.channel_block - 1) / in.channel_block;
    const Expr stride_x = positive(in.stride_x), stride_y = positive(in.stride_y);
    const Expr dilation_x = positive(in.dilation_x), dilation_y = positive(in.dilation_y);
    const Expr reach_x = (in.kernel_x - 1) * dilation_x, reach_y = (in.kernel_y - 1) * dilation_y;

    // The padded rows that a band reads of one channel follow each other without a gap, so vectors
    // of outputs run across the ends of rows; what they compute there is not stored. Neighbouring
    // outputs read positions `stride` apart. Sorting rows and columns by their remainder puts each
    // tap at a constant distance along the line from the output's own place. Both remainders of
    // stride 2 are always there, since they are cheap to copy together.
    const Expr phases_x = min(stride_x, reach_x + 1), phases_y = min(stride_y, reach_y + 1);
    const Expr remainders_x = select(stride_x == 2, 2, phases_x);
    const Expr pitch = positive(in.places_x), rows = s.band_rows + reach_y / stride_y;
    const auto distance = [&](const Expr &xs, const Expr &xp, const Expr &ys, const Expr &yp) {
        return ((yp * remainders_x + xp) * rows + ys) * pitch + xs;
    };
    const Expr places = phases_y * remainders_x * rows * pitch;
    const Expr first = band * s.band_rows * pitch;

    // The last tile may go past the last place. Lines that are an odd number of cache lines long do
    // not compete for the same sets of a cache.
    constexpr int cache_line = 16;
    s.line = (places + in.lanes * in.vectors - 1 + 2 * cache_line - 1) / (2 * cache_line) *
                 (2 * cache_line) +
             cache_line;

    // First all is border. Channels past the last meet weights of 0, so they must be finite.
    const Expr channel = (cb % blocks) * in.channel_block + ci;
    s.strip = Func("strip");
    s.strip(p, ci, cb, band, g, z, n) = select(channel < in.channels, in.value, 0.f);
    constexpr int outside = -1;
    // A column is left as computed: promising that it lies inside would hide from Halide that
    // neighbours are `stride` apart.
    const auto fill = [&](RDom &r, const Expr &xs, const RVar &xp, const RVar &ys, const RVar &yp,
                          const Expr &column) {
        const Expr row = band * s.band_rows + ys;
        const Expr source_y = in.source_y(min(row, in.places_y - 1), yp);
        const Expr source_z = in.source_z(cb / blocks, z);
        r.where(channel < in.channels && row < in.places_y && source_y != outside &&
                source_z != outside);
        s.strip(unsafe_promise_clamped(first + distance(xs, xp, ys, yp), first, first + places - 1),
                ci, cb, band, g, z, n) =
            in.input(unsafe_promise_clamped(channel, 0, in.channels - 1), g, column,
                     unsafe_promise_clamped(source_y, 0, in.height - 1),
                     unsafe_promise_clamped(source_z, 0, in.depth - 1), n);
    };

    // Then come the columns that lie inside for every remainder, by whole vectors: the last
    // overlaps the one before it, and rows shorter than a vector take one of half the size.
    constexpr int shortest = 4;
    const Expr begin = min((max(in.left, 0) + stride_x - 1) / stride_x, pitch);
    const Expr end = clamp((in.left + in.width - remainders_x) / stride_x + 1, begin, pitch);
    const Expr count = select(end - begin < shortest, 0, end - begin);
    for (int size = in.lanes; size >= shortest; size /= 2) {
        RDom r(0, size, 0, remainders_x, 0, (count + size - 1) / size, 0, rows, 0, phases_y,
               "copy");
        r.where(count >= size);
        if (size < in.lanes)
            r.where(count < 2 * size);
        const Expr xs = begin + min(r[2] * size, count - size) + r[0];
        fill(r, xs, r[1], r[3], r[4], xs * stride_x + r[1] - in.left);
        s.copies.push_back(r);
    }

    // The columns at both ends are looked up: those inside for some remainders only, and those
    // where a border mode reads the input. Rows are innermost, so that others cost one look.
    RDom r(0, rows, 0, pitch - count, 0, phases_x, 0, phases_y, "look_up");
    const Expr xs = select(r[1] < begin, r[1], r[1] + count);
    const Expr source_x = in.source_x(xs, r[2]);
    r.where(source_x != outside);
    fill(r, xs, r[2], r[0], r[3], unsafe_promise_clamped(source_x, 0, in.width - 1));

    s.offsets = Func("offsets");
    s.offsets(kx, ky) = distance(kx * dilation_x / stride_x, kx * dilation_x % stride_x,
                                 ky * dilation_y / stride_y, ky * dilation_y % stride_y);
    s.filled = Func("filled");
    s.filled(cb) = min(in.channels - (cb % blocks) * in.channel_block, in.channel_block);

    // The last block is summed as far as it has channels, in steps of channel_step.
    const int step = in.channel_step;
    s.taps =
        RDom(0, step, 0, in.channel_block / step, 0, in.kernel_x, 0, in.kernel_y, 0, group, "taps");
    const RVar within = s.taps[0], steps = s.taps[1], tx = s.taps[2], ty = s.taps[3];
    const Expr all_blocks = blocks * in.kernel_z;
    const Expr block = q * group + s.taps[4], known_block = clamp(block, 0, all_blocks - 1);
    const Expr tap_channel = steps * step + within;
    s.taps.where(block < all_blocks);
    if (step < in.channel_block)
        s.taps.where(steps * step < s.filled(known_block));
    const Expr furthest =
        distance(reach_x / stride_x, remainders_x - 1, reach_y / stride_y, phases_y - 1);
    s.partial = Func("partial");
    s.partial(p, l, kb, band, g, z, n, q) = 0.f;
    s.partial(p, l, kb, band, g, z, n, q) += s.strip(p + clamp(s.offsets(tx, ty), 0, furthest),
                                                     tap_channel, known_block, band, g, z, n) *
                                             in.weights(l, tap_channel, tx, ty, block, kb, g);

    s.sums = RDom(0, (all_blocks + group - 1) / group, "sums");
    s.accumulator = Func("accumulator");
    s.accumulator(p, l, kb, band, g, z, n) = undef<float>();
    const Expr sum = s.accumulator(p, l, kb, band, g, z, n);
    s.accumulator(p, l, kb, band, g, z, n) =
        select(s.sums == 0, in.bias(l, kb, g), sum) + s.partial(p, l, kb, band, g, z, n, s.sums);

    s.output = Func("result");
    s.output(k, g, x, y, z, n) =
        activate(s.accumulator(y * pitch + x, k % in.lane_block, k / in.lane_block, y / s.band_rows,
                               g, z, n),
                 in.low, in.high);
    return s;
}

} // namespace selvage
