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

/// Bytes of the strip that serves `rows` output rows.
std::int64_t strip_bytes(const KernelRow &row, const Problem &problem, const Window &y,
                         const Window &x, std::int64_t rows) {
    return round_up(problem.c / problem.g, row.channel_block) *
           strip_extent(x, round_up(x.outputs, row.tile)) * strip_extent(y, rows) *
           std::int64_t(sizeof(float));
}

/// `count` cut into as few equal pieces of at most `limit` as possible.
std::int64_t even_pieces(std::int64_t count, std::int64_t limit) {
    limit = std::clamp<std::int64_t>(limit, 1, std::max<std::int64_t>(count, 1));
    return blocks_of(std::max<std::int64_t>(count, 1), blocks_of(count, limit));
}

} // namespace

std::string decline(const KernelRow &row, const Problem &problem, const Window &y,
                    const Window &x) {
    if (row.op != problem.op)
        return std::string("computes ") + name(row.op);
    if (!row.border && (reads_border(y) || reads_border(x)))
        return "has no border; the windows read " +
               both(std::max<std::int64_t>(y.before, 0), std::max<std::int64_t>(x.before, 0)) +
               " elements before and " + both(y.after(), x.after()) + " after the input";
    if (row.kernel != 0 && (y.kernel != row.kernel || x.kernel != row.kernel))
        return "takes kernel " + both(row.kernel, row.kernel) + ", not " + both(y.kernel, x.kernel);
    if (row.kernel != 0 && (y.dilation != 1 || x.dilation != 1))
        return "takes dilation 1x1, not " + both(y.dilation, x.dilation);
    if (row.stride != 0 && (y.stride != row.stride || x.stride != row.stride))
        return "takes stride " + both(row.stride, row.stride) + ", not " + both(y.stride, x.stride);
    if (row.family == Family::rows || row.family == Family::taps) {
        if (problem.k != problem.c)
            return "takes one output channel per input channel, not " + str(problem.k) + " of " +
                   str(problem.c);
        if (problem.c < row.lanes * row.vectors)
            return "takes at least " + str(row.lanes * row.vectors) + " channels, not " +
                   str(problem.c);
        if (problem.op == Op::depthwise2d && problem.value != 0 && row.border)
            return "leaves padding out, which needs value 0, not " + std::to_string(problem.value);
    }
    return {};
}

double cost(const KernelRow &row, const Problem &problem, const Window &y, const Window &x) {
    // What scalar code takes per operation, compared with a vector of one lane.
    constexpr double reference_factor = 8;
    // Loop control around the channels of one block, counted in channels.
    constexpr double tap_overhead = 2;
    // Copying one element into the strip, counted in multiply-adds.
    constexpr double copy = 4;
    // Channels of one vector and pixel that have no neighbours to share loads with.
    constexpr double taps_factor = 2;

    const double taps = double(y.kernel) * double(x.kernel);
    const double pixels = double(problem.n) * double(y.outputs) *
                          double(round_up(x.outputs, row.tile));
    const std::int64_t lane_block = row.lanes * row.vectors;
    if (problem.op == Op::conv2d) {
        const std::int64_t channels = problem.c / problem.g, outputs = problem.k / problem.g;
        const double sum = double(channels) +
                           tap_overhead * double(blocks_of(channels, row.channel_block));
        double work = pixels * double(problem.g) * double(round_up(outputs, lane_block)) * taps * sum;
        if (row.family == Family::reference)
            return work * reference_factor;
        // A load for each weight vector and a broadcast for each pixel share the two load ports.
        const double loads = (1.0 / row.tile + 1.0 / row.vectors) / 2;
        work *= std::max(1.0, 0.5 + loads);
        work += copy * double(problem.n) * double(problem.g) * double(y.size) * double(x.size) *
                double(round_up(channels, row.channel_block));
        return work / row.lanes;
    }
    const double work = pixels * double(round_up(problem.k, lane_block)) * taps;
    if (row.family == Family::reference)
        return work * reference_factor;
    return work / row.lanes * (row.family == Family::taps ? taps_factor + 1.0 / row.vectors : 1);
}

Blocking blocking(const KernelRow &row, const Problem &problem, const Window &y,
                  const Window &x) {
    // Shares of a 32 KiB first-level cache: the weights of one partial sum, which every tile reads
    // again, and the sums themselves; the rest is for the rows of the strip that pass through. The
    // strip takes half of a second-level cache of 1 MiB.
    constexpr std::int64_t weights_share = 20 * 1024;
    constexpr std::int64_t sums_share = 12 * 1024;
    constexpr std::int64_t strip_share = 512 * 1024;

    if (problem.op != Op::conv2d)
        return {};
    if (row.family == Family::reference)
        return {1, 1, blocks_of(problem.c / problem.g, row.channel_block)};
    const std::int64_t lane_block = row.lanes * row.vectors;
    const std::int64_t weight_bytes =
        row.channel_block * y.kernel * x.kernel * lane_block * std::int64_t(sizeof(float));
    const std::int64_t sum_bytes =
        round_up(x.outputs, row.tile) * lane_block * std::int64_t(sizeof(float));
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
    return scratch_round(std::size_t(strip_bytes(row, problem, y, x, blocks.strip_rows))) +
           scratch_round(std::size_t(sums));
}

} // namespace selvage
