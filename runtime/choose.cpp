#include "choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "scratch.h"

namespace selvage {

namespace {

std::string str(std::int64_t value) { return std::to_string(value); }

std::string both(std::int64_t y, std::int64_t x) { return str(y) + "x" + str(x); }

/// Places along an axis of the strip that serves that many outputs. Positions are sorted by their
/// remainder: for each, the furthest tap lies reach / stride places behind the first.
double strip_places(const Window &w, std::int64_t outputs) {
    return double(strip_extent(w, outputs)) * double(w.phases());
}

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

/// A band of a planar kernel, `rows` rows of the output, as numbers (generators/conv_planar.cpp):
/// the padded input of one channel as one line, and the outputs of one tile.
struct Band {
    double line, places;
};

Band band(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Window &y = task.y, &x = task.x;
    const double tile = double(row.lanes) * row.vectors;
    const double pitch = double(strip_extent(x, x.outputs));
    const double remainders = x.stride == 2 ? 2 : double(x.phases());
    const auto up = [](double count, double block) { return std::ceil(count / block) * block; };
    return {up(strip_places(y, rows) * remainders * pitch + tile - 1, 32) + 16,
            up(double(rows - 1) * pitch + double(round_up(x.outputs, row.lanes)), tile)};
}

/// Bytes of the strip of a band.
double band_bytes(const KernelRow &row, const Task &task, std::int64_t rows) {
    const Problem &p = task.problem;
    return band(row, task, rows).line * double(round_up(p.c / groups(p), row.channel_block)) *
           double(task.z.kernel) * sizeof(float);
}

Blocking planar_blocking(const KernelRow &row, const Task &task, std::int64_t blocks) {
    // The weights of one partial sum stay in the first-level cache beside what taps read. Strips of
    // 256 to 512 KiB are the fastest; of single channels, which are read once, 16 KiB.
    constexpr std::int64_t weights_share = 32 * 1024;
    constexpr double strip_share = 384 * 1024, single_share = 16 * 1024;
    const Window &y = task.y, &x = task.x;
    const bool single = task.problem.c == groups(task.problem);
    const double share = single ? single_share : strip_share;
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

/// Cycles of a planar kernel, from profiles of the AVX-512 loops.
double planar_cost(const KernelRow &row, const Task &task, const Blocking &cut) {
    constexpr double multiply_add = 0.5, tap = 8, add_up = 3; // of a tile; of a vector of sums
    constexpr double fill_vector = 1.5, fill_row = 8, fill_piece = 2, fill_number = 1.5;
    constexpr double store_row = 6, store_vector = 4, fixed = 150;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
    const double planes = double(p.n) * double(task.z.outputs) * double(parts);
    const double bands = double(blocks_of(y.outputs, cut.strip_rows));
    const Band each = band(row, task, cut.strip_rows);
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    const double channels = double(round_up(inputs, std::min(row.channel_block, channel_step)));
    const double blocks = double(blocks_of(inputs, row.channel_block));
    const double vectors = double(row.tile) * row.vectors;
    const double sums =
        double(blocks_of(outputs, row.tile)) * (each.places / (double(row.lanes) * row.vectors)) *
        (taps * (channels * vectors * multiply_add / (row.rate / 100.0) + blocks * tap) +
         add_up * vectors);
    const double rows = strip_places(y, cut.strip_rows) * double(x.phases());
    const double pitch = double(strip_extent(x, x.outputs));
    const double fill = double(task.z.kernel) * double(inputs) *
                        (fill_vector * each.line / row.lanes +
                         rows * (fill_row + fill_piece * std::ceil(pitch / row.lanes) +
                                 (x.stride > 2 ? fill_number * pitch : 0)));
    const double store = double(outputs) * double(cut.strip_rows) *
                         (store_row + store_vector * std::ceil(double(x.outputs) / row.lanes));
    return planes * bands * (sums + fill + store + fixed);
}

/// Bytes of a number of the input.
std::int64_t number_bytes(const Problem &problem) { return problem.type == Type::f32 ? 4 : 1; }

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

/// Kernels count positions with 32 bits; no tap that they meet may be further from the first
/// element than this.
constexpr double farthest = 1 << 30;

/// `count` cut into as few equal pieces of at most `limit` as possible.
std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    count = std::max<std::int64_t>(count, 1);
    return blocks_of(count, blocks_of(count, std::clamp<std::int64_t>(limit, 1, count)));
}

bool reads_border(const Task &task) {
    return task.z.reads_border() || task.y.reads_border() || task.x.reads_border();
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
    const double bytes = lines_bytes(row, task, 1);
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

std::int64_t groups(const Problem &problem) {
    return problem.op == Op::depthwise || problem.op == Op::filter ? problem.c : problem.g;
}

bool is_conv(const KernelRow &row) { return std::string_view(row.op) == "conv"; }

std::int64_t interleaved(const Problem &problem) {
    return problem.layout == Layout::nhwc ? problem.c : 1;
}

bool has_strip(const KernelRow &row) { return is_conv(row) || row.family == Family::lines; }

std::int64_t strip_extent(const Window &window, std::int64_t outputs) {
    return outputs + window.reach() / window.stride;
}

std::int64_t strip_columns(const KernelRow &row, const Window &x) {
    return row.family == Family::planar ? x.outputs : round_up(x.outputs, row.tile);
}

std::int64_t lane_block(const KernelRow &row) {
    return row.family == Family::planar ? row.tile : row.lanes * row.vectors;
}

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
        const double bytes = row.family == Family::planar
                                 ? band_bytes(row, task, 1)
                                 : strip_bytes(row, task, 1) + sum_bytes(row, x, 1);
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
    // A table has one entry for each tap and output of an axis.
    for (const Window *w : {&task.z, &y, &x})
        if (double(w->kernel) * double(w->outputs) * sizeof(std::int32_t) > double(largest))
            return "needs a table of " + both(w->kernel, w->outputs) + " taps x outputs, above " +
                   str(largest) + " bytes";
    if (row.fixed_multiplier != 0 && p.k != p.c * row.fixed_multiplier)
        return "takes " + str(p.c * row.fixed_multiplier) + " output channels of " + str(p.c) +
               ", not " + str(p.k);
    if (row.family == Family::rows || row.family == Family::taps)
        if (p.c < row.lanes * row.vectors)
            return "takes at least " + str(row.lanes * row.vectors) + " channels, not " + str(p.c);
    if ((row.family == Family::rows || row.family == Family::taps) && row.border && has_value(p) &&
        reads_border(task))
        return "leaves padding out, which needs value 0, not " + std::to_string(p.value);
    return {};
}

double cost(const KernelRow &row, const Task &task) {
    // In cycles, from the instructions of the AVX-512 loops: a multiply-add of one vector, control
    // around the channels of one tap, a copy of one vector into the strip, and of one lane where
    // channels end within it. Channels are summed in steps of 4 (schedules/x86/direct.h).
    constexpr double multiply_add = 0.5, tap = 20, copy_vector = 5, copy_lane = 3;
    constexpr int channel_step = 4;
    // Without a border there is a little less to do.
    constexpr double inside_factor = 0.99;

    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t block = lane_block(row);
    const double images = double(p.n) * double(task.z.outputs);
    const double rows = images * double(y.outputs), speed = row.rate / 100.0;
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    const double tiles = rows * double(blocks_of(x.outputs, row.tile));
    double cycles = 0;
    if (row.family == Family::planar)
        return planar_cost(row, task, blocking(row, task));
    if (is_conv(row)) {
        const std::int64_t parts = groups(p), channels = p.c / parts, outputs = p.k / parts;
        const std::int64_t blocks = blocks_of(channels, row.channel_block);
        const std::int64_t tail = channels % row.channel_block;
        cycles = tiles * double(parts) * double(blocks_of(outputs, block)) * taps *
                 (double(round_up(channels, std::min(row.channel_block, channel_step))) * row.tile *
                      row.vectors * multiply_add / speed +
                  double(blocks) * tap);
        const double vectors =
            double((channels - tail) / row.channel_block * blocks_of(row.channel_block, row.lanes));
        const std::int64_t strip_rows = blocking(row, task).strip_rows;
        cycles += images * double(parts) * double(blocks_of(y.outputs, strip_rows)) *
                  double(task.z.kernel) * strip_places(y, strip_rows) *
                  strip_places(x, strip_columns(row, x)) *
                  (vectors * copy_vector + (tail != 0 ? row.channel_block * copy_lane : 0));
    } else if (row.family == Family::any) {
        // One number at a time is gathered into vectors.
        cycles = rows * taps * double(blocks_of(x.outputs, row.lanes)) * double(p.k) *
                 multiply_add / speed;
    } else if (row.family == Family::lines) {
        // A vector of a row that is copied, a number at its edges; where pixels lie apart, 4
        // numbers of a pixel.
        constexpr double copy_line = 0.9, copy_pixel = 0.5;
        const std::int64_t inner = interleaved(p), planes = p.k / inner;
        const double blocks = double(blocks_of(x.outputs * inner, block));
        cycles = images * double(planes) * double(round_up(y.outputs, row.tile)) * blocks *
                 row.vectors * taps * multiply_add / speed;
        const Blocking cut = blocking(row, task);
        const double places = double(strip_extent(x, x.outputs)) * double(x.phases());
        const bool in_vectors = x.stride == 1 || (x.stride == 2 && inner == 1);
        const double edges =
            double(std::max<std::int64_t>(x.before, 0) + x.after()) * double(inner);
        const double a_row = in_vectors ? copy_line * (places * double(inner) / 8 + edges)
                                        : copy_pixel * places * double(blocks_of(inner, 4));
        cycles += images * double(planes) * double(blocks_of(y.outputs, cut.strip_rows)) *
                  strip_places(y, cut.strip_rows) * double(task.z.kernel) * a_row;
    } else {
        cycles = tiles * taps * double(blocks_of(p.k, block)) * row.tile * row.vectors *
                 multiply_add / speed;
    }
    return row.border ? cycles : cycles * inside_factor;
}

double packed_weights(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const std::int64_t inputs = is_conv(row) ? p.c / groups(p) : 1;
    return double(packed_outputs(row, p)) * double(round_up(inputs, row.channel_block)) *
           double(task.z.kernel) * double(task.y.kernel) * double(task.x.kernel);
}

std::int64_t packed_outputs(const KernelRow &row, const Problem &problem) {
    if (is_conv(row))
        return groups(problem) * round_up(problem.k / groups(problem), lane_block(row));
    // A vector that begins at the last channel of a pixel reads on into the first ones. All rows
    // share the longest vectors' places, so that parts of a problem share their weights.
    constexpr std::int64_t longest_vector = 64;
    return problem.k + longest_vector;
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
    if (row.family == Family::lines) {
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
                std::clamp<std::int64_t>(std::int64_t(planes), 1,
                                         std::min(most_planes, p.k / interleaved(p)))};
    }
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
