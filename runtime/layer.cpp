#include "selvage/layer.h"

#include <new>
#include <utility>

namespace selvage {

Status make_layer(const Problem &problem, const Options &options, const float *weights,
                  WeightOrder order, const float *bias, Layer *layer) try {
    if (layer == nullptr)
        return {Code::invalid_argument, "make_layer: layer is null"};
    Layer made;
    if (Status status = make_plan(problem, options, &made.plan_); !status.ok())
        return status;
    for (auto [memory, bytes] : {std::pair{&made.packed_, made.plan_.packed_bytes()},
                                 std::pair{&made.scratch_, made.plan_.scratch_bytes()}})
        if (Status status = allocate(made.plan_.device(), bytes, memory); !status.ok())
            return status;
    if (!has_weights(problem.op) && (weights != nullptr || bias != nullptr))
        return {Code::invalid_argument,
                "layer: " + name(problem.op, problem.rank) + " has no weights"};
    if (has_weights(problem.op))
        if (Status status = made.plan_.pack(weights, order, bias, made.packed_.get()); !status.ok())
            return status;
    *layer = std::move(made);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status make_layer(std::string_view problem, const Options &options, const float *weights,
                  WeightOrder order, const float *bias, Layer *layer) {
    Problem parsed;
    if (Status status = parse_problem(problem, &parsed); !status.ok())
        return status;
    return make_layer(parsed, options, weights, order, bias, layer);
}

} // namespace selvage
