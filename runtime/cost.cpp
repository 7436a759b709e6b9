#include <algorithm>
#include <cmath>

#include "choose.h"
#include "selvage/core/strips.h"

namespace selvage {

namespace {

// All constants are cycles of the AVX-512 loops, from their instructions and from profiles.

/// A multiply-add of one vector.
constexpr double multiply_add = 0.5;

/// Cycles of a planar kernel, from profiles of the AVX-512 loops.
double planar_cost(const KernelRow &row, const Task &task) {
    constexpr double tap = 8, add_up = 3; // of a tile; of a vector of sums
    constexpr double fill_vector = 1.5, fill_row = 8, fill_piece = 2, fill_number = 1.5;
    constexpr double store_row = 6, store_vector = 4, fixed = 150;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const Blocking cut = blocking(row, task);
    const Window &y = task.y, &x = task.x;
    const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
    const double planes = double(p.n) * double(task.z.outputs) * double(parts);
    const double bands = double(blocks_of(y.outputs, cut.strip_rows));
    const Band each = band(row, y, x, cut.strip_rows);
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

double lines_cost(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const double images = double(p.n) * double(task.z.outputs);
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    // A vector of a row that is copied, a number at its edges; where pixels lie apart, 4
    // numbers of a pixel.
    constexpr double copy_line = 0.9, copy_pixel = 0.5;
    const std::int64_t inner = interleaved(p), planes = p.k / inner;
    const double blocks = double(blocks_of(x.outputs * inner, row.lanes * row.vectors));
    const double sums = images * double(planes) * double(round_up(y.outputs, row.tile)) * blocks *
                        row.vectors * taps * multiply_add / (row.rate / 100.0);
    const Blocking cut = blocking(row, task);
    const double places = double(strip_extent(x, x.outputs)) * double(x.phases());
    const bool in_vectors = x.stride == 1 || (x.stride == 2 && inner == 1);
    const double edges = double(std::max<std::int64_t>(x.before, 0) + x.after()) * double(inner);
    const double a_row = in_vectors ? copy_line * (places * double(inner) / 8 + edges)
                                    : copy_pixel * places * double(blocks_of(inner, 4));
    const double fill = images * double(planes) * double(blocks_of(y.outputs, cut.strip_rows)) *
                        strip_places(y, cut.strip_rows) * double(task.z.kernel) * a_row;
    return sums + fill;
}

/// Also of the reference.
double direct_cost(const KernelRow &row, const Task &task) {
    // Control around the channels of one tap, a copy of one vector into the strip, and of one lane
    // where channels end within it. Channels are summed in steps of 4 (schedules/cpu/direct.h).
    constexpr double tap = 20, copy_vector = 5, copy_lane = 3;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t parts = groups(p), channels = p.c / parts, outputs = p.k / parts;
    const std::int64_t blocks = blocks_of(channels, row.channel_block);
    const std::int64_t tail = channels % row.channel_block;
    const double planes = double(p.n) * double(task.z.outputs) * double(parts);
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    const double steps = double(round_up(channels, std::min(row.channel_block, channel_step)));
    const double sums =
        double(y.outputs) * double(blocks_of(x.outputs, row.tile)) *
        double(blocks_of(outputs, lane_block(row))) * taps *
        (steps * row.tile * row.vectors * multiply_add / (row.rate / 100.0) + double(blocks) * tap);
    const double vectors =
        double((channels - tail) / row.channel_block * blocks_of(row.channel_block, row.lanes));
    const std::int64_t strip_rows = blocking(row, task).strip_rows;
    const double fill = double(blocks_of(y.outputs, strip_rows)) * double(task.z.kernel) *
                        strip_places(y, strip_rows) * strip_places(x, strip_columns(row, x)) *
                        (vectors * copy_vector + (tail != 0 ? row.channel_block * copy_lane : 0));
    return planes * (sums + fill);
}

/// Of rows, taps, any and references: vectors of `lanes` numbers of the output.
double window_cost(const KernelRow &row, const Task &task) {
    const Problem &p = task.problem;
    const double rows = double(p.n) * double(task.z.outputs) * double(task.y.outputs);
    const double taps = double(task.z.kernel) * double(task.y.kernel) * double(task.x.kernel);
    const std::int64_t outputs = task.x.outputs;
    // `any` gathers neighbouring pixels of one channel, the others take neighbouring channels.
    const double vectors = row.family == Family::any
                               ? double(blocks_of(outputs, row.lanes)) * double(p.k)
                               : double(round_up(outputs, row.tile)) *
                                     double(blocks_of(p.k, row.lanes * row.vectors)) * row.vectors;
    return rows * taps * vectors * multiply_add / (row.rate / 100.0);
}

} // namespace

double cost(const KernelRow &row, const Task &task) {
    // Without a border there is a little less to do.
    constexpr double inside_factor = 0.99;
    const double cycles = row.family == Family::planar  ? planar_cost(row, task)
                          : row.family == Family::lines ? lines_cost(row, task)
                          : is_conv(task.problem)       ? direct_cost(row, task)
                                                        : window_cost(row, task);
    return row.border ? cycles : cycles * inside_factor;
}

} // namespace selvage
