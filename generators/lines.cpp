#include "generators/lines.h"

#include <numeric>

#include "generators/border.h"

using namespace Halide;

namespace selvage {

namespace {

/// Pixels that lie apart are copied in vectors this wide.
constexpr int pixel_lanes = 4;

Expr blocks_of(const Expr &count, const Expr &block) { return (count + block - 1) / block; }

Expr round_up(const Expr &count, int block) { return blocks_of(count, block) * block; }

const Var k("k"), x("x"), y("y"), z("z"), n("n"), q("q"), ys("ys"), yp("yp"), kz("kz"), t("t");
const Var half("half");

/// Defines the strip and where taps lie in it. With `derived` lines are cut into blocks, and the
/// strip has `ahead` rows of the input beyond those of the taps. With `combine` a row of the strip
/// holds windows of single columns, each of them combined of the kernel's rows, instead of a row of
/// the input.
void fill_strip(const WindowInputs &in, bool derived, const Expr &ahead, const Combine &combine,
                const Expr &plane, const Expr &value, WindowStages &s) {
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
    const Expr tiles = blocks_of(places * channels - reach, in.block);
    // With a stride, taps are spread over the whole of a line.
    const Expr blocks =
        derived ? select(phases_x == 1, max(blocks_of(tiles * in.block, in.line_block), 1), 1) : 1;
    l.block_numbers = blocks_of(tiles, blocks) * in.block;
    const Expr windows = blocks * l.block_numbers;
    const Expr beyond = round_up(reach + pixel_lanes - 1, in.lanes);
    const Expr line = windows + beyond;

    // From `first` to `last` lie the places whose position is inside the input for every remainder.
    const Expr first = clamp((in.left + stride_x - 1) / stride_x, 0, places);
    const auto behind = [&](const Expr &position) {
        return clamp((position + in.left - (phases_x - 1)) / stride_x + 1, first, places);
    };
    const Expr inside = behind(in.width - 1);
    const Expr numbers = (inside - first) * channels;
    const Expr in_vectors =
        numbers >= in.fill && (stride_x == 1 || (stride_x == 2 && channels == 1));
    const Expr pixel_vectors = blocks_of(channels, pixel_lanes);
    // Such a vector may go on into the next pixels, but not past the end of the row.
    const Expr last = select(in_vectors, inside,
                             behind(in.width - blocks_of(pixel_vectors * pixel_lanes, channels)));
    const Expr neighbours = select(in_vectors && stride_x == 1, numbers, 0);
    const Expr wide = select(neighbours >= in.wide, blocks_of(neighbours, in.wide), 0);
    l.wide = RDom(0, in.wide, 0, wide, "wide");
    l.neighbours =
        RDom(0, fill, 0, select(wide == 0, blocks_of(neighbours, fill), 0), "neighbours");
    const Expr vectors = select(in_vectors, blocks_of(numbers, fill), 0);
    l.pairs = RDom(0, fill, 0, select(stride_x == 2, vectors, 0), 0, phases_x, "pairs");
    l.pixels = RDom(0, pixel_lanes, 0, pixel_vectors, 0, select(in_vectors, 0, last - first), 0,
                    phases_x, "pixels");
    l.edges = RDom(0, channels, 0, places - (last - first), 0, phases_x, "edges");
    l.border_rows = RDom(0, in.lanes, 0, line / in.lanes * phases_x, "border_rows");

    std::vector<Expr> rows;
    const int rows_of_one = combine ? *Internal::as_const_int(in.kernel_y) : 1;
    for (int tap = 0; tap < rows_of_one; ++tap)
        rows.push_back(in.source_y(min(ys + tap, in.places_y - 1), yp));
    const Expr any_row = std::accumulate(rows.begin() + 1, rows.end(), rows[0],
                                         [](const Expr &a, const Expr &b) { return max(a, b); });
    const Expr source_z = in.source_z(kz, z);
    const Expr row_inside = any_row >= 0 && source_z >= 0;
    for (RDom *each : {&l.wide, &l.neighbours, &l.pairs, &l.pixels, &l.edges}) {
        // Rows of windows are filled together, those outside with anything at first.
        if (!combine)
            each->where(row_inside);
        each->where(plane < in.planes); // The last strip may have fewer.
    }
    l.border_rows.where(!row_inside);

    l.strip = Func("strip");
    const auto strip = [&](const Expr &number, const Expr &phase) {
        return l.strip(phase * line + number, ys, yp, kz, x, z, n);
    };
    const auto read = [&](const Expr &number) {
        Expr window;
        for (int tap = 0; tap < rows_of_one; ++tap) {
            // Beyond a constant border the row next to it, which a window that gets there reads
            // anyway: an expression of ys + tap, so that rows of the strip share what they load.
            const Expr next = min(ys + tap, in.places_y - 1) - in.top;
            const Expr row = combine ? select(rows[tap] < 0, next, rows[tap]) : rows[tap];
            const Expr each = in.input(number, plane, clamp(row, 0, in.height - 1),
                                       clamp(source_z, 0, in.depth - 1), n);
            window = window.defined() ? combine(each, window) : each;
        }
        return window;
    };
    // The last vector of a line ends where the line does.
    const auto within = [&](const RDom &vector, int lanes) {
        return min(vector.y * lanes, numbers - lanes) + vector.x;
    };
    l.strip(q, ys, yp, kz, x, z, n) = undef(in.input.type());
    for (const auto &[vector, lanes] : {std::pair(l.wide, in.wide), {l.neighbours, fill}})
        strip(first * channels + within(vector, lanes), 0) =
            read((first - in.left) * channels + within(vector, lanes));
    const Expr of_pairs = first + within(l.pairs, fill);
    strip(of_pairs, l.pairs.z) = read(of_pairs * 2 + l.pairs.z - in.left);
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
    l.derived_numbers = select(phases_x == 1, l.block_numbers + beyond, l.numbers);
    l.derived_lanes = in.lanes;
    l.combined = bool(combine);
    l.reach_rows = combine ? 0 : reach_y / stride_y;
    l.ahead_rows = ahead;
    l.phases_y = phases_y;
    l.kernel_z = in.kernel_z;
    l.strip_rows = positive(in.strip_rows);
    l.strip_planes = positive(in.strip_planes);

    const Expr tap_x = t * dilation_x, tap_y = t * dilation_y;
    l.columns = Func("columns");
    l.columns(t) = tap_x % stride_x * line + tap_x / stride_x * channels;
    l.last_column = (phases_x - 1) * line + reach;
    l.rows = Func("rows");
    l.rows(t) = {tap_y / stride_y, tap_y % stride_y};
}

/// Whether the taps of an axis are neighbours, and their number is known.
bool known(const Expr &kernel, const Expr &stride, const Expr &dilation) {
    return Internal::as_const_int(kernel).has_value() && Internal::is_const_one(stride) &&
           Internal::is_const_one(dilation);
}

/// How far tap `tap` of a kernel row lies along a line.
Expr column(const LineStages &l, const Expr &tap) {
    return unsafe_promise_clamped(l.columns(tap), 0, l.last_column);
}

/// What lies at `place` in the row of `lines` that tap `tap` of a kernel column meets.
Expr in_row(const LineStages &l, const Func &lines, std::vector<Expr> place, const Expr &tap,
            const Expr &plane_tap) {
    const Expr row = unsafe_promise_clamped(l.rows(tap)[0], 0, l.reach_rows);
    const Expr phase = unsafe_promise_clamped(l.rows(tap)[1], 0, l.phases_y - 1);
    for (const Expr &each : std::vector<Expr>{y + row, phase, plane_tap, x, z, n})
        place.push_back(each);
    return lines(place);
}

} // namespace

Expr lines(const WindowInputs &in, const Expr &plane, const Expr &value, WindowStages &s) {
    fill_strip(in, false, 0, nullptr, plane, value, s);
    define_taps(in.kernel_x, in.kernel_y, in.kernel_z, TapOrder::along_rows, s);
    return in_row(s.lines, s.lines.strip, {k + column(s.lines, s.tap_x)}, s.tap_y, s.tap_z);
}

Expr lines_of(const Type &type, const WindowInputs &in, const Expr &plane, const Expr &value,
              WindowStages &s) {
    LineStages &l = s.lines;
    fill_strip(in, true, 0, nullptr, plane, value, s);
    l.known_taps = known(in.kernel_y, in.stride_y, in.dilation_y);
    l.derived = Func("derived");
    l.derived(q, ys, yp, kz, x, z, n) = cast(type, l.strip(q, ys, yp, kz, x, z, n));
    define_taps(in.kernel_x, in.kernel_y, in.kernel_z, TapOrder::down_columns, s);
    return in_row(l, l.derived, {k + column(l, s.tap_x)}, s.tap_y, s.tap_z);
}

std::pair<Expr, Expr> lines_of_pairs(const WindowInputs &in, const Expr &plane, const Expr &value,
                                     WindowStages &s) {
    LineStages &l = s.lines;
    const Expr stride_y = positive(in.stride_y), dilation_y = positive(in.dilation_y);
    const Expr phases_y = min(stride_y, (in.kernel_y - 1) * dilation_y + 1);
    fill_strip(in, true, (dilation_y + phases_y - 1) / stride_y, nullptr, plane, value, s);
    // The last row of a kernel of odd size is paired with any, which has weights of 0.
    const Expr behind = yp + dilation_y;
    const Expr row = unsafe_promise_clamped(behind / stride_y, 0, l.ahead_rows);
    const Expr phase =
        unsafe_promise_clamped(min(behind % stride_y, phases_y - 1), 0, phases_y - 1);
    l.known_taps = known(in.kernel_y, in.stride_y, in.dilation_y);
    l.derived = Func("derived");
    l.derived(half, q, ys, yp, kz, x, z, n) = cast<int16_t>(
        mux(half, {l.strip(q, ys, yp, kz, x, z, n), l.strip(q, ys + row, phase, kz, x, z, n)}));
    define_taps(in.kernel_x, blocks_of(in.kernel_y, 2), in.kernel_z, TapOrder::down_columns, s);
    const auto of_half = [&](int which) {
        return in_row(l, l.derived, {which, k + column(l, s.tap_x)}, s.tap_y * 2, s.tap_z);
    };
    return {of_half(0), of_half(1)};
}

Expr row_sums(const WindowInputs &in, const Expr &plane, const Expr &value, const Func &weights,
              WindowStages &s) {
    LineStages &l = s.lines;
    fill_strip(in, true, 0, nullptr, plane, value, s);
    l.known_taps = known(in.kernel_y, in.stride_y, in.dilation_y);
    l.derived_numbers = l.block_numbers; // Of sums nothing is read beyond a block.
    l.derived_lanes = in.block;          // As many 16-bit numbers as one vector holds.
    Expr sum = cast<int16_t>(0);
    for (int tap = 0; tap < *Internal::as_const_int(in.kernel_x); ++tap)
        sum += cast<int16_t>(l.strip(q + tap * in.channels, ys, yp, kz, x, z, n)) *
               cast<int16_t>(weights(tap));
    l.derived = Func("derived");
    l.derived(q, ys, yp, kz, x, z, n) = cast<float>(sum);
    define_taps(1, in.kernel_y, in.kernel_z, TapOrder::down_columns, s);
    return in_row(l, l.derived, {k}, s.tap_y, s.tap_z);
}

Expr column_windows(const WindowInputs &in, const Expr &plane, const Expr &value,
                    const Combine &combine, WindowStages &s) {
    LineStages &l = s.lines;
    fill_strip(in, false, 0, combine, plane, value, s);
    l.known_taps = known(in.kernel_x, in.stride_x, in.dilation_x);
    define_taps(in.kernel_x, 1, in.kernel_z, TapOrder::along_rows, s);
    return in_row(l, l.strip, {k + column(l, s.tap_x)}, s.tap_y, s.tap_z);
}

} // namespace selvage
