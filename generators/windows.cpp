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
Tap tap(const WindowInputs &in, const Expr &c, const Expr &value, WindowStages &s) {
    s.taps = RDom(0, in.kernel_x, 0, in.kernel_y, 0, in.kernel_z, "taps");
    if (in.border == Border::lines)
        return {lines(in, c, value, s), {}, {}, {}, {}};
    Expr plane = in.source_z(s.taps.z, z), row, column;
    switch (in.border) {
    case Border::read:
        row = in.source_y(s.taps.y, y);
        column = in.source_x(s.taps.x, place(in));
        s.padded = exterior(in.input, value, {{1, in.width}, {2, in.height}, {3, in.depth}});
        return {s.padded(c, column, row, plane, n), plane >= 0 && row >= 0 && column >= 0, column,
                row, plane};
    case Border::skip:
        row = in.source_y(s.taps.y, y);
        column = in.source_x(s.taps.x, x);
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
    column = x * positive(in.stride_x) + s.taps.x * positive(in.dilation_x) - in.left;
    row = y * positive(in.stride_y) + s.taps.y * positive(in.dilation_y) - in.top;
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

WindowStages depthwise(const WindowInputs &in, const Func &weights, const Func &bias,
                       const Expr &multiplier, const Expr &value, const Expr &low,
                       const Expr &high) {
    WindowStages s{};
    const Expr read = tap(in, channel(in) / positive(multiplier), value, s).value;
    s.window = Func("window");
    s.window(k, x, y, z, n) = bias(entry(in));
    s.window(k, x, y, z, n) += read * weights(entry(in), s.taps.x, s.taps.y, s.taps.z);
    s.output = Func("result");
    s.output(k, x, y, z, n) = activate(s.window(k, x, y, z, n), low, high);
    return s;
}

WindowStages max_pool(const WindowInputs &in, bool keep_nan) {
    WindowStages s{};
    const Expr least = in.input.type().min();
    const Expr read = tap(in, channel(in), least, s).value;
    s.window = Func("window");
    s.window(k, x, y, z, n) = least;
    const Expr largest = s.window(k, x, y, z, n);
    // A comparison with NaN is false, and leaves the largest as it is.
    s.window(k, x, y, z, n) = in.input.type().is_float() && keep_nan
                                  ? larger_or_nan(read, largest)
                                  : strict_float(select(read > largest, read, largest));
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
    Expr wins = read.value > largest || at < 0;
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

WindowStages lp_pool(const WindowInputs &in, int fixed_p, const Expr &p) {
    // The C library's power, since Halide's own of vectors is less exact.
    const auto power = [](const Expr &base, const Expr &exponent) {
        return Internal::Call::make(Float(32), "powf", {base, exponent},
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

WindowStages filter(const WindowInputs &in, const Func &weights, const Expr &value,
                    const Expr &shift) {
    WindowStages s{};
    const bool fixed = weights.type().is_int();
    const Type sums = fixed ? Int(32) : Float(32);
    const Expr read = tap(in, channel(in), cast<uint8_t>(value), s).value;
    s.window = Func("window");
    s.window(k, x, y, z, n) = cast(sums, 0);
    s.window(k, x, y, z, n) +=
        cast(sums, read) * cast(sums, weights(entry(in), s.taps.x, s.taps.y, s.taps.z));
    s.output = Func("result");
    const Expr sum = s.window(k, x, y, z, n);
    if (fixed) {
        const Expr half = select(shift > 0, 1 << max(shift - 1, 0), 0);
        s.output(k, x, y, z, n) = cast<uint8_t>(clamp((sum + half) >> shift, 0, 255));
    } else {
        s.output(k, x, y, z, n) = cast<uint8_t>(cast<int>(round(clamp(sum, 0.f, 255.f))));
    }
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
