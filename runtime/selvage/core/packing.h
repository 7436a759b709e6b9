#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "selvage/core/kernel_row.h"
#include "selvage/core/scratch.h"
#include "selvage/core/task.h"
#include "selvage/core/winograd.h"

/// Weights in the order of a kernel.

namespace selvage {

/// Output channels that lie together in the packed weights of a convolution.
constexpr std::int64_t lane_block(const KernelRow &row) {
    return row.family == Family::planar ? row.tile : std::int64_t(row.lanes) * row.vectors;
}

/// Output channels in packed weights and bias, with what fills them up.
[[gnu::always_inline]] constexpr std::int64_t packed_outputs(const KernelRow &row,
                                                             const Problem &problem) {
    if (is_conv(problem))
        return groups(problem) * round_up(problem.k / groups(problem), lane_block(row));
    // A vector that begins at the last channel of a pixel reads on into the first ones. All rows
    // share the longest vectors' places, so that parts of a problem share their weights.
    constexpr std::int64_t longest_vector = 64;
    return problem.k + longest_vector;
}

/// Products along each axis of a tile of a winograd row.
constexpr std::int64_t products(const KernelRow &row) {
    return winograd::size(row.output_tile, row.kernel);
}

/// Rows of the packed weights of a kernel of so many rows: with whole weights pairs.
constexpr std::int64_t weight_rows(const Problem &problem, std::int64_t rows) {
    return problem.shift < 0 ? rows : round_up(rows, 2);
}

/// Whether a kernel reads the weights of a row and those of a column, not their products.
constexpr bool has_separate_weights(const KernelRow &row, const Problem &problem) {
    return row.separable && has_weights(problem.op);
}

/// Elements of packed weights with so many taps.
[[gnu::always_inline]] constexpr std::int64_t
packed_weights(const KernelRow &row, const Problem &problem, std::int64_t taps) {
    const std::int64_t inputs = is_conv(problem) ? problem.c / groups(problem) : 1;
    if (row.family == Family::winograd)
        taps = products(row) * products(row);
    return packed_outputs(row, problem) * round_up(inputs, row.channel_block) * taps;
}

/// The taps of one axis of weights that a kernel gets: first, first + step, ...; none where its
/// outputs meet no tap.
struct Taps {
    std::int64_t first = 0, step = 1, count = 1;

    /// Outputs that meet no tap take one of zeros.
    constexpr std::int64_t places() const { return detail::at_least(1, count); }
};

/// Weights as one row of the table wants them. The parts of a transposed convolution have each
/// their own, all parts of other problems share one.
struct PackedWeights {
    const KernelRow *row = nullptr;
    Taps z, y, x;
    std::size_t offset = 0;      ///< in packed memory, bytes
    std::size_t bias_offset = 0; ///< the same
};

/// Places packed weights from `offset` on, a multiple of 64, and tells where the next may begin:
/// every kernel's begin at a line.
[[gnu::always_inline]] constexpr std::size_t place(const Problem &problem, std::size_t offset,
                                                   PackedWeights *weights) {
    const KernelRow &row = *weights->row;
    const bool separate = has_separate_weights(row, problem);
    const std::size_t number = problem.shift < 0 || separate ? sizeof(float) : sizeof(std::int16_t);
    const std::int64_t rows = weights->y.places(), columns = weights->x.places();
    const std::int64_t elements =
        separate ? rows + columns
                 : packed_weights(row, problem,
                                  weights->z.places() * weight_rows(problem, rows) * columns);
    weights->offset = offset;
    weights->bias_offset = offset + scratch_round(std::size_t(elements) * number);
    return weights->bias_offset +
           scratch_round(std::size_t(packed_outputs(row, problem)) * sizeof(float));
}

/// How a caller's dense weights lie in memory: elements from one to the next, along the axes by
/// which kernels count. Of a packing only some taps.
struct WeightSteps {
    std::int64_t g, o, i, z, y, x;
    std::int64_t first; ///< the element of the first output, input and tap

    WeightSteps(WeightOrder order, const Problem &p, const PackedWeights &packed) {
        // To its weights, a transposed convolution is the convolution that it is the adjoint of.
        const bool adjoint = p.op == Op::conv_transpose, oihw = order == WeightOrder::oihw;
        const std::int64_t outputs = adjoint ? p.c : p.k;
        const std::int64_t inputs = adjoint ? p.k / p.g : p.c / groups(p);
        const std::int64_t taps = p.z.kernel * p.y.kernel * p.x.kernel;
        const std::int64_t outer = oihw ? inputs * taps : adjoint ? inputs : 1;
        const std::int64_t inner = oihw ? taps : adjoint ? 1 : outputs;
        const std::int64_t tap = oihw ? 1 : inputs * outputs;
        const std::int64_t row = tap * p.x.kernel, plane = row * p.y.kernel;
        g = outer * (outputs / groups(p));
        o = adjoint ? inner : outer;
        i = adjoint ? outer : inner;
        z = plane * packed.z.step;
        y = row * packed.y.step;
        x = tap * packed.x.step;
        first = plane * packed.z.first + row * packed.y.first + tap * packed.x.first;
    }
};

/// The bias of a convolution as [g][kb][l]; places past the last channel hold 0.
inline void pack_conv_bias(const Problem &p, const KernelRow &row, const float *bias,
                           float *target) {
    const std::int64_t parts = groups(p), outputs = p.k / parts;
    for (std::int64_t g = 0; g < parts; ++g)
        for (std::int64_t o = 0; o < round_up(outputs, lane_block(row)); ++o)
            *target++ = bias != nullptr && o < outputs ? bias[g * outputs + o] : 0.f;
}

/// Transformed weights G w G^T (selvage/core/winograd.h) as [g][kb][v][u][cb][ci][l]; places past
/// the last channel hold 0. Each is computed in double and rounded once.
inline void pack_winograd(const Problem &p, const PackedWeights &packed, const WeightSteps &step,
                          const float *weights, float *target) {
    const KernelRow &row = *packed.row;
    const int m = row.output_tile, r = row.kernel;
    const std::int64_t block = lane_block(row), parts = groups(p);
    const std::int64_t outputs = p.k / parts, inputs = p.c / parts;
    const auto transformed = [&](const float *kernel, int v, int u) {
        double sum = 0;
        for (int y = 0; y < r; ++y)
            for (int x = 0; x < r; ++x)
                sum += double(winograd::of_weight(m, r, v, y) * winograd::of_weight(m, r, u, x)) *
                       double(kernel[y * step.y + x * step.x]);
        return float(sum / double(winograd::divisor(m, r, v) * winograd::divisor(m, r, u)));
    };
    for (std::int64_t g = 0; g < parts; ++g)
        for (std::int64_t k = 0; k < outputs; k += block)
            for (int v = 0; v < products(row); ++v)
                for (int u = 0; u < products(row); ++u)
                    for (std::int64_t i = 0; i < round_up(inputs, row.channel_block); ++i)
                        for (std::int64_t o = k; o < k + block; ++o)
                            *target++ = o < outputs && i < inputs
                                            ? transformed(weights + step.first + g * step.g +
                                                              o * step.o + i * step.i,
                                                          v, u)
                                            : 0.f;
}

/// Weights as [g][kb][z][cb][y][x][ci][l]; places past the last channel hold 0, as do all of
/// outputs that meet no tap.
inline void pack_conv(const Problem &p, const PackedWeights &packed, const WeightSteps &step,
                      const float *weights, float *target) {
    const KernelRow &row = *packed.row;
    const std::int64_t block = lane_block(row), parts = groups(p);
    const std::int64_t outputs = p.k / parts, inputs = p.c / parts;
    const std::int64_t output_places = round_up(outputs, block);
    const bool empty = packed.z.count == 0 || packed.y.count == 0 || packed.x.count == 0;
    for (std::int64_t g = 0; g < parts; ++g)
        for (std::int64_t k = 0; k < output_places; k += block)
            for (std::int64_t z = 0; z < packed.z.places(); ++z)
                for (std::int64_t c = 0; c < inputs; c += row.channel_block)
                    for (std::int64_t y = 0; y < packed.y.places(); ++y)
                        for (std::int64_t x = 0; x < packed.x.places(); ++x)
                            for (std::int64_t i = c; i < c + row.channel_block; ++i)
                                for (std::int64_t o = k; o < k + block; ++o)
                                    *target++ = o < outputs && i < inputs && !empty
                                                    ? weights[step.first + g * step.g + o * step.o +
                                                              i * step.i + z * step.z + y * step.y +
                                                              x * step.x]
                                                    : 0.f;
}

/// Weights as [z][y][x][k], bias as [k]; places past the last channel repeat the first ones. Whole
/// weights by pairs of kernel rows, [z][y / 2][x][k][y % 2], as instructions want them that add up
/// two products; the row past the last is 0.
template <class T>
void pack_window(const Problem &p, const PackedWeights &packed, const WeightSteps &step,
                 const T *weights, const float *bias, T *target, float *target_bias) {
    const std::int64_t places = packed_outputs(*packed.row, p);
    const std::int64_t group = weight_rows(p, 1), rows = packed.y.places();
    for (std::int64_t z = 0; z < packed.z.places(); ++z)
        for (std::int64_t first = 0; first < rows; first += group)
            for (std::int64_t x = 0; x < packed.x.places(); ++x)
                for (std::int64_t k = 0; k < places; ++k)
                    for (std::int64_t y = first; y < first + group; ++y)
                        *target++ =
                            y < rows
                                ? weights[k % p.k * step.o + z * step.z + y * step.y + x * step.x]
                                : T(0);
    for (std::int64_t k = 0; k < places; ++k)
        target_bias[k] = bias != nullptr ? bias[k % p.k] : 0.f;
}

/// Whole weights of a single plane, the same in every channel, as the products of a column and a
/// row: the row is the first that is not zero everywhere, divided by the common divisor of its
/// numbers. Where all rows are multiples of it, they are whole multiples.
class OuterProduct {
public:
    OuterProduct(const Problem &p, const std::int16_t *weights, WeightOrder order)
        : step_(order, p, {}), weights_(weights) {
        for (std::int64_t y = 0; y < p.y.kernel && divisor_ == 0; ++y)
            for (std::int64_t x = 0; x < p.x.kernel; ++x) {
                divisor_ = std::gcd(divisor_, std::int64_t(weight(0, y, x)));
                row_ = y;
            }
        while (divisor_ != 0 && weight(0, row_, column_) == 0)
            ++column_;
    }

    std::int64_t weight(std::int64_t k, std::int64_t y, std::int64_t x) const {
        return weights_[k * step_.o + y * step_.y + x * step_.x];
    }
    std::int64_t of_row(std::int64_t x) const {
        return divisor_ == 0 ? 0 : weight(0, row_, x) / divisor_;
    }
    std::int64_t of_column(std::int64_t y) const {
        return divisor_ == 0 ? 0 : weight(0, y, column_) / of_row(column_);
    }

private:
    WeightSteps step_;
    const std::int16_t *weights_;
    std::int64_t divisor_ = 0;          ///< 0: all weights are
    std::int64_t row_ = 0, column_ = 0; ///< of a weight that is not 0
};

/// The row, and the column in units of the sum's.
inline void pack_separate(const Problem &p, const std::int16_t *weights, WeightOrder order,
                          float *target) {
    const OuterProduct product(p, weights, order);
    const float unit = 1 / float(std::int64_t(1) << p.shift);
    for (std::int64_t x = 0; x < p.x.kernel; ++x)
        *target++ = float(product.of_row(x));
    for (std::int64_t y = 0; y < p.y.kernel; ++y)
        *target++ = float(product.of_column(y)) * unit;
}

/// Writes one packing of a caller's weights, and the bias (null: none), into packed memory.
template <class Task, class T>
void pack(const Problem &p, const PackedWeights &packed, const T *weights, WeightOrder order,
          const float *bias, void *memory) {
    const WeightSteps step(order, p, packed);
    T *const target = reinterpret_cast<T *>(static_cast<char *>(memory) + packed.offset);
    float *const target_bias =
        reinterpret_cast<float *>(static_cast<char *>(memory) + packed.bias_offset);
    if constexpr (sizeof(T) == sizeof(float))
        if (is_conv(p)) {
            pack_conv_bias(p, *packed.row, bias, target_bias);
            return is<Task>(*packed.row, Family::winograd)
                       ? pack_winograd(p, packed, step, weights, target)
                       : pack_conv(p, packed, step, weights, target);
        }
    if constexpr (sizeof(T) == sizeof(std::int16_t))
        if (has_separate_weights(*packed.row, p))
            return pack_separate(p, weights, order, reinterpret_cast<float *>(target));
    pack_window(p, packed, step, weights, bias, target, target_bias);
}

constexpr std::int64_t largest_pixel = 255, largest_of_16_bits = 32767;
/// Up to it all whole numbers are floats.
constexpr std::int64_t largest_exact_float = 1 << 24;

namespace detail {

constexpr std::int64_t magnitude(std::int64_t number) { return number < 0 ? -number : number; }

} // namespace detail

/// What keeps the sums of a filter with whole weights within 32 bits: the largest pixel times all
/// weights of one sign, and the rounding.
inline Code check_sums(const Problem &p, const std::int16_t *weights, WeightOrder order,
                       Line &text) {
    const std::int64_t taps = p.z.kernel * p.y.kernel * p.x.kernel;
    for (std::int64_t k = 0; k < p.k; ++k) {
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < taps; ++t) {
            const std::int64_t weight =
                weights[order == WeightOrder::oihw ? k * taps + t : t * p.k + k];
            sum += detail::magnitude(weight);
        }
        if (sum * largest_pixel + (std::int64_t(1) << p.shift) > largest)
            return text.fail(Code::overflow,
                             "the weights of channel % add up to %; sums of pixels would leave 32 "
                             "bits",
                             k, sum);
    }
    return Code::ok;
}

/// Whether the whole weights of a filter are what Options::separable promises.
inline Code check_separable(const Problem &p, const std::int16_t *weights, WeightOrder order,
                            Line &text) {
    if (p.z.kernel != 1)
        return text.fail(Code::unsupported, "separable weights have one plane, not %", p.z.kernel);
    const OuterProduct product(p, weights, order);
    for (std::int64_t k = 0; k < p.k; ++k)
        for (std::int64_t y = 0; y < p.y.kernel; ++y)
            for (std::int64_t x = 0; x < p.x.kernel; ++x)
                if (product.weight(k, y, x) != product.of_column(y) * product.of_row(x))
                    return text.fail(Code::invalid_argument,
                                     "the weights are not separable: that of channel %, row %, "
                                     "column % is %, not % of a column times % of a row",
                                     k, y, x, product.weight(k, y, x), product.of_column(y),
                                     product.of_row(x));
    std::int64_t row = 0, column = 0;
    for (std::int64_t x = 0; x < p.x.kernel; ++x)
        row += detail::magnitude(product.of_row(x));
    for (std::int64_t y = 0; y < p.y.kernel; ++y)
        column += detail::magnitude(product.of_column(y));
    if (row * largest_pixel > largest_of_16_bits)
        return text.fail(Code::overflow,
                         "the row of separable weights adds up to %; sums of pixels would leave 16 "
                         "bits",
                         row);
    const std::int64_t half = (std::int64_t(1) << p.shift) / 2;
    if (row * column * largest_pixel + half > largest_exact_float)
        return text.fail(Code::overflow,
                         "the separable weights add up to %; sums of pixels would not be exact in "
                         "float",
                         row * column);
    return Code::ok;
}

} // namespace selvage
