#include "selvage/layer.h"

#include <utility>

namespace selvage {

Status Layer::run(const Tensor<const float> &input, const Tensor<float> &output) {
    return plan_.run(input, packed_.get(), output, scratch_.get(), plan_.scratch_bytes());
}

Status Layer::run(const float *input, float *output) {
    const Problem &p = plan_.problem();
    return run(dense(input, p.n, p.y.size, p.x.size, p.c),
               dense(output, p.n, plan_.window_y().outputs, plan_.window_x().outputs, p.k));
}

Status make_layer(const Problem &problem, const Options &options, const float *weights,
                  WeightOrder order, const float *bias, Layer *layer) {
    if (layer == nullptr)
        return {Code::invalid_argument, "make_layer: layer is null"};
    Layer made;
    if (Status status = make_plan(problem, options, &made.plan_); !status.ok())
        return status;
    for (auto [memory, bytes] : {std::pair{&made.packed_, made.plan_.packed_bytes()},
                                 std::pair{&made.scratch_, made.plan_.scratch_bytes()}}) {
        if (bytes == 0)
            continue;
        memory->reset(static_cast<std::byte *>(
            ::operator new(bytes, std::align_val_t(alignment), std::nothrow)));
        if (*memory == nullptr)
            return {Code::too_small, "out of memory"};
    }
    if (is_pool(problem.op) && (weights != nullptr || bias != nullptr))
        return {Code::invalid_argument,
                std::string("make_layer: ") + name(problem.op) + " has no weights"};
    if (!is_pool(problem.op))
        if (Status status = made.plan_.pack(weights, order, bias, made.packed_.get()); !status.ok())
            return status;
    *layer = std::move(made);
    return {};
}

} // namespace selvage
