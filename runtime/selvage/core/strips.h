#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "selvage/core/kernel_row.h"
#include "selvage/core/packing.h"
#include "selvage/core/scratch.h"
#include "selvage/core/task.h"

/// How kernels with a strip cut up their work, and what memory they need. Bytes are doubles where
/// they may exceed any integer before check_limits().

namespace selvage {

/// How a kernel with a strip cuts up its work.
struct Blocking {
    std::int64_t strip_rows = 1;     ///< output rows that share one strip
    std::int64_t block_rows = 1;     ///< of those, rows that are accumulated together
    std::int64_t channel_blocks = 1; ///< channel blocks of one partial sum
    std::int64_t strip_planes = 1;   ///< lines: planes that share one strip
};

/// Whether a row reads through a strip, and so wants source tables by place.
constexpr bool has_strip(const KernelRow &row, const Problem &problem) {
    return is_conv(problem) || row.family == Family::lines;
}

/// Places along an axis of the strip that serves `outputs` outputs, for one remainder of the
/// stride: the furthest tap lies reach / stride places behind the first.
constexpr std::int64_t strip_extent(const Window &window, std::int64_t outputs) {
    return outputs + window.reach() / window.stride;
}

/// The same for all remainders.
constexpr double strip_places(const Window &window, std::int64_t outputs) {
    return double(strip_extent(window, outputs)) * double(window.phases());
}

/// The outputs of a row of pixels that a strip serves, tails of tiles included.
constexpr std::int64_t strip_columns(const KernelRow &row, const Window &x) {
    return row.family == Family::planar ? x.outputs : round_up(x.outputs, row.tile);
}

/// A band of a planar kernel, `rows` rows of the output, as numbers (generators/conv_planar.cpp):
/// the padded input of one channel as one line, and the outputs of one tile.
struct Band {
    double line, places;
};

namespace detail {

/// Rounded up to whole blocks.
constexpr double up(double count, double block) {
    // Beyond 2^52 there are no fractions, and no kernel.
    const double blocks = count / block;
    if (blocks > double(std::int64_t(1) << 52))
        return count;
    const auto floor = double(std::int64_t(blocks));
    return (floor < blocks ? floor + 1 : floor) * block;
}

} // namespace detail

constexpr Band band(const KernelRow &row, const Window &y, const Window &x, std::int64_t rows) {
    const double tile = double(row.lanes) * row.vectors;
    const double pitch = double(strip_extent(x, x.outputs));
    const double remainders = x.stride == 2 ? 2 : double(x.phases());
    return {detail::up(strip_places(y, rows) * remainders * pitch + tile - 1, 32) + 16,
            detail::up(double(rows - 1) * pitch + double(round_up(x.outputs, row.lanes)), tile)};
}

namespace detail {

/// Input channels of a group, in whole blocks.
constexpr std::int64_t strip_channels(const KernelRow &row, const Problem &p) {
    return round_up(p.c / groups(p), row.channel_block);
}

/// Bytes of the strip that serves `rows` output rows.
template <class Task>
constexpr double strip_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    return double(strip_channels(row, task.problem)) * double(task.z.kernel) *
           strip_places(task.x, strip_columns(row, task.x)) * strip_places(task.y, rows) *
           sizeof(float);
}

/// Bytes of the sums of `rows` output rows.
constexpr double sum_bytes(const KernelRow &row, const Window &x, std::int64_t rows) {
    return double(strip_columns(row, x)) * double(rows) * double(lane_block(row)) * sizeof(float);
}

/// Bytes of the strip of a band.
template <class Task>
constexpr double band_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    return band(row, task.y, task.x, rows).line * double(strip_channels(row, task.problem)) *
           double(task.z.kernel) * sizeof(float);
}

/// Numbers of one line of a strip of lines: the outputs in whole blocks, and what taps reach beyond
/// (generators/lines.cpp).
constexpr std::int64_t line_numbers(const KernelRow &row, const Problem &p, const Window &x) {
    const std::int64_t inner = interleaved(p), reach = x.reach() / x.stride;
    return round_up(x.outputs * inner, std::int64_t(row.lanes) * row.vectors) +
           round_up(reach * inner + 3, row.lanes);
}

/// Bytes of the strip of lines that serves `rows` output rows of one plane.
template <class Task>
constexpr double lines_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y;
    return double(number_bytes(task.problem)) * double(line_numbers(row, task.problem, task.x)) *
           double(task.x.phases()) * double(round_up(rows, row.tile) + y.reach() / y.stride) *
           double(y.phases()) * double(task.z.kernel);
}

/// `count` cut into as few equal pieces of at most `limit` as possible.
constexpr std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = at_least(1, count);
    return blocks_of(count, blocks_of(count, within(1, count, limit)));
}

template <class Task>
constexpr Blocking planar_blocking(const KernelRow &row, const Task &task, std::int64_t blocks) {
    // The weights of one partial sum stay in the first-level cache beside what taps read. Every
    // strip streams all weights once, so that it pays to be large where they are, as in
    // direct_blocking(). Single channels are read once: 16 KiB.
    constexpr std::int64_t weights_share = 32 * 1024;
    constexpr std::int64_t least_strip = 384 * 1024, largest_strip = 1024 * 1024;
    constexpr std::int64_t single_share = 16 * 1024;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t inputs = p.c / groups(p);
    const std::int64_t all_weights = p.k * inputs * task.z.kernel * y.kernel * x.kernel * 4;
    const double share =
        double(inputs == 1 ? single_share : within(least_strip, largest_strip, all_weights));
    const std::int64_t all = at_least(1, y.outputs);
    // Of the heights that fit, the one whose tiles are filled best.
    std::int64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t bands = 1; bands <= all; ++bands) {
        const std::int64_t rows = blocks_of(all, bands);
        if (rows > 1 && band_bytes(row, task, rows) > share)
            continue;
        const double tiles = double(blocks_of(all, rows)) * band(row, y, x, rows).places;
        if (tiles < least) {
            least = tiles;
            best = rows;
        }
        if (rows == 1 || bands > 64)
            break;
    }
    const std::int64_t weight_bytes =
        std::int64_t(row.channel_block) * y.kernel * x.kernel * row.tile * 4;
    return {best, 1, within(1, blocks, weights_share / at_least(1, weight_bytes))};
}

template <class Task> constexpr Blocking lines_blocking(const KernelRow &row, const Task &task) {
    // Strips of 300 to 400 KiB are the fastest for large pictures; small maps are filled several
    // planes at a time, since short rows cost more to address than to copy (up to 3 times).
    constexpr double lines_share = 384 * 1024, planes_share = 256 * 1024;
    constexpr std::int64_t most_planes = 8;
    const Problem &p = task.problem;
    const std::int64_t all = at_least(1, task.y.outputs);
    std::int64_t rows = all;
    while (rows > row.tile && lines_bytes(row, task, rows) > lines_share)
        rows = (rows + 1) / 2;
    rows = at_most(all, round_up(rows, row.tile));
    const double planes = planes_share / larger(lines_bytes(row, task, rows), 1);
    return {rows, 1, 1,
            within(1, at_most(most_planes, p.k / interleaved(p)), std::int64_t(planes))};
}

template <class Task>
constexpr Blocking direct_blocking(const KernelRow &row, const Task &task, std::int64_t blocks) {
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
    const std::int64_t taps = y.kernel * x.kernel;
    const std::int64_t weight_bytes =
        row.channel_block * taps * lane_block(row) * std::int64_t(sizeof(float));
    const std::int64_t all_weights =
        p.k * (p.c / groups(p)) * task.z.kernel * taps * std::int64_t(sizeof(float));
    const double strip_share = double(within(least_strip, largest_strip, all_weights));
    std::int64_t strip_rows = y.outputs;
    while (strip_rows > 1 && strip_bytes(row, task, strip_rows) > strip_share)
        strip_rows = (strip_rows + 1) / 2;
    strip_rows = even_pieces(y.outputs, strip_rows);
    const double sum_rows = double(sums_share) / larger(sum_bytes(row, x, 1), 1);
    return {strip_rows, even_pieces(strip_rows, std::int64_t(sum_rows)),
            within(1, blocks, weights_share / weight_bytes)};
}

/// Of the weights of an output: blocks of input channels, for each plane of the kernel.
template <class Task> constexpr std::int64_t weight_blocks(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    return blocks_of(p.c / groups(p), row.channel_block) * task.z.kernel;
}

} // namespace detail

/// How a row cuts up a task that is within its limits.
template <class Task>
[[gnu::always_inline]] constexpr Blocking blocking(const KernelRow &row, const Task &task) {
    if (row.family == Family::lines)
        return detail::lines_blocking(row, task);
    if (!is_conv(task.problem))
        return {};
    const std::int64_t blocks = detail::weight_blocks(row, task);
    if (row.family == Family::reference)
        return {1, 1, blocks};
    if (row.family == Family::planar)
        return detail::planar_blocking(row, task, blocks);
    return detail::direct_blocking(row, task, blocks);
}

/// The bytes of the strip and sums that one output row needs: what the least blocking takes.
template <class Task>
[[gnu::always_inline]] constexpr double least_strip_bytes(const KernelRow &row, const Task &task) {
    if (row.family == Family::lines)
        return detail::lines_bytes(row, task, 1);
    return row.family == Family::planar
               ? detail::band_bytes(row, task, 1)
               : detail::strip_bytes(row, task, 1) + detail::sum_bytes(row, task.x, 1);
}

/// Upper bound of the temporary memory of one call, in bytes, rounding of Scratch included.
template <class Task>
[[gnu::always_inline]] constexpr std::size_t scratch_bytes(const KernelRow &row, const Task &task,
                                                           const Blocking &cut) {
    const auto integers = [](std::int64_t count) {
        return scratch_round(std::size_t(count) * sizeof(std::int32_t));
    };
    const auto bytes = [](double count) { return scratch_round(std::size_t(count)); };
    // References take small fixed amounts of stack instead.
    if (!has_strip(row, task.problem) || row.family == Family::reference)
        return 0;
    if (row.family == Family::lines)
        return bytes(detail::lines_bytes(row, task, cut.strip_rows) * double(cut.strip_planes)) +
               integers(task.x.kernel) + 2 * integers(task.y.kernel);
    if (row.family == Family::planar) {
        const double places = band(row, task.y, task.x, cut.strip_rows).places;
        return bytes(detail::band_bytes(row, task, cut.strip_rows)) +
               bytes(places * row.tile * sizeof(float) + 128) +
               integers(task.y.kernel * task.x.kernel + 16) +
               integers(detail::weight_blocks(row, task) + 16);
    }
    return bytes(detail::strip_bytes(row, task, cut.strip_rows)) +
           bytes(detail::sum_bytes(row, task.x, cut.block_rows)) + 2 * integers(task.x.kernel);
}

} // namespace selvage
