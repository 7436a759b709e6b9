#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "selvage/core/blocking.h"
#include "selvage/core/kernel_row.h"
#include "selvage/core/packing.h"
#include "selvage/core/scratch.h"
#include "selvage/core/task.h"

/// How kernels with a strip cut up their work, and what memory they need. Bytes are doubles where
/// they may exceed any integer before check_limits().

namespace selvage {

/// Whether a row reads through a strip, and so wants source tables by place.
constexpr bool has_strip(const KernelRow &row, const Problem &problem) {
    return is_conv(problem) || row.family == Family::lines;
}

/// Whether a row computes tiles on a GPU.
constexpr bool is_tiled(const KernelRow &row) {
    return row.family == Family::tiled || row.family == Family::split;
}

/// Whether a row copies pixels as lines of numbers, so that none may lie between them.
constexpr bool needs_adjacent_pixels(const KernelRow &row, const Problem &problem) {
    constexpr int least_vector = 4; // of channels that are copied pixel by pixel
    return (row.family == Family::narrow && row.channel_block < least_vector) ||
           (row.family == Family::lines && problem.layout == Layout::nhwc);
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

/// winograd: outputs before the first of a task that its first tile computes. Tiles are counted
/// from the first of all outputs, so that every part of them has the bits of the whole.
constexpr std::int64_t lead(const KernelRow &row, const Window &w) {
    return w.first % row.output_tile;
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

/// A row of outputs as a line: of filters cut into equal blocks of whole tiles, for each of which
/// the strip's numbers are converted together; into one where taps are spread by a stride.
struct LineBlocks {
    std::int64_t count, numbers;
};

constexpr LineBlocks line_blocks(const KernelRow &row, const Problem &p, const Window &x) {
    constexpr std::int64_t line_block = 192; // schedules/cpu/lines.h
    const std::int64_t tile = std::int64_t(row.lanes) * row.vectors;
    const std::int64_t tiles = blocks_of(x.outputs * interleaved(p), tile);
    const std::int64_t count = p.op == Op::filter && x.phases() == 1
                                   ? at_least(1, blocks_of(tiles * tile, line_block))
                                   : 1;
    return {count, blocks_of(tiles, count) * tile};
}

/// Numbers beyond a block that its taps reach (generators/lines.cpp).
constexpr std::int64_t line_reach(const KernelRow &row, const Problem &p, const Window &x) {
    return round_up(x.reach() / x.stride * interleaved(p) + 3, row.lanes);
}

/// Numbers of one line of a strip of lines: the outputs, and what taps reach beyond
/// (generators/lines.cpp).
constexpr std::int64_t line_numbers(const KernelRow &row, const Problem &p, const Window &x) {
    const LineBlocks blocks = line_blocks(row, p, x);
    return blocks.count * blocks.numbers + line_reach(row, p, x);
}

/// Whether the strip of a kernel of lines holds windows of single columns.
constexpr bool combines_columns(const KernelRow &row, const Problem &p) {
    return row.separable && p.op == Op::max_pool;
}

/// Rows of a strip of lines that serves `rows` output rows.
template <class Task>
constexpr double line_rows(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y;
    const std::int64_t reach = combines_columns(row, task.problem) ? 0 : y.reach() / y.stride;
    return double(round_up(rows, row.tile) + reach);
}

/// Bytes of the strip of lines that serves `rows` output rows of one plane.
template <class Task>
constexpr double lines_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    // Pairs of rows: the second of a pair may lie further down than any tap.
    const bool pairs = p.op == Op::filter && p.shift >= 0 && !row.separable;
    const double ahead = pairs ? double((y.dilation + y.phases() - 1) / y.stride) : 0;
    return double(number_bytes(p)) * double(line_numbers(row, p, x)) * double(x.phases()) *
           (line_rows(row, task, rows) + ahead) * double(y.phases()) * double(task.z.kernel);
}

/// Bytes of what is derived from it, for some of the numbers of a line (generators/lines.h):
/// floats, pairs of 16 bits or sums of kernel rows of filters.
template <class Task>
constexpr double derived_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    if (p.op != Op::filter)
        return 0;
    const std::int64_t numbers = x.phases() == 1 ? line_blocks(row, p, x).numbers +
                                                       (row.separable ? 0 : line_reach(row, p, x))
                                                 : line_numbers(row, p, x) * x.phases();
    return sizeof(float) * double(numbers) * line_rows(row, task, rows) * double(y.phases()) *
           double(task.z.kernel);
}

/// `count` cut into as few equal pieces of at most `limit` as possible.
constexpr std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = at_least(1, count);
    return blocks_of(count, blocks_of(count, within(1, count, limit)));
}

/// Second-level caches have at least this many bytes.
constexpr double least_cache = 1024 * 1024;

/// winograd: what a band of tiles takes, in bytes: inputs and outputs of the products, and what the
/// former are made from, that of all groups first.
struct TileBand {
    double strip, half_input, full_input, summed;

    constexpr double bytes() const {
        return strip + half_input + full_input + summed + 4 * alignment;
    }
};

constexpr TileBand tile_band(const KernelRow &row, const Problem &problem, std::int64_t rows,
                             std::int64_t columns) {
    const double tiles_y = double(rows / row.output_tile),
                 tiles_x = double(columns / row.output_tile);
    const double channels = double(strip_channels(row, problem)) * sizeof(float);
    const double line = double(columns + row.kernel - 1) * channels;
    const double each = double(products(row));
    const double numbers = up(tiles_y * tiles_x, row.tile) * each * each;
    return {line * double(groups(problem)) * double(rows + row.kernel - 1), line * each * tiles_y,
            numbers * channels, numbers * double(lane_block(row)) * sizeof(float)};
}

template <class Task> constexpr Blocking winograd_blocking(const KernelRow &row, const Task &task) {
    // Every band streams all transformed weights once. Where these stay in the second-level cache,
    // bands should be small beside them (64 to 64 channels, F(4, 3): on 56x56 bands of 14, 28, 56
    // and 196 tiles take 0.67, 0.70, 0.84 and 0.92 ms; on 224x224 such of 14, 28 and 56
    // tiles 13.2, 13.3 and 14.6 ms); else they should be few, though no larger than the weights
    // (512 to 512 channels on 28x28: bands of 7, 14, 28 and 49 tiles take 34, 23, 17 and 12 ms).
    constexpr double small_band = 288 * 1024, largest_band = 4 * 1024 * 1024;
    // What leaves the cache takes so much longer; a pass over other weights as long as so many
    // tiles.
    constexpr double slower = 1.25, pass = 24;
    const std::int64_t m = row.output_tile;
    const double weights =
        double(packed_weights(row, task.problem, 1)) * sizeof(float) / double(groups(task.problem));
    const bool streams = weights >= least_cache;
    const double room = !streams ? small_band : weights < largest_band ? weights : largest_band;
    const std::int64_t tiles_y = blocks_of(lead(row, task.y) + at_least(1, task.y.outputs), m);
    const std::int64_t tiles_x = blocks_of(lead(row, task.x) + at_least(1, task.x.outputs), m);
    Blocking best = {m, 0, 0, 0, m};
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t across = 1; across <= tiles_x; across += 1 + across / 8)
        for (std::int64_t rows = 1; rows <= tiles_y; ++rows) {
            const std::int64_t columns = blocks_of(tiles_x, across);
            const double bands = double(blocks_of(tiles_x, columns) * blocks_of(tiles_y, rows));
            const TileBand band = tile_band(row, task.problem, rows * m, columns * m);
            const bool fits = band.full_input + band.summed <= room && band.strip <= room;
            const double time =
                bands *
                (up(double(rows * columns), row.tile) * (fits ? 1 : slower) + (streams ? pass : 0));
            if (time < least) {
                least = time;
                best = {rows * m, 0, 0, 0, columns * m};
            }
            if (!fits)
                break;
        }
    return best;
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
    // planes at a time, since short rows cost more to address than to copy (up to 3 times). Windows
    // of columns stay in the first-level cache, since each strip reads its rows from the input.
    constexpr double lines_share = 384 * 1024, planes_share = 256 * 1024;
    constexpr double columns_share = 16 * 1024;
    // Sums of kernel rows stay there too, beside the lines that they are made of: with 24 rows of a
    // picture of 1920 RGB pixels instead of 40, 3x3, 5x5 and 7x7 take 0.89, 0.97 and 0.98 of the
    // time.
    constexpr double sums_share = 192 * 1024;
    constexpr std::int64_t most_planes = 8;
    const Problem &p = task.problem;
    const std::int64_t all = at_least(1, task.y.outputs);
    const double share = combines_columns(row, p) ? columns_share
                         : row.separable          ? sums_share
                                                  : lines_share;
    std::int64_t rows = all;
    while (rows > row.tile && lines_bytes(row, task, rows) > share)
        rows = (rows + 1) / 2;
    rows = at_most(all, round_up(rows, row.tile));
    const double planes = planes_share / larger(lines_bytes(row, task, rows), 1);
    return {rows, 1, 1,
            within(1, at_most(most_planes, p.k / interleaved(p)), std::int64_t(planes))};
}

/// Bytes of the strip of a narrow kernel that serves `rows` output rows
/// (generators/conv_narrow.cpp).
template <class Task>
constexpr double narrow_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y, &x = task.x;
    const double positions = double(strip_extent(x, strip_columns(row, x))) * double(x.stride);
    return up(positions * row.channel_block, row.lanes) *
           (double(rows - 1) * double(y.stride) + double(y.reach()) + 1) * double(task.z.kernel) *
           sizeof(float);
}

template <class Task> constexpr Blocking narrow_blocking(const KernelRow &row, const Task &task) {
    constexpr double strip_share = 96 * 1024;
    const std::int64_t all = at_least(1, task.y.outputs);
    std::int64_t rows = all;
    while (rows > 1 && narrow_bytes(row, task, rows) > strip_share)
        rows = (rows + 1) / 2;
    return {even_pieces(all, rows), 0, 0, 0};
}

/// Bytes of a panel of so many tiles of pixels.
constexpr double panel_bytes(const KernelRow &row, const Problem &p, std::int64_t tiles) {
    return double(strip_channels(row, p)) * double(row.tile) * double(tiles) * sizeof(float);
}

/// Tiles of all pixels of an image.
template <class Task> constexpr std::int64_t pixel_tiles(const KernelRow &row, const Task &task) {
    return at_least(1, blocks_of(task.z.outputs * task.y.outputs * task.x.outputs, row.tile));
}

template <class Task>
constexpr Blocking pointwise_blocking(const KernelRow &row, const Task &task) {
    // Half of a first-level cache: the weights pass through the other.
    constexpr double panel_share = 24 * 1024;
    const double tiles = panel_share / panel_bytes(row, task.problem, 1);
    return {even_pieces(pixel_tiles(row, task), std::int64_t(tiles)), 0, 0, 0};
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

/// split: bytes of what is added up afterwards, of all images.
template <class Task> constexpr double split_bytes(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    return double(weight_blocks(row, task)) * double(p.n) * double(p.k) * double(task.z.outputs) *
           double(task.y.outputs) * double(task.x.outputs) * sizeof(float);
}

} // namespace detail

/// The most that each number of a blocking can be; 0 where it means nothing to the row's kernel.
template <class Task> constexpr Blocking most_blocking(const KernelRow &row, const Task &task) {
    const std::int64_t rows = detail::at_least(1, task.y.outputs);
    switch (row.family) {
    case Family::direct: return {rows, rows, detail::weight_blocks(row, task), 0};
    case Family::pointwise: return {detail::pixel_tiles(row, task), 0, 0, 0};
    case Family::narrow: return {rows, 0, 0, 0};
    case Family::winograd:
        return {round_up(lead(row, task.y) + rows, row.output_tile), 0, 0, 0,
                round_up(lead(row, task.x) + detail::at_least(1, task.x.outputs), row.output_tile)};
    case Family::planar: return {rows, 0, detail::weight_blocks(row, task), 0};
    case Family::lines: return {rows, 0, 0, task.problem.k / interleaved(task.problem)};
    default: return {};
    }
}

namespace detail {

/// What the library would take.
template <class Task>
[[gnu::always_inline]] constexpr Blocking own_blocking(const KernelRow &row, const Task &task) {
    if (is<Task>(row, Family::lines))
        return detail::lines_blocking(row, task);
    if (!is_conv(task.problem))
        return {};
    const std::int64_t blocks = detail::weight_blocks(row, task);
    if (is<Task>(row, Family::reference) || is<Task>(row, Family::any))
        return {1, 1, blocks};
    // Tables go on to the end of the last tile.
    if (is_tiled(row))
        return {row.tile, 0, 0};
    if (is<Task>(row, Family::pointwise))
        return detail::pointwise_blocking(row, task);
    if (is<Task>(row, Family::narrow))
        return detail::narrow_blocking(row, task);
    if (is<Task>(row, Family::planar))
        return detail::planar_blocking(row, task, blocks);
    if (is<Task>(row, Family::winograd))
        return detail::winograd_blocking(row, task);
    return detail::direct_blocking(row, task, blocks);
}

} // namespace detail

/// How a row cuts up a task that is within its limits: as the task asks, as far as it is that
/// large, else as the library would.
template <class Task>
[[gnu::always_inline]] constexpr Blocking blocking(const KernelRow &row, const Task &task) {
    Blocking cut = detail::own_blocking(row, task);
    if (!Task::may_ask || !any(task.asked))
        return cut;
    const Blocking most = most_blocking(row, task);
    for (const BlockingKey &key : blocking_keys)
        if (task.asked.*key.number != 0)
            cut.*key.number = detail::at_most(most.*key.number, task.asked.*key.number);
    cut.block_rows = detail::at_most(cut.strip_rows, cut.block_rows);
    cut.strip_rows = round_up(cut.strip_rows, row.output_tile);
    cut.strip_columns = round_up(cut.strip_columns, row.output_tile);
    return cut;
}

/// The bytes of the strip and sums that one output row needs: what the least blocking takes.
template <class Task>
[[gnu::always_inline]] constexpr double least_strip_bytes(const KernelRow &row, const Task &task) {
    if (is<Task>(row, Family::lines))
        return detail::lines_bytes(row, task, 1) + detail::derived_bytes(row, task, 1);
    if (is<Task>(row, Family::pointwise))
        return detail::panel_bytes(row, task.problem, 1);
    if (is<Task>(row, Family::narrow))
        return detail::narrow_bytes(row, task, 1);
    if (is<Task>(row, Family::winograd))
        return detail::tile_band(row, task.problem, row.output_tile, row.output_tile).bytes();
    if (is<Task>(row, Family::split))
        return detail::split_bytes(row, task);
    if (is<Task>(row, Family::any) || is<Task>(row, Family::tiled))
        return 0;
    return is<Task>(row, Family::planar)
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
    // References take small fixed amounts of stack instead, threads of a GPU what is their own.
    if (!has_strip(row, task.problem) || is<Task>(row, Family::reference) ||
        is<Task>(row, Family::any) || is<Task>(row, Family::tiled))
        return 0;
    if (is<Task>(row, Family::split))
        return bytes(detail::split_bytes(row, task));
    if (is<Task>(row, Family::lines))
        return bytes(detail::lines_bytes(row, task, cut.strip_rows) * double(cut.strip_planes)) +
               bytes(detail::derived_bytes(row, task, cut.strip_rows)) + integers(task.x.kernel) +
               2 * integers(task.y.kernel);
    if (is<Task>(row, Family::pointwise))
        return bytes(detail::panel_bytes(row, task.problem, cut.strip_rows));
    if (is<Task>(row, Family::narrow))
        return bytes(detail::narrow_bytes(row, task, cut.strip_rows));
    if (is<Task>(row, Family::planar)) {
        const double places = band(row, task.y, task.x, cut.strip_rows).places;
        return bytes(detail::band_bytes(row, task, cut.strip_rows)) +
               bytes(places * row.tile * sizeof(float) + 128) +
               integers(task.y.kernel * task.x.kernel + 16) +
               integers(detail::weight_blocks(row, task) + 16);
    }
    if (is<Task>(row, Family::winograd))
        return bytes(
            detail::tile_band(row, task.problem, cut.strip_rows, cut.strip_columns).bytes());
    return bytes(detail::strip_bytes(row, task, cut.strip_rows)) +
           bytes(detail::sum_bytes(row, task.x, cut.block_rows)) + 2 * integers(task.x.kernel);
}

} // namespace selvage
