#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "selvage/core/buffer.h"
#include "selvage/core/code.h"
#include "selvage/core/line.h"
#include "selvage/core/scratch.h"
#include "selvage/tensor.h"
#include "selvage/window.h"

/// Views of tensors, and what they must be for kernels to take them.

namespace selvage {

/// Whether so many elements of some bytes each fit one buffer, whose bytes kernels count with 32
/// bits.
inline bool addressable(std::int64_t bytes, std::initializer_list<std::int64_t> sizes) {
    for (std::int64_t size : sizes)
        if (size == 0)
            return true;
    for (std::int64_t size : sizes)
        if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > largest)
            return false;
    return true;
}

/// From the first image of a batch to its last: 64 bits still count their bytes.
constexpr std::int64_t most_elements = std::int64_t(1) << 58;

/// A view whose type of number is known at run time.
struct View {
    const char *what; ///< "input", "output", "indices"
    const void *data;
    NumberType type;
    bool written;
    std::int64_t n, d, h, w, c;
    std::int64_t stride_n, stride_d, stride_h, stride_w, stride_c;

    /// Sizes and strides are to follow.
    template <class T>
    View(const char *what, T *data)
        : what(what), data(data), type(number_type(std::remove_const_t<T>())),
          written(!std::is_const_v<T>) {}

    template <class T> View(const char *what, const Tensor<T> &t) : View(what, t.data) {
        n = t.n;
        d = t.d;
        h = t.h;
        w = t.w;
        c = t.c;
        stride_n = t.stride_n;
        stride_d = t.stride_d;
        stride_h = t.stride_h;
        stride_w = t.stride_w;
        stride_c = t.stride_c;
    }

    bool empty() const { return n == 0 || d == 0 || h == 0 || w == 0 || c == 0; }

    /// Elements from the first of one image to its last, both included.
    [[gnu::noinline]] std::int64_t image_span() const {
        return (d - 1) * stride_d + (h - 1) * stride_h + (w - 1) * stride_w + (c - 1) * stride_c +
               1;
    }
    std::int64_t span() const { return empty() ? 0 : (n - 1) * stride_n + image_span(); }

    /// Lets the view begin at another element.
    [[gnu::noinline]] void move(std::int64_t image, std::int64_t plane, std::int64_t row,
                                std::int64_t column) {
        const std::int64_t elements =
            image * stride_n + plane * stride_d + row * stride_h + column * stride_w;
        data = static_cast<const char *>(data) + elements * type.bytes();
    }
    View from(std::int64_t image, std::int64_t plane, std::int64_t row, std::int64_t column) const {
        View moved = *this;
        moved.move(image, plane, row, column);
        return moved;
    }

    /// Lets the view take but some neighbouring channels.
    void narrow_channels(std::int64_t first, std::int64_t count) {
        data = static_cast<const char *>(data) + first * stride_c * type.bytes();
        c = count;
    }

    /// Lets the view take but every so manyth plane, row and column. A stride that is never taken
    /// may be any number, whose multiple 64 bits need not hold.
    [[gnu::noinline]] void step(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
        stride_d *= d == 1 ? 1 : planes;
        stride_h *= h == 1 ? 1 : rows;
        stride_w *= w == 1 ? 1 : columns;
    }
};

/// A view that is not empty must be addressable. Elements that are written must not share memory;
/// those that are read may (a stride of 0 repeats an image, a row or a pixel).
inline Code check_view(const View &view, Layout layout, Line &text) {
    struct AxisView {
        std::int64_t size, stride;
    };
    const bool nhwc = layout == Layout::nhwc;
    const AxisView c = {view.c, view.stride_c}, d = {view.d, view.stride_d},
                   h = {view.h, view.stride_h}, w = {view.w, view.stride_w};
    // Innermost axis first, as the layout has them.
    const AxisView axes[] = {
        nhwc ? c : w, nhwc ? w : h, nhwc ? h : d, nhwc ? d : c, {view.n, view.stride_n}};
    constexpr int images = 4;
    constexpr Code invalid = Code::invalid_argument;
    if (view.data == nullptr)
        return text.fail(invalid, "$ is null", view.what);
    for (int i = images; i >= 0; --i) {
        const std::int64_t limit = i == images ? most_elements / view.n : largest;
        if (axes[i].size > 1 && (axes[i].stride < 0 || axes[i].stride > limit))
            return text.fail(invalid, "$ has a stride of % elements, not in 0..%", view.what,
                             axes[i].stride, limit);
    }
    if (axes[0].size > 1 && axes[0].stride != 1)
        return text.fail(Code::unsupported,
                         "$ has neighbours % elements apart along its $; they must lie at "
                         "distance 1",
                         view.what, axes[0].stride,
                         nhwc ? "channels, the innermost axis of nhwc"
                              : "columns, the innermost axis of nchw");
    std::int64_t inner = 1; // elements from the first to the last of the axes within
    for (int i = 0; i <= images; ++i) {
        if (view.written && axes[i].size > 1 && axes[i].stride < inner)
            return text.fail(invalid,
                             "$ overlaps itself: strides %,%,%,%,% (image, plane, row, column, "
                             "channel) for %x%x%x%x%",
                             view.what, view.stride_n, view.stride_d, view.stride_h, view.stride_w,
                             view.stride_c, view.n, view.d, view.h, view.w, view.c);
        inner += (axes[i].size - 1) * axes[i].stride;
        if (inner > largest && i + 1 < images)
            break;
    }
    if (view.image_span() > largest / view.type.bytes())
        return text.fail(Code::overflow, "$ spans % elements in an image, more than % bytes",
                         view.what, view.image_span(), largest);
    return Code::ok;
}

/// Lets the rows of two views of as many pixels be as long as they can: rows, planes and images
/// become one where they follow each other at the distance of pixels in both.
inline void join_rows(View *a, View *b) {
    struct Outer {
        std::int64_t View::*size, View::*stride;
    };
    for (const Outer &outer : {Outer{&View::h, &View::stride_h}, Outer{&View::d, &View::stride_d},
                               Outer{&View::n, &View::stride_n}}) {
        const std::int64_t size = a->*outer.size, width = a->w;
        if (size == 1)
            continue;
        for (View *each : {a, b})
            if (width == 1)
                each->stride_w = each->*outer.stride;
        if (a->*outer.stride != width * a->stride_w || b->*outer.stride != width * b->stride_w)
            return;
        for (View *each : {a, b}) {
            each->w = width * size;
            each->*outer.size = 1;
        }
    }
}

inline bool overlap(const View &a, const View &b) {
    const auto begin = [](const View &v) { return reinterpret_cast<std::uintptr_t>(v.data); };
    const auto end = [&](const View &v) {
        return begin(v) + std::uintptr_t(v.span()) * std::uintptr_t(v.type.bytes());
    };
    return a.span() > 0 && b.span() > 0 && begin(a) < end(b) && begin(b) < end(a);
}

/// How many images a call may span, so that all their elements are addressable.
inline std::int64_t images_per_call(const View &view) {
    if (view.stride_n == 0 || view.n <= 1)
        return view.n;
    const std::int64_t room = largest / view.type.bytes() - view.image_span();
    const std::int64_t images = room / view.stride_n + 1;
    return images < view.n ? images : view.n;
}

/// What must hold among the memories of one run. `indices` may be null.
inline Code check_memory(const View &input, const View &output, const View *indices, Line &text) {
    if (overlap(input, output))
        return text.fail(Code::invalid_argument, "the memory of input and output overlaps");
    if (indices != nullptr && (overlap(input, *indices) || overlap(output, *indices)))
        return text.fail(Code::invalid_argument,
                         "the memory of indices overlaps that of input or output");
    return Code::ok;
}

/// What kernels of lines want of pixels of several channels: no gaps within a row.
inline Code check_adjacent_pixels(const View &input, const View &output, Line &text) {
    const auto adjacent = [](const View &view) { return view.w <= 1 || view.stride_w == view.c; };
    if (adjacent(input) && adjacent(output))
        return Code::ok;
    return text.fail(Code::invalid_argument,
                     "adjacent pixels are needed, but those of input and output are % and % "
                     "elements apart",
                     input.stride_w, output.stride_w);
}

/// Memory that the library asked for: null only where it wants none, and aligned.
inline Code check_aligned(const char *what, const void *memory, bool wanted, Line &text) {
    if (wanted && memory == nullptr)
        return text.fail(Code::invalid_argument, "$ is null", what);
    if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
        return text.fail(Code::invalid_argument, "$ is not aligned to % bytes", what, alignment);
    return Code::ok;
}

} // namespace selvage
