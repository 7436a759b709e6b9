#include <algorithm>

#include "choose.h"
#include "packing.h"
#include "strips.h"

namespace selvage {

namespace {

/// Kernels count positions with 32 bits; no tap that they meet may be further from the first
/// element than this.
constexpr double farthest = 1 << 30;

std::string str(std::int64_t value) { return std::to_string(value); }

std::string both(std::int64_t y, std::int64_t x) { return str(y) + "x" + str(x); }

/// The last position that the strip of all outputs holds, whether or not a tap reads it: its rows
/// are whole tiles and whole groups of phases.
std::int64_t strip_end(const Window &w, std::int64_t outputs) {
    return (strip_extent(w, outputs) - 1) * w.stride + w.phases() - 1 - w.before;
}

/// The largest position, in either direction from the first element, that whole tiles compute.
double last_position(const Window &w, std::int64_t tile) {
    return std::max(double(std::max(w.before, -w.before)),
                    double(round_up(w.outputs, tile)) * double(w.stride) + double(w.reach()));
}

bool reads_border(const Task &task) {
    return task.z.reads_border() || task.y.reads_border() || task.x.reads_border();
}

/// Whether some window reads the border's value.
bool reads_value(const Task &task) {
    const auto reads = [](const Window &w) { return w.mode == Mode::constant && w.reads_border(); };
    return reads(task.z) || reads(task.y) || reads(task.x);
}

/// Whether the border is not neutral to the operator, so that its places must be read.
bool has_value(const Problem &problem) {
    return has_weights(problem.op) && problem.op != Op::conv_transpose && problem.value != 0;
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
    if (task.y.adaptive > 0 || task.x.adaptive > 0)
        return "takes windows of one size";
    if (p.layout == Layout::nhwc && !task.adjacent_pixels)
        return "needs adjacent pixels, which Options::adjacent_pixels promises";
    if (p.layout == Layout::nchw && has_weights(p.op))
        return "takes layout nhwc";
    // Positions of numbers are counted with 32 bits.
    const double position =
        std::max(last_position(task.y, row.tile),
                 last_position(task.x, row.lanes * row.vectors) * double(interleaved(p)));
    if (position > farthest)
        return "reaches position " + str(std::int64_t(std::min(position, 9e18))) + ", beyond " +
               str(std::int64_t(farthest));
    const double bytes = least_strip_bytes(row, task);
    if (bytes > double(largest))
        return "needs " + str(std::int64_t(std::min(bytes, 9e18))) +
               " bytes of scratch, more than " + str(largest);
    return {};
}

/// Why a row that works out positions itself, in single planes with a constant border, cannot take
/// the task, or empty.
std::string works_out_positions(const KernelRow &row, const Task &task) {
    const Window &y = task.y, &x = task.x;
    if (task.z.kernel != 1 || task.z.reads_border())
        return "takes single planes, not kernel " + str(task.z.kernel) + " with " +
               str(std::max<std::int64_t>(task.z.before, 0)) + " planes before and " +
               str(task.z.after()) + " after the input";
    for (const Window *w : {&y, &x}) {
        if (w->adaptive > 0)
            return "takes windows of one size";
        if (w->mode != Mode::constant && w->reads_border())
            return "reads no border but a constant";
    }
    if (row.kernel != 0 && (y.kernel != row.kernel || x.kernel != row.kernel))
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " + both(y.kernel, x.kernel);
    if (row.kernel != 0 && (y.dilation != 1 || x.dilation != 1))
        return "takes dilation 1x1, not " + both(y.dilation, x.dilation);
    if (row.stride != 0 && (y.stride != row.stride || x.stride != row.stride))
        return "takes stride " + both(row.stride, row.stride) + ", not " + both(y.stride, x.stride);
    // In 32 bits: tiles go past the last output.
    const double position = std::max(last_position(y, 1), last_position(x, row.tile));
    if (position > farthest)
        return "reaches position " + str(std::int64_t(std::min(position, 9e18))) + ", beyond " +
               str(std::int64_t(farthest));
    return {};
}

} // namespace

std::string decline(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    if (row.op != kernel_op(p))
        return std::string("computes ") + row.op;
    const bool nchw = p.layout == Layout::nchw;
    if (nchw &&
        (row.family == Family::direct || row.family == Family::rows || row.family == Family::taps))
        return "takes layout nhwc";
    if (!nchw && row.family == Family::planar)
        return "takes layout nchw";
    if (row.family == Family::rows)
        if (std::string reason = works_out_positions(row, task); !reason.empty())
            return reason;
    if (row.family == Family::lines)
        if (std::string reason = copies_lines(row, task); !reason.empty())
            return reason;
    if (!row.border)
        if (std::string reason = reaches_outside(row, task); !reason.empty())
            return reason;
    // Kernels address the bytes of a buffer with 32 bits.
    if (is_conv(row)) {
        const double bytes = least_strip_bytes(row, task);
        if (bytes > double(largest))
            return "needs " + str(std::int64_t(std::min(bytes, 9e18))) +
                   " bytes of scratch, more than " + str(largest);
        // Tiles go past the last output, in positions of 32 bits.
        const double position = std::max(last_position(y, 1), last_position(x, row.tile));
        if (position > farthest)
            return "reaches position " + str(std::int64_t(std::min(position, 9e18))) + ", beyond " +
                   str(std::int64_t(farthest));
    }
    const double weights = packed_weights(row, task) * sizeof(float);
    if (has_weights(p.op) && weights > double(largest))
        return "packs the weights into " + str(std::int64_t(std::min(weights, 9e18))) +
               " bytes, more than " + str(largest);
    // A table has one entry for each tap and output of an axis; with a strip, for each place.
    for (const Window *w : {&task.z, &y, &x})
        if ((w == &task.z || !has_strip(row)) &&
            double(w->kernel) * double(w->outputs) * sizeof(std::int32_t) > double(largest))
            return "needs a table of " + both(w->kernel, w->outputs) + " taps x outputs, above " +
                   str(largest) + " bytes";
    if (row.fixed_multiplier != 0 && p.k != p.c * row.fixed_multiplier)
        return "takes " + str(p.c * row.fixed_multiplier) + " output channels of " + str(p.c) +
               ", not " + str(p.k);
    if (row.family == Family::rows || row.family == Family::taps)
        if (p.c < row.lanes * row.vectors)
            return "takes at least " + str(row.lanes * row.vectors) + " channels, not " + str(p.c);
    if ((row.family == Family::rows || row.family == Family::taps) && row.border && has_value(p) &&
        reads_value(task))
        return "leaves padding out, which needs value 0, not " + std::to_string(p.value);
    return {};
}

} // namespace selvage
