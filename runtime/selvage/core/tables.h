#pragma once

#include <cstddef>
#include <cstdint>

#include "selvage/core/strips.h"

/// Windows become tables of where each tap reads, in memory of the caller.

namespace selvage {

/// What a kernel is told about one axis besides its window, as places in the memory of its tables.
struct AxisTables {
    /// Elements of the slice, or -1 for the border's value; 32-bit integers. By tap and output, the
    /// outputs of a tap in a row; for axes with a strip by remainder of the stride and place, the
    /// places of a remainder in a row.
    std::size_t source = 0; ///< bytes from the first table
    std::int32_t row = 0, rows = 0;
    /// avg_pool: the taps that count, for each output; floats.
    std::size_t counted = 0; ///< bytes from the first table
    std::int32_t counts = 0;
};

/// The tables of the planes, rows and columns of one call of a kernel.
struct Tables {
    AxisTables z, y, x;
    std::size_t bytes = 0; ///< of all of them
};

namespace detail {

/// The outputs that a table of an axis is for: of a strip, those of whole tiles and whole groups of
/// rows, in which it is filled.
template <class Task>
constexpr std::int64_t strip_outputs_y(const KernelRow &row, const Task &task,
                                       const Blocking &cut) {
    return is_conv(task.problem) ? round_up(lead(row, task.y) + task.y.outputs, cut.strip_rows)
                                 : task.y.outputs;
}
template <class Task>
constexpr std::int64_t strip_outputs_x(const KernelRow &row, const Task &task,
                                       const Blocking &cut) {
    if (is<Task>(row, Family::winograd))
        return round_up(lead(row, task.x) + task.x.outputs, cut.strip_columns);
    return is_conv(task.problem) ? strip_columns(row, task.x) : task.x.outputs;
}

/// avg_pool: how often a count of the columns is repeated.
constexpr std::int64_t repeats_x(const KernelRow &row, const Problem &problem) {
    return row.family == Family::lines ? interleaved(problem) : 1;
}

inline void add_source(std::int64_t row, std::int64_t rows, AxisTables *axis, Tables *all) {
    axis->source = all->bytes;
    axis->row = std::int32_t(row);
    axis->rows = std::int32_t(rows);
    all->bytes += std::size_t(row * rows) * sizeof(std::int32_t);
}

inline void add_counted(std::int64_t counts, AxisTables *axis, Tables *all) {
    axis->counted = all->bytes;
    axis->counts = std::int32_t(counts);
    all->bytes += std::size_t(counts) * sizeof(float);
}

inline void fill_by_tap(const Window &w, std::int32_t *source) {
    for (std::int64_t t = 0; t < w.kernel; ++t)
        for (std::int64_t i = 0; i < w.outputs; ++i)
            *source++ = std::int32_t(w.source(i, t));
}

/// The places of a strip whose first `lead` outputs lie before the window's.
inline void fill_by_place(const Window &w, std::int64_t lead, std::int64_t places,
                          std::int32_t *source) {
    for (std::int64_t p = 0; p < w.phases(); ++p)
        for (std::int64_t s = 0; s < places; ++s) {
            const std::int64_t element = w.at((s - lead) * w.stride + p - w.before);
            // Places that no tap reads may lie outside a slice.
            *source++ = element >= 0 && element < w.size ? std::int32_t(element) : -1;
        }
}

inline void fill_counts(const Window &w, bool include_pad, std::int64_t repeats, float *counted) {
    for (std::int64_t i = 0; i < w.outputs; ++i)
        for (std::int64_t r = 0; r < repeats; ++r)
            *counted++ = float(w.counted(i, include_pad));
}

} // namespace detail

/// Where the tables of a task within the row's limits lie, one behind the other.
template <class Task>
Tables lay_out_tables(const KernelRow &row, const Task &task, const Blocking &cut) {
    Tables all;
    detail::add_source(task.z.outputs, task.z.kernel, &all.z, &all);
    if (has_strip(row, task.problem)) {
        detail::add_source(strip_extent(task.y, detail::strip_outputs_y(row, task, cut)),
                           task.y.phases(), &all.y, &all);
        detail::add_source(strip_extent(task.x, detail::strip_outputs_x(row, task, cut)),
                           task.x.phases(), &all.x, &all);
    } else {
        detail::add_source(task.y.outputs, task.y.kernel, &all.y, &all);
        detail::add_source(task.x.outputs, task.x.kernel, &all.x, &all);
    }
    if (task.problem.op == Op::avg_pool) {
        detail::add_counted(task.z.outputs, &all.z, &all);
        detail::add_counted(task.y.outputs, &all.y, &all);
        detail::add_counted(task.x.outputs * detail::repeats_x(row, task.problem), &all.x, &all);
    }
    return all;
}

/// Fills `memory`, all.bytes long and aligned to 4.
template <class Task>
void fill_tables(const KernelRow &row, const Task &task, const Tables &all, char *memory) {
    const auto source = [&](const AxisTables &axis) {
        return reinterpret_cast<std::int32_t *>(memory + axis.source);
    };
    const auto counted = [&](const AxisTables &axis) {
        return reinterpret_cast<float *>(memory + axis.counted);
    };
    detail::fill_by_tap(task.z, source(all.z));
    if (has_strip(row, task.problem)) {
        detail::fill_by_place(task.y, lead(row, task.y), all.y.row, source(all.y));
        detail::fill_by_place(task.x, lead(row, task.x), all.x.row, source(all.x));
    } else {
        detail::fill_by_tap(task.y, source(all.y));
        detail::fill_by_tap(task.x, source(all.x));
    }
    if (task.problem.op == Op::avg_pool) {
        const bool include_pad = task.problem.include_pad;
        detail::fill_counts(task.z, include_pad, 1, counted(all.z));
        detail::fill_counts(task.y, include_pad, 1, counted(all.y));
        detail::fill_counts(task.x, include_pad, detail::repeats_x(row, task.problem),
                            counted(all.x));
    }
}

} // namespace selvage
