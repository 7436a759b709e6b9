#include "generators/conv_winograd.h"

#include <functional>

#include "generators/border.h"
#include "runtime/selvage/core/winograd.h"

using namespace Halide;

namespace selvage {

namespace {

/// The sum of numbers times whole coefficients, those that are 0 left out. Positive terms come
/// first, then negative ones.
Expr combine(int count, const std::function<int(int)> &coefficient,
             const std::function<Expr(int)> &number) {
    Expr sum;
    for (const int sign : {1, -1})
        for (int i = 0; i < count; ++i) {
            const int factor = sign * coefficient(i);
            if (factor <= 0)
                continue;
            const Expr term = factor == 1 ? number(i) : number(i) * float(factor);
            if (!sum.defined())
                sum = sign > 0 ? term : -term;
            else
                sum = sign > 0 ? sum + term : sum - term;
        }
    return sum;
}

/// One of `count` expressions, by index.
Expr one_of(const Var &index, int count, const std::function<Expr(int)> &each) {
    std::vector<Expr> all;
    for (int i = 0; i < count; ++i)
        all.push_back(each(i));
    return mux(index, all);
}

} // namespace

WinogradStages conv_winograd(const WinogradInputs &in) {
    const Var k("k"), l("l"), kb("kb"), g("g"), z("z"), n("n");
    const Var ci("ci"), cb("cb"), xs("xs"), ys("ys"), band("band");
    const Var u("u"), v("v"), i("i"), j("j"), p("p"), tx("tx"), ty("ty"), across("across");
    const int m = in.output_tile, products = winograd::size(m, in.taps);
    WinogradStages s{};
    s.channel_block = in.channel_block;
    s.output_tile = m;
    s.products = products;
    s.tiles_x = positive(in.strip_columns / m);
    s.band_tiles = positive(in.strip_rows / m);
    const Expr bands = (in.end_y + in.strip_rows - 1) / positive(in.strip_rows);
    const Expr lanes = (in.end_x + in.strip_columns - 1) / positive(in.strip_columns);
    const Expr blocks = positive((in.channels + in.channel_block - 1) / in.channel_block);
    s.strip_columns = s.tiles_x * m + in.taps - 1;
    s.strip_rows = s.band_tiles * m + in.taps - 1;
    s.places = (s.band_tiles * s.tiles_x + in.tile - 1) / in.tile * in.tile;

    // Channels past the last hold 0 and meet weights of 0.
    s.padded = exterior(in.input, in.value, {{2, in.width}, {3, in.height}, {4, in.depth}});
    s.strip = Func("strip");
    const Expr channel = cb * in.channel_block + ci;
    s.strip(ci, xs, cb, ys, across, band, g, z, n) = select(
        channel < in.channels,
        s.padded(min(channel, in.channels - 1), g, in.source_x(across * s.tiles_x * m + xs, 0),
                 in.source_y(band * s.band_tiles * m + ys, 0), in.source_z(0, z), n),
        0.f);

    // B^T d B, along rows and then along columns.
    const auto of_input = [&](int product) {
        return [=](int q) { return winograd::of_input(m, in.taps, product, q); };
    };
    s.half_input = Func("half_input");
    s.half_input(ci, xs, cb, v, ty, across, band, g, z, n) = one_of(v, products, [&](int product) {
        return combine(products, of_input(product), [&](int q) {
            return s.strip(ci, xs, cb, ty * m + q, across, band, g, z, n);
        });
    });
    // The tiles of a band follow each other, so that register tiles are filled across rows; what
    // fills up the last one is 0 and not stored.
    const Expr tiles = s.band_tiles * s.tiles_x;
    s.transformed = RDom(0, s.tiles_x, 0, s.band_tiles, "transformed");
    const RVar &column = s.transformed[0], &row = s.transformed[1];
    s.filling = RDom(0, s.places - tiles, "filling");
    s.full_input = Func("full_input");
    s.full_input(ci, p, cb, u, v, across, band, g, z, n) = undef<float>();
    s.full_input(ci, row * s.tiles_x + column, cb, u, v, across, band, g, z, n) =
        one_of(u, products, [&](int product) {
            return combine(products, of_input(product), [&](int q) {
                return s.half_input(ci, column * m + q, cb, v, row, across, band, g, z, n);
            });
        });
    s.full_input(ci, tiles + s.filling, cb, u, v, across, band, g, z, n) = 0.f;

    // The last block is summed as far as it has channels, in steps of channel_step.
    const int step = in.channel_step;
    s.channels = RDom(0, step, 0, in.channel_block / step, 0, blocks, "channels");
    const Expr summed = s.channels[1] * step + s.channels[0];
    s.channels.where(s.channels[2] * in.channel_block + s.channels[1] * step < in.channels);
    s.sums = Func("sums");
    s.sums(l, p, u, v, kb, across, band, g, z, n) = 0.f;
    s.sums(l, p, u, v, kb, across, band, g, z, n) +=
        s.full_input(summed, p, s.channels[2], u, v, across, band, g, z, n) *
        in.weights(l, summed, s.channels[2], u, v, kb, g);
    s.summed = Func("summed");
    s.summed(l, p, u, v, kb, across, band, g, z, n) = s.sums(l, p, u, v, kb, across, band, g, z, n);

    // A^T (...) A, along rows and then along columns.
    const auto of_output = [&](int output) {
        return [=](int product) { return winograd::of_output(m, in.taps, output, product); };
    };
    s.half_output = Func("half_output");
    s.half_output(l, u, i, tx, ty, kb, across, band, g, z, n) = one_of(i, m, [&](int output) {
        return combine(products, of_output(output), [&](int product) {
            return s.summed(l, ty * s.tiles_x + tx, u, product, kb, across, band, g, z, n);
        });
    });
    s.full_output = Func("full_output");
    s.full_output(l, j, i, tx, ty, kb, across, band, g, z, n) = one_of(j, m, [&](int output) {
        return combine(products, of_output(output), [&](int product) {
            return s.half_output(l, product, i, tx, ty, kb, across, band, g, z, n);
        });
    });

    // Of tiles at the edges only what belongs to the output.
    s.stored =
        RDom({{0, m}, {0, m}, {0, s.tiles_x}, {0, s.band_tiles}, {0, lanes}, {0, bands}}, "stored");
    const RVar &to_x = s.stored[0], &to_y = s.stored[1], &tile_x = s.stored[2],
               &tile_y = s.stored[3], &lane = s.stored[4], &of_band = s.stored[5];
    const Expr x = (lane * s.tiles_x + tile_x) * m + to_x,
               y = (of_band * s.band_tiles + tile_y) * m + to_y;
    s.stored.where(x >= in.first_x && x < in.end_x && y >= in.first_y && y < in.end_y);
    s.output = Func("result");
    const Var xo("x"), yo("y");
    s.output(k, g, xo, yo, z, n) = undef<float>();
    s.output(k, g, x - in.first_x, y - in.first_y, z, n) =
        activate(s.full_output(k % in.lane_block, to_x, to_y, tile_x, tile_y, k / in.lane_block,
                               lane, of_band, g, z, n) +
                     in.bias(k % in.lane_block, k / in.lane_block, g),
                 in.low, in.high);
    return s;
}

} // namespace selvage
