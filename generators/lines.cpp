#include "generators/lines.h"

#include "generators/border.h"

using namespace Halide;

namespace selvage {

namespace {

/// Pixels that lie apart are copied in vectors this wide.
constexpr int pixel_lanes = 4;

Expr blocks_of(const Expr &count, const Expr &block) { return (count + block - 1) / block; }

Expr round_up(const Expr &count, int block) { return blocks_of(count, block) * block; }

} // namespace

Expr lines(const WindowInputs &in, const Expr &plane, const Expr &value, WindowStages &s) {
    const Var k("k"), x("x"), y("y"), z("z"), n("n"), q("q"), ys("ys"), yp("yp"), kz("kz"), t("t");
    const Expr stride_x = positive(in.stride_x), stride_y = positive(in.stride_y);
    const Expr dilation_x = positive(in.dilation_x), dilation_y = positive(in.dilation_y);
    const Expr reach_x = (in.kernel_x - 1) * dilation_x, reach_y = (in.kernel_y - 1) * dilation_y;
    const Expr phases_x = min(stride_x, reach_x + 1), phases_y = min(stride_y, reach_y + 1);
    const Expr &channels = in.channels, &places = in.places_x;
    const int fill = in.fill;
    LineStages &l = s.lines;

    // Whole vectors are computed, and whole vectors of pixels are copied; what they hold past the
    // last place is never stored in the output.
    const Expr reach = reach_x / stride_x * channels;
    const Expr line =
        round_up(places * channels - reach, in.block) + round_up(reach + pixel_lanes - 1, in.lanes);

    // From `first` to `last` lie the places whose position is inside the input for every remainder.
    const Expr first = clamp((in.left + stride_x - 1) / stride_x, 0, places);
    const auto behind = [&](const Expr &position) {
        return clamp((position + in.left - (phases_x - 1)) / stride_x + 1, first, places);
    };
    const Expr inside = behind(in.width - 1);
    const Expr numbers = (inside - first) * channels;
    const Expr in_vectors = numbers >= fill && (stride_x == 1 || (stride_x == 2 && channels == 1));
    const Expr pixel_vectors = blocks_of(channels, pixel_lanes);
    // Such a vector may go on into the next pixels, but not past the end of the row.
    const Expr last = select(in_vectors, inside,
                             behind(in.width - blocks_of(pixel_vectors * pixel_lanes, channels)));
    const Expr vectors = select(in_vectors, blocks_of(numbers, fill), 0);
    l.neighbours = RDom(0, fill, 0, select(stride_x == 1, vectors, 0), "neighbours");
    l.pairs = RDom(0, fill, 0, select(stride_x == 2, vectors, 0), 0, phases_x, "pairs");
    l.pixels = RDom(0, pixel_lanes, 0, pixel_vectors, 0, select(in_vectors, 0, last - first), 0,
                    phases_x, "pixels");
    l.edges = RDom(0, channels, 0, places - (last - first), 0, phases_x, "edges");
    l.border_rows = RDom(0, in.lanes, 0, line / in.lanes * phases_x, "border_rows");

    const Expr source_y = in.source_y(min(ys, in.places_y - 1), yp), source_z = in.source_z(kz, z);
    const Expr row_inside = source_y >= 0 && source_z >= 0;
    for (RDom *each : {&l.neighbours, &l.pairs, &l.pixels, &l.edges}) {
        each->where(row_inside);
        each->where(plane < in.planes); // The last strip may have fewer.
    }
    l.border_rows.where(!row_inside);

    l.strip = Func("strip");
    const auto strip = [&](const Expr &number, const Expr &phase) {
        return l.strip(phase * line + number, ys, yp, kz, x, z, n);
    };
    const auto read = [&](const Expr &number) {
        return in.input(number, plane, clamp(source_y, 0, in.height - 1),
                        clamp(source_z, 0, in.depth - 1), n);
    };
    // The last vector of a line ends where the line does.
    const auto within = [&](const RDom &vector) {
        return min(vector.y * fill, numbers - fill) + vector.x;
    };
    l.strip(q, ys, yp, kz, x, z, n) = undef(in.input.type());
    strip(first * channels + within(l.neighbours), 0) =
        read((first - in.left) * channels + within(l.neighbours));
    strip(first + within(l.pairs), l.pairs.z) =
        read((first + within(l.pairs)) * 2 + l.pairs.z - in.left);
    // What a vector holds past its pixel is overwritten by the next pixel or by an edge.
    const Expr place = first + l.pixels[2], phase = l.pixels[3];
    const Expr of_pixel = l.pixels.y * pixel_lanes + l.pixels.x;
    strip(place * channels + of_pixel, phase) =
        read((place * stride_x + phase - in.left) * channels + of_pixel);
    const Expr edge = l.edges.y + select(l.edges.y < first, 0, last - first);
    const Expr source_x = unsafe_promise_clamped(in.source_x(edge, l.edges.z), -1, in.width - 1);
    strip(edge * channels + l.edges.x, l.edges.z) =
        select(source_x < 0, value, read(max(source_x, 0) * channels + l.edges.x));
    strip(l.border_rows.y * in.lanes + l.border_rows.x, 0) = value;

    l.numbers = line * phases_x;
    l.reach_rows = reach_y / stride_y;
    l.phases_y = phases_y;
    l.kernel_z = in.kernel_z;
    l.strip_rows = positive(in.strip_rows);
    l.strip_planes = positive(in.strip_planes);

    const Expr tap_x = t * dilation_x, tap_y = t * dilation_y;
    l.columns = Func("columns");
    l.columns(t) = tap_x % stride_x * line + tap_x / stride_x * channels;
    l.rows = Func("rows");
    l.rows(t) = {tap_y / stride_y, tap_y % stride_y};
    const Expr column =
        unsafe_promise_clamped(l.columns(s.taps.x), 0, (phases_x - 1) * line + reach);
    const Expr row = unsafe_promise_clamped(l.rows(s.taps.y)[0], 0, l.reach_rows);
    const Expr row_phase = unsafe_promise_clamped(l.rows(s.taps.y)[1], 0, phases_y - 1);
    return l.strip(k + column, y + row, row_phase, s.taps.z, x, z, n);
}

} // namespace selvage
