#include "generators/window2d.h"

#include <limits>

#include "generators/border.h"

using namespace Halide;

namespace selvage {

namespace {

const Var k("k"), x("x"), y("y"), n("n");

using Border = WindowInputs::Border;

/// Fills in the padded input and the taps; returns the value that a tap reads for channel c.
/// `neutral` says whether the border's value can as well be left out.
Expr tap(const WindowInputs &in, const Expr &c, const Expr &value, const Expr &neutral,
         WindowStages &s) {
    s.taps = RDom(0, in.kernel_x, 0, in.kernel_y, "taps");
    const Expr column = x * positive(in.stride_x) + s.taps.x * positive(in.dilation_x) - in.left;
    const Expr row = y * positive(in.stride_y) + s.taps.y * positive(in.dilation_y) - in.top;
    switch (in.border) {
    case Border::none: s.padded = in.input; break;
    case Border::read: s.padded = exterior(in.input, value, {{1, in.width}, {2, in.height}}); break;
    case Border::skip:
        s.taps.where(row >= 0 && row < in.height);
        s.taps.where(column >= 0 && column < in.width);
        s.padded = in.input;
        break;
    case Border::skip_rows:
        s.taps.where(row >= 0 && row < in.height);
        s.padded = exterior(in.input, value, {{1, in.width}});
        break;
    case Border::flat:
        s.taps.where(row >= select(neutral, 0, -farthest) &&
                     row < select(neutral, in.height, farthest));
        s.padded = exterior(in.input, value, {{0, in.width * in.channels}, {2, in.height}});
        return s.padded(c + column * in.channels, 0, row, n);
    }
    return s.padded(c, column, row, n);
}

/// Where output k finds its entry in a table of one entry per channel.
Expr entry(const WindowInputs &in) {
    return in.border == Border::flat ? (k / in.lanes * in.lanes) % in.channels + k % in.lanes
                                     : Expr(k);
}

} // namespace

WindowStages depthwise2d(const WindowInputs &in, const Func &weights, const Func &bias,
                         const Expr &multiplier, const Expr &value, const Expr &low,
                         const Expr &high) {
    WindowStages s{};
    const Expr read = tap(in, k / positive(multiplier), value, value == 0.f, s);
    s.window = Func("window");
    s.window(k, x, y, n) = bias(entry(in));
    s.window(k, x, y, n) += read * weights(entry(in), s.taps.x, s.taps.y);
    s.output = Func("result");
    s.output(k, x, y, n) = activate(s.window(k, x, y, n), low, high);
    return s;
}

WindowStages max_pool2d(const WindowInputs &in) {
    const float lowest = -std::numeric_limits<float>::infinity();
    WindowStages s{};
    const Expr read = tap(in, k, lowest, true, s);
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
    const Expr read = tap(in, k, 0.f, true, s);
    s.window = Func("window");
    s.window(k, x, y, n) = 0.f;
    s.window(k, x, y, n) += read;
    s.output = Func("result");
    const Expr counted = counted_x(in.border == Border::flat ? Expr(k) : Expr(x)) * counted_y(y);
    s.output(k, x, y, n) = select(counted > 0.f, s.window(k, x, y, n) / counted, 0.f);
    return s;
}

} // namespace selvage
