#include <HalideRuntime.h>

#include <limits>
#include <type_traits>

#include "choose.h"
#include "scratch.h"
#include "selvage/kernels.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

// Kernels address bytes with 32 bits.
constexpr std::int64_t address_limit = std::numeric_limits<std::int32_t>::max();

std::string str(std::int64_t value) { return std::to_string(value); }

std::string shape(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
    return str(n) + "x" + str(h) + "x" + str(w) + "x" + str(c);
}

template <class T> std::int64_t span(const Tensor<T> &view) {
    if (view.n == 0 || view.h == 0 || view.w == 0 || view.c == 0)
        return 0;
    return (view.n - 1) * view.stride_n + (view.h - 1) * view.stride_h +
           (view.w - 1) * view.stride_w + view.c;
}

/// A view must have the problem's shape and be addressable. Elements that are written must not
/// share memory; those that are read may (a stride of 0 repeats an image, a row or a pixel).
template <class T>
Status check_view(const char *what, const Tensor<T> &view, std::int64_t n, std::int64_t h,
                  std::int64_t w, std::int64_t c) {
    const std::string head = std::string("run: ") + what + " ";
    if (view.n != n || view.h != h || view.w != w || view.c != c)
        return {Code::invalid_argument, head + "is " + shape(view.n, view.h, view.w, view.c) +
                                            ", the problem needs " + shape(n, h, w, c) + " (NHWC)"};
    if (n == 0 || h == 0 || w == 0)
        return {};
    if (view.data == nullptr)
        return {Code::invalid_argument, head + "is null"};
    for (std::int64_t stride : {view.stride_n, view.stride_h, view.stride_w})
        if (stride < 0 || stride > address_limit)
            return {Code::invalid_argument, head + "has a stride of " + str(stride) +
                                                " elements, not in 0.." + str(address_limit)};
    const bool apart =
        (w == 1 || view.stride_w >= c) &&
        (h == 1 || view.stride_h >= (w - 1) * view.stride_w + c) &&
        (n == 1 || view.stride_n >= (h - 1) * view.stride_h + (w - 1) * view.stride_w + c);
    if (!std::is_const_v<T> && !apart)
        return {Code::invalid_argument, head + "overlaps itself: strides " + str(view.stride_n) +
                                            "," + str(view.stride_h) + "," + str(view.stride_w) +
                                            " (image, row, column) for " + shape(n, h, w, c)};
    if (span(view) > address_limit / std::int64_t(sizeof(T)))
        return {Code::overflow, head + "spans " + str(span(view)) + " elements, more than " +
                                    str(address_limit) + " bytes"};
    return {};
}

template <class A, class B> bool overlap(const Tensor<A> &a, const Tensor<B> &b) {
    const auto begin = [](const auto &v) { return reinterpret_cast<std::uintptr_t>(v.data); };
    const auto end = [&](const auto &v) {
        return begin(v) + std::uintptr_t(span(v)) * sizeof(float);
    };
    return span(a) > 0 && span(b) > 0 && begin(a) < end(b) && begin(b) < end(a);
}

/// Halide's description of memory, with the dimensions it points to.
template <int dimensions> struct Buffer {
    halide_dimension_t dims[dimensions] = {};
    halide_buffer_t buffer = {};

    explicit Buffer(const float *data) {
        buffer.host = reinterpret_cast<std::uint8_t *>(const_cast<float *>(data));
        buffer.type = halide_type_of<float>();
        buffer.dimensions = dimensions;
        buffer.dim = dims;
    }
    Buffer(const Buffer &) = delete;

    void set(int d, std::int64_t extent, std::int64_t stride) {
        dims[d] = halide_dimension_t(0, std::int32_t(extent), std::int32_t(stride));
    }
    /// The same extents without gaps.
    void dense(std::initializer_list<std::int64_t> extents) {
        std::int64_t stride = 1;
        int d = 0;
        for (std::int64_t extent : extents) {
            set(d++, extent, stride);
            stride *= extent;
        }
    }
};

/// What all kernels take: the windows and the activation, as the 32-bit numbers that they expect.
struct Scalars {
    std::int32_t left, top, stride_x, stride_y, dilation_x, dilation_y, kernel_x, kernel_y;
    float value, low, high;

    Scalars(const Problem &problem, const Window &y, const Window &x)
        : left(std::int32_t(x.before)), top(std::int32_t(y.before)),
          stride_x(std::int32_t(x.stride)), stride_y(std::int32_t(y.stride)),
          dilation_x(std::int32_t(x.dilation)), dilation_y(std::int32_t(y.dilation)),
          kernel_x(std::int32_t(x.kernel)), kernel_y(std::int32_t(y.kernel)), value(problem.value),
          low(-std::numeric_limits<float>::infinity()), high(-low) {
        switch (problem.act) {
        case Activation::none: break;
        case Activation::relu: low = 0; break;
        case Activation::relu6:
            low = 0;
            high = 6;
            break;
        case Activation::clamp:
            low = problem.act_low;
            high = problem.act_high;
            break;
        }
    }
};

} // namespace

Status Plan::run(const Tensor<const float> &input, const void *packed, const Tensor<float> &output,
                 void *scratch, std::size_t scratch_bytes) const {
    if (row_ == nullptr)
        return {Code::invalid_argument, "run: the plan is empty; make_plan() fills it"};
    const Problem &p = problem_;
    const Window &y = window_y_, &x = window_x_;
    if (Status s = check_view("input", input, p.n, p.y.size, p.x.size, p.c); !s.ok())
        return s;
    if (Status s = check_view("output", output, p.n, y.outputs, x.outputs, p.k); !s.ok())
        return s;
    if (packed_bytes_ > 0 && packed == nullptr)
        return {Code::invalid_argument, "run: packed is null; pack() fills it"};
    if (reinterpret_cast<std::uintptr_t>(packed) % alignment != 0)
        return {Code::invalid_argument, "run: packed is not aligned to 64 bytes"};
    if (scratch_bytes < scratch_bytes_)
        return {Code::too_small, "run: scratch has " + std::to_string(scratch_bytes) +
                                     " bytes, the plan needs " + std::to_string(scratch_bytes_)};
    if (scratch_bytes_ > 0 && scratch == nullptr)
        return {Code::invalid_argument, "run: scratch is null"};
    if (reinterpret_cast<std::uintptr_t>(scratch) % alignment != 0)
        return {Code::invalid_argument, "run: scratch is not aligned to 64 bytes"};
    if (overlap(input, output))
        return {Code::invalid_argument, "run: the memory of input and output overlaps"};
    const auto adjacent = [](const auto &view) { return view.w <= 1 || view.stride_w == view.c; };
    if (adjacent_pixels_ && !(adjacent(input) && adjacent(output)))
        return {
            Code::invalid_argument,
            "run: the plan was promised adjacent pixels, but the pixels of input and output are " +
                str(input.stride_w) + " and " + str(output.stride_w) + " elements apart"};
    if (p.n == 0 || y.outputs == 0 || x.outputs == 0)
        return {};

    Scratch stack{static_cast<char *>(scratch), scratch_bytes};
    void *context = &stack;
    Scalars s(p, y, x);
    // Crops move the origin; what they cut off is not there any more.
    const float *origin = input.data + y.origin * input.stride_h + x.origin * input.stride_w;
    const float *weights = static_cast<const float *>(packed);

    int result = 0;
    if (p.op == Op::conv2d) {
        const std::int64_t lane_block = row_->lanes * row_->vectors;
        const std::int64_t inputs = p.c / p.g, outputs = p.k / p.g;
        const Blocking cut = blocking(*row_, p, y, x);
        Buffer<5> in(origin), out(output.data);
        in.set(0, inputs, 1);
        in.set(1, p.g, inputs);
        in.set(2, x.size, input.stride_w);
        in.set(3, y.size, input.stride_h);
        in.set(4, p.n, input.stride_n);
        out.set(0, outputs, 1);
        out.set(1, p.g, outputs);
        out.set(2, x.outputs, output.stride_w);
        out.set(3, y.outputs, output.stride_h);
        out.set(4, p.n, output.stride_n);
        Buffer<7> w(weights);
        w.dense({lane_block, row_->channel_block, x.kernel, y.kernel,
                 blocks_of(inputs, row_->channel_block), blocks_of(outputs, lane_block), p.g});
        Buffer<3> bias(weights + bias_offset_);
        bias.dense({lane_block, blocks_of(outputs, lane_block), p.g});
        std::int32_t strip_rows = std::int32_t(cut.strip_rows),
                     block_rows = std::int32_t(cut.block_rows),
                     channel_blocks = std::int32_t(cut.channel_blocks);
        void *arguments[] = {
            &context,        &in.buffer,  &w.buffer,     &bias.buffer,  &s.left,     &s.top,
            &s.stride_x,     &s.stride_y, &s.dilation_x, &s.dilation_y, &strip_rows, &block_rows,
            &channel_blocks, &s.value,    &s.low,        &s.high,       &out.buffer};
        result = row_->function(arguments);
    } else {
        // To a flat kernel, a row is one pixel that has all numbers of the row.
        const bool flat = row_->family == Family::flat;
        Buffer<4> in(origin), out(output.data);
        in.set(0, flat ? x.size * p.c : p.c, 1);
        in.set(1, x.size, flat ? p.c : input.stride_w);
        in.set(2, y.size, input.stride_h);
        in.set(3, p.n, input.stride_n);
        out.set(0, flat ? x.outputs * p.k : p.k, 1);
        out.set(1, flat ? 1 : x.outputs, output.stride_w);
        out.set(2, y.outputs, output.stride_h);
        out.set(3, p.n, output.stride_n);
        if (p.op == Op::depthwise2d) {
            Buffer<3> w(weights);
            w.dense({packed_outputs(*row_, p), x.kernel, y.kernel});
            Buffer<1> bias(weights + bias_offset_);
            bias.dense({packed_outputs(*row_, p)});
            std::int32_t multiplier = std::int32_t(p.k / p.c);
            void *arguments[] = {&context,      &in.buffer,    &w.buffer,   &bias.buffer,
                                 &s.left,       &s.top,        &s.stride_x, &s.stride_y,
                                 &s.dilation_x, &s.dilation_y, &multiplier, &s.value,
                                 &s.low,        &s.high,       &out.buffer};
            result = row_->function(arguments);
        } else if (p.op == Op::max_pool2d) {
            void *arguments[] = {&context,      &in.buffer,    &s.kernel_x, &s.kernel_y,
                                 &s.left,       &s.top,        &s.stride_x, &s.stride_y,
                                 &s.dilation_x, &s.dilation_y, &out.buffer};
            result = row_->function(arguments);
        } else {
            Buffer<1> counted_x(counted_x_.data()), counted_y(counted_y_.data());
            counted_x.dense({std::int64_t(counted_x_.size())});
            counted_y.dense({y.outputs});
            void *arguments[] = {&context,    &in.buffer,  &counted_x.buffer, &counted_y.buffer,
                                 &s.kernel_x, &s.kernel_y, &s.left,           &s.top,
                                 &s.stride_x, &s.stride_y, &s.dilation_x,     &s.dilation_y,
                                 &out.buffer};
            result = row_->function(arguments);
        }
    }
    if (result != 0)
        return {Code::internal,
                "run: " + kernel_ + " returned " + std::to_string(result) + " for " + text(p)};
    if (stack.exceeded)
        return {Code::internal, "run: " + kernel_ + " took more scratch than the planned " +
                                    std::to_string(scratch_bytes_) + " bytes for " + text(p)};
    return {};
}

} // namespace selvage
