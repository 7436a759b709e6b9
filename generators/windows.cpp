#include "generators/windows.h"

#include "generators/border.h"
#include "generators/lines.h"

using namespace Halide;

namespace selvage {

namespace {

const Var k("k"), x("x"), y("y"), z("z"), n("n");

using Border = WindowInputs::Border;

/// What one tap of the window reads.
struct Tap {
    Expr value;
    Expr inside;             ///< it is not the border's value; of taps found by table
    Expr column, row, plane; ///< where it lies
};

/// The column of an output in the table. Vectors of columns may stick out at the end; what they
/// compute there is not stored.
Expr place(const WindowInputs &in) { return min(likely(x), in.outputs_x - 1); }

/// Fills in the padded input and the taps; returns what a tap reads for channel c.
Tap tap(const WindowInputs &in, const Expr &c, const Expr &value, WindowStages &s,
        TapOrder order = TapOrder::along_rows) {
    if (in.border == Border::lines)
        return {lines(in, c, value, s), {}, {}, {}, {}};
    define_taps(in.kernel_x, in.kernel_y, in.kernel_z, order, s);
    Expr plane = in.source_z(s.tap_z, z), row, column;
    switch (in.border) {
    case Border::read:
        row = in.source_y(s.tap_y, y);
        column = in.source_x(s.tap_x, place(in));
        s.padded = exterior(in.input, value, {{1, in.width}, {2, in.height}, {3, in.depth}});
        return {s.padded(c, column, row, plane, n), plane >= 0 && row >= 0 && column >= 0, column,
                row, plane};
    case Border::skip:
        row = in.source_y(s.tap_y, y);
        column = in.source_x(s.tap_x, x);
        // Halide would join tests of ">= 0" in the innermost loop.
        s.taps.where(plane != -1);
        s.taps.where(row != -1);
        s.taps.where(column != -1);
        s.padded = in.input;
        row = unsafe_promise_clamped(row, 0, in.height - 1);
        column = unsafe_promise_clamped(column, 0, in.width - 1);
        plane = unsafe_promise_clamped(plane, 0, in.depth - 1);
        return {s.padded(c, column, row, plane, n), Internal::const_true(), column, row, plane};
    default: break;
    }

    s.planes = Func("planes");
    s.planes(z) = unsafe_promise_clamped(in.source_z(0, z), 0, in.depth - 1);
    plane = s.planes(z);
    s.left = in.left;
    s.width = in.width;
    column = x * positive(in.stride_x) + s.tap_x * positive(in.dilation_x) - in.left;
    row = y * positive(in.stride_y) + s.tap_y * positive(in.dilation_y) - in.top;
    if (in.border == Border::skip_rows) {
        s.taps.where(row >= 0 && row < in.height);
        s.padded = exterior(in.input, value, {{1, in.width}});
    } else {
        s.padded = in.input;
    }
    return {s.padded(c, column, row, plane, n), {}, column, row, plane};
}

/// The coordinate that counts channels: of lines the planes, of which interleaved channels are one.
Expr channel(const WindowInputs &in) { return in.border == Border::lines ? x : k; }

/// Where an output finds its entry in a table of one entry per channel.
Expr entry(const WindowInputs &in) {
    return in.border == Border::lines ? (k / in.block * in.block) % in.channels + k % in.block
                                      : Expr(k);
}

/// The larger of both, or NaN if one is. Where one is NaN, each of the two maxima is what its last
/// operand is, so that bits set in either make NaN; else they are equal. Three instructions, which
/// only strict arithmetic keeps from becoming one that loses NaN, as Halide's max() is.
Expr larger_or_nan(const Expr &a, const Expr &b) {
    const auto bits = [](const Expr &value) { return reinterpret<uint32_t>(value); };
    return reinterpret<float>(bits(strict_float(select(a > b, a, b))) |
                              bits(strict_float(select(b > a, b, a))));
}

} // namespace

void define_taps(const Expr &columns, const Expr &rows, const Expr &planes, TapOrder order,
                 WindowStages &s) {
    const bool down = order == TapOrder::down_columns;
    s.taps = down ? RDom(0, rows, 0, columns, 0, planes, "taps")
                  : RDom(0, columns, 0, rows, 0, planes, "taps");
    s.tap_x = down ? s.taps.y : s.taps.x;
    s.tap_y = down ? s.taps.x : s.taps.y;
    s.tap_z = s.taps.z;
}

WindowStages depthwise(const WindowInputs &in, const Func &weights, const Func &bias,
                       const Expr &multiplier, const Expr &value, const Expr &low,
                       const Expr &high) {
    WindowStages s{};
    const Expr read = tap(in, channel(in) / positive(multiplier), value, s).value;
    s.window = Func("window");
    s.window(k, x, y, z, n) = bias(entry(in));
    s.window(k, x, y, z, n) += read * weights(entry(in), s.tap_x, s.tap_y, s.tap_z);
    s.output = Func("result");
    s.output(k, x, y, z, n) = activate(s.window(k, x, y, z, n), low, high);
    return s;
}

WindowStages max_pool(const WindowInputs &in, bool keep_nan, bool separable) {
    WindowStages s{};
    const Expr least = in.input.type().min();
    const auto larger = [&](const Expr &read, const Expr &largest) {
        if (!in.input.type().is_float())
            return max(read, largest);
        // A comparison with NaN is false, and leaves the largest as it is.
        return keep_nan ? larger_or_nan(read, largest)
                        : strict_float(select(read > largest, read, largest));
    };
    const Expr read = separable ? column_windows(in, channel(in), least, larger, s)
                                : tap(in, channel(in), least, s).value;
    s.window = Func("window");
    s.window(k, x, y, z, n) = least;
    s.window(k, x, y, z, n) = larger(read, s.window(k, x, y, z, n));
    s.output = Func("result");
    s.output(k, x, y, z, n) = s.window(k, x, y, z, n);
    return s;
}

WindowStages max_pool_indices(const WindowInputs &in, const Indexing &index) {
    WindowStages s{};
    const Expr least = in.input.type().min();
    const Tap read = tap(in, channel(in), least, s);
    // Within a plane 32 bits do, and vectors of them are as long as those of float.
    const auto narrow = [](const Expr &value) { return cast<int>(value); };
    const Expr place =
        read.column * narrow(index.x) + read.row * narrow(index.y) + read.plane * narrow(index.z);
    s.window = Func("window");
    s.window(k, x, y, z, n) = {least, -1};
    const Expr largest = s.window(k, x, y, z, n)[0], at = s.window(k, x, y, z, n)[1];
    // Strict, since other comparisons may come out true of NaN; on ARM they do.
    Expr wins = strict_float(read.value > largest) || at < 0;
    if (in.input.type().is_float())
        wins = wins || (is_nan(read.value) && !is_nan(largest));
    wins = wins && read.inside;
    s.window(k, x, y, z, n) = {select(wins, read.value, largest), select(wins, place, at)};
    s.output = Func("result");
    const Expr winner = s.window(k, x, y, z, n)[1];
    s.output(k, x, y, z,
             n) = {s.window(k, x, y, z, n)[0],
                   select(winner < 0, cast<int64_t>(-1),
                          index.base + cast<int64_t>(winner) + k * index.c + n * index.n)};
    return s;
}

WindowStages avg_pool(const WindowInputs &in, const Func &counted_x, const Func &counted_y,
                      const Func &counted_z) {
    WindowStages s{};
    s.window = Func("window");
    const Expr read = tap(in, channel(in), 0.f, s).value;
    s.window(k, x, y, z, n) = 0.f;
    // Strict, so that all kernels sum in one order and tiles of an image meet: the compiler would
    // share sums among the windows of a tile, each kernel others.
    s.window(k, x, y, z, n) = strict_float(s.window(k, x, y, z, n) + read);
    s.output = Func("result");
    const Expr counted =
        counted_x(in.border == Border::lines ? k : x) * (counted_y(y) * counted_z(z));
    // Strict, so that no kernel multiplies by a reciprocal, which rounds otherwise.
    s.output(k, x, y, z, n) =
        select(counted > 0.f, strict_float(s.window(k, x, y, z, n) / counted), 0.f);
    return s;
}

WindowStages lp_pool(const WindowInputs &in, int fixed_p, const Expr &p,
                     const std::string &power_function) {
    const auto power = [&](const Expr &base, const Expr &exponent) {
        return Internal::Call::make(Float(32), power_function, {base, exponent},
                                    Internal::Call::PureExtern);
    };
    WindowStages s{};
    const Expr read = abs(tap(in, channel(in), 0.f, s).value);
    s.window = Func("window");
    s.window(k, x, y, z, n) = 0.f;
    const Expr term = fixed_p == 1 ? read : fixed_p == 2 ? read * read : power(read, p);
    s.window(k, x, y, z, n) = strict_float(s.window(k, x, y, z, n) + term);
    s.output = Func("result");
    const Expr sum = s.window(k, x, y, z, n);
    s.output(k, x, y, z, n) = fixed_p == 1 ? sum : fixed_p == 2 ? sqrt(sum) : power(sum, 1.f / p);
    return s;
}

namespace {

/// The sum of products with weights of float, rounded.
Expr filter_by_floats(const WindowInputs &in, const Func &weights, const Expr &outside,
                      WindowStages &s) {
    const Expr read =
        in.border == Border::lines
            ? lines_of(Float(32), in, channel(in), outside, s)
            : cast<float>(tap(in, channel(in), outside, s, TapOrder::down_columns).value);
    s.window(k, x, y, z, n) = 0.f;
    s.window(k, x, y, z, n) += read * weights(entry(in), s.tap_x, s.tap_y, s.tap_z);
    // To so large a number no fraction can be added: it is rounded, and the last byte is the sum.
    const Expr rounded = strict_float(clamp(s.window(k, x, y, z, n), 0.f, 255.f) + float(1 << 23));
    return reinterpret<uint32_t>(rounded) & 255;
}

/// The same with whole weights, which lie by pairs of kernel rows.
Expr filter_by_integers(const WindowInputs &in, const Func &weights, const Expr &outside,
                        const Expr &shift, WindowStages &s) {
    const auto weighted = [&](const Expr &read, const Expr &half, const Expr &pair) {
        return cast<int>(read) * cast<int>(weights(half, entry(in), s.tap_x, pair, s.tap_z));
    };
    Expr sum;
    if (in.border == Border::lines) {
        const auto [first, second] = lines_of_pairs(in, channel(in), outside, s);
        sum = weighted(first, 0, s.tap_y) + weighted(second, 1, s.tap_y);
    } else {
        const Expr read = tap(in, channel(in), outside, s, TapOrder::down_columns).value;
        sum = weighted(read, s.tap_y % 2, s.tap_y / 2);
    }
    // As unsigned numbers, since Halide would add each of two signed products to the window, where
    // one instruction makes their sum.
    s.window(k, x, y, z, n) = cast<uint32_t>(0);
    s.window(k, x, y, z, n) += reinterpret<uint32_t>(sum);
    const Expr half = select(shift > 0, 1 << max(shift - 1, 0), 0);
    const Expr scaled = (reinterpret<int>(s.window(k, x, y, z, n)) + half) >> shift;
    return clamp(scaled, 0, 255);
}

/// The same with weights of a row and of a column.
Expr filter_by_rows(const WindowInputs &in, const Func &weights, const Expr &outside,
                    const Expr &shift, WindowStages &s) {
    const Expr read = row_sums(in, channel(in), outside, weights, s);
    s.window(k, x, y, z, n) = select(shift > 0, 0.5f, 0.f);
    s.window(k, x, y, z, n) += read * weights(in.kernel_x + s.tap_y);
    return clamp(s.window(k, x, y, z, n), 0.f, 255.f);
}

} // namespace

WindowStages filter(const WindowInputs &in, const Func &weights, const Expr &value,
                    const Expr &shift) {
    WindowStages s{};
    s.window = Func("window");
    s.output = Func("result");
    const Expr outside = cast<uint8_t>(value);
    const Expr number = weights.type().is_int() ? filter_by_integers(in, weights, outside, shift, s)
                        : weights.dimensions() == 1 ? filter_by_rows(in, weights, outside, shift, s)
                                                    : filter_by_floats(in, weights, outside, s);
    s.output(k, x, y, z, n) = cast<uint8_t>(number);
    return s;
}

WindowStages copy(const WindowInputs &in, const Expr &value) {
    WindowStages s{};
    s.output = Func("result");
    const Expr row = in.source_y(0, y), plane = in.source_z(0, z);
    s.padded = exterior(in.input, value, {{1, in.width}, {2, in.height}, {3, in.depth}});
    s.output(k, x, y, z, n) = s.padded(k, in.source_x(0, place(in)), row, plane, n);
    return s;
}

} // namespace selvage
