#include "choose.h"

#include <algorithm>

#include "scratch.h"

namespace selvage {

namespace {

bool reads_border(const Window &w) { return w.before > 0 || w.after() > 0; }

std::string str(std::int64_t value) { return std::to_string(value); }

std::string both(std::int64_t y, std::int64_t x) { return str(y) + "x" + str(x); }

/// Rows of the input that the strip of `rows` output rows holds, sorted by phase: the tap that
/// reaches furthest lies (kernel - 1) * dilation / stride places behind the first, for each phase.
std::int64_t strip_extent(const Window &w, std::int64_t outputs) {
    const std::int64_t reach = (w.kernel - 1) * w.dilation;
    const std::int64_t phases = std::min(w.stride, reach + 1);
    return (outputs + reach / w.stride) * phases;
}

/// The last position that the strip of all outputs holds, whether or not a tap reads it: its rows
/// are whole tiles and whole groups of phases.
std::int64_t strip_end(const Window &w, std::int64_t tile) {
    const std::int64_t reach = (w.kernel - 1) * w.dilation;
    return (round_up(w.outputs, tile) - 1 + reach / w.stride) * w.stride +
           std::min(w.stride - 1, reach) - w.before;
}

/// Why a row that tests for no border cannot take the problem, or empty.
std::string reaches_outside(const KernelRow &row, const Window &y, const Window &x) {
    if (reads_border(y) || reads_border(x))
        return "has no border; the windows read " +
               both(std::max<std::int64_t>(y.before, 0), std::max<std::int64_t>(x.before, 0)) +
               " elements before and " + both(y.after(), x.after()) + " after the input";
    // What the end crops cut off may still be loaded; no window uses it.
    if (row.family == Family::direct && strip_end(y, 1) >= y.size + y.cropped)
        return "has no border; its strip ends at row " + str(strip_end(y, 1)) + " of " +
               str(y.size + y.cropped);
    if (row.family == Family::direct && strip_end(x, row.tile) >= x.size + x.cropped)
        return "has no border; its strip ends at column " + str(strip_end(x, row.tile)) + " of " +
               str(x.size + x.cropped);
    if (row.family == Family::rows && x.outputs < row.tile)
        return "has no border; it takes at least " + str(row.tile) + " columns, not " +
               str(x.outputs);
    return {};
}

/// Bytes of the strip that serves `rows` output rows.
std::int64_t strip_bytes(const KernelRow &row, const Problem &problem, const Window &y,
                         const Window &x, std::int64_t rows) {
    return round_up(problem.c / problem.g, row.channel_block) *
           strip_extent(x, round_up(x.outputs, row.tile)) * strip_extent(y, rows) *
           std::int64_t(sizeof(float));
}

/// `count` cut into as few equal pieces of at most `limit` as possible.
std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = std::max<std::int64_t>(count, 1);
    return blocks_of(count, blocks_of(count, std::clamp<std::int64_t>(limit, 1, count)));
}

} // namespace

std::string decline(const KernelRow &row, const Problem &problem, bool adjacent_pixels,
                    const Window &y, const Window &x) {
    if (row.op != problem.op)
        return std::string("computes ") + name(row.op);
    if (!row.border)
        if (std::string reason = reaches_outside(row, y, x); !reason.empty())
            return reason;
    if (row.kernel != 0 && (y.kernel != row.kernel || x.kernel != row.kernel))
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " + both(y.kernel, x.kernel);
    if (row.kernel != 0 && (y.dilation != 1 || x.dilation != 1))
        return "takes dilation 1x1, not " + both(y.dilation, x.dilation);
    if (row.stride != 0 && (y.stride != row.stride || x.stride != row.stride))
        return "takes stride " + both(row.stride, row.stride) + ", not " + both(y.stride, x.stride);
    if (row.fixed_multiplier != 0 && problem.k != problem.c * row.fixed_multiplier)
        return "takes " + str(problem.c * row.fixed_multiplier) + " output channels of " +
               str(problem.c) + ", not " + str(problem.k);
    if (row.family == Family::rows || row.family == Family::taps) {
        if (problem.c < row.lanes * row.vectors)
            return "takes at least " + str(row.lanes * row.vectors) + " channels, not " +
                   str(problem.c);
        if (problem.op == Op::depthwise2d && problem.value != 0 && row.border)
            return "leaves padding out, which needs value 0, not " + std::to_string(problem.value);
    }
    if (row.family == Family::flat && !adjacent_pixels)
        return "needs adjacent pixels, which Options::adjacent_pixels promises";
    if (row.family == Family::flat && x.stride != 1)
        return "takes horizontal stride 1, not " + str(x.stride);
    return {};
}

double cost(const KernelRow &row, const Problem &problem, const Window &y, const Window &x) {
    // Loop control around the channels of one block, counted in channels.
    constexpr double tap_overhead = 2;
    // Copying one element into the strip, counted in multiply-adds.
    constexpr double copy = 4;
    // Without a border there is a little less to do.
    constexpr double inside_factor = 0.99;

    const double pixels =
        double(problem.n) * double(y.outputs) * double(round_up(x.outputs, row.tile));
    const std::int64_t lane_block = row.lanes * row.vectors;
    double work = pixels * double(y.kernel) * double(x.kernel);
    if (problem.op == Op::conv2d) {
        const std::int64_t channels = problem.c / problem.g, outputs = problem.k / problem.g;
        work *= double(problem.g) * double(round_up(outputs, lane_block)) *
                (double(channels) + tap_overhead * double(blocks_of(channels, row.channel_block)));
        work += copy * double(problem.n) * double(problem.g) * double(y.size) * double(x.size) *
                double(round_up(channels, row.channel_block));
    } else if (row.family == Family::flat) {
        work = double(problem.n) * double(y.outputs) * double(y.kernel) * double(x.kernel) *
               double(round_up(x.outputs * problem.k, lane_block));
    } else {
        work *= double(round_up(problem.k, lane_block));
    }
    return work / row.lanes * 100 / row.rate * (row.border ? 1 : inside_factor);
}

std::int64_t packed_outputs(const KernelRow &row, const Problem &problem) {
    if (problem.op == Op::conv2d)
        return problem.g * round_up(problem.k / problem.g, row.lanes * row.vectors);
    // A vector that begins at the last channel reads on into the first ones.
    return row.family == Family::flat ? problem.k + row.lanes : problem.k;
}

Blocking blocking(const KernelRow &row, const Problem &problem, const Window &y, const Window &x) {
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
    if (problem.op != Op::conv2d)
        return {};
    if (row.family == Family::reference)
        return {1, 1, blocks_of(problem.c / problem.g, row.channel_block)};
    const std::int64_t lane_block = row.lanes * row.vectors;
    const std::int64_t weight_bytes =
        row.channel_block * y.kernel * x.kernel * lane_block * std::int64_t(sizeof(float));
    const std::int64_t sum_bytes =
        round_up(x.outputs, row.tile) * lane_block * std::int64_t(sizeof(float));
    const std::int64_t all_weights =
        problem.k * (problem.c / problem.g) * y.kernel * x.kernel * std::int64_t(sizeof(float));
    const std::int64_t strip_share = std::clamp(all_weights, least_strip, largest_strip);
    std::int64_t strip_rows = y.outputs;
    while (strip_rows > 1 && strip_bytes(row, problem, y, x, strip_rows) > strip_share)
        strip_rows = (strip_rows + 1) / 2;
    strip_rows = even_pieces(y.outputs, strip_rows);
    return {strip_rows, even_pieces(strip_rows, sums_share / std::max<std::int64_t>(sum_bytes, 1)),
            std::clamp<std::int64_t>(weights_share / weight_bytes, 1,
                                     blocks_of(problem.c / problem.g, row.channel_block))};
}

std::size_t scratch_bytes(const KernelRow &row, const Problem &problem, const Window &y,
                          const Window &x) {
    if (row.family != Family::direct)
        return 0;
    const Blocking blocks = blocking(row, problem, y, x);
    const std::int64_t sums = round_up(x.outputs, row.tile) * blocks.block_rows * row.lanes *
                              row.vectors * std::int64_t(sizeof(float));
    const std::size_t columns = scratch_round(std::size_t(x.kernel) * sizeof(std::int32_t));
    return scratch_round(std::size_t(strip_bytes(row, problem, y, x, blocks.strip_rows))) +
           scratch_round(std::size_t(sums)) + 2 * columns;
}

} // namespace selvage
