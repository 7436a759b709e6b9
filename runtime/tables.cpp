#include "tables.h"

#include "packing.h"
#include "strips.h"

namespace selvage {

namespace {

AxisTables by_tap(const Window &w) {
    AxisTables result;
    result.row = std::int32_t(w.outputs);
    result.source.reserve(std::size_t(w.outputs * w.kernel));
    for (std::int64_t t = 0; t < w.kernel; ++t)
        for (std::int64_t i = 0; i < w.outputs; ++i)
            result.source.push_back(std::int32_t(w.source(i, t)));
    return result;
}

/// Of the strip that serves `outputs` outputs.
AxisTables by_place(const Window &w, std::int64_t outputs) {
    AxisTables result;
    const std::int64_t places = strip_extent(w, outputs);
    result.row = std::int32_t(places);
    result.source.reserve(std::size_t(places * w.phases()));
    for (std::int64_t p = 0; p < w.phases(); ++p)
        for (std::int64_t s = 0; s < places; ++s) {
            const std::int64_t element = w.at(s * w.stride + p - w.before);
            // Places that no tap reads may lie outside a slice.
            result.source.push_back(element >= 0 && element < w.size ? std::int32_t(element) : -1);
        }
    return result;
}

std::vector<float> counts(const Window &w, bool include_pad, std::int64_t repeats) {
    std::vector<float> counted;
    counted.reserve(std::size_t(w.outputs * repeats));
    for (std::int64_t i = 0; i < w.outputs; ++i)
        counted.insert(counted.end(), std::size_t(repeats), float(w.counted(i, include_pad)));
    return counted;
}

} // namespace

Tables tables(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    Tables result;
    result.z = by_tap(task.z);
    if (is_conv(row)) {
        // Strips are filled in whole tiles and whole groups of rows.
        result.y = by_place(task.y, round_up(task.y.outputs, blocking(row, task).strip_rows));
        result.x = by_place(task.x, strip_columns(row, task.x));
    } else if (row.family == Family::lines) {
        result.y = by_place(task.y, task.y.outputs);
        result.x = by_place(task.x, task.x.outputs);
    } else {
        result.y = by_tap(task.y);
        result.x = by_tap(task.x);
    }
    if (p.op == Op::avg_pool) {
        result.z.counted = counts(task.z, p.include_pad, 1);
        result.y.counted = counts(task.y, p.include_pad, 1);
        result.x.counted =
            counts(task.x, p.include_pad, row.family == Family::lines ? interleaved(p) : 1);
    }
    return result;
}

} // namespace selvage
