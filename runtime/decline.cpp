#include <algorithm>
#include <cmath>
#include <iterator>

#include "choose.h"
#include "selvage/core/cpu.h"
#include "selvage/core/limits.h"

namespace selvage {

namespace {

std::string str(std::int64_t value) { return std::to_string(value); }

std::string both(std::int64_t y, std::int64_t x) { return str(y) + "x" + str(x); }

/// The last position that the strip of all outputs holds, whether or not a tap reads it: its rows
/// are whole tiles and whole groups of phases.
std::int64_t strip_end(const Window &w, std::int64_t outputs) {
    return (strip_extent(w, outputs) - 1) * w.stride + w.phases() - 1 - w.before;
}

bool reads_border(const Task &task) {
    return task.z.reads_border() || task.y.reads_border() || task.x.reads_border();
}

/// Why a row that tests for no border cannot take the task, or empty.
std::string reaches_outside(const KernelRow &row, const Task &task) {
    const Window &y = task.y, &x = task.x;
    if (reads_border(task))
        return "has no border; the windows read " +
               both(std::max<std::int64_t>(y.before, 0), std::max<std::int64_t>(x.before, 0)) +
               " elements before and " + both(y.after(), x.after()) + " after the input";
    // What lies behind the last element that is used may still be loaded, where there is something.
    const auto end = [&](const Window &w) { return w.size + (task.is_tile ? 0 : w.cropped); };
    if (const std::int64_t last = strip_end(y, y.outputs);
        row.family == Family::direct && last >= end(y))
        return "has no border; its strip ends at row " + str(last) + " of " + str(end(y));
    if (const std::int64_t last = strip_end(x, strip_columns(row, x));
        row.family == Family::direct && last >= end(x))
        return "has no border; its strip ends at column " + str(last) + " of " + str(end(x));
    if (row.family == Family::rows && x.outputs < row.tile)
        return "has no border; it takes at least " + str(row.tile) + " columns, not " +
               str(x.outputs);
    return {};
}

/// Why a row that copies lines to a strip cannot take the task, or empty.
std::string copies_lines(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    if (needs_adjacent_pixels(row, p) && !task.adjacent_pixels)
        return "needs adjacent pixels, which Options::adjacent_pixels promises";
    if (row.family == Family::narrow && p.c / p.g != row.channel_block)
        return "takes " + str(row.channel_block) + " channels in a group, not " + str(p.c / p.g);
    if (row.family == Family::narrow && needs_adjacent_pixels(row, p) && p.g != 1)
        return "takes one group, not " + str(p.g);
    if (p.layout == Layout::nchw && has_weights(p.op))
        return "takes layout nhwc";
    if (has_separate_weights(row, p) && !task.separable)
        return "needs separable weights, which Options::separable promises";
    return {};
}

/// Why a row that has neither taps nor a border cannot take the task, or empty.
std::string takes_one_tap(const Task &task) {
    const Window &z = task.z, &y = task.y, &x = task.x;
    if (z.kernel * y.kernel * x.kernel != 1)
        return "takes kernel 1x1x1, not " + str(z.kernel) + "x" + both(y.kernel, x.kernel);
    return reads_border(task) ? "has no border, which the windows read" : "";
}

/// Why a row of one kernel or stride cannot take the task, or empty.
std::string takes_one_size(const KernelRow &row, const Task &task) {
    const Window &y = task.y, &x = task.x;
    if (row.kernel != 0 && (y.kernel != row.kernel || x.kernel != row.kernel))
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " + both(y.kernel, x.kernel);
    if (row.kernel != 0 && row.family == Family::lines && task.z.kernel != 1)
        return "takes single planes, not kernel " + str(task.z.kernel);
    if (row.kernel != 0 && (y.dilation != 1 || x.dilation != 1))
        return "takes dilation 1x1, not " + both(y.dilation, x.dilation);
    if (row.stride != 0 && (y.stride != row.stride || x.stride != row.stride))
        return "takes stride " + both(row.stride, row.stride) + ", not " + both(y.stride, x.stride);
    return {};
}

/// Why a row of whole tiles of outputs cannot take the task, or empty.
std::string takes_neighbours(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const Window &z = task.z, &y = task.y, &x = task.x;
    if (p.op == Op::conv_transpose)
        return "takes no transposed convolutions";
    if (z.kernel != 1 || y.kernel != row.kernel || x.kernel != row.kernel)
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " +
               (z.kernel == 1 ? "" : str(z.kernel) + "x") + both(y.kernel, x.kernel);
    if (y.stride != y.dilation || x.stride != x.dilation)
        return "takes taps as far apart as outputs, not stride " + both(y.stride, x.stride) +
               " and dilation " + both(y.dilation, x.dilation);
    // It would get into outputs that do not read it.
    if (!std::isfinite(p.value))
        return "takes a finite value";
    return {};
}

/// Why a row cannot cut up the task as a schedule asks, or empty.
std::string cannot_cut_up(const KernelRow &row, const Task &task) {
    const Blocking most = most_blocking(row, task);
    for (const BlockingKey &key : blocking_keys)
        if (task.asked.*key.number != 0 && most.*key.number == 0)
            return std::string("has no ") + key.name;
    return {};
}

/// Why a grid of blocks cannot be as large as a task wants, or empty.
std::string exceeds_grid(const KernelRow &row, const Task &task) {
    for (const std::int64_t count : {task.z.outputs, task.y.outputs, task.problem.k})
        if (count > most_blocks)
            return "takes at most " + str(most_blocks) + " planes, rows and channels, not " +
                   str(count);
    // Of each image all slices of the channels, at once.
    const std::int64_t slices = detail::weight_blocks(row, task);
    if (row.family == Family::split && double(slices) * double(task.problem.n) > most_blocks)
        return "takes at most " + str(most_blocks) + " images x slices of channels, not " +
               str(task.problem.n) + "x" + str(slices);
    return {};
}

} // namespace

// Those for CPUs are of one of the sets that some CPU has.
bool is_for_gpu(const KernelRow &row) {
    return std::none_of(std::begin(isas), std::end(isas),
                        [&](const char *isa) { return same_text(isa, row.isa); });
}

std::string decline(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    if (row.op != kernel_op(p))
        return std::string("computes ") + row.op;
    const bool nchw = p.layout == Layout::nchw;
    if (nchw && (row.family == Family::direct || row.family == Family::pointwise ||
                 row.family == Family::narrow || row.family == Family::winograd ||
                 row.family == Family::rows || row.family == Family::taps))
        return "takes layout nhwc";
    if (!nchw && row.family == Family::planar)
        return "takes layout nchw";
    if (row.family == Family::rows || row.family == Family::narrow || row.family == Family::lines ||
        is_tiled(row))
        if (std::string reason = takes_one_size(row, task); !reason.empty())
            return reason;
    if (row.family == Family::winograd)
        if (std::string reason = takes_neighbours(row, task); !reason.empty())
            return reason;
    if (row.family == Family::pointwise)
        if (std::string reason = takes_one_tap(task); !reason.empty())
            return reason;
    if (row.family == Family::lines || row.family == Family::narrow)
        if (std::string reason = copies_lines(row, task); !reason.empty())
            return reason;
    if (is_for_gpu(row))
        if (std::string reason = exceeds_grid(row, task); !reason.empty())
            return reason;
    if (!row.border)
        if (std::string reason = reaches_outside(row, task); !reason.empty())
            return reason;
    const std::int64_t taps = task.z.kernel * y.kernel * x.kernel;
    const std::int64_t weights = packed_weights(row, p, taps) * std::int64_t(sizeof(float));
    if (has_weights(p.op) && weights > largest)
        return "packs the weights into " + str(weights) + " bytes, more than " + str(largest);
    if (row.fixed_multiplier != 0 && p.k != p.c * row.fixed_multiplier)
        return "takes " + str(p.c * row.fixed_multiplier) + " output channels of " + str(p.c) +
               ", not " + str(p.k);
    if (row.family == Family::rows || row.family == Family::taps)
        if (p.c < row.lanes * row.vectors)
            return "takes at least " + str(row.lanes * row.vectors) + " channels, not " + str(p.c);
    if (std::string reason = cannot_cut_up(row, task); !reason.empty())
        return reason;
    char text[longest_line];
    Line line(text, sizeof text);
    return check_limits(row, task, line) == Code::ok ? "" : text;
}

} // namespace selvage
