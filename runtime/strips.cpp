#include "strips.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "packing.h"
#include "scratch.h"

namespace selvage {

namespace {

/// Bytes of the strip that serves `rows` output rows.
double strip_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Problem &p = task.problem;
    return double(round_up(p.c / groups(p), row.channel_block)) * double(task.z.kernel) *
           strip_places(task.x, strip_columns(row, task.x)) * strip_places(task.y, rows) *
           sizeof(float);
}

/// Bytes of the sums of `rows` output rows.
double sum_bytes(const KernelRow &row, const Window &x, std::int64_t rows) {
    return double(strip_columns(row, x)) * double(rows) * double(lane_block(row)) * sizeof(float);
}

/// Bytes of the strip of a band.
double band_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Problem &p = task.problem;
    return band(row, task, rows).line * double(round_up(p.c / groups(p), row.channel_block)) *
           double(task.z.kernel) * sizeof(float);
}

/// Numbers of one line of a strip of lines: the outputs in whole blocks, and what taps reach beyond
/// (generators/lines.cpp).
std::int64_t line_numbers(const KernelRow &row, const Task &task) {
    const std::int64_t inner = interleaved(task.problem), reach = task.x.reach() / task.x.stride;
    return round_up(task.x.outputs * inner, row.lanes * row.vectors) +
           round_up(reach * inner + 3, row.lanes);
}

/// Bytes of the strip of lines that serves `rows` output rows of one plane.
double lines_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y;
    return double(number_bytes(task.problem)) * double(line_numbers(row, task)) *
           double(task.x.phases()) * double(round_up(rows, row.tile) + y.reach() / y.stride) *
           double(y.phases()) * double(task.z.kernel);
}

/// `count` cut into as few equal pieces of at most `limit` as possible.
std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = std::max<std::int64_t>(count, 1);
    return blocks_of(count, blocks_of(count, std::clamp<std::int64_t>(limit, 1, count)));
}

Blocking planar_blocking(const KernelRow &row, const Task &task, std::int64_t blocks) {
    // The weights of one partial sum stay in the first-level cache beside what taps read. Every
    // strip streams all weights once, so that it pays to be large where they are, as in blocking().
    // Single channels are read once: 16 KiB.
    constexpr std::int64_t weights_share = 32 * 1024;
    constexpr std::int64_t least_strip = 384 * 1024, largest_strip = 1024 * 1024;
    constexpr double single_share = 16 * 1024;
    const Window &y = task.y, &x = task.x;
    const bool single = task.problem.c == groups(task.problem);
    const std::int64_t all_weights = task.problem.k * (task.problem.c / groups(task.problem)) *
                                     task.z.kernel * y.kernel * x.kernel * 4;
    const double share =
        single ? single_share : double(std::clamp(all_weights, least_strip, largest_strip));
    const std::int64_t all = std::max<std::int64_t>(1, y.outputs);
    // Of the heights that fit, the one whose tiles are filled best.
    std::int64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t bands = 1; bands <= all; ++bands) {
        const std::int64_t rows = blocks_of(all, bands);
        if (rows > 1 && band_bytes(row, task, rows) > share)
            continue;
        const double tiles = double(blocks_of(all, rows)) * band(row, task, rows).places;
        if (tiles < least) {
            least = tiles;
            best = rows;
        }
        if (rows == 1 || bands > 64)
            break;
    }
    const std::int64_t weight_bytes = row.channel_block * y.kernel * x.kernel * row.tile * 4;
    return {best, 1,
            std::clamp<std::int64_t>(weights_share / std::max<std::int64_t>(weight_bytes, 1), 1,
                                     blocks)};
}

Blocking lines_blocking(const KernelRow &row, const Task &task) {
    const Window &y = task.y;
    // Strips of 300 to 400 KiB are the fastest for large pictures; small maps are filled
    // several planes at a time, since short rows cost more to address than to copy (up to 3
    // times).
    constexpr double lines_share = 384 * 1024, planes_share = 256 * 1024;
    constexpr std::int64_t most_planes = 8;
    std::int64_t rows = std::max<std::int64_t>(1, y.outputs);
    while (rows > row.tile && lines_bytes(row, task, rows) > lines_share)
        rows = (rows + 1) / 2;
    rows = std::min(round_up(rows, row.tile), std::max<std::int64_t>(1, y.outputs));
    const double planes = planes_share / std::max(lines_bytes(row, task, rows), 1.0);
    return {rows, 1, 1,
            std::clamp<std::int64_t>(
                std::int64_t(planes), 1,
                std::min(most_planes, task.problem.k / interleaved(task.problem)))};
}

} // namespace

bool has_strip(const KernelRow &row) { return is_conv(row) || row.family == Family::lines; }

std::int64_t strip_extent(const Window &window, std::int64_t outputs) {
    return outputs + window.reach() / window.stride;
}

double strip_places(const Window &w, std::int64_t outputs) {
    return double(strip_extent(w, outputs)) * double(w.phases());
}

std::int64_t strip_columns(const KernelRow &row, const Window &x) {
    return row.family == Family::planar ? x.outputs : round_up(x.outputs, row.tile);
}

Band band(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y, &x = task.x;
    const double tile = double(row.lanes) * row.vectors;
    const double pitch = double(strip_extent(x, x.outputs));
    const double remainders = x.stride == 2 ? 2 : double(x.phases());
    const auto up = [](double count, double block) { return std::ceil(count / block) * block; };
    return {up(strip_places(y, rows) * remainders * pitch + tile - 1, 32) + 16,
            up(double(rows - 1) * pitch + double(round_up(x.outputs, row.lanes)), tile)};
}

double least_strip_bytes(const KernelRow &row, const Task &task) {
    if (row.family == Family::lines)
        return lines_bytes(row, task, 1);
    return row.family == Family::planar ? band_bytes(row, task, 1)
                                        : strip_bytes(row, task, 1) + sum_bytes(row, task.x, 1);
}

Blocking blocking(const KernelRow &row, const Task &task) {
    // The weights of one partial sum are read again by every tile, the sums by every group of
    // channel blocks: together they should stay near the first-level cache (32 to 48 KiB), yet the
    // groups large enough that their overhead does not show. Weights of 20 to 100 KiB differ by
    // less than 3 %.
    constexpr std::int64_t weights_share = 40 * 1024;
    constexpr std::int64_t sums_share = 24 * 1024;
    // Every strip streams all weights once. Where these are small, a small strip stays in the
    // caches (3x3, 64 to 64 channels: 128 KiB are 10 % faster than 1 MiB); where they are large, a
    // large strip saves passes over them (512 to 512 channels: 1 MiB is 20 % faster than 512 KiB).
    constexpr std::int64_t least_strip = 128 * 1024, largest_strip = 1024 * 1024;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    if (row.family == Family::lines)
        return lines_blocking(row, task);
    if (!is_conv(row))
        return {};
    const std::int64_t inputs = p.c / groups(p);
    const std::int64_t blocks = blocks_of(inputs, row.channel_block) * task.z.kernel;
    if (row.family == Family::reference)
        return {1, 1, blocks};
    if (row.family == Family::planar)
        return planar_blocking(row, task, blocks);
    const std::int64_t taps = y.kernel * x.kernel;
    const std::int64_t weight_bytes =
        row.channel_block * taps * lane_block(row) * std::int64_t(sizeof(float));
    const std::int64_t all_weights =
        p.k * inputs * task.z.kernel * taps * std::int64_t(sizeof(float));
    const double strip_share = double(std::clamp(all_weights, least_strip, largest_strip));
    std::int64_t strip_rows = y.outputs;
    while (strip_rows > 1 && strip_bytes(row, task, strip_rows) > strip_share)
        strip_rows = (strip_rows + 1) / 2;
    strip_rows = even_pieces(y.outputs, strip_rows);
    const double sum_rows = double(sums_share) / std::max(sum_bytes(row, x, 1), 1.0);
    return {strip_rows, even_pieces(strip_rows, std::int64_t(sum_rows)),
            std::clamp<std::int64_t>(weights_share / weight_bytes, 1, blocks)};
}

std::size_t scratch_bytes(const KernelRow &row, const Task &task) {
    // References take small fixed amounts of stack instead.
    if (!has_strip(row) || row.family == Family::reference)
        return 0;
    const Blocking cut = blocking(row, task);
    if (row.family == Family::lines)
        return scratch_round(
                   std::size_t(lines_bytes(row, task, cut.strip_rows) * double(cut.strip_planes))) +
               scratch_round(std::size_t(task.x.kernel) * sizeof(std::int32_t)) +
               2 * scratch_round(std::size_t(task.y.kernel) * sizeof(std::int32_t));
    if (row.family == Family::planar) {
        const Problem &p = task.problem;
        const std::int64_t blocks = blocks_of(p.c / groups(p), row.channel_block) * task.z.kernel;
        const Band each = band(row, task, cut.strip_rows);
        return scratch_round(std::size_t(band_bytes(row, task, cut.strip_rows))) +
               scratch_round(std::size_t(each.places) * std::size_t(row.tile) * sizeof(float) +
                             128) +
               scratch_round(std::size_t(task.y.kernel * task.x.kernel + 16) *
                             sizeof(std::int32_t)) +
               scratch_round(std::size_t(blocks + 16) * sizeof(std::int32_t));
    }
    const std::size_t columns = scratch_round(std::size_t(task.x.kernel) * sizeof(std::int32_t));
    return scratch_round(std::size_t(strip_bytes(row, task, cut.strip_rows))) +
           scratch_round(std::size_t(sum_bytes(row, task.x, cut.block_rows))) + 2 * columns;
}

} // namespace selvage
