#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include "selvage/core/line.h"
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

/// What an axis reads outside the input. All but `constant` repeat the input, of any length and any
/// number of times; with elements abcd, three places to either side read:
enum class Mode {
    constant,  ///< a value: vvv|abcd|vvv
    reflect,   ///< dcb|abcd|cba, the ends not repeated (NumPy `reflect`, PyTorch, ONNX)
    symmetric, ///< cba|abcd|dcb, the ends repeated (NumPy `symmetric`, SciPy ndimage `reflect`)
    replicate, ///< aaa|abcd|ddd (NumPy and ONNX `edge`, PyTorch `replicate`)
    circular,  ///< bcd|abcd|abc (NumPy and ONNX `wrap`, PyTorch `circular`)
};

/// A mode and its name in problem texts and on command lines.
struct NamedMode {
    std::string_view name; ///< as in problem texts
    Mode mode;             ///< what it stands for
};

/// All modes.
inline constexpr std::array<NamedMode, 5> modes = {{{"constant", Mode::constant},
                                                    {"reflect", Mode::reflect},
                                                    {"symmetric", Mode::symmetric},
                                                    {"replicate", Mode::replicate},
                                                    {"circular", Mode::circular}}};

/// What a caller asks for along one axis.
struct Axis {
    std::int64_t size = 1;      ///< elements of the input
    std::int64_t kernel = 1;    ///< taps
    std::int64_t stride = 1;    ///< input elements from one output to the next
    std::int64_t dilation = 1;  ///< input elements from one tap to the next
    std::int64_t begin = 0;     ///< pad before the first element; negative crops
    std::int64_t end = 0;       ///< pad after the last element; negative crops
    std::int64_t phase = 0;     ///< which of the `stride` samplings of the stride-1 result, from 0
    Mode mode = Mode::constant; ///< what is read outside
    /// Above 0: an adaptive pool with so many outputs. Output i covers the elements from
    /// floor(i*size/outputs) to ceil((i+1)*size/outputs), and no other field but `size` counts.
    /// Source: PyTorch, `torch.nn.AdaptiveAvgPool2d`.
    std::int64_t adaptive = 0;
    /// Of a transposed convolution: outputs beyond those that the pads leave, see transposed().
    std::int64_t output_padding = 0;
};

/// The largest value that an axis may hold or lead to: kernels address with 32 bits. It also keeps
/// all arithmetic of this header far inside 64 bits.
constexpr std::int64_t largest = 2147483647;

/// The pads of one axis. A negative pad is a crop.
struct Pads {
    std::int64_t begin = 0; ///< before the first element
    std::int64_t end = 0;   ///< after the last
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
    adaptive, ///< not 0 <= adaptive <= `largest`
    extra,    ///< not 0 <= output_padding <= `largest`
    result,   ///< pads take more than a transposed convolution has
};

namespace detail {

/// Division by a positive number, rounded down (the language's own rounds towards 0).
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// The remainder that belongs to floor_div(): 0 <= result < b.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

constexpr std::int64_t at_least(std::int64_t low, std::int64_t a) { return a < low ? low : a; }

constexpr std::int64_t extent(std::int64_t kernel, std::int64_t dilation) {
    return dilation * (kernel - 1) + 1;
}

/// The outputs of a transposed convolution without pads, phase and output padding.
constexpr std::int64_t full(const Axis &axis) {
    return (axis.size - 1) * axis.stride + extent(axis.kernel, axis.dilation);
}

/// The names of a table, for error texts: "valid, torch, ...".
template <class Named, std::size_t count> std::string names(const std::array<Named, count> &all) {
    std::string text;
    for (const Named &each : all)
        text.append(text.empty() ? "" : ", ").append(each.name);
    return text;
}

/// The element that stands at a position of an endless axis, all but `constant`. Source: the
/// definitions of `numpy.pad`, which repeat where a pad is longer than the input.
constexpr std::int64_t fold(std::int64_t position, std::int64_t size, Mode mode) {
    if (mode == Mode::replicate)
        return position < 0 ? 0 : position < size ? position : size - 1;
    if (mode == Mode::circular)
        return floor_mod(position, size);
    // There and back again: with ends not repeated, 2 elements less.
    const std::int64_t period = mode == Mode::symmetric ? 2 * size : at_least(1, 2 * size - 2);
    const std::int64_t step = floor_mod(position, period);
    return step < size ? step : (mode == Mode::symmetric ? period - 1 : period) - step;
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

/// As many outputs as asked for, at stride 1, from an input in their middle; an odd place goes to
/// the end. Fewer outputs crop alike. Source: this library; `tf.image.resize_with_crop_or_pad`.
constexpr Pads to(const Axis &axis, std::int64_t outputs) {
    if (detail::check_shape(axis) != WindowError::none || outputs < 0 || outputs > largest)
        return {largest + 1, largest + 1}; // window() refuses them
    const std::int64_t total = outputs + detail::extent(axis.kernel, axis.dilation) - 1 - axis.size;
    return {total / 2, total - total / 2};
}

} // namespace convention

/// A convention and its name in problem texts and on command lines.
struct Convention {
    std::string_view name;      ///< as in problem texts
    Pads (*pads)(const Axis &); ///< one of namespace convention
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
inline std::string convention_names() { return detail::names(conventions); }

/// The names of all modes, for error texts: "constant, reflect, ...".
inline std::string mode_names() { return detail::names(modes); }

/// The positions that are read along one axis.
///
/// Crops come first: the view is in[origin] .. in[origin + size - 1], and positions count from its
/// first element. For 0 <= i < outputs and 0 <= t < kernel, out[i] reads position
///     stride*i + dilation*t - before
/// which yields the border's value unless 0 <= position < size. Where another mode than `constant`
/// folds positions back, or an adaptive pool places its windows, source() is the rule.
struct Window {
    std::int64_t origin = 0;   ///< the first element of the view; what the begin crop took
    std::int64_t size = 0;     ///< elements of the view
    std::int64_t cropped = 0;  ///< elements that the end crop took
    std::int64_t kernel = 1;   ///< taps
    std::int64_t stride = 1;   ///< from one output to the next
    std::int64_t dilation = 1; ///< from one tap to the next
    std::int64_t before = 0;   ///< begin pad less phase; below 0 the first window starts inside
    std::int64_t outputs = 0;  ///< how many windows there are
    /// size + end pad as declared. Averages that count pads count positions below it (and never
    /// the overhang that a size rounded up leaves beyond).
    std::int64_t counted_end = 0;
    Mode mode = Mode::constant; ///< what is read outside the view
    std::int64_t start = 0;     ///< of a slice: its first element within the unsliced view
    std::int64_t whole = 0;     ///< elements of the unsliced view
    std::int64_t first = 0;     ///< of a slice: its first output within all outputs
    std::int64_t adaptive = 0;  ///< above 0: outputs of the whole adaptive pool

    /// The element of the view that tap `t` of output `i` reads, or -1 for the border's value.
    /// (With `mode` other than `constant` no tap reads that.)
    constexpr std::int64_t source(std::int64_t i, std::int64_t t) const {
        if (adaptive > 0)
            return t < adaptive_end(i) - adaptive_begin(i) ? adaptive_begin(i) + t - start : -1;
        return at(stride * i + dilation * t - before);
    }

    /// The element of the view at a position, or -1 for the border's value.
    constexpr std::int64_t at(std::int64_t position) const {
        if (position >= 0 && position < size)
            return position;
        return mode == Mode::constant || whole == 0
                   ? -1
                   : detail::fold(position + start, whole, mode) - start;
    }

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
        return outputs == 0 || adaptive > 0 ? 0
                                            : detail::at_least(0, last_start() + extent() - size);
    }

    /// Elements at the end of the uncropped input that no window reads; all of them where windows
    /// read nothing but padding. Takes at most min(stride, kernel) steps. In modes other than
    /// `constant`, what only the border repeats counts as unread.
    constexpr std::int64_t unused() const {
        if (adaptive > 0)
            return cropped;
        const std::int64_t last = last_read();
        return cropped + size - 1 - (last < 0 ? -1 - origin : last);
    }

    /// The divisor of an average along this axis: taps of window `i` inside the view, or with
    /// `include_pad` inside the view and its declared pads. May be 0. In modes other than
    /// `constant` every tap reads an element, and counts.
    constexpr std::int64_t counted(std::int64_t i, bool include_pad) const {
        if (adaptive > 0)
            return adaptive_end(i) - adaptive_begin(i);
        if (mode != Mode::constant)
            return kernel;
        const std::int64_t start_of_window = stride * i - before;
        const std::int64_t end = include_pad ? counted_end : size;
        // No window starts before the begin pad, so with pads every tap below `end` counts.
        const std::int64_t begin = include_pad ? start_of_window : 0;
        return taps_below(start_of_window, end) - taps_below(start_of_window, begin);
    }

    /// The outputs whose windows read nothing outside the view, as the half-open range first..end;
    /// empty ranges have first == end.
    struct Outputs {
        std::int64_t first; ///< the first of them
        std::int64_t end;   ///< the first behind them
    };
    /// These outputs; all where no window reads the border's value.
    constexpr Outputs inside() const {
        if (adaptive > 0 || !reads_border())
            return {0, outputs};
        const std::int64_t low =
            detail::at_least(0, detail::floor_div(before + stride - 1, stride));
        const std::int64_t high = detail::floor_div(size - extent() + before, stride) + 1;
        const std::int64_t begin = low < outputs ? low : outputs;
        return {begin, high < begin ? begin : high < outputs ? high : outputs};
    }

    /// The window of `count` neighbouring outputs from `output` on, on the shortest slice of the
    /// view that holds all they read (at least one element). Tiles of an image are slices: what
    /// lies outside a slice is either the border or never read. The slice is
    ///     in[result.origin] .. in[result.origin + result.size - 1].
    /// Where outputs are computed in groups of `multiple`, counted from the first of all, it holds
    /// what whole groups read, and so may reach beyond a view that is a slice.
    constexpr Window slice(std::int64_t output, std::int64_t count,
                           std::int64_t multiple = 1) const {
        const std::int64_t lead = (first + output) % multiple;
        const std::int64_t groups = (lead + count + multiple - 1) / multiple;
        std::int64_t low = stride * (output - lead) - before;
        std::int64_t high = low + stride * (groups * multiple - 1) + extent();
        if (adaptive > 0) {
            low = adaptive_begin(output) - start;
            high = adaptive_end(output + count - 1) - start;
        } else if (mode != Mode::constant) {
            const std::int64_t from = low, to = high;
            const std::int64_t period = 2 * whole;
            for (std::int64_t p = from; p < 0 && p < to && p < from + period; ++p)
                widen(at(p), &low, &high);
            const std::int64_t behind = detail::at_least(size, from);
            for (std::int64_t p = behind; p < to && p < behind + period; ++p)
                widen(at(p), &low, &high);
        }
        const std::int64_t begin = -start, end = whole - start; // of the unsliced view
        low = detail::at_least(begin, low < end ? low : end - 1);
        high = detail::at_least(low + 1, high < end ? high : end);
        Window result = *this;
        result.origin += low;
        result.start += low;
        result.size = high - low;
        result.cropped += size - high;
        result.before = before - stride * output + low;
        result.counted_end -= low;
        result.outputs = count;
        result.first += output;
        return result;
    }

    /// The window of the outputs `output`, output + step, ..., on the same view.
    constexpr Window every(std::int64_t step, std::int64_t output) const {
        Window result = *this;
        result.stride *= step;
        result.before -= stride * output;
        result.outputs = (outputs - output + step - 1) / step;
        result.first = (first + output) / step;
        return result;
    }

private:
    static constexpr void widen(std::int64_t element, std::int64_t *low, std::int64_t *high) {
        *low = element < *low ? element : *low;
        *high = detail::at_least(element + 1, *high);
    }

    constexpr std::int64_t adaptive_begin(std::int64_t i) const {
        return (first + i) * whole / adaptive;
    }
    constexpr std::int64_t adaptive_end(std::int64_t i) const {
        return ((first + i + 1) * whole + adaptive - 1) / adaptive;
    }

    /// How many taps of a window that starts at `start_of_window` lie below `end`.
    constexpr std::int64_t taps_below(std::int64_t start_of_window, std::int64_t end) const {
        const std::int64_t count =
            detail::floor_div(end - start_of_window + dilation - 1, dilation);
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
    Window window;                         ///< where `error` is none
    WindowError error = WindowError::none; ///< the first rule that is broken

    /// Whether there is a window.
    constexpr bool ok() const { return error == WindowError::none; }
};

namespace detail {

/// Windows of equal length where the outputs divide the size, else of lengths that differ by one or
/// two; `kernel` is the longest. (The start of window i lies i*size % outputs past a multiple of
/// 1/outputs, and the largest such remainder is outputs - gcd.)
constexpr Window adaptive_window(std::int64_t size, std::int64_t outputs) {
    Window result;
    result.size = result.whole = result.counted_end = size;
    result.outputs = outputs;
    const std::int64_t length = size / outputs;
    if (length > 0 && size % outputs == 0) {
        result.kernel = result.stride = length;
        return result;
    }
    result.adaptive = outputs;
    result.kernel = at_least(1, (outputs - std::gcd(size, outputs) + size + outputs - 1) / outputs);
    return result;
}

} // namespace detail

/// The window of an axis:
///     outputs = floor((size + begin + end - phase - extent) / stride) + 1
/// With `ceil`, the division rounds up, and the last window is dropped if it starts at or beyond
/// the end of the view (PyTorch's and ONNX's `ceil_mode`). 0 outputs are a result, fewer an error,
/// after which *result is of no use.
constexpr WindowError window(const Axis &axis, bool ceil, Window *result) {
    if (WindowError error = detail::check_shape(axis); error != WindowError::none)
        return error;
    if (axis.adaptive < 0 || axis.adaptive > largest)
        return WindowError::adaptive;
    Window &w = *result;
    w = Window();
    if (axis.adaptive > 0) {
        w = detail::adaptive_window(axis.size, axis.adaptive);
        return WindowError::none;
    }
    if (axis.phase < 0 || axis.phase >= axis.stride)
        return WindowError::phase;
    for (std::int64_t pad : {axis.begin, axis.end})
        if (pad > largest || pad < -largest)
            return WindowError::overflow;

    w.kernel = axis.kernel;
    w.stride = axis.stride;
    w.dilation = axis.dilation;
    w.origin = detail::at_least(0, -axis.begin);
    w.cropped = detail::at_least(0, -axis.end);
    w.size = axis.size - w.origin - w.cropped;
    w.whole = w.size;
    w.mode = axis.mode;
    if (w.size < 0)
        return WindowError::crop;
    const std::int64_t begin = detail::at_least(0, axis.begin);
    w.before = begin - axis.phase;
    w.counted_end = w.size + detail::at_least(0, axis.end);

    const std::int64_t span = w.counted_end + w.before - w.extent();
    const std::int64_t round = ceil ? axis.stride - 1 : 0;
    w.outputs = detail::floor_div(span + round, axis.stride) + 1;
    if (ceil && axis.stride * (w.outputs - 1) - w.before >= w.size)
        --w.outputs;
    if (w.outputs < 0)
        return WindowError::outputs;
    if (begin + w.counted_end > largest || w.size + w.after() > largest)
        return WindowError::overflow;
    return WindowError::none;
}

/// The same as one value.
constexpr WindowResult window(const Axis &axis, bool ceil = false) {
    WindowResult found;
    found.error = window(axis, ceil, &found.window);
    return found.ok() ? found : WindowResult{{}, found.error};
}

/// Writes the rule that an axis breaks, with its values, and tells what kind of rule it is.
inline Code explain(const Axis &axis, WindowError error, Line &text) {
    constexpr Code invalid = Code::invalid_argument;
    switch (error) {
    case WindowError::none: break;
    case WindowError::size: return text.fail(invalid, "size % is less than 0", axis.size);
    case WindowError::kernel: return text.fail(invalid, "kernel % is less than 1", axis.kernel);
    case WindowError::stride: return text.fail(invalid, "stride % is less than 1", axis.stride);
    case WindowError::dilation:
        return text.fail(invalid, "dilation % is less than 1", axis.dilation);
    case WindowError::phase:
        return text.fail(invalid, "phase % is not in 0..% (stride %)", axis.phase, axis.stride - 1,
                         axis.stride);
    case WindowError::crop:
        return text.fail(invalid, "pads %,% crop more than the size %", axis.begin, axis.end,
                         axis.size);
    case WindowError::outputs:
        return text.fail(invalid,
                         "size % with pads %,% and phase % is too short for kernel % with dilation "
                         "% at stride %: the number of outputs would be negative",
                         axis.size, axis.begin, axis.end, axis.phase, axis.kernel, axis.dilation,
                         axis.stride);
    case WindowError::adaptive:
        return text.fail(invalid, "adaptive % is not in 0..%", axis.adaptive, largest);
    case WindowError::extra:
        return text.fail(invalid, "output_padding % is not in 0..%", axis.output_padding, largest);
    case WindowError::result:
        return text.fail(invalid, "pads %,% crop more than the % outputs", axis.begin, axis.end,
                         detail::full(axis) + axis.phase + axis.output_padding);
    case WindowError::overflow:
        return text.fail(Code::overflow,
                         "size %, kernel %, stride %, dilation %, pads %,%: a value, the extent of "
                         "the window or the padded size exceeds %",
                         axis.size, axis.kernel, axis.stride, axis.dilation, axis.begin, axis.end,
                         largest);
    }
    return Code::ok;
}

/// The outcome of window(axis) with one line of text that holds the values and the rule they break.
/// Allocates where that is not `ok`.
inline Status status(const Axis &axis, const WindowResult &result) {
    char text[longest_line];
    Line line(text, sizeof text);
    const Code code = explain(axis, result.error, line);
    return code == Code::ok ? Status() : Status(code, text);
}

/// A transposed convolution along one axis, the adjoint of the convolution with the same pads and
/// phase: input element i adds to
///     out[stride*i + dilation*t - before]    for 0 <= t < kernel
/// as far as that lies in 0 .. outputs-1. Pads crop the full result, negative ones add places.
/// Source: ONNX ConvTranspose, PyTorch `torch.nn.ConvTranspose2d`.
struct Transposed {
    std::int64_t size = 0;     ///< elements of the input
    std::int64_t kernel = 1;   ///< taps
    std::int64_t stride = 1;   ///< from one input's first output to the next one's
    std::int64_t dilation = 1; ///< from one tap to the next
    std::int64_t before = 0;   ///< begin pad less phase
    std::int64_t outputs = 0;  ///< elements of the result

    /// How many of its outputs' remainders by the stride there are; 1 where there is no output.
    constexpr std::int64_t phases() const {
        return detail::at_least(1, outputs < stride ? outputs : stride);
    }

    /// The outputs `phase`, phase + stride, ... (0 <= phase < phases()) as an ordinary convolution
    /// of stride 1 with those taps that meet input elements there: tap m of the convolution is tap
    /// first_tap - m*tap_step. Where no tap does, the window reads nothing but the border, and
    /// `taps` is 0.
    struct Phase {
        Window window;              ///< of stride 1
        std::int64_t first_tap = 0; ///< the tap that is tap 0 of the convolution
        std::int64_t tap_step = 0;  ///< from one of these taps to the next
        std::int64_t taps = 0;      ///< how many there are
    };
    /// The outputs of that remainder.
    constexpr Phase phase(std::int64_t phase) const {
        // Output phase + stride*j, moved by `before`, is stride*(quotient + j) + remainder.
        const std::int64_t quotient = detail::floor_div(phase + before, stride);
        const std::int64_t remainder = detail::floor_mod(phase + before, stride);
        const std::int64_t common = std::gcd(stride, dilation);
        Phase result;
        result.tap_step = stride / common;
        Window &w = result.window;
        w.size = w.whole = w.counted_end = size;
        w.outputs = (outputs - phase + stride - 1) / stride;
        std::int64_t tap = 0;
        while (tap < kernel && tap < result.tap_step && dilation * tap % stride != remainder)
            ++tap;
        if (tap == kernel || tap == result.tap_step) {
            w.before = w.outputs;
            return result;
        }
        result.taps = (kernel - 1 - tap) / result.tap_step + 1;
        result.first_tap = tap + (result.taps - 1) * result.tap_step;
        w.kernel = result.taps;
        w.dilation = dilation / common;
        // Output j reads in[quotient + j - offset - m*dilation] for its tap number m; the taps are
        // turned round, so that positions grow with them.
        const std::int64_t offset = (dilation * tap - remainder) / stride;
        w.before = w.reach() + offset - quotient;
        return result;
    }

    /// The transposed convolution that gives `count` outputs from `output` on.
    constexpr Transposed slice(std::int64_t output, std::int64_t count) const {
        Transposed result = *this;
        result.before += output;
        result.outputs = count;
        return result;
    }
};

/// A transposed convolution, or the rule that the axis breaks.
struct TransposedResult {
    Transposed transposed;                 ///< where `error` is none
    WindowError error = WindowError::none; ///< the first rule that is broken

    /// Whether there is a result.
    constexpr bool ok() const { return error == WindowError::none; }
};

/// The transposed convolution of an axis whose `size` is the input's:
///     outputs = (size - 1)*stride + extent - begin - end + phase + output_padding
/// (an empty input has stride fewer than an input of 1). `mode` must be `constant`.
constexpr TransposedResult transposed(const Axis &axis) {
    if (WindowError error = detail::check_shape(axis); error != WindowError::none)
        return {{}, error};
    if (axis.phase < 0 || axis.phase >= axis.stride)
        return {{}, WindowError::phase};
    if (axis.output_padding < 0 || axis.output_padding > largest)
        return {{}, WindowError::extra};
    for (std::int64_t value : {axis.begin, axis.end})
        if (value > largest || value < -largest)
            return {{}, WindowError::overflow};
    Transposed result;
    result.size = axis.size;
    result.kernel = axis.kernel;
    result.stride = axis.stride;
    result.dilation = axis.dilation;
    result.before = axis.begin - axis.phase;
    // At most 2^62 + a few times 2^31.
    const std::int64_t full = detail::full(axis) + axis.phase + axis.output_padding;
    result.outputs = full - axis.begin - axis.end;
    if (result.outputs < 0) // without pads too: of an empty input with a stride above the extent
        return {{}, full < 0 ? WindowError::outputs : WindowError::result};
    if (result.outputs > largest)
        return {{}, WindowError::overflow};
    return {result, WindowError::none};
}

/// The pads by which a transposed convolution undoes a convention: `begin` is what the convention
/// gives the convolution of size*stride elements, and size*stride outputs remain; `valid` crops
/// nothing. Source: ONNX ConvTranspose `auto_pad`; TensorFlow `tf.nn.conv2d_transpose`.
constexpr Pads transposed_pads(Axis axis, Pads (*same)(const Axis &)) {
    if (detail::check_shape(axis) != WindowError::none || axis.size * axis.stride > largest ||
        same == convention::valid)
        return {};
    const std::int64_t outputs = axis.size * axis.stride;
    Axis forward = axis;
    forward.size = outputs;
    forward.phase = 0;
    const std::int64_t begin = same(forward).begin;
    return {begin, detail::full(axis) - begin - outputs};
}

/// The pads that leave `outputs` of a transposed convolution; of an odd number to crop the larger
/// half goes to the begin, or to the end where `end_first`. Source: ONNX ConvTranspose
/// `output_shape`, whose SAME_UPPER is `end_first`.
constexpr Pads transposed_pads_for(Axis axis, std::int64_t outputs, bool end_first) {
    // transposed() refuses these axes itself, and these pads in place of the outputs.
    if (detail::check_shape(axis) != WindowError::none || axis.output_padding < 0 ||
        axis.output_padding > largest)
        return {};
    if (outputs < 0 || outputs > largest)
        return {largest + 1, largest + 1};
    const std::int64_t total = detail::full(axis) + axis.output_padding - outputs;
    if (total > 2 * largest || total < -2 * largest)
        return {largest + 1, largest + 1};
    // Of an odd number to add, the larger half goes to the end either way.
    const std::int64_t begin = end_first ? total / 2 : total - detail::floor_div(total, 2);
    return {begin, total - begin};
}

/// Gives an axis the pads that a convention or a number of outputs stands for; where both are null,
/// they stay. Outputs are those of transposed_pads_for(), of which `same` says no more than
/// whose larger half is cropped, or else those of convention::to(). Fails with `invalid_argument`
/// and one line where the outputs are not in 0..`largest` or do not go with the rest.
inline Code resolve_pads(Axis *axis, bool transposed, const Convention *same,
                         const std::int64_t *outputs, Line &text) {
    constexpr Code invalid = Code::invalid_argument;
    if (outputs == nullptr) {
        if (same != nullptr)
            *axis =
                with(*axis, transposed ? transposed_pads(*axis, same->pads) : same->pads(*axis));
        return Code::ok;
    }
    if (*outputs < 0 || *outputs > largest)
        return text.fail(invalid, "outputs % is not in 0..%", *outputs, largest);
    if (!transposed && (axis->stride != 1 || same != nullptr))
        return text.fail(invalid, "outputs %: needs stride 1 and no same, unless transposed",
                         *outputs);
    const bool upper = same != nullptr && same->name == "onnx-upper";
    if (same != nullptr && !upper && same->name != "onnx-lower")
        return text.fail(invalid, "outputs %: takes same onnx-upper or onnx-lower, no other",
                         *outputs);
    *axis = with(*axis, transposed ? transposed_pads_for(*axis, *outputs, upper)
                                   : convention::to(*axis, *outputs));
    return Code::ok;
}

} // namespace selvage
