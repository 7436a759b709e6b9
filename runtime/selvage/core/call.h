#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "selvage/core/arguments.h"
#include "selvage/core/limits.h"
#include "selvage/core/packing.h"
#include "selvage/core/scratch.h"
#include "selvage/core/tables.h"
#include "selvage/core/views.h"

namespace selvage {

/// One task of some images on one row. Nothing is checked here: the task is within the row's
/// limits, its tables are filled, and the views are as check_view() wants them.
template <class Task> struct Call {
    const KernelRow &row;
    const Task &task;
    const Blocking &cut;
    const Tables &tables;
    const char *table_memory;
    /// Packed by pack(), anything where the problem has no weights.
    const char *weights, *bias;
    /// From the first element that the windows count from, and the first that is written, on; of
    /// transposed convolutions the latter with strides to every stride-th element. Of the sizes,
    /// images and channels count.
    const View &input, &output;
    const View *indices;      ///< null: none
    std::int64_t first_image; ///< of the batch: where its indices begin
    Scratch *scratch;
    bool for_gpu = false; ///< whose addresses all these are

    /// What the kernel returned: 0 means success.
    int operator()() const {
        Arguments a;
        a.pointer(scratch);
        if (is<Task>(row, Family::winograd))
            winograd(a);
        else if (is_conv(task.problem))
            conv(a);
        else
            window(a);
        if (for_gpu)
            a.move_to_gpu();
        return row.function(a.pointers());
    }

private:
    /// In the order of generators/conv_generators.cpp.
    void conv(Arguments &a) const {
        const Problem &p = task.problem;
        const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
        const std::int64_t block = lane_block(row), blocks = blocks_of(outputs, block);
        View in = read(), out = written();
        if (is<Task>(row, Family::pointwise))
            pixels_of(&in, &out);
        conv_buffer(a, in, inputs, parts);
        a.buffer(weights, number_type(float()));
        a.together(block);
        a.outer(row.channel_block);
        a.outer(task.x.kernel);
        a.outer(task.y.kernel);
        a.outer(blocks_of(inputs, row.channel_block) * task.z.kernel);
        a.outer(blocks);
        a.outer(parts);
        a.buffer(bias, number_type(float()));
        a.together(block);
        a.outer(blocks);
        a.outer(parts);
        positions(a);
        // Rows of zeros need not be summed.
        const bool zeros = value() == 0 && task.y.mode == Mode::constant;
        a.number(zeros ? 0 : -detail::farthest);
        a.number(zeros ? task.y.size : detail::farthest);
        a.number(cut.strip_rows);
        a.number(cut.block_rows);
        a.number(cut.channel_blocks);
        a.real(value());
        bounds(a);
        conv_buffer(a, out, outputs, parts);
    }

    /// In the order of generators/winograd_generators.cpp.
    void winograd(Arguments &a) const {
        const Problem &p = task.problem;
        const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
        const std::int64_t block = lane_block(row), blocks = blocks_of(outputs, block);
        conv_buffer(a, read(), inputs, parts);
        a.buffer(weights, number_type(float()));
        a.together(block);
        a.outer(row.channel_block);
        a.outer(blocks_of(inputs, row.channel_block));
        a.outer(products(row));
        a.outer(products(row));
        a.outer(blocks);
        a.outer(parts);
        a.buffer(bias, number_type(float()));
        a.together(block);
        a.outer(blocks);
        a.outer(parts);
        source(a, tables.x, true);
        source(a, tables.y, true);
        source(a, tables.z, false);
        a.number(lead(row, task.x));
        a.number(lead(row, task.x) + task.x.outputs);
        a.number(lead(row, task.y));
        a.number(lead(row, task.y) + task.y.outputs);
        a.number(cut.strip_rows);
        a.number(cut.strip_columns);
        a.real(value());
        bounds(a);
        conv_buffer(a, written(), outputs, parts);
    }

    /// In the order of generators/window_generators.cpp.
    void window(Arguments &a) const {
        const Problem &p = task.problem;
        window_buffer(a, input, task.x.size, task.y.size, task.z.size);
        if (has_separate_weights(row, p)) {
            a.buffer(weights, number_type(float()));
            a.together(task.x.kernel + task.y.kernel);
        } else if (has_weights(p.op)) {
            const std::int64_t group = weight_rows(p, 1);
            a.buffer(weights, p.shift >= 0 ? number_type(std::int16_t()) : number_type(float()));
            if (p.shift >= 0) {
                a.together(group);
                a.outer(packed_outputs(row, p));
            } else {
                a.together(packed_outputs(row, p));
            }
            a.outer(task.x.kernel);
            a.outer(blocks_of(task.y.kernel, group));
            a.outer(task.z.kernel);
        }
        if (p.op == Op::depthwise) {
            a.buffer(bias, number_type(float()));
            a.together(packed_outputs(row, p));
        }
        if (p.op == Op::avg_pool) {
            counted(a, tables.x);
            counted(a, tables.y);
            counted(a, tables.z);
        }
        positions(a);
        switch (p.op) {
        case Op::depthwise:
            a.number(p.k / p.c);
            a.real(value());
            bounds(a);
            break;
        case Op::filter:
            a.number(std::int64_t(value()));
            a.number(p.shift);
            break;
        case Op::lp_pool: a.real(p.p); break;
        case Op::stride_sample:
        case Op::pad: a.real(value()); break;
        default: break;
        }
        if (p.indices != Indices::none)
            index_numbers(a);
        if (is<Task>(row, Family::lines)) {
            a.number(task.x.kernel);
            a.number(task.y.kernel);
            a.number(interleaved(p));
            a.number(cut.strip_rows);
            a.number(cut.strip_planes);
        }
        window_buffer(a, output, task.x.outputs, task.y.outputs, task.z.outputs);
        if (p.indices != Indices::none)
            window_buffer(a, *indices, task.x.outputs, task.y.outputs, task.z.outputs);
    }

    /// Transposed convolutions have no border.
    float value() const { return task.problem.op == Op::conv_transpose ? 0 : task.problem.value; }

    /// The input and the output with the sizes of the windows.
    View read() const { return sized(input, task.z.size, task.y.size, task.x.size); }
    View written() const { return sized(output, task.z.outputs, task.y.outputs, task.x.outputs); }
    static View sized(View view, std::int64_t planes, std::int64_t rows, std::int64_t columns) {
        view.d = planes;
        view.h = rows;
        view.w = columns;
        return view;
    }

    /// Of windows of one element: just those that are read, and as lines as long as possible.
    void pixels_of(View *in, View *out) const {
        in->move(0, -task.z.before, -task.y.before, -task.x.before);
        in->step(task.z.stride, task.y.stride, task.x.stride);
        *in = sized(*in, out->d, out->h, out->w);
        join_rows(in, out);
    }

    /// The channels of a group, groups, columns, rows, planes, images.
    void conv_buffer(Arguments &a, const View &view, std::int64_t channels,
                     std::int64_t parts) const {
        const bool nhwc = task.problem.layout == Layout::nhwc;
        a.buffer(view.data, view.type);
        if (nhwc)
            a.together(channels);
        else
            a.dimension(channels, view.stride_c);
        a.dimension(parts, channels * view.stride_c);
        if (nhwc)
            a.dimension(view.w, view.stride_w);
        else if (view.w == 1)
            a.together(view.w);
        else
            a.dimension(view.w, view.stride_w);
        outer_dimensions(a, view, view.h, view.d);
    }

    /// The channels, columns, rows, planes and images; to a kernel of lines, the numbers of a row,
    /// the channels where they are not among these, rows, planes and images.
    void window_buffer(Arguments &a, const View &view, std::int64_t columns, std::int64_t rows,
                       std::int64_t planes) const {
        const bool nhwc = task.problem.layout == Layout::nhwc;
        a.buffer(view.data, view.type);
        if (is<Task>(row, Family::lines)) {
            const std::int64_t inner = nhwc ? view.c : 1;
            a.together(columns * inner);
            a.dimension(view.c / inner, view.stride_c);
        } else if (nhwc) {
            a.together(view.c);
            a.dimension(columns, view.stride_w);
        } else {
            a.dimension(view.c, view.stride_c);
            a.together(columns);
        }
        outer_dimensions(a, view, rows, planes);
    }

    static void outer_dimensions(Arguments &a, const View &view, std::int64_t rows,
                                 std::int64_t planes) {
        a.dimension(rows, view.stride_h);
        a.dimension(planes, view.stride_d);
        a.dimension(view.n, view.stride_n);
    }

    /// Source tables: of axes with a strip by place and remainder, of others by output and tap, of
    /// which kernels index the tap first.
    void source(Arguments &a, const AxisTables &axis, bool by_place) const {
        a.buffer(table_memory + axis.source, number_type(std::int32_t()));
        if (by_place) {
            a.together(axis.row);
            a.outer(axis.rows);
        } else {
            a.dimension(axis.rows, axis.row);
            a.together(axis.row);
        }
    }

    void counted(Arguments &a, const AxisTables &axis) const {
        a.buffer(table_memory + axis.counted, number_type(float()));
        a.together(axis.counts);
    }

    /// Where taps lie.
    void positions(Arguments &a) const {
        const bool by_place = has_strip(row, task.problem);
        source(a, tables.x, by_place);
        source(a, tables.y, by_place);
        source(a, tables.z, false);
        a.number(task.x.before);
        a.number(task.y.before);
        a.number(task.x.stride);
        a.number(task.y.stride);
        a.number(task.x.dilation);
        a.number(task.y.dilation);
    }

    /// Of the activation.
    void bounds(Arguments &a) const {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const Problem &p = task.problem;
        const bool clamp = p.act == Activation::clamp;
        a.real(clamp ? p.act_low : p.act == Activation::none ? -infinity : 0);
        a.real(clamp ? p.act_high : p.act == Activation::relu6 ? 6 : infinity);
    }

    /// Indices count in the input as it was before crops and slices.
    void index_numbers(Arguments &a) const {
        const Problem &p = task.problem;
        const Window &z = task.z, &y = task.y, &x = task.x;
        const auto whole = [](const Window &w) { return w.origin + w.size + w.cropped; };
        const std::int64_t depth = whole(z), height = whole(y), width = whole(x);
        const bool rows = p.order == IndexOrder::row;
        const std::int64_t step_x = rows ? 1 : height * depth, step_y = rows ? width : depth,
                           step_z = rows ? height * width : 1;
        const std::int64_t step_c = p.indices == Indices::tensor ? depth * height * width : 0;
        const std::int64_t step_n = step_c * p.c;
        a.wide(x.origin * step_x + y.origin * step_y + z.origin * step_z + first_image * step_n);
        a.wide(step_x);
        a.wide(step_y);
        a.wide(step_z);
        a.wide(step_c);
        a.wide(step_n);
    }
};

} // namespace selvage
