#include "generators/window2d.h"

#include <limits>

#include "generators/border.h"

using namespace Halide;

namespace selvage {

namespace {

const Var k("k"), x("x"), y("y"), n("n");

/// Fills in the padded input and the taps; returns the value that a tap reads for channel c.
Expr tap(const WindowInputs &in, const Expr &c, const Expr &value, WindowStages &s) {
    using Border = WindowInputs::Border;
    s.taps = RDom(0, in.kernel_x, 0, in.kernel_y, "taps");
    const Expr column = x * positive(in.stride_x) + s.taps.x * positive(in.dilation_x) - in.left;
    const Expr row = y * positive(in.stride_y) + s.taps.y * positive(in.dilation_y) - in.top;
    const bool skip_rows = in.border == Border::skip || in.border == Border::skip_rows;
    if (skip_rows)
        s.taps.where(row >= 0 && row < in.height);
    if (in.border == Border::skip)
        s.taps.where(column >= 0 && column < in.width);
    // What is skipped needs no border.
    if (in.border == Border::none || in.border == Border::skip)
        s.padded = in.input;
    else
        s.padded = exterior(in.input, value, 1, in.width, skip_rows ? Expr() : in.height);
    return s.padded(c, column, row, n);
}

} // namespace

WindowStages depthwise2d(const WindowInputs &in, const Func &weights, const Func &bias,
                         const Expr &multiplier, const Expr &value, const Expr &low,
                         const Expr &high) {
    WindowStages s{};
    const Expr read = tap(in, k / positive(multiplier), value, s);
    s.window = Func("window");
    s.window(k, x, y, n) = bias(k);
    s.window(k, x, y, n) += read * weights(k, s.taps.x, s.taps.y);
    s.output = Func("result");
    s.output(k, x, y, n) = activate(s.window(k, x, y, n), low, high);
    return s;
}

WindowStages max_pool2d(const WindowInputs &in) {
    const float lowest = -std::numeric_limits<float>::infinity();
    WindowStages s{};
    const Expr read = tap(in, k, lowest, s);
    s.window = Func("window");
    s.window(k, x, y, n) = lowest;
    // Halide's max() loses NaN. Once the maximum is NaN no comparison replaces it.
    const Expr largest = s.window(k, x, y, n);
    s.window(k, x, y, n) = select(read > largest || is_nan(read), read, largest);
    s.output = Func("result");
    s.output(k, x, y, n) = s.window(k, x, y, n);
    return s;
}

WindowStages avg_pool2d(const WindowInputs &in, const Func &counted_x, const Func &counted_y) {
    WindowStages s{};
    const Expr read = tap(in, k, 0.f, s);
    s.window = Func("window");
    s.window(k, x, y, n) = 0.f;
    s.window(k, x, y, n) += read;
    s.output = Func("result");
    const Expr counted = counted_x(x) * counted_y(y);
    s.output(k, x, y, n) = select(counted > 0.f, s.window(k, x, y, n) / counted, 0.f);
    return s;
}

} // namespace selvage
