#pragma once

#include <cstdint>

#include "selvage/core/line.h"
#include "selvage/core/strips.h"

namespace selvage {

namespace detail {

/// Kernels count positions with 32 bits; no tap that they meet may be further from the first
/// element than this.
constexpr std::int64_t farthest = 1 << 30;

/// The largest position, in either direction from the first element, that whole tiles compute.
constexpr double last_position(const Window &w, std::int64_t tile) {
    return larger(double(at_least(w.before, -w.before)),
                  double(round_up(w.outputs, tile)) * double(w.stride) + double(w.reach()));
}

/// A whole number that may exceed 64 bits; then the largest there is.
inline std::int64_t whole(double number) {
    return number < 9e18 ? std::int64_t(number) : std::int64_t(9e18);
}

inline Code check_position(double position, Line &why) {
    return position <= double(farthest)
               ? Code::ok
               : why.fail(Code::unsupported, "reaches position %, beyond %", whole(position),
                          farthest);
}

inline Code check_scratch(double bytes, Line &why) {
    return bytes <= double(largest)
               ? Code::ok
               : why.fail(Code::unsupported, "needs % bytes of scratch, more than %", whole(bytes),
                          largest);
}

/// Whether some window reads the border's value.
template <class Task> bool reads_value(const Task &task) {
    const auto reads = [](const Window &w) { return w.mode == Mode::constant && w.reads_border(); };
    return reads(task.z) || reads(task.y) || reads(task.x);
}

/// Whether the border is not neutral to the operator, so that its places must be read.
constexpr bool has_value(const Problem &problem) {
    return has_weights(problem.op) && problem.op != Op::conv_transpose && problem.value != 0;
}

} // namespace detail

/// Whether sizes, pads and phases of a task are such that the row, whose kernel computes the
/// problem's operator and layout, can take it: `ok`, or `unsupported` and one line with the values.
template <class Task>
[[gnu::always_inline]] inline Code check_limits(const KernelRow &row, const Task &task, Line &why) {
    const Problem &p = task.problem;
    const Window &z = task.z, &y = task.y, &x = task.x;
    const bool rows = is<Task>(row, Family::rows), lines = is<Task>(row, Family::lines);
    if (rows && (z.kernel != 1 || z.reads_border()))
        return why.fail(Code::unsupported,
                        "takes single planes, not kernel % with % planes before and % after the "
                        "input",
                        z.kernel, detail::at_least(0, z.before), z.after());
    if ((rows || lines) && (y.adaptive > 0 || x.adaptive > 0))
        return why.fail(Code::unsupported, "takes windows of one size");
    const auto folds = [](const Window &w) { return w.mode != Mode::constant && w.reads_border(); };
    if (rows && (folds(y) || folds(x)))
        return why.fail(Code::unsupported, "reads no border but a constant");
    // Strips are addressed in bytes, and tiles go past the last output, both in 32 bits.
    Code code = Code::ok;
    if (is_conv(p))
        code = detail::check_scratch(least_strip_bytes(row, task), why);
    // Lines count numbers, not pixels.
    const double numbers = is<Task>(row, Family::narrow) ? double(row.channel_block) : 1;
    if (code == Code::ok && (rows || is_conv(p)))
        code = detail::check_position(
            is<Task>(row, Family::winograd)
                ? detail::larger(detail::last_position(y, row.output_tile),
                                 detail::last_position(x, row.output_tile))
                : detail::larger(detail::last_position(y, 1),
                                 detail::last_position(x, row.tile) * numbers),
            why);
    if (lines) {
        const double last_x = detail::last_position(x, std::int64_t(row.lanes) * row.vectors);
        code = detail::check_position(
            detail::larger(detail::last_position(y, row.tile), last_x * double(interleaved(p))),
            why);
        if (code == Code::ok)
            code = detail::check_scratch(least_strip_bytes(row, task), why);
    }
    if (code != Code::ok)
        return code;
    // A table has one entry for each tap and output of an axis; with a strip, for each place.
    for (const Window *w : {&z, &y, &x})
        if ((w == &z || !has_strip(row, p)) &&
            double(w->kernel) * double(w->outputs) * sizeof(std::int32_t) > double(largest))
            return why.fail(Code::unsupported, "needs a table of %x% taps x outputs, above % bytes",
                            w->kernel, w->outputs, largest);
    if ((rows || is<Task>(row, Family::taps)) && row.border && detail::has_value(p) &&
        detail::reads_value(task))
        return why.fail(Code::unsupported, "leaves padding out, which needs value 0");
    // The library's own cuts stay far below.
    if (Task::may_ask && any(task.asked))
        return detail::check_scratch(double(scratch_bytes(row, task, blocking(row, task))), why);
    return Code::ok;
}

} // namespace selvage
