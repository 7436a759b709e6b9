#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "selvage/status.h"

/// Windows of convolution and pooling along one axis: the only place that computes a pad or the
/// number of outputs. Everything is counted in elements of the axis.
///
/// A window covers `extent = dilation * (kernel - 1) + 1` elements. A convention turns an axis into
/// two pads, window() turns an axis with pads into the positions that are read:
///
///     constexpr Axis axis{224, 3, 2};                                   // size, kernel, stride
///     constexpr WindowResult r = window(with(axis, convention::tf(axis))); // pads 0 and 1
///     static_assert(r.ok() && r.window.before == 0 && r.window.outputs == 112);

namespace selvage {

/// What a caller asks for along one axis.
struct Axis {
    std::int64_t size = 1;     ///< elements of the input
    std::int64_t kernel = 1;   ///< taps
    std::int64_t stride = 1;   ///< input elements from one output to the next
    std::int64_t dilation = 1; ///< input elements from one tap to the next
    std::int64_t begin = 0;    ///< pad before the first element; negative crops
    std::int64_t end = 0;      ///< pad after the last element; negative crops
    std::int64_t phase = 0;    ///< which of the `stride` samplings of the stride-1 result, from 0
};

/// The largest value that an axis may hold or lead to: kernels address with 32 bits. It also keeps
/// all arithmetic of this header far inside 64 bits.
constexpr std::int64_t largest = 2147483647;

/// The pads of one axis. A negative pad is a crop.
struct Pads {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// The same pad on both sides.
constexpr Pads symmetric(std::int64_t pad) { return {pad, pad}; }

/// The axis with its pads replaced.
constexpr Axis with(Axis axis, Pads pads) {
    axis.begin = pads.begin;
    axis.end = pads.end;
    return axis;
}

/// The first rule that an axis breaks; status() spells it out.
enum class WindowError {
    none,
    size,     ///< size < 0
    kernel,   ///< kernel < 1
    stride,   ///< stride < 1
    dilation, ///< dilation < 1
    phase,    ///< not 0 <= phase < stride
    overflow, ///< a value, the extent of the window or the padded size is above `largest`
    crop,     ///< negative pads take more than there is
    outputs,  ///< the number of outputs would be negative
};

namespace detail {

/// Division by a positive number, rounded down (the language's own rounds towards 0).
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

constexpr std::int64_t at_least(std::int64_t low, std::int64_t a) { return a < low ? low : a; }

constexpr std::int64_t extent(std::int64_t kernel, std::int64_t dilation) {
    return dilation * (kernel - 1) + 1;
}

/// Everything but pads and phase. Where this holds, no convention overflows or divides by 0.
constexpr WindowError check_shape(const Axis &axis) {
    if (axis.size < 0)
        return WindowError::size;
    if (axis.kernel < 1)
        return WindowError::kernel;
    if (axis.stride < 1)
        return WindowError::stride;
    if (axis.dilation < 1)
        return WindowError::dilation;
    for (std::int64_t value : {axis.size, axis.kernel, axis.stride, axis.dilation})
        if (value > largest)
            return WindowError::overflow;
    return extent(axis.kernel, axis.dilation) > largest ? WindowError::overflow : WindowError::none;
}

/// Two pads of the given sum, the smaller at the begin.
constexpr Pads smaller_first(std::int64_t total) { return {total / 2, total - total / 2}; }

/// Two pads of the given sum, the larger at the begin.
constexpr Pads larger_first(std::int64_t total) { return {total - total / 2, total / 2}; }

/// The sum of the pads that keeps the length of a stride-1 result: extent - 1.
constexpr std::int64_t total_stride_1(const Axis &axis) {
    return check_shape(axis) == WindowError::none ? extent(axis.kernel, axis.dilation) - 1 : 0;
}

/// The smallest sum of pads, not negative, that gives this many outputs.
constexpr std::int64_t total_for(std::int64_t outputs, const Axis &axis) {
    return at_least(0,
                    (outputs - 1) * axis.stride + extent(axis.kernel, axis.dilation) - axis.size);
}

/// The sum of the pads of TensorFlow and ONNX, which gives ceil(size / stride) outputs.
constexpr std::int64_t total_tf(const Axis &axis) {
    if (check_shape(axis) != WindowError::none)
        return 0;
    return total_for((axis.size + axis.stride - 1) / axis.stride, axis);
}

} // namespace detail

/// The conventions by which frameworks choose pads. Each takes size, kernel, stride and dilation of
/// an axis, ignores its pads and its phase, and returns pads in elements. A phase is applied
/// afterwards, by window().
///
/// None of them fails: where the axis itself is wrong (kernel 0, overflow) the pads are 0 and
/// window() names the fault; where the pads get too large, window() refuses them.
namespace convention {

/// No pads: only windows inside the input. Source: TensorFlow `VALID`, ONNX `VALID`, PyTorch
/// `padding="valid"`, SciPy `mode="valid"`.
constexpr Pads valid(const Axis &) { return {}; }

/// Every output centred on its input element; a window of even extent reaches one element further
/// to the begin. begin = extent/2 rounded down, end = extent - 1 - begin. With a phase p, out[i] is
/// the centred result at input element stride*i + p. Source: this library; what a phase without
/// pads means.
constexpr Pads centred(const Axis &axis) {
    return detail::larger_first(detail::total_stride_1(axis));
}

/// TensorFlow's `SAME`: ceil(size/stride) outputs from the fewest pads, the odd one at the end.
/// total = max(0, (ceil(size/stride) - 1)*stride + extent - size), begin = total/2 rounded down,
/// end = total - begin. Source: TensorFlow, `tf.nn`, notes on padding; Keras and JAX do the same.
constexpr Pads tf(const Axis &axis) { return detail::smaller_first(detail::total_tf(axis)); }

/// ONNX `auto_pad=SAME_UPPER`: equal to tf(). Source: ONNX operators Conv, MaxPool, AveragePool.
constexpr Pads onnx_upper(const Axis &axis) { return tf(axis); }

/// ONNX `auto_pad=SAME_LOWER`: the sum of tf(), the odd pad at the begin: end = total/2 rounded
/// down, begin = total - end. Source: ONNX operators Conv, MaxPool, AveragePool.
constexpr Pads onnx_lower(const Axis &axis) { return detail::larger_first(detail::total_tf(axis)); }

/// PyTorch's `padding="same"`: begin = (extent - 1)/2 rounded down, end = extent - 1 - begin,
/// whatever the stride. PyTorch refuses strides above 1 here; this library samples the stride-1
/// result, which gives ceil(size/stride) outputs. Source: PyTorch, `torch.nn.Conv2d`.
constexpr Pads torch(const Axis &axis) {
    return detail::smaller_first(detail::total_stride_1(axis));
}

/// SciPy's and NumPy's `mode="same"` of `convolve`, `convolve2d` (for both, flip the kernel first)
/// and `correlate`: equal to centred(). The result is as long as the first argument; NumPy swaps
/// the arguments where the kernel is the longer one. A stride samples the stride-1 result.
/// Source: the centred cut of `scipy.signal`; `numpy.convolve`.
constexpr Pads scipy(const Axis &axis) { return centred(axis); }

/// SciPy's `correlate2d(mode="same")`, which for even extents cuts one element later than its
/// siblings: equal to torch(). Source: `scipy.signal.correlate2d`.
constexpr Pads scipy_correlate2d(const Axis &axis) { return torch(axis); }

/// No output sees an input after it: begin = extent - 1, end = 0 at any stride, so that out[i] sees
/// input elements up to stride*i, and a stride samples the stride-1 result. The other alignment in
/// use, pads (extent - stride, stride - 1), lets out[i] see up to stride*i + stride - 1: ask for
/// phase stride - 1. Source: Keras `padding="causal"`; the strided choice is this library's.
constexpr Pads causal(const Axis &axis) { return {detail::total_stride_1(axis), 0}; }

/// As many outputs as inputs, at any stride: total = (size - 1)*stride + extent - size,
/// begin = total/2 rounded down, end = total - begin. An empty axis keeps no outputs either.
/// Source: this library; at stride 1 equal to torch().
constexpr Pads keep(const Axis &axis) {
    if (detail::check_shape(axis) != WindowError::none)
        return {};
    return detail::smaller_first(detail::total_for(axis.size, axis));
}

} // namespace convention

/// A convention and its name in problem texts and on command lines.
struct Convention {
    std::string_view name;
    Pads (*pads)(const Axis &);
};

/// All conventions that have a name.
inline constexpr std::array<Convention, 9> conventions = {{
    {"valid", convention::valid},
    {"torch", convention::torch},
    {"tf", convention::tf},
    {"onnx-upper", convention::onnx_upper},
    {"onnx-lower", convention::onnx_lower},
    {"scipy", convention::scipy},
    {"scipy-correlate2d", convention::scipy_correlate2d},
    {"causal", convention::causal},
    {"keep", convention::keep},
}};

/// The convention of that name, or null.
constexpr const Convention *find_convention(std::string_view name) {
    for (const Convention &each : conventions)
        if (each.name == name)
            return &each;
    return nullptr;
}

/// The names of all conventions, for error texts: "valid, torch, ...".
inline std::string convention_names() {
    std::string names;
    for (const Convention &each : conventions)
        names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

/// The positions that are read along one axis.
///
/// Crops come first: the view is in[origin] .. in[origin + size - 1], and positions count from its
/// first element. For 0 <= i < outputs and 0 <= t < kernel, out[i] reads position
///     stride*i + dilation*t - before
/// which yields the border's value unless 0 <= position < size.
struct Window {
    std::int64_t origin = 0;  ///< the first element of the view; what the begin crop took
    std::int64_t size = 0;    ///< elements of the view
    std::int64_t cropped = 0; ///< elements that the end crop took
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0; ///< begin pad less phase; below 0 the first window starts inside
    std::int64_t outputs = 0;
    /// size + end pad as declared. Averages that count pads count positions below it (and never
    /// the overhang that a size rounded up leaves beyond).
    std::int64_t counted_end = 0;

    /// Elements from a window's first tap to its last, both included.
    constexpr std::int64_t extent() const { return detail::extent(kernel, dilation); }

    /// Elements from a window's first tap to its last.
    constexpr std::int64_t reach() const { return dilation * (kernel - 1); }

    /// How many of the stride's remainders the taps of all windows fall on, at most.
    constexpr std::int64_t phases() const { return reach() < stride ? reach() + 1 : stride; }

    /// Whether any window reads outside the view.
    constexpr bool reads_border() const { return outputs > 0 && (before > 0 || after() > 0); }

    /// How far the windows really reach past the end of the view; 0 where they do not.
    constexpr std::int64_t after() const {
        return outputs == 0 ? 0 : detail::at_least(0, last_start() + extent() - size);
    }

    /// Elements at the end of the uncropped input that no window reads; all of them where windows
    /// read nothing but padding. Takes at most min(stride, kernel) steps.
    constexpr std::int64_t unused() const {
        const std::int64_t last = last_read();
        return cropped + size - 1 - (last < 0 ? -1 - origin : last);
    }

    /// The divisor of an average along this axis: taps of window `i` inside the view, or with
    /// `include_pad` inside the view and its declared pads. May be 0.
    constexpr std::int64_t counted(std::int64_t i, bool include_pad) const {
        const std::int64_t start = stride * i - before;
        const std::int64_t end = include_pad ? counted_end : size;
        // No window starts before the begin pad, so with pads every tap below `end` counts.
        const std::int64_t begin = include_pad ? start : 0;
        return taps_below(start, end) - taps_below(start, begin);
    }

private:
    /// How many taps of a window that starts at `start` lie below `end`.
    constexpr std::int64_t taps_below(std::int64_t start, std::int64_t end) const {
        const std::int64_t count = detail::floor_div(end - start + dilation - 1, dilation);
        return count < 0 ? 0 : count > kernel ? kernel : count;
    }

    constexpr std::int64_t last_start() const { return stride * (outputs - 1) - before; }

    /// The last position of the view that any window reads, or a negative number.
    constexpr std::int64_t last_read() const {
        if (outputs == 0)
            return -1;
        // The first `inside` taps of the last window lie before the end of the view.
        const std::int64_t room = size - 1 - last_start();
        const std::int64_t fitting = room < 0 ? 0 : room / dilation + 1;
        const std::int64_t inside = fitting < kernel ? fitting : kernel;
        std::int64_t last = inside == 0 ? -1 : last_start() + dilation * (inside - 1);
        // With a later tap an earlier window may read further. The gap between such a tap's last
        // read and the end of the view repeats after `stride` taps.
        for (std::int64_t t = inside; t < kernel && t < inside + stride; ++t) {
            const std::int64_t reach = size - 1 + before - dilation * t;
            if (reach < 0)
                break;
            last = detail::at_least(last, size - 1 - reach % stride);
        }
        return last;
    }
};

/// A window, or the rule that the axis breaks.
struct WindowResult {
    Window window;
    WindowError error = WindowError::none;

    constexpr bool ok() const { return error == WindowError::none; }
};

/// The window of an axis:
///     outputs = floor((size + begin + end - phase - extent) / stride) + 1
/// With `ceil`, the division rounds up, and the last window is dropped if it starts at or beyond
/// the end of the view (PyTorch's and ONNX's `ceil_mode`). 0 outputs are a result, fewer an error.
constexpr WindowResult window(const Axis &axis, bool ceil = false) {
    if (WindowError error = detail::check_shape(axis); error != WindowError::none)
        return {{}, error};
    if (axis.phase < 0 || axis.phase >= axis.stride)
        return {{}, WindowError::phase};
    for (std::int64_t pad : {axis.begin, axis.end})
        if (pad > largest || pad < -largest)
            return {{}, WindowError::overflow};

    Window result;
    result.kernel = axis.kernel;
    result.stride = axis.stride;
    result.dilation = axis.dilation;
    result.origin = detail::at_least(0, -axis.begin);
    result.cropped = detail::at_least(0, -axis.end);
    result.size = axis.size - result.origin - result.cropped;
    if (result.size < 0)
        return {{}, WindowError::crop};
    const std::int64_t begin = detail::at_least(0, axis.begin);
    result.before = begin - axis.phase;
    result.counted_end = result.size + detail::at_least(0, axis.end);

    const std::int64_t span = result.counted_end + result.before - result.extent();
    const std::int64_t round = ceil ? axis.stride - 1 : 0;
    result.outputs = detail::floor_div(span + round, axis.stride) + 1;
    if (ceil && axis.stride * (result.outputs - 1) - result.before >= result.size)
        --result.outputs;
    if (result.outputs < 0)
        return {{}, WindowError::outputs};
    if (begin + result.counted_end > largest || result.size + result.after() > largest)
        return {{}, WindowError::overflow};
    return {result, WindowError::none};
}

/// The outcome of window(axis) with one line of text that holds the values and the rule they break.
/// Allocates where that is not `ok`.
inline Status status(const Axis &axis, const WindowResult &result) {
    const auto str = [](std::int64_t value) { return std::to_string(value); };
    const auto invalid = [](std::string text) {
        return Status(Code::invalid_argument, std::move(text));
    };
    const std::string pads = str(axis.begin) + "," + str(axis.end);
    switch (result.error) {
    case WindowError::none: return {};
    case WindowError::size: return invalid("size " + str(axis.size) + " is less than 0");
    case WindowError::kernel: return invalid("kernel " + str(axis.kernel) + " is less than 1");
    case WindowError::stride: return invalid("stride " + str(axis.stride) + " is less than 1");
    case WindowError::dilation:
        return invalid("dilation " + str(axis.dilation) + " is less than 1");
    case WindowError::phase:
        return invalid("phase " + str(axis.phase) + " is not in 0.." + str(axis.stride - 1) +
                       " (stride " + str(axis.stride) + ")");
    case WindowError::crop:
        return invalid("pads " + pads + " crop more than the size " + str(axis.size));
    case WindowError::outputs:
        return invalid("size " + str(axis.size) + " with pads " + pads + " and phase " +
                       str(axis.phase) + " is too short for kernel " + str(axis.kernel) +
                       " with dilation " + str(axis.dilation) + " at stride " + str(axis.stride) +
                       ": the number of outputs would be negative");
    case WindowError::overflow: break;
    }
    return {Code::overflow,
            "size " + str(axis.size) + ", kernel " + str(axis.kernel) + ", stride " +
                str(axis.stride) + ", dilation " + str(axis.dilation) + ", pads " + pads +
                ": a value, the extent of the window or the padded size exceeds " + str(largest)};
}

} // namespace selvage
