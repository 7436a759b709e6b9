#include "choose.h"
#include "selvage/kernels.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

/// The element (o, i, ky, kx) of dense weights with `inputs` channels per group.
struct Weights {
    const float *data;
    WeightOrder order;
    std::int64_t outputs, inputs, rows, columns;

    float operator()(std::int64_t o, std::int64_t i, std::int64_t ky, std::int64_t kx) const {
        return order == WeightOrder::oihw ? data[((o * inputs + i) * rows + ky) * columns + kx]
                                          : data[((ky * columns + kx) * inputs + i) * outputs + o];
    }
};

/// Weights as [g][kb][cb][ky][kx][ci][l], bias as [g][kb][l]; places past the last channel hold 0.
void pack_conv2d(const KernelRow &row, const Problem &problem, const Weights &weights,
                 const float *bias, float *packed, float *packed_bias) {
    const std::int64_t lane_block = row.lanes * row.vectors;
    const std::int64_t outputs = problem.k / problem.g, inputs = problem.c / problem.g;
    const std::int64_t output_blocks = blocks_of(outputs, lane_block);
    for (std::int64_t g = 0; g < problem.g; ++g)
        for (std::int64_t kb = 0; kb < output_blocks; ++kb)
            for (std::int64_t cb = 0; cb < blocks_of(inputs, row.channel_block); ++cb)
                for (std::int64_t ky = 0; ky < weights.rows; ++ky)
                    for (std::int64_t kx = 0; kx < weights.columns; ++kx)
                        for (std::int64_t ci = 0; ci < row.channel_block; ++ci)
                            for (std::int64_t l = 0; l < lane_block; ++l) {
                                const std::int64_t k = kb * lane_block + l;
                                const std::int64_t c = cb * row.channel_block + ci;
                                *packed++ = k < outputs && c < inputs
                                                ? weights(g * outputs + k, c, ky, kx)
                                                : 0.f;
                            }
    for (std::int64_t g = 0; g < problem.g; ++g)
        for (std::int64_t k = 0; k < output_blocks * lane_block; ++k)
            *packed_bias++ = bias != nullptr && k < outputs ? bias[g * outputs + k] : 0.f;
}

/// Weights as [ky][kx][k], bias as [k]; places past the last channel repeat the first ones.
void pack_depthwise2d(const KernelRow &row, const Problem &problem, const Weights &weights,
                      const float *bias, float *packed, float *packed_bias) {
    const std::int64_t places = packed_outputs(row, problem);
    for (std::int64_t ky = 0; ky < weights.rows; ++ky)
        for (std::int64_t kx = 0; kx < weights.columns; ++kx)
            for (std::int64_t k = 0; k < places; ++k)
                *packed++ = weights(k % problem.k, 0, ky, kx);
    for (std::int64_t k = 0; k < places; ++k)
        packed_bias[k] = bias != nullptr ? bias[k % problem.k] : 0.f;
}

} // namespace

Status Plan::pack(const float *weights, WeightOrder order, const float *bias, void *packed) const {
    if (row_ == nullptr)
        return {Code::invalid_argument, "pack: the plan is empty; make_plan() fills it"};
    if (is_pool(problem_.op))
        return {Code::invalid_argument,
                std::string("pack: ") + name(problem_.op) + " has no weights"};
    if (weights == nullptr || packed == nullptr)
        return {Code::invalid_argument,
                std::string("pack: ") + (weights == nullptr ? "weights" : "packed") + " is null"};
    if (reinterpret_cast<std::uintptr_t>(packed) % alignment != 0)
        return {Code::invalid_argument, "pack: packed is not aligned to 64 bytes"};
    if ((bias != nullptr) != problem_.bias)
        return {Code::invalid_argument, problem_.bias
                                            ? "pack: bias is null, but the problem has bias=1"
                                            : "pack: bias is given, but the problem has bias=0"};
    const std::int64_t inputs = problem_.op == Op::depthwise2d ? 1 : problem_.c / problem_.g;
    const Weights view{weights, order, problem_.k, inputs, problem_.y.kernel, problem_.x.kernel};
    float *target = static_cast<float *>(packed);
    if (problem_.op == Op::conv2d)
        pack_conv2d(*row_, problem_, view, bias, target, target + bias_offset_);
    else
        pack_depthwise2d(*row_, problem_, view, bias, target, target + bias_offset_);
    return {};
}

} // namespace selvage
