#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "packing.h"
#include "selvage/plan.h"
#include "work.h"

namespace selvage {

namespace {

/// The weights of one packing: the taps that it takes of a caller's dense weights.
template <class T> class Weights {
public:
    Weights(const T *data, WeightOrder order, const Problem &p, const PackedWeights &packed)
        : data_(data), order_(order), p_(p), packed_(packed),
          inputs_(p.op == Op::conv_transpose ? p.k / p.g : p.c / groups(p)),
          outputs_(p.op == Op::conv_transpose ? p.c : p.k),
          taps_(p.z.kernel * p.y.kernel * p.x.kernel) {}

    /// Of output channel `o` and input channel `i` of group `g`, counted within it, and taps as the
    /// kernel counts them.
    T operator()(std::int64_t g, std::int64_t o, std::int64_t i, std::int64_t z, std::int64_t y,
                 std::int64_t x) const {
        const auto tap = [](const Taps &taps, std::int64_t t) {
            return taps.first + t * taps.step;
        };
        const std::int64_t row = tap(packed_.z, z) * p_.y.kernel + tap(packed_.y, y);
        const std::int64_t taps = row * p_.x.kernel + tap(packed_.x, x);
        // To its weights, a transposed convolution is the convolution that it is the adjoint of.
        if (p_.op == Op::conv_transpose)
            std::swap(o, i);
        const std::int64_t outer = g * (outputs_ / groups(p_)) + o;
        return order_ == WeightOrder::oihw   ? data_[(outer * inputs_ + i) * taps_ + taps]
               : p_.op == Op::conv_transpose ? data_[(taps * outputs_ + outer) * inputs_ + i]
                                             : data_[(taps * inputs_ + i) * outputs_ + outer];
    }

    std::int64_t planes() const { return count(packed_.z); }
    std::int64_t rows() const { return count(packed_.y); }
    std::int64_t columns() const { return count(packed_.x); }
    /// Outputs that meet no tap take zeros.
    bool empty() const {
        return packed_.z.count == 0 || packed_.y.count == 0 || packed_.x.count == 0;
    }

private:
    static std::int64_t count(const Taps &taps) { return taps.count == 0 ? 1 : taps.count; }

    const T *data_;
    WeightOrder order_;
    const Problem &p_;
    const PackedWeights &packed_;
    std::int64_t inputs_, outputs_, taps_;
};

/// Weights as [g][kb][z][cb][y][x][ci][l], bias as [g][kb][l]; places past the last channel hold 0.
void pack_conv(const Problem &p, const PackedWeights &packed, const Weights<float> &weights,
               const float *bias, float *target, float *target_bias) {
    const KernelRow &row = *packed.row;
    const std::int64_t block = lane_block(row), parts = groups(p);
    const std::int64_t outputs = p.k / parts, inputs = p.c / parts;
    const std::int64_t output_blocks = blocks_of(outputs, block);
    for (std::int64_t g = 0; g < parts; ++g)
        for (std::int64_t kb = 0; kb < output_blocks; ++kb)
            for (std::int64_t z = 0; z < weights.planes(); ++z)
                for (std::int64_t cb = 0; cb < blocks_of(inputs, row.channel_block); ++cb)
                    for (std::int64_t y = 0; y < weights.rows(); ++y)
                        for (std::int64_t x = 0; x < weights.columns(); ++x)
                            for (std::int64_t ci = 0; ci < row.channel_block; ++ci)
                                for (std::int64_t l = 0; l < block; ++l) {
                                    const std::int64_t k = kb * block + l;
                                    const std::int64_t c = cb * row.channel_block + ci;
                                    *target++ = k < outputs && c < inputs && !weights.empty()
                                                    ? weights(g, k, c, z, y, x)
                                                    : 0.f;
                                }
    for (std::int64_t g = 0; g < parts; ++g)
        for (std::int64_t k = 0; k < output_blocks * block; ++k)
            *target_bias++ = bias != nullptr && k < outputs ? bias[g * outputs + k] : 0.f;
}

/// Weights as [z][y][x][k], bias as [k]; places past the last channel repeat the first ones.
template <class T>
void pack_window(const Problem &p, const PackedWeights &packed, const Weights<T> &weights,
                 const float *bias, T *target, float *target_bias) {
    const std::int64_t places = packed_outputs(*packed.row, p);
    for (std::int64_t z = 0; z < weights.planes(); ++z)
        for (std::int64_t y = 0; y < weights.rows(); ++y)
            for (std::int64_t x = 0; x < weights.columns(); ++x)
                for (std::int64_t k = 0; k < places; ++k)
                    *target++ = weights(0, k % p.k, 0, z, y, x);
    for (std::int64_t k = 0; k < places; ++k)
        target_bias[k] = bias != nullptr ? bias[k % p.k] : 0.f;
}

Status check_pack(const Work &work, const void *weights, const void *packed) {
    const Problem &p = work.problem;
    if (work.parts.empty())
        return {Code::invalid_argument, "pack: the plan is empty; make_plan() fills it"};
    if (!has_weights(p.op))
        return {Code::invalid_argument, "pack: " + name(p.op, p.rank) + " has no weights"};
    if (weights == nullptr || packed == nullptr)
        return {Code::invalid_argument,
                std::string("pack: ") + (weights == nullptr ? "weights" : "packed") + " is null"};
    if (reinterpret_cast<std::uintptr_t>(packed) % alignment != 0)
        return {Code::invalid_argument, "pack: packed is not aligned to 64 bytes"};
    return {};
}

template <class T>
void pack_all(const Work &work, const T *weights, WeightOrder order, const float *bias,
              void *packed) {
    const Problem &p = work.problem;
    std::byte *const memory = static_cast<std::byte *>(packed);
    for (const PackedWeights &each : work.weights) {
        const Weights<T> view(weights, order, p, each);
        T *const target = reinterpret_cast<T *>(memory + each.offset);
        float *const target_bias = reinterpret_cast<float *>(memory + each.bias_offset);
        if constexpr (std::is_same_v<T, float>)
            if (is_conv(*each.row)) {
                pack_conv(p, each, view, bias, target, target_bias);
                continue;
            }
        pack_window(p, each, view, bias, target, target_bias);
    }
}

} // namespace

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

Status Plan::pack(const float *weights, WeightOrder order, const float *bias, void *packed) const {
    const Problem &p = problem();
    if (Status status = check_pack(work(), weights, packed); !status.ok())
        return status;
    if (p.shift >= 0)
        return {Code::invalid_argument,
                "pack: weights=fixed:" + std::to_string(p.shift) + " takes weights of 16 bits"};
    if ((bias != nullptr) != p.bias)
        return {Code::invalid_argument, p.bias ? "pack: bias is null, but the problem has bias=1"
                                               : "pack: bias is given, but the problem has bias=0"};
    pack_all(work(), weights, order, bias, packed);
    return {};
}

Status Plan::pack(const std::int16_t *weights, WeightOrder order, void *packed) const {
    if (Status status = check_pack(work(), weights, packed); !status.ok())
        return status;
    if (problem().shift < 0)
        return {Code::invalid_argument, "pack: weights=f32 takes weights of type float"};
    // Sums are of 32 bits: the largest pixel times all weights of one sign, and the rounding.
    const Problem &p = problem();
    const std::int64_t taps = p.z.kernel * p.y.kernel * p.x.kernel;
    for (std::int64_t k = 0; k < p.k; ++k) {
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < taps; ++t)
            sum += std::abs(std::int64_t(order == WeightOrder::oihw ? weights[k * taps + t]
                                                                    : weights[t * p.k + k]));
        if (sum * 255 + (std::int64_t(1) << p.shift) > std::numeric_limits<std::int32_t>::max())
            return {Code::overflow, "pack: the weights of channel " + std::to_string(k) +
                                        " add up to " + std::to_string(sum) +
                                        "; sums of pixels would leave 32 bits"};
    }
    pack_all<std::int16_t>(work(), weights, order, nullptr, packed);
    return {};
}

} // namespace selvage
