#include <HalideRuntime.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "packing.h"
#include "scratch.h"
#include "selvage/plan.h"
#include "work.h"

namespace selvage {

namespace {

// Kernels address bytes with 32 bits.
constexpr std::int64_t address_limit = std::numeric_limits<std::int32_t>::max();

/// From the first image of a batch to its last: 64 bits still count their bytes.
constexpr std::int64_t most_elements = std::int64_t(1) << 58;

/// Beyond every position of a row; decline() sees to it.
constexpr std::int32_t farthest = 1 << 30;

std::string str(std::int64_t value) { return std::to_string(value); }

// Views.

/// A view whose type of number is known at run time.
struct View {
    const char *what; ///< "input", "output", "indices"
    const void *data;
    halide_type_t type;
    std::int64_t n, d, h, w, c;
    std::int64_t stride_n, stride_d, stride_h, stride_w, stride_c;
    bool written;

    template <class T>
    View(const char *what, const Tensor<T> &t)
        : what(what), data(t.data), type(halide_type_of<std::remove_const_t<T>>()), n(t.n), d(t.d),
          h(t.h), w(t.w), c(t.c), stride_n(t.stride_n), stride_d(t.stride_d), stride_h(t.stride_h),
          stride_w(t.stride_w), stride_c(t.stride_c), written(!std::is_const_v<T>) {}

    struct AxisView {
        std::int64_t size, stride;
    };
    /// Outermost axis first, as the layout has them.
    std::array<AxisView, 5> axes(Layout layout) const {
        const AxisView channels = {c, stride_c};
        if (layout == Layout::nchw)
            return {{{n, stride_n}, channels, {d, stride_d}, {h, stride_h}, {w, stride_w}}};
        return {{{n, stride_n}, {d, stride_d}, {h, stride_h}, {w, stride_w}, channels}};
    }
    bool empty() const { return n == 0 || d == 0 || h == 0 || w == 0 || c == 0; }

    /// Elements from the first of one image to its last, both included.
    std::int64_t image_span() const {
        return (d - 1) * stride_d + (h - 1) * stride_h + (w - 1) * stride_w + (c - 1) * stride_c +
               1;
    }
    std::int64_t span() const { return empty() ? 0 : (n - 1) * stride_n + image_span(); }
    std::int64_t bytes() const { return type.bytes(); }
};

std::string shape(std::int64_t n, const Region &r, std::int64_t c) {
    const std::string plane = str(r.y.size) + "x" + str(r.x.size) + "x" + str(c);
    return str(n) + "x" + (r.z.size == 1 ? "" : str(r.z.size) + "x") + plane;
}

/// A view must have the problem's shape and be addressable. Elements that are written must not
/// share memory; those that are read may (a stride of 0 repeats an image, a row or a pixel).
Status check_view(const View &view, Layout layout, std::int64_t n, const Region &region,
                  std::int64_t c) {
    const std::string head = std::string("run: ") + view.what + " ";
    if (view.n != n || view.d != region.z.size || view.h != region.y.size ||
        view.w != region.x.size || view.c != c)
        return {Code::invalid_argument,
                head + "is " + shape(view.n, {{0, view.d}, {0, view.h}, {0, view.w}}, view.c) +
                    ", the problem needs " + shape(n, region, c) +
                    " (images, planes if there are several, rows, columns, channels)"};
    if (view.empty())
        return {};
    if (view.data == nullptr)
        return {Code::invalid_argument, head + "is null"};
    const auto axes = view.axes(layout);
    for (const View::AxisView &each : axes) {
        const std::int64_t limit = &each == &axes.front() ? most_elements / view.n : address_limit;
        if (each.size > 1 && (each.stride < 0 || each.stride > limit))
            return {Code::invalid_argument, head + "has a stride of " + str(each.stride) +
                                                " elements, not in 0.." + str(limit)};
    }
    if (axes.back().size > 1 && axes.back().stride != 1)
        return {Code::unsupported,
                head + "has neighbours " + str(axes.back().stride) + " elements apart along its " +
                    (layout == Layout::nhwc ? "channels" : "columns") + ", the innermost axis of " +
                    (layout == Layout::nhwc ? "nhwc" : "nchw") + "; they must lie at distance 1"};
    std::int64_t inner = 1; // elements from the first to the last of the axes within
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        if (view.written && axis->size > 1 && axis->stride < inner)
            return {Code::invalid_argument,
                    head + "overlaps itself: strides " + str(view.stride_n) + "," +
                        str(view.stride_d) + "," + str(view.stride_h) + "," + str(view.stride_w) +
                        "," + str(view.stride_c) + " (image, plane, row, column, channel) for " +
                        shape(n, region, c)};
        inner += (axis->size - 1) * axis->stride;
        if (inner > address_limit && axis + 1 != axes.rend())
            break;
    }
    if (view.image_span() > address_limit / view.bytes())
        return {Code::overflow, head + "spans " + str(view.image_span()) +
                                    " elements in an image, more than " + str(address_limit) +
                                    " bytes"};
    return {};
}

bool overlap(const View &a, const View &b) {
    const auto begin = [](const View &v) { return reinterpret_cast<std::uintptr_t>(v.data); };
    const auto end = [&](const View &v) {
        return begin(v) + std::uintptr_t(v.span()) * std::uintptr_t(v.bytes());
    };
    return a.span() > 0 && b.span() > 0 && begin(a) < end(b) && begin(b) < end(a);
}

// Arguments of kernels.

/// Halide's description of memory, with the dimensions it points to.
template <int dimensions> struct Buffer {
    halide_dimension_t dims[dimensions] = {};
    halide_buffer_t buffer = {};

    Buffer(const void *data, halide_type_t type) {
        buffer.host = static_cast<std::uint8_t *>(const_cast<void *>(data));
        buffer.type = type;
        buffer.dimensions = dimensions;
        buffer.dim = dims;
    }
    Buffer(const Buffer &) = delete;

    void set(int d, std::int64_t extent, std::int64_t stride) {
        // A stride that is never taken need not fit.
        dims[d] =
            halide_dimension_t(0, std::int32_t(extent), extent == 1 ? 0 : std::int32_t(stride));
    }
    /// The same extents without gaps.
    void dense(std::initializer_list<std::int64_t> extents) {
        std::int64_t stride = 1;
        int d = 0;
        for (std::int64_t extent : extents) {
            dims[d++] = halide_dimension_t(0, std::int32_t(extent), std::int32_t(stride));
            stride *= extent;
        }
    }
};

template <class T> struct Table : Buffer<1> {
    explicit Table(const std::vector<T> &values) : Buffer<1>(values.data(), halide_type_of<T>()) {
        dense({std::int64_t(values.size())});
    }
};

/// Source tables. Kernels index them by tap and output, or by place and remainder.
enum class By { tap, place };

struct SourceTable : Buffer<2> {
    SourceTable(const AxisTables &axis, By by)
        : Buffer<2>(axis.source.data(), halide_type_of<std::int32_t>()) {
        const std::int64_t rows = axis.row == 0 ? 0 : std::int64_t(axis.source.size()) / axis.row;
        const int row = by == By::tap ? 1 : 0; // the dimension along a row
        dims[row] = halide_dimension_t(0, axis.row, 1);
        dims[1 - row] = halide_dimension_t(0, std::int32_t(rows), axis.row);
    }
};

/// What kernels take as plain numbers.
struct Scalars {
    std::int32_t left, top, stride_x, stride_y, dilation_x, dilation_y;
    std::int32_t rows_low = -farthest, rows_high = farthest;
    std::int32_t strip_rows, block_rows, channel_blocks, strip_planes;
    std::int32_t kernel_x, kernel_y, interleaved, multiplier, shift, whole_value;
    float value, low, high, p;
    std::int64_t index_base, index_x, index_y, index_z, index_c, index_n;

    explicit Scalars(const Part &part)
        : left(std::int32_t(part.task.x.before)), top(std::int32_t(part.task.y.before)),
          stride_x(std::int32_t(part.task.x.stride)), stride_y(std::int32_t(part.task.y.stride)),
          dilation_x(std::int32_t(part.task.x.dilation)),
          dilation_y(std::int32_t(part.task.y.dilation)),
          strip_rows(std::int32_t(part.blocking.strip_rows)),
          block_rows(std::int32_t(part.blocking.block_rows)),
          channel_blocks(std::int32_t(part.blocking.channel_blocks)),
          strip_planes(std::int32_t(part.blocking.strip_planes)),
          kernel_x(std::int32_t(part.task.x.kernel)), kernel_y(std::int32_t(part.task.y.kernel)) {
        const Problem &problem = part.task.problem;
        interleaved = std::int32_t(selvage::interleaved(problem));
        multiplier = std::int32_t(problem.k / problem.c);
        shift = problem.shift;
        value = problem.op == Op::conv_transpose ? 0 : problem.value;
        whole_value = problem.type == Type::f32 ? 0 : std::int32_t(value);
        p = problem.p;
        // Rows of zeros need not be summed.
        if (value == 0 && part.task.y.mode == Mode::constant) {
            rows_low = 0;
            rows_high = std::int32_t(part.task.y.size);
        }
        low = -std::numeric_limits<float>::infinity();
        high = -low;
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
        set_indices(part.task);
    }

private:
    void set_indices(const Task &task) {
        const Problem &p = task.problem;
        const std::int64_t depth = p.z.size, height = p.y.size, width = p.x.size;
        const bool rows = p.order == IndexOrder::row;
        index_x = rows ? 1 : height * depth;
        index_y = rows ? width : depth;
        index_z = rows ? height * width : 1;
        index_base = task.x.origin * index_x + task.y.origin * index_y + task.z.origin * index_z;
        index_c = p.indices == Indices::tensor ? depth * height * width : 0;
        index_n = index_c * p.c;
    }
};

/// The arguments of one call, in the order of the generator's inputs.
struct Arguments {
    std::array<void *, 24> pointers;
    std::size_t count = 0;

    template <class... Each> void add(Each &...each) { ((pointers[count++] = &each), ...); }
};

/// One call of a kernel: a part of the output for some images.
struct Call {
    const Work &work;
    const Part &part;
    const View &input, &output;
    const View *indices;
    const std::byte *packed;
    void *context;
    std::int64_t first_image, images;

    const void *input_data() const {
        const Task &t = part.task;
        return at(input, t.z.origin - work.input.z.begin, t.y.origin - work.input.y.begin,
                  t.x.origin - work.input.x.begin);
    }
    const void *output_data(const View &view) const {
        return at(view, part.output.z.begin, part.output.y.begin, part.output.x.begin);
    }
    const void *at(const View &view, std::int64_t z, std::int64_t y, std::int64_t x) const {
        const std::int64_t element =
            first_image * view.stride_n + z * view.stride_d + y * view.stride_h + x * view.stride_w;
        return static_cast<const std::byte *>(view.data) + element * view.bytes();
    }

    int conv() const {
        const Problem &p = work.problem;
        const KernelRow &row = *part.row;
        const Task &t = part.task;
        const PackedWeights &weights = work.weights[part.weights];
        const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
        const std::int64_t block = lane_block(row), blocks = blocks_of(outputs, block);
        const halide_type_t number = halide_type_of<float>();
        Buffer<6> in(input_data(), number), out(output_data(output), number);
        in.set(0, inputs, input.stride_c);
        in.set(1, parts, inputs * input.stride_c);
        in.set(2, t.x.size, input.stride_w);
        in.set(3, t.y.size, input.stride_h);
        in.set(4, t.z.size, input.stride_d);
        in.set(5, images, input.stride_n);
        out.set(0, outputs, output.stride_c);
        out.set(1, parts, outputs * output.stride_c);
        out.set(2, t.x.outputs, output.stride_w * part.step_x);
        out.set(3, t.y.outputs, output.stride_h * part.step_y);
        out.set(4, t.z.outputs, output.stride_d * part.step_z);
        out.set(5, images, output.stride_n);
        const int innermost = p.layout == Layout::nhwc ? 0 : 2;
        in.dims[innermost].stride = 1;
        if (out.dims[innermost].extent == 1)
            out.dims[innermost].stride = 1;
        Buffer<7> w(packed + weights.offset, number);
        w.dense({block, row.channel_block, t.x.kernel, t.y.kernel,
                 blocks_of(inputs, row.channel_block) * t.z.kernel, blocks, parts});
        Buffer<3> bias(packed + weights.bias_offset, number);
        bias.dense({block, blocks, parts});
        SourceTable x(part.tables.x, By::place), y(part.tables.y, By::place),
            z(part.tables.z, By::tap);
        Scalars s(part);
        void *user = context;
        Arguments a;
        a.add(user, in.buffer, w.buffer, bias.buffer, x.buffer, y.buffer, z.buffer, s.left, s.top,
              s.stride_x, s.stride_y, s.dilation_x, s.dilation_y, s.rows_low, s.rows_high,
              s.strip_rows, s.block_rows, s.channel_blocks, s.value, s.low, s.high, out.buffer);
        return row.function(a.pointers.data());
    }

    int window() const {
        const Problem &p = work.problem;
        const KernelRow &row = *part.row;
        const Task &t = part.task;
        Buffer<5> in(input_data(), input.type), out(output_data(output), output.type);
        shape(&in, input, t.x.size, t.y.size, t.z.size);
        shape(&out, output, t.x.outputs, t.y.outputs, t.z.outputs);
        const By by = has_strip(row) ? By::place : By::tap;
        SourceTable x(part.tables.x, by), y(part.tables.y, by), z(part.tables.z, By::tap);
        Scalars s(part);
        void *user = context;
        Arguments a;
        a.add(user, in.buffer);
        const auto positions = [&] {
            a.add(x.buffer, y.buffer, z.buffer, s.left, s.top, s.stride_x, s.stride_y, s.dilation_x,
                  s.dilation_y);
        };
        const auto lines = [&] {
            if (row.family == Family::lines)
                a.add(s.kernel_x, s.kernel_y, s.interleaved, s.strip_rows, s.strip_planes);
        };
        if (has_weights(p.op)) {
            const PackedWeights &weights = work.weights[part.weights];
            const bool fixed = p.shift >= 0;
            Buffer<4> w(packed + weights.offset,
                        fixed ? halide_type_of<std::int16_t>() : halide_type_of<float>());
            w.dense({packed_outputs(row, p), t.x.kernel, t.y.kernel, t.z.kernel});
            Buffer<1> bias(packed + weights.bias_offset, halide_type_of<float>());
            bias.dense({packed_outputs(row, p)});
            a.add(w.buffer);
            if (p.op == Op::depthwise)
                a.add(bias.buffer);
            positions();
            if (p.op == Op::depthwise)
                a.add(s.multiplier, s.value, s.low, s.high);
            else
                a.add(s.whole_value, s.shift);
            lines();
            a.add(out.buffer);
            return row.function(a.pointers.data());
        }
        if (p.op == Op::avg_pool) {
            Table<float> counted_x(part.tables.x.counted), counted_y(part.tables.y.counted),
                counted_z(part.tables.z.counted);
            a.add(counted_x.buffer, counted_y.buffer, counted_z.buffer);
            positions();
            lines();
            a.add(out.buffer);
            return row.function(a.pointers.data());
        }
        if (p.op == Op::max_pool && p.indices != Indices::none) {
            Buffer<5> index(output_data(*indices), indices->type);
            shape(&index, *indices, t.x.outputs, t.y.outputs, t.z.outputs);
            s.index_base += first_image * s.index_n;
            positions();
            a.add(s.index_base, s.index_x, s.index_y, s.index_z, s.index_c, s.index_n, out.buffer,
                  index.buffer);
            return row.function(a.pointers.data());
        }
        positions();
        if (p.op == Op::lp_pool)
            a.add(s.p);
        if (!is_pool(p.op))
            a.add(s.value);
        lines();
        a.add(out.buffer);
        return row.function(a.pointers.data());
    }

    /// The channels, columns, rows, planes and images of a window kernel; to a kernel of lines,
    /// the numbers of a row, the channels where they are not among these, rows, planes and images.
    void shape(Buffer<5> *buffer, const View &view, std::int64_t columns, std::int64_t rows,
               std::int64_t planes) const {
        const bool lines = part.row->family == Family::lines;
        const bool nhwc = work.problem.layout == Layout::nhwc;
        if (lines) {
            const std::int64_t inner = nhwc ? view.c : 1;
            buffer->set(0, columns * inner, 1);
            buffer->set(1, view.c / inner, view.stride_c);
        } else {
            buffer->set(0, view.c, view.stride_c);
            buffer->set(1, columns, view.stride_w);
        }
        buffer->set(2, rows, view.stride_h);
        buffer->set(3, planes, view.stride_d);
        buffer->set(4, images, view.stride_n);
        buffer->dims[lines || nhwc ? 0 : 1].stride = 1;
    }
};

/// How many images a call may span, so that all their elements are addressable.
std::int64_t images_per_call(const View &view) {
    if (view.stride_n == 0 || view.n == 1)
        return view.n;
    const std::int64_t room = address_limit / view.bytes() - view.image_span();
    return std::min<std::int64_t>(view.n, room / view.stride_n + 1);
}

Status run_checked(const Work &work, const View &input, const void *packed, const View &output,
                   const View *indices, void *scratch, std::size_t scratch_bytes) {
    const Problem &p = work.problem;
    if (work.parts.empty())
        return {Code::invalid_argument, "run: the plan is empty; make_plan() fills it"};
    const halide_type_t type = p.type == Type::f32  ? halide_type_of<float>()
                               : p.type == Type::u8 ? halide_type_of<std::uint8_t>()
                                                    : halide_type_of<std::int8_t>();
    if (input.type != type)
        return {Code::invalid_argument, "run: the views' type of number differs from " + text(p)};
    if (Status s = check_view(input, p.layout, p.n, work.input, p.c); !s.ok())
        return s;
    if (Status s = check_view(output, p.layout, p.n, work.output, p.k); !s.ok())
        return s;
    if ((indices != nullptr) != (p.indices != Indices::none))
        return {Code::invalid_argument, indices == nullptr
                                            ? "run: indices is null, but the problem has indices"
                                            : "run: indices is given, but the problem has none"};
    if (indices != nullptr)
        if (Status s = check_view(*indices, p.layout, p.n, work.output, p.k); !s.ok())
            return s;
    if (work.packed_bytes > 0 && packed == nullptr)
        return {Code::invalid_argument, "run: packed is null; pack() fills it"};
    if (reinterpret_cast<std::uintptr_t>(packed) % alignment != 0)
        return {Code::invalid_argument, "run: packed is not aligned to 64 bytes"};
    if (scratch_bytes < work.scratch_bytes)
        return {Code::too_small, "run: scratch has " + std::to_string(scratch_bytes) +
                                     " bytes, the plan needs " +
                                     std::to_string(work.scratch_bytes)};
    if (work.scratch_bytes > 0 && scratch == nullptr)
        return {Code::invalid_argument, "run: scratch is null"};
    if (reinterpret_cast<std::uintptr_t>(scratch) % alignment != 0)
        return {Code::invalid_argument, "run: scratch is not aligned to 64 bytes"};
    if (overlap(input, output))
        return {Code::invalid_argument, "run: the memory of input and output overlaps"};
    if (indices != nullptr && (overlap(input, *indices) || overlap(output, *indices)))
        return {Code::invalid_argument, "run: the memory of indices overlaps that of input or "
                                        "output"};
    const auto adjacent = [](const View &view) { return view.w <= 1 || view.stride_w == view.c; };
    if (work.adjacent_pixels && p.layout == Layout::nhwc && !(adjacent(input) && adjacent(output)))
        return {
            Code::invalid_argument,
            "run: the plan was promised adjacent pixels, but the pixels of input and output are " +
                str(input.stride_w) + " and " + str(output.stride_w) + " elements apart"};
    if (output.empty())
        return {};

    std::int64_t images = std::min(images_per_call(input), images_per_call(output));
    if (indices != nullptr)
        images = std::min(images, images_per_call(*indices));
    bool exceeded = false;
    for (const Part &part : work.parts)
        for (std::int64_t first = 0; first < p.n; first += images) {
            Scratch stack{static_cast<char *>(scratch), scratch_bytes};
            const Call call = {work,   part,    input,
                               output, indices, static_cast<const std::byte *>(packed),
                               &stack, first,   std::min(images, p.n - first)};
            const int result = is_conv(*part.row) ? call.conv() : call.window();
            if (result != 0)
                return {Code::internal, "run: " + name(*part.row) + " returned " +
                                            std::to_string(result) + " for " + text(p)};
            exceeded = exceeded || stack.exceeded;
        }
    if (exceeded)
        return {Code::internal, "run: " + work.kernel + " took more scratch than the planned " +
                                    std::to_string(work.scratch_bytes) + " bytes for " + text(p)};
    return {};
}

} // namespace

template <class T>
Status Plan::run(const Tensor<const T> &input, const void *packed, const Tensor<T> &output,
                 void *scratch, std::size_t scratch_bytes,
                 const Tensor<std::int64_t> *indices) const {
    const View in("input", input), out("output", output);
    if (indices == nullptr)
        return run_checked(work(), in, packed, out, nullptr, scratch, scratch_bytes);
    const View index("indices", *indices);
    return run_checked(work(), in, packed, out, &index, scratch, scratch_bytes);
}

template Status Plan::run(const Tensor<const float> &, const void *, const Tensor<float> &, void *,
                          std::size_t, const Tensor<std::int64_t> *) const;
template Status Plan::run(const Tensor<const std::uint8_t> &, const void *,
                          const Tensor<std::uint8_t> &, void *, std::size_t,
                          const Tensor<std::int64_t> *) const;
template Status Plan::run(const Tensor<const std::int8_t> &, const void *,
                          const Tensor<std::int8_t> &, void *, std::size_t,
                          const Tensor<std::int64_t> *) const;

} // namespace selvage
