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
    // Windows of columns are combined as the strip is filled.
    const bool columns = detail::combines_columns(row, p);
    const double plane = columns         ? double(x.kernel)
                         : row.separable ? double(y.kernel + x.kernel)
                                         : double(y.kernel) * double(x.kernel);
    const double taps = double(task.z.kernel) * plane;
    // A vector of a row that is copied, a number at its edges; where pixels lie apart, 4 numbers of
    // a pixel. Together with the rates of `taps` fitted to 570 layers of 6 to 256 channels, kernels
    // of 2x2 to 9x9 and all three instruction sets: with 6 for a pixel, what is chosen takes 1.03
    // of the fastest row's time in the geometric mean. But 6 takes `any` for 2x2 pools of pictures
    // of 3 channels at stride 2, at 1.3 to 3 times the time of lines; 4 does not.
    constexpr double copy_line = 3, copy_pixel = 4;
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
                        (columns ? double(cut.strip_rows) : strip_places(y, cut.strip_rows)) *
                        double(task.z.kernel) * a_row;
    return sums + fill;
}

/// Fitted to the measured times of a dozen layers on each row of AVX-512.
double winograd_cost(const KernelRow &row, const Task &task) {
    // A vector of the strip, with its share of the transform; one of a tile's products, from sums
    // to outputs; one of weights that no second-level cache holds, each time that a band streams
    // it.
    constexpr double strip_vector = 18, product_vector = 8, weight_vector = 13;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const std::int64_t parts = groups(p), channels = p.c / parts, outputs = p.k / parts;
    const std::int64_t m = row.output_tile;
    const Blocking cut = blocking(row, task);
    const double planes = double(p.n) * double(task.z.outputs) * double(parts);
    const double bands = double(blocks_of(lead(row, task.y) + task.y.outputs, cut.strip_rows)) *
                         double(blocks_of(lead(row, task.x) + task.x.outputs, cut.strip_columns));
    const double tiles = double(cut.strip_rows / m) * double(cut.strip_columns / m);
    const double each = double(products(row) * products(row));
    const double vectors = double(blocks_of(outputs, lane_block(row))) * row.vectors;
    const double steps = double(round_up(channels, std::min(row.channel_block, channel_step)));
    const double sums = each * vectors * std::ceil(tiles / row.tile) * row.tile * steps *
                        multiply_add / (row.rate / 100.0);
    const double weights = each * vectors * steps;
    const bool streams = weights * row.lanes * sizeof(float) >= detail::least_cache;
    const double channel_vectors = double(blocks_of(channels, row.channel_block)) *
                                   double(blocks_of(row.channel_block, row.lanes));
    const double strip = channel_vectors * double(cut.strip_rows + row.kernel - 1) *
                         double(cut.strip_columns + row.kernel - 1);
    return planes * bands *
           (sums + (streams ? weights * weight_vector : 0) + strip * strip_vector +
            tiles * each * vectors * product_vector);
}

/// Also of the reference.
double direct_cost(const KernelRow &row, const Task &task) {
    // Control around the channels of one tap, a copy of one vector into the strip, and of one lane
    // where channels end within it; of a vector of sums the bias, what is added to it, the
    // activation and the output, each with its way through memory. Channels are summed in steps of
    // 4 (schedules/cpu/direct.h).
    constexpr double tap = 20, copy_vector = 5, copy_lane = 3, sum_vector = 6;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t parts = groups(p), channels = p.c / parts, outputs = p.k / parts;
    const std::int64_t blocks = blocks_of(channels, row.channel_block);
    const std::int64_t tail = channels % row.channel_block;
    const double planes = double(p.n) * double(task.z.outputs) * double(parts);
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    const double steps = double(round_up(channels, std::min(row.channel_block, channel_step)));
    const double vectors_of_tile = double(row.tile) * row.vectors;
    const double sums = double(y.outputs) * double(blocks_of(x.outputs, row.tile)) *
                        double(blocks_of(outputs, lane_block(row))) *
                        (taps * (steps * vectors_of_tile * multiply_add / (row.rate / 100.0) +
                                 double(blocks) * tap) +
                         vectors_of_tile * sum_vector);
    const double vectors =
        double((channels - tail) / row.channel_block * blocks_of(row.channel_block, row.lanes));
    const std::int64_t strip_rows = blocking(row, task).strip_rows;
    const double fill = double(blocks_of(y.outputs, strip_rows)) * double(task.z.kernel) *
                        strip_places(y, strip_rows) * strip_places(x, strip_columns(row, x)) *
                        (vectors * copy_vector + (tail != 0 ? row.channel_block * copy_lane : 0));
    return planes * (sums + fill);
}

double narrow_cost(const KernelRow &row, const Task &task) {
    // Of a tile: to start it, and each of its kernel rows. Of a vector of it: the bias, the
    // activation and the output. Of a vector of the strip: the copy.
    constexpr double start = 20, kernel_row = 6, store_vector = 2, copy_vector = 3;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const double kernel_rows = double(task.z.kernel) * double(y.kernel);
    const double taps = kernel_rows * double(x.kernel) * row.channel_block;
    const double images = double(p.n) * double(task.z.outputs) * double(p.g);
    const double vectors = double(row.tile) * row.vectors;
    const double tiles = double(y.outputs) * double(blocks_of(x.outputs, row.tile)) *
                         double(blocks_of(p.k / p.g, lane_block(row)));
    const double sums =
        tiles * (start + kernel_rows * kernel_row +
                 vectors * (taps * multiply_add / (row.rate / 100.0) + store_vector));
    const std::int64_t strip_rows = blocking(row, task).strip_rows;
    const double fill = double(blocks_of(y.outputs, strip_rows)) *
                        detail::narrow_bytes(row, task, strip_rows) / (row.lanes * sizeof(float)) *
                        copy_vector;
    return images * (sums + fill);
}

double pointwise_cost(const KernelRow &row, const Task &task) {
    // Of a tile: to start it. Of a vector of it: the bias, the activation and the output. Of a
    // vector of the panel: the copy.
    constexpr double start = 20, store_vector = 2, copy_vector = 3;
    constexpr int channel_step = 4;
    const Problem &p = task.problem;
    const std::int64_t parts = groups(p), channels = p.c / parts, outputs = p.k / parts;
    const double pixels =
        double(p.n) * double(task.z.outputs) * double(task.y.outputs) * double(task.x.outputs);
    const double tiles = double(parts) * std::ceil(pixels / row.tile);
    const double vectors = double(row.tile) * row.vectors;
    const double steps = double(round_up(channels, channel_step));
    const double sums =
        double(blocks_of(outputs, lane_block(row))) *
        (start + vectors * (steps * multiply_add / (row.rate / 100.0) + store_vector));
    const double copies = double(round_up(channels, row.channel_block)) / row.lanes * row.tile;
    return tiles * (sums + copies * copy_vector);
}

/// Of rows for GPUs: cycles of a large one, by arithmetic, none of it measured.
double gpu_conv_cost(const KernelRow &row, const Task &task) {
    // An H100: multiprocessors, multiply-adds of one in a cycle, and products that it must have
    // under way to keep them busy: 8 warps with 64 sums each.
    constexpr double processors = 132, multiply_adds = 128, under_way = 8 * 32 * 64;
    // Number by number a product takes two loads of its own and the tests and arithmetic of their
    // places; a tile shares them. To start another kernel, and to write and read a partial sum.
    constexpr double alone = 12, start = 5000, partial_sum = 0.01;
    const Problem &p = task.problem;
    const Window &y = task.y, &x = task.x;
    const std::int64_t parts = groups(p), inputs = p.c / parts, outputs = p.k / parts;
    const bool split = row.family == Family::split;
    const double taps = double(task.z.kernel) * double(y.kernel) * double(x.kernel);
    const double pixels = double(row.tile) * double(row.tile);
    const double slices = split ? double(blocks_of(inputs, row.channel_block)) * task.z.kernel : 1;
    const double blocks = double(p.n) * double(task.z.outputs) * double(parts) *
                          double(blocks_of(outputs, lane_block(row))) *
                          double(blocks_of(y.outputs, row.tile)) *
                          double(blocks_of(x.outputs, row.tile)) * slices;
    const double sums = pixels * double(lane_block(row));
    const double products = sums * taps * double(round_up(inputs, row.channel_block)) / slices *
                            (is_tiled(row) ? 1 / (row.rate / 100.0) : alone);
    const double each = std::ceil(blocks / processors);
    const double busy = std::min(1.0, each * sums / under_way);
    const double added = double(p.n) * double(task.z.outputs) * double(y.outputs) *
                         double(x.outputs) * double(p.k) * slices;
    return each * products / (multiply_adds * busy) + (split ? start + added * partial_sum : 0);
}

/// Whether a row of tiles has loops of its own for the map: whole tiles, twice, four times ... as
/// many, with SAME pads (schedules/cpu/windows.h).
bool is_known_map(const KernelRow &row, const Window &x) {
    std::int64_t outputs = row.tile;
    while (outputs < x.outputs)
        outputs *= 2;
    return outputs == x.outputs && outputs <= row.widest_map && x.size == outputs * row.stride &&
           x.before >= (row.kernel - row.stride) / 2 && x.before <= (row.kernel - 1) / 2;
}

/// Of rows, taps, any and references: vectors of `lanes` numbers of the output.
double window_cost(const KernelRow &row, const Task &task) {
    // What is known of a map saves its tests and waits for the second-level cache: 0.52 to 0.85.
    constexpr double known_map = 0.75;
    const Problem &p = task.problem;
    const double rows = double(p.n) * double(task.z.outputs) * double(task.y.outputs);
    const double taps = double(task.z.kernel) * double(task.y.kernel) * double(task.x.kernel);
    const std::int64_t outputs = task.x.outputs;
    // `any` gathers neighbouring pixels of one channel, the others take neighbouring channels.
    const double vectors = row.family == Family::any
                               ? double(blocks_of(outputs, row.lanes)) * double(p.k)
                               : double(round_up(outputs, row.tile)) *
                                     double(blocks_of(p.k, row.lanes * row.vectors)) * row.vectors;
    return rows * taps * vectors * multiply_add / (row.rate / 100.0) *
           (is_known_map(row, task.x) ? known_map : 1);
}

} // namespace

double cost(const KernelRow &row, const Task &task) {
    // Without a border there is a little less to do.
    constexpr double inside_factor = 0.99;
    const double cycles = row.family == Family::planar      ? planar_cost(row, task)
                          : row.family == Family::winograd  ? winograd_cost(row, task)
                          : row.family == Family::lines     ? lines_cost(row, task)
                          : row.family == Family::pointwise ? pointwise_cost(row, task)
                          : row.family == Family::narrow    ? narrow_cost(row, task)
                          : is_tiled(row) || (is_conv(task.problem) && row.family == Family::any)
                              ? gpu_conv_cost(row, task)
                          : is_conv(task.problem) ? direct_cost(row, task)
                                                  : window_cost(row, task);
    return row.border ? cycles : cycles * inside_factor;
}

} // namespace selvage
