#include "choose.h"

#include <algorithm>

#include "scratch.h"

namespace selvage {

namespace {

std::string str(std::int64_t value) { return std::to_string(value); }

std::string both(std::int64_t y, std::int64_t x) { return str(y) + "x" + str(x); }

/// Places along an axis of the strip that serves that many outputs. Positions are sorted by their
/// remainder: for each, the furthest tap lies reach / stride places behind the first.
double strip_places(const Window &w, std::int64_t outputs) {
    return (double(outputs) + double(w.reach() / w.stride)) * double(w.phases());
}

/// Bytes of the strip that serves `rows` output rows.
double strip_bytes(const KernelRow &row, const Problem &problem, const Window &y, const Window &x,
                   std::int64_t rows) {
    return double(round_up(problem.c / problem.g, row.channel_block)) *
           strip_places(x, round_up(x.outputs, row.tile)) * strip_places(y, rows) * sizeof(float);
}

/// Bytes of the sums of `rows` output rows.
double sum_bytes(const KernelRow &row, const Window &x, std::int64_t rows) {
    return double(round_up(x.outputs, row.tile)) * double(rows) * row.lanes * row.vectors *
           sizeof(float);
}

/// The last position that the strip of all outputs holds, whether or not a tap reads it: its rows
/// are whole tiles and whole groups of phases.
std::int64_t strip_end(const Window &w, std::int64_t tile) {
    return (round_up(w.outputs, tile) - 1 + w.reach() / w.stride) * w.stride + w.phases() - 1 -
           w.before;
}

/// The largest position, in either direction from the first element, that whole tiles compute.
double last_position(const Window &w, std::int64_t tile) {
    return std::max(double(w.before),
                    double(round_up(w.outputs, tile)) * double(w.stride) + double(w.reach()));
}

/// See the constant of this name in generators/border.h.
constexpr double farthest = 1 << 30;

/// `count` cut into as few equal pieces of at most `limit` as possible.
std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = std::max<std::int64_t>(count, 1);
    return blocks_of(count, blocks_of(count, std::clamp<std::int64_t>(limit, 1, count)));
}

/// Why a row that tests for no border cannot take the problem, or empty.
std::string reaches_outside(const KernelRow &row, const Window &y, const Window &x) {
    if (y.reads_border() || x.reads_border())
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

} // namespace

std::string decline(const KernelRow &row, const Problem &problem, bool adjacent_pixels,
                    const Window &y, const Window &x) {
    if (row.op != problem.op)
        return std::string("computes ") + name(row.op);
    if (row.kernel != 0 && (y.kernel != row.kernel || x.kernel != row.kernel))
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " + both(y.kernel, x.kernel);
    if (row.kernel != 0 && (y.dilation != 1 || x.dilation != 1))
        return "takes dilation 1x1, not " + both(y.dilation, x.dilation);
    if (row.stride != 0 && (y.stride != row.stride || x.stride != row.stride))
        return "takes stride " + both(row.stride, row.stride) + ", not " + both(y.stride, x.stride);
    if (!row.border)
        if (std::string reason = reaches_outside(row, y, x); !reason.empty())
            return reason;
    // Kernels address the bytes of a buffer with 32 bits.
    if (row.family == Family::direct) {
        const double bytes = strip_bytes(row, problem, y, x, 1) + sum_bytes(row, x, 1);
        if (bytes > double(largest))
            return "needs " + str(std::int64_t(std::min(bytes, 9e18))) +
                   " bytes of scratch, more than " + str(largest);
    }
    const double weights = packed_weights(row, problem) * sizeof(float);
    if (!is_pool(problem.op) && weights > double(largest))
        return "packs the weights into " + str(std::int64_t(std::min(weights, 9e18))) +
               " bytes, more than " + str(largest);
    // They compute positions with 32 bits too: tiles go past the last output, a flat position
    // counts numbers, not pixels, and conv2d leaves rows out by comparing with `farthest`.
    if (row.family != Family::reference || (problem.op == Op::conv2d && problem.value != 0)) {
        const double scale = row.family == Family::flat ? double(problem.c) : 1;
        const double position = std::max(last_position(y, 1), last_position(x, row.tile)) * scale;
        if (position > farthest)
            return "reaches position " + str(std::int64_t(std::min(position, 9e18))) + ", beyond " +
                   str(std::int64_t(farthest));
    }
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
    // In cycles, from the instructions of the AVX-512 loops: a multiply-add of one vector, control
    // around the channels of one tap, a copy of one vector into the strip, and of one lane where
    // channels end within it. Channels are summed in steps of 4 (schedules/x86/direct.h).
    constexpr double multiply_add = 0.5, tap = 20, copy_vector = 5, copy_lane = 3;
    constexpr int channel_step = 4;
    // Without a border there is a little less to do.
    constexpr double inside_factor = 0.99;

    const std::int64_t lane_block = row.lanes * row.vectors;
    const double rows = double(problem.n) * double(y.outputs), speed = row.rate / 100.0;
    const double taps = double(y.kernel) * double(x.kernel);
    const double tiles = rows * double(blocks_of(x.outputs, row.tile));
    double cycles = 0;
    if (problem.op == Op::conv2d) {
        const std::int64_t channels = problem.c / problem.g, outputs = problem.k / problem.g;
        const std::int64_t blocks = blocks_of(channels, row.channel_block);
        const std::int64_t tail = channels % row.channel_block;
        cycles = tiles * double(problem.g) * double(blocks_of(outputs, lane_block)) * taps *
                 (double(round_up(channels, std::min(row.channel_block, channel_step))) * row.tile *
                      row.vectors * multiply_add / speed +
                  double(blocks) * tap);
        const double vectors =
            double((channels - tail) / row.channel_block * blocks_of(row.channel_block, row.lanes));
        const std::int64_t strip_rows = blocking(row, problem, y, x).strip_rows;
        cycles += double(problem.n) * double(problem.g) * double(blocks_of(y.outputs, strip_rows)) *
                  strip_places(y, strip_rows) * strip_places(x, round_up(x.outputs, row.tile)) *
                  (vectors * copy_vector + (tail != 0 ? row.channel_block * copy_lane : 0));
    } else if (row.family == Family::flat) {
        cycles = rows * taps * double(blocks_of(x.outputs * problem.k, lane_block)) * row.vectors *
                 multiply_add / speed;
    } else {
        cycles = tiles * taps * double(blocks_of(problem.k, lane_block)) * row.tile * row.vectors *
                 multiply_add / speed;
    }
    return row.border ? cycles : cycles * inside_factor;
}

double packed_weights(const KernelRow &row, const Problem &problem) {
    const std::int64_t inputs = problem.op == Op::conv2d ? problem.c / problem.g : 1;
    return double(packed_outputs(row, problem)) * double(round_up(inputs, row.channel_block)) *
           double(problem.y.kernel) * double(problem.x.kernel);
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
    const std::int64_t all_weights =
        problem.k * (problem.c / problem.g) * y.kernel * x.kernel * std::int64_t(sizeof(float));
    const double strip_share = double(std::clamp(all_weights, least_strip, largest_strip));
    std::int64_t strip_rows = y.outputs;
    while (strip_rows > 1 && strip_bytes(row, problem, y, x, strip_rows) > strip_share)
        strip_rows = (strip_rows + 1) / 2;
    strip_rows = even_pieces(y.outputs, strip_rows);
    const double sum_rows = double(sums_share) / std::max(sum_bytes(row, x, 1), 1.0);
    return {strip_rows, even_pieces(strip_rows, std::int64_t(sum_rows)),
            std::clamp<std::int64_t>(weights_share / weight_bytes, 1,
                                     blocks_of(problem.c / problem.g, row.channel_block))};
}

std::size_t scratch_bytes(const KernelRow &row, const Problem &problem, const Window &y,
                          const Window &x) {
    if (row.family != Family::direct)
        return 0;
    const Blocking blocks = blocking(row, problem, y, x);
    const std::size_t columns = scratch_round(std::size_t(x.kernel) * sizeof(std::int32_t));
    return scratch_round(std::size_t(strip_bytes(row, problem, y, x, blocks.strip_rows))) +
           scratch_round(std::size_t(sum_bytes(row, x, blocks.block_rows))) + 2 * columns;
}

} // namespace selvage
