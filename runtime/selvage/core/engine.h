#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "selvage/core/call.h"
#include "selvage/core/cpu.h"
#include "selvage/kernel.h"
#include "selvage/status_c.h"
#include "selvage/weight_order_c.h"

/// The functions of one specialised kernel, see `Specialised`.

namespace selvage {

static_assert(int(Code::internal) == SELVAGE_INTERNAL && int(Code::overflow) == SELVAGE_OVERFLOW &&
                  int(WeightOrder::hwio) == SELVAGE_HWIO,
              "the enumerations of C are those of C++");
static_assert(offsetof(selvage_shape, front) - offsetof(selvage_shape, depth) == 3 * 8 &&
                  offsetof(selvage_shape, back) - offsetof(selvage_shape, depth) == 6 * 8 &&
                  offsetof(selvage_shape, phase_z) - offsetof(selvage_shape, depth) == 9 * 8 &&
                  offsetof(selvage_shape, output_padding_z) - offsetof(selvage_shape, depth) ==
                      12 * 8,
              "the fields of an axis are three apart");

/// Bytes of stack that the functions of a specialised kernel take at most, besides the kernel.
constexpr std::size_t wrapper_stack_bytes = 6144;

/// The outcome of a C function, as it tells its caller. The text begins with a name.
class Report {
public:
    [[gnu::noinline]] Report(const char *name, selvage_status *status)
        : text(status == nullptr ? Line() : Line(status->text, sizeof status->text)),
          status_(status) {
        text.add("$: ", name);
    }
    [[gnu::noinline]] selvage_code operator()(Code code) {
        if (status_ != nullptr) {
            status_->code = selvage_code(code);
            if (code == Code::ok)
                status_->text[0] = 0;
        }
        return selvage_code(code);
    }

    Line text;

private:
    selvage_status *status_;
};

/// The C functions of one specialised kernel. `Kernel` describes it, by these static members:
///
///     const char name[];          as texts call it
///     Problem problem;            the sizes do not count; pads, phases and output paddings are
///                                 those of shape(), unless `same` is there
///     Pads (*same)(const Axis &); the convention of the pads of shape(); null: none
///     KernelRow rows[];           one for each instruction set, narrowest first
///     bool may_be(Family);        whether a row may be of the family
///     Blocking cuts[];            how each of them cuts up its work; 0: as the library would
///     bool may_ask;               false: as the library would, all of them
///
/// All of them are constants in a specialised kernel, so that the compiler leaves out what its
/// operator does not need; tests replace them. `Number` is the type of the problem's numbers,
/// `Weight` that of weights: float, or std::int16_t for a filter with whole weights.
template <class Kernel, class Number = float, class Weight = float> class Specialised {
public:
    /// NAME_PACKED_BYTES; 0 for operators without weights.
    static constexpr std::size_t packed_bytes() {
        std::size_t most = 0;
        for (const KernelRow &row : Kernel::rows) {
            std::size_t end = sizeof(Tag);
            for (std::int64_t i = 0; i < packings(); ++i) {
                PackedWeights weights = packing(row, i);
                end = place(Kernel::problem, end, &weights);
            }
            most = most < end ? end : most;
        }
        return has_weights(Kernel::problem.op) ? most : 0;
    }

    /// NAME_shape(). Axes below the rank get what an Axis has.
    static selvage_shape shape(std::int64_t n, std::int64_t depth, std::int64_t height,
                               std::int64_t width) {
        const Axis z = defaults<0>(depth), y = defaults<1>(height), x = defaults<2>(width);
        selvage_shape s = {};
        s.n = n;
        s.depth = z.size;
        s.height = y.size;
        s.width = x.size;
        s.front = z.begin;
        s.top = y.begin;
        s.left = x.begin;
        s.back = z.end;
        s.bottom = y.end;
        s.right = x.end;
        s.phase_z = z.phase;
        s.phase_y = y.phase;
        s.phase_x = x.phase;
        s.output_padding_z = z.output_padding;
        s.output_padding_y = y.output_padding;
        s.output_padding_x = x.output_padding;
        return s;
    }

    /// NAME_output().
    static selvage_code output(const selvage_shape *shape, selvage_extent *extent,
                               selvage_status *status) {
        Report report(Kernel::name, status);
        Whole whole;
        const Code code = resolve(shape, extent, "output", &whole, report.text);
        if (code == Code::ok)
            *extent = {whole.axes[0].output.all, whole.axes[1].output.all, whole.axes[2].output.all,
                       Kernel::problem.k};
        return report(code);
    }

    /// NAME_scratch_bytes().
    static selvage_code scratch_bytes(const selvage_shape *shape, std::size_t *bytes,
                                      selvage_status *status) {
        Report report(Kernel::name, status);
        Whole whole;
        const Code code = plan(shape, bytes, "bytes", &whole, report.text);
        if (code == Code::ok)
            *bytes = whole.scratch_bytes;
        return report(code);
    }

    /// NAME_pack().
    static selvage_code pack(const Weight *weights, selvage_weight_order order, const float *bias,
                             void *packed, selvage_status *status) {
        Report report(Kernel::name, status);
        return report(pack(weights, WeightOrder(order), bias, packed, report.text));
    }

    /// The same for one row, whatever this CPU has: for weights that are packed when a kernel is
    /// made.
    static selvage_code pack_for(const KernelRow &row, const Weight *weights,
                                 selvage_weight_order order, const float *bias, void *packed,
                                 selvage_status *status) {
        Report report(Kernel::name, status);
        return report(pack_for(row, weights, WeightOrder(order), bias, packed, report.text));
    }

    /// NAME(). `packed` is null for operators without weights, `indices` for those without.
    static selvage_code run(const selvage_shape *shape, const Number *input, const void *packed,
                            Number *output, std::int64_t *indices, void *scratch,
                            std::size_t scratch_bytes, selvage_status *status) {
        Report report(Kernel::name, status);
        Whole whole;
        Code code = plan(shape, shape, "shape", &whole, report.text);
        if (code != Code::ok || whole.empty())
            return report(code);
        const Problem &p = Kernel::problem;
        Memory memory = {View("input", input),         View("output", output),
                         View("indices", indices),     packed,
                         static_cast<char *>(scratch), scratch_bytes};
        view(&memory.input, whole, &Along::input, p.c, &shape->input_stride_n);
        view(&memory.output, whole, &Along::output, p.k, &shape->output_stride_n);
        if (has_indices())
            view(&memory.indices, whole, &Along::output, p.k, &shape->output_stride_n);
        return report(run(&whole, &memory, report.text));
    }

    /// NAME_isa(); "none" where this CPU has none of the kernel's.
    static const char *isa() {
        const int index = chosen();
        return index < 0 ? "none" : Kernel::rows[index].isa;
    }

    /// NAME_force_isa().
    static selvage_code force_isa(const char *isa, selvage_status *status) {
        Report report(Kernel::name, status);
        return report(force_isa(isa, report.text));
    }

    /// Which of the rows calls use, or -1 where this CPU can run none.
    [[gnu::noinline]] static int chosen() {
        int chosen = chosen_.load(std::memory_order_relaxed);
        if (chosen == 0)
            chosen = choose_best();
        return chosen - 1;
    }

private:
    // The axes of the problem, outermost first.

    static constexpr const Axis &fixed(int i) {
        return i == 0 ? Kernel::problem.z : i == 1 ? Kernel::problem.y : Kernel::problem.x;
    }
    /// The first axis of the rank.
    static constexpr int outermost() { return 3 - Kernel::problem.rank; }
    static constexpr bool transposes() { return Kernel::problem.op == Op::conv_transpose; }
    static constexpr bool adapts() { return Kernel::problem.x.adaptive > 0; }
    static constexpr bool has_indices() { return Kernel::problem.indices != Indices::none; }

    /// An axis with the pads of shape().
    template <int i> static Axis defaults(std::int64_t size) {
        Axis axis = fixed(i);
        if (i < outermost())
            return axis;
        axis.size = size;
        if (Kernel::same == nullptr)
            return axis;
        return with(axis, transposes() ? transposed_pads(axis, Kernel::same) : Kernel::same(axis));
    }

    // Instruction sets.

    /// 1 and more: a row. 0: not asked yet, or none.
    static inline std::atomic<int> chosen_{0};

    static int choose_best() {
        int index = 0, best = 0;
        for (const KernelRow &row : Kernel::rows) {
            ++index;
            if (cpu_runs(row.isa))
                best = index;
        }
        chosen_.store(best, std::memory_order_relaxed);
        return best;
    }

    static Code choose_row(int *row, Line &text) {
        *row = chosen();
        return *row >= 0 ? Code::ok
                         : text.fail(Code::unsupported, "this CPU lacks $", Kernel::rows[0].isa);
    }

    /// A single row is a constant.
    static const KernelRow &row_at(int index) {
        constexpr int count = sizeof Kernel::rows / sizeof Kernel::rows[0];
        return Kernel::rows[count == 1 ? 0 : index];
    }

    /// How the schedule of a row cuts up its work.
    static const Blocking &cut_at(int index) {
        constexpr int count = sizeof Kernel::rows / sizeof Kernel::rows[0];
        return Kernel::cuts[count == 1 ? 0 : index];
    }

    static Code force_isa(const char *isa, Line &text) {
        if (isa == nullptr) {
            choose_best();
            return Code::ok;
        }
        int index = 0;
        for (const KernelRow &row : Kernel::rows) {
            ++index;
            if (!same_text(row.isa, isa))
                continue;
            if (!cpu_runs(isa))
                return text.fail(Code::unsupported, "this CPU lacks $", isa);
            chosen_.store(index, std::memory_order_relaxed);
            return Code::ok;
        }
        text.add("isa $ is not one of this kernel's:", isa);
        for (const KernelRow &row : Kernel::rows)
            text.add(" $", row.isa);
        return Code::invalid_argument;
    }

    // Weights.

    /// What packed memory begins with: for which kernel, schedule and instruction set it is.
    struct alignas(alignment) Tag {
        std::uint64_t key;
    };

    static std::uint64_t key(const KernelRow &row) {
        std::uint64_t key = 14695981039346656037u; // FNV-1a
        for (const char *text : {Kernel::name, row.schedule, row.isa})
            for (; *text != 0; ++text)
                key = (key ^ std::uint64_t(*text)) * 1099511628211u;
        return key;
    }

    /// Of a transposed convolution one for each remainder by the strides that an output, moved by
    /// the begin pad, can leave. So they serve any pads and phases.
    static constexpr std::int64_t packings() {
        return transposes() ? fixed(0).stride * fixed(1).stride * fixed(2).stride : 1;
    }

    /// The remainder of a packing along an axis.
    static constexpr std::int64_t remainder(std::int64_t packing, int axis) {
        for (int i = 2; i > axis; --i)
            packing /= fixed(i).stride;
        return packing % fixed(axis).stride;
    }

    static constexpr Taps taps(std::int64_t packing, int i) {
        const Axis &axis = fixed(i);
        if (!transposes())
            return {0, 1, axis.kernel};
        // The first output of one that is moved by just the remainder.
        const Transposed moved = {1, axis.kernel, axis.stride, axis.dilation, remainder(packing, i),
                                  1};
        const Transposed::Phase phase = moved.phase(0);
        return {phase.first_tap, -phase.tap_step, phase.taps};
    }

    static constexpr PackedWeights packing(const KernelRow &row, std::int64_t index) {
        return {&row, taps(index, 0), taps(index, 1), taps(index, 2)};
    }

    static Code pack(const Weight *weights, WeightOrder order, const float *bias, void *packed,
                     Line &text) {
        const Problem &p = Kernel::problem;
        int chosen = 0;
        if (weights == nullptr)
            return text.fail(Code::invalid_argument, "weights is null");
        if (order != WeightOrder::oihw && order != WeightOrder::hwio)
            return text.fail(Code::invalid_argument, "the order of weights is neither 0 nor 1");
        if ((bias != nullptr) != p.bias)
            return text.fail(Code::invalid_argument,
                             p.bias ? "bias is null, but the kernel has one"
                                    : "bias is given, but the kernel has none");
        Code code = check_aligned("packed", packed, true, text);
        if (code == Code::ok)
            code = choose_row(&chosen, text);
        return code == Code::ok ? pack_for(row_at(chosen), weights, order, bias, packed, text)
                                : code;
    }

    static Code pack_for(const KernelRow &row, const Weight *weights, WeightOrder order,
                         const float *bias, void *packed, Line &text) {
        const Problem &p = Kernel::problem;
        if constexpr (sizeof(Weight) == sizeof(std::int16_t))
            if (const Code code = check_sums(p, weights, order, text); code != Code::ok)
                return code;
        static_cast<Tag *>(packed)->key = key(row);
        std::size_t offset = sizeof(Tag);
        for (std::int64_t i = 0; i < packings(); ++i) {
            PackedWeights each = packing(row, i);
            offset = place(p, offset, &each);
            selvage::pack<Task>(p, each, weights, order, bias, packed);
        }
        return Code::ok;
    }

    // Windows.

    /// Elements along an axis: of a whole tensor, and of these the ones that a run touches.
    struct Extent {
        std::int64_t all, begin, end;

        std::int64_t count() const { return end - begin; }
    };

    struct Along {
        Extent input, output;
        Transposed transposed; ///< of the outputs of the run
        Window window;         ///< of those that one call of a kernel computes
        std::int64_t begin;    ///< the first of these, counted within the run

        /// Turns to the outputs that leave a remainder; false where there are none.
        bool select(std::int64_t remainder) {
            begin = detail::floor_mod(remainder - transposed.before, transposed.stride);
            if (begin >= output.count())
                return false;
            window = transposed.phase(begin).window;
            window = window.slice(0, window.outputs);
            return true;
        }
        void read() {
            input.begin = detail::at_most(input.begin, window.origin);
            input.end = detail::at_least(input.end, window.origin + window.size);
        }
    };

    /// What one call of a kernel computes.
    struct Task {
        static constexpr const Problem &problem = Kernel::problem;
        const Window &z, &y, &x;
        const Blocking &asked;
        static constexpr bool may_ask = Kernel::may_ask;
        static constexpr bool may_be(Family family) { return Kernel::may_be(family); }
    };

    /// A shape with all that follows from it.
    struct Whole {
        std::int64_t n = 0;
        Along axes[3];
        int row = 0;
        std::size_t scratch_bytes = 0;

        [[gnu::noinline]] Whole() {}

        bool empty() const {
            return n == 0 || axes[0].output.count() == 0 || axes[1].output.count() == 0 ||
                   axes[2].output.count() == 0;
        }
        /// Turns to the outputs that belong to a packing; false where there are none.
        bool select(std::int64_t packing) {
            if (transposes())
                for (int i = 0; i < 3; ++i)
                    if (!axes[i].select(remainder(packing, i)))
                        return false;
            return true;
        }
        Task task() const { return {axes[0].window, axes[1].window, axes[2].window, cut_at(row)}; }
    };

    /// One axis of a shape. `rows` is the shape where the axis is the one that it may slice.
    static Code resolve(const char *name, const Axis &axis, const selvage_shape *rows, Along *along,
                        Line &text) {
        // So that the compiler need not look at what is fixed.
        if (axis.kernel < 1 || axis.kernel > largest || axis.stride < 1 || axis.stride > largest ||
            axis.dilation < 1 || axis.dilation > largest || axis.adaptive < 0 ||
            axis.adaptive > largest || detail::extent(axis.kernel, axis.dilation) > largest)
            __builtin_unreachable();
        WindowError error = WindowError::none;
        std::int64_t all = 0, size = axis.size;
        if (transposes()) {
            const TransposedResult result = transposed(axis);
            error = result.error;
            along->transposed = result.transposed;
            all = along->transposed.outputs;
        } else {
            error = window(axis, Kernel::problem.ceil, &along->window);
            size = along->window.size;
            all = along->window.outputs;
        }
        if (error != WindowError::none)
            return explain(axis, error, text.add("$: ", name));
        if (size < 1)
            return text.fail(Code::invalid_argument, "$: size % with pads %,% leaves no input",
                             name, axis.size, axis.begin, axis.end);
        along->output = {all, 0, all};
        if (rows != nullptr && (rows->rows | rows->first_row) != 0) {
            if (rows->first_row < 0 || rows->first_row > all || rows->rows < 1 ||
                rows->rows > all - rows->first_row)
                return text.fail(Code::invalid_argument,
                                 "first_row % and rows % are not within the output's % rows",
                                 rows->first_row, rows->rows, all);
            along->output = {all, rows->first_row, rows->first_row + rows->rows};
        }
        along->input = {axis.size, axis.size, 0};
        along->begin = 0;
        if (transposes())
            along->transposed = along->transposed.slice(along->output.begin, along->output.count());
        else
            along->window = along->window.slice(along->output.begin, along->output.count());
        return Code::ok;
    }

    /// `result` is where the caller wants the answer.
    static Code resolve(const selvage_shape *shape, const void *result, const char *result_name,
                        Whole *whole, Line &text) {
        const Problem &p = Kernel::problem;
        if (shape == nullptr || result == nullptr)
            return text.fail(Code::invalid_argument, "$ is null",
                             shape == nullptr ? "shape" : result_name);
        const selvage_shape &s = *shape;
        if (s.n < 0)
            return text.fail(Code::invalid_argument, "n % is less than 0", s.n);
        whole->n = s.n;
        static constexpr char names[][8] = {"planes", "rows", "columns"};
        for (int i = 0; i < 3; ++i) {
            Axis axis = fixed(i);
            if (i >= outermost()) {
                // Fields of an axis are three apart.
                const std::int64_t *const of = &s.depth + i;
                axis.size = of[0];
                // What the operator does not have stays as it is.
                if (!adapts() && p.op != Op::stride_sample) {
                    axis.begin = of[3];
                    axis.end = of[6];
                }
                if (!adapts() && p.op != Op::pad)
                    axis.phase = of[9];
                if (transposes())
                    axis.output_padding = of[12];
            }
            if (!adapts())
                axis.adaptive = 0;
            if (const Code code = resolve(names[i], axis, i == outermost() ? shape : nullptr,
                                          &whole->axes[i], text);
                code != Code::ok)
                return code;
        }
        // One image is addressed with 32 bits, whether or not there is one: strides are computed.
        const Along *const axes = whole->axes;
        for (const bool input : {true, false}) {
            const auto size = [&](int i) { return (input ? axes[i].input : axes[i].output).all; };
            const std::int64_t bytes = input || !has_indices() ? number_bytes(p) : 8;
            const std::int64_t z = size(0), y = size(1), x = size(2), c = input ? p.c : p.k;
            if (!addressable(bytes, {z, y, x, c}))
                return text.fail(Code::overflow,
                                 "an image of the $ of %x%x%x% numbers of % bytes exceeds % bytes, "
                                 "the most that kernels address",
                                 input ? "input" : "output", z, y, x, c, bytes, largest);
        }
        return Code::ok;
    }

    /// The same with the row that takes the shape, and its scratch memory.
    static Code plan(const selvage_shape *shape, const void *result, const char *result_name,
                     Whole *whole, Line &text) {
        Code code = resolve(shape, result, result_name, whole, text);
        if (code == Code::ok)
            code = choose_row(&whole->row, text);
        if (code != Code::ok || whole->empty())
            return code;
        const KernelRow &row = row_at(whole->row);
        for (std::int64_t i = 0; i < packings(); ++i) {
            if (!whole->select(i))
                continue;
            const Task task = whole->task();
            if (code = check_limits(row, task, text); code != Code::ok)
                return code;
            const Blocking cut = blocking(row, task);
            const std::size_t bytes = scratch_round(lay_out_tables(row, task, cut).bytes) +
                                      selvage::scratch_bytes(row, task, cut);
            if (whole->scratch_bytes < bytes)
                whole->scratch_bytes = bytes;
            for (Along &each : whole->axes)
                each.read();
        }
        return Code::ok;
    }

    // Memory.

    /// All that a run is given besides the shape.
    struct Memory {
        View input, output, indices;
        const void *packed;
        char *scratch;
        std::size_t scratch_bytes;
    };

    /// The sizes of a whole tensor, and its strides. These are given as five in the order n, d, h,
    /// w, c; all of them 0: dense.
    [[gnu::noinline]] static void view(View *view, const Whole &whole, Extent Along::*extent,
                                       std::int64_t c, const std::int64_t *strides) {
        const Extent &z = whole.axes[0].*extent, &y = whole.axes[1].*extent,
                     &x = whole.axes[2].*extent;
        if ((strides[0] | strides[1] | strides[2] | strides[3] | strides[4]) != 0) {
            view->stride_n = strides[0];
            view->stride_d = strides[1];
            view->stride_h = strides[2];
            view->stride_w = strides[3];
            view->stride_c = strides[4];
        } else {
            const bool nhwc = Kernel::problem.layout == Layout::nhwc;
            view->stride_c = nhwc ? 1 : z.all * y.all * x.all;
            view->stride_w = nhwc ? c : 1;
            view->stride_h = x.all * view->stride_w;
            view->stride_d = y.all * view->stride_h;
            view->stride_n = nhwc ? z.all * view->stride_d : c * view->stride_c;
        }
        view->n = whole.n;
        view->d = z.all;
        view->h = y.all;
        view->w = x.all;
        view->c = c;
    }

    /// From a whole tensor to what a run touches of it.
    [[gnu::noinline]] static void narrow(View *view, const Whole &whole, Extent Along::*extent) {
        const Extent &z = whole.axes[0].*extent, &y = whole.axes[1].*extent,
                     &x = whole.axes[2].*extent;
        view->move(0, z.begin, y.begin, x.begin);
        view->d = z.count();
        view->h = y.count();
        view->w = x.count();
    }

    // Runs.

    /// Of strides, only some of which were given, the innermost is what a caller forgot.
    [[gnu::noinline]] static Code check_strides(const View &view, Line &text) {
        const Layout layout = Kernel::problem.layout;
        const Code code = check_view(view, layout, text);
        if (code == Code::unsupported &&
            (layout == Layout::nhwc ? view.stride_c : view.stride_w) == 0)
            text.add("; strides that are all 0 mean dense data: set one, set all");
        return code;
    }

    /// Narrows the views to what the run touches, once the strides are known to be right for the
    /// whole tensors: what is refused for all rows is refused for each of them.
    static Code check(const Whole &whole, Memory *views, Line &text) {
        const Problem &p = Kernel::problem;
        const KernelRow &row = row_at(whole.row);
        const Memory &memory = *views;
        const View &input = memory.input, &output = memory.output, &indices = memory.indices;
        Code code = check_strides(input, text);
        if (code == Code::ok)
            code = check_strides(output, text);
        if (code == Code::ok && has_indices())
            code = check_strides(indices, text);
        if (code != Code::ok)
            return code;
        narrow(&views->input, whole, &Along::input);
        narrow(&views->output, whole, &Along::output);
        if (has_indices())
            narrow(&views->indices, whole, &Along::output);
        if (memory.scratch_bytes < whole.scratch_bytes)
            code = text.fail(Code::too_small, "scratch has % bytes, the shape needs %",
                             memory.scratch_bytes, whole.scratch_bytes);
        if (code == Code::ok)
            code = check_aligned("scratch", memory.scratch, whole.scratch_bytes > 0, text);
        if (code == Code::ok)
            code = check_memory(input, output, has_indices() ? &indices : nullptr, text);
        if (code == Code::ok && needs_adjacent_pixels(row, p))
            code = check_adjacent_pixels(input, output, text);
        if (!has_weights(p.op))
            return code;
        if (code == Code::ok)
            code = check_aligned("packed", memory.packed, true, text);
        if (code == Code::ok && static_cast<const Tag *>(memory.packed)->key != key(row))
            code = text.fail(Code::invalid_argument,
                             "packed holds no weights of this kernel for $ and $", row.schedule,
                             row.isa);
        return code;
    }

    static Code run(Whole *whole, Memory *views, Line &text) {
        const Problem &p = Kernel::problem;
        const Memory &memory = *views;
        Code code = check(*whole, views, text);
        if (code != Code::ok)
            return code;
        std::int64_t images =
            detail::at_most(images_per_call(memory.input), images_per_call(memory.output));
        if (has_indices())
            images = detail::at_most(images, images_per_call(memory.indices));
        const KernelRow &row = row_at(whole->row);
        const char *const packed = static_cast<const char *>(memory.packed);
        std::size_t offset = sizeof(Tag);
        for (std::int64_t i = 0; i < packings(); ++i) {
            PackedWeights weights = packing(row, i);
            if (has_weights(p.op))
                offset = place(p, offset, &weights);
            if (!whole->select(i))
                continue;
            code = run_task(*whole, packed + weights.offset, packed + weights.bias_offset, memory,
                            images, text);
            if (code != Code::ok)
                return code;
        }
        return Code::ok;
    }

    /// All images of one task, as many at a time as a kernel can address.
    static Code run_task(const Whole &whole, const char *weights, const char *bias,
                         const Memory &memory, std::int64_t images, Line &text) {
        const KernelRow &row = row_at(whole.row);
        const Task task = whole.task();
        const Blocking cut = blocking(row, task);
        const Tables tables = lay_out_tables(row, task, cut);
        const std::size_t table_bytes = scratch_round(tables.bytes);
        fill_tables(row, task, tables, memory.scratch);
        for (std::int64_t first = 0; first < whole.n; first += images) {
            const Along *const axes = whole.axes;
            View input = memory.input;
            input.move(first, task.z.origin - axes[0].input.begin,
                       task.y.origin - axes[1].input.begin, task.x.origin - axes[2].input.begin);
            input.n = detail::at_most(images, whole.n - first);
            const auto written = [&](const View &all) {
                View view = all;
                view.move(first, axes[0].begin, axes[1].begin, axes[2].begin);
                view.n = input.n;
                if (transposes())
                    view.step(fixed(0).stride, fixed(1).stride, fixed(2).stride);
                return view;
            };
            const View output = written(memory.output),
                       indices = has_indices() ? written(memory.indices) : output;
            Scratch stack{memory.scratch + table_bytes, memory.scratch_bytes - table_bytes};
            const Call<Task> call = {row,  task,  cut,    tables,   memory.scratch, weights,
                                     bias, input, output, &indices, first,          &stack};
            if (const int result = call(); result != 0)
                return text.fail(Code::internal, "the kernel $ returned %", row.schedule, result);
            if (stack.exceeded)
                return text.fail(Code::internal, "the kernel $ took more scratch than foreseen",
                                 row.schedule);
        }
        return Code::ok;
    }
};

} // namespace selvage
