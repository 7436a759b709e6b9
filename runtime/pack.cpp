#include <new>
#include <string>

#include "selvage/core/packing.h"
#include "selvage/core/views.h"
#include "selvage/plan.h"
#include "work.h"

namespace selvage {

namespace {

Status check_pack(const Work &work, const void *weights, const void *packed) {
    const Problem &p = work.problem;
    if (work.parts.empty())
        return {Code::invalid_argument, "pack: the plan is empty; make_plan() fills it"};
    if (!has_weights(p.op))
        return {Code::invalid_argument, "pack: " + name(p.op, p.rank) + " has no weights"};
    if (weights == nullptr)
        return {Code::invalid_argument, "pack: weights is null"};
    char text[longest_line];
    Line line(text, sizeof text);
    const Code code = check_aligned("packed", packed, true, line.add("pack: "));
    return code == Code::ok ? Status() : Status(code, text);
}

template <class T>
Status pack_all(const Work &work, const T *weights, WeightOrder order, const float *bias,
                void *packed) {
    // For a GPU they are rearranged here and then copied.
    DeviceMemory rearranged;
    void *to = packed;
    if (work.device.queue() != nullptr) {
        if (Status status = allocate(Device(), work.packed_bytes, &rearranged); !status.ok())
            return status;
        to = rearranged.get();
    }
    for (const PackedWeights &each : work.weights)
        pack<Task>(work.problem, each, weights, order, bias, to);
    return to == packed ? Status() : work.device.copy_in(to, packed, work.packed_bytes);
}

} // namespace

Status Plan::pack(const float *weights, WeightOrder order, const float *bias, void *packed) const
    try {
    const Problem &p = problem();
    if (Status status = check_pack(work(), weights, packed); !status.ok())
        return status;
    if (p.shift >= 0)
        return {Code::invalid_argument,
                "pack: weights=fixed:" + std::to_string(p.shift) + " takes weights of 16 bits"};
    if ((bias != nullptr) != p.bias)
        return {Code::invalid_argument, p.bias ? "pack: bias is null, but the problem has bias=1"
                                               : "pack: bias is given, but the problem has bias=0"};
    return pack_all(work(), weights, order, bias, packed);
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status check_separable(const Problem &problem, const std::int16_t *weights, WeightOrder order) try {
    if (Status status = check(problem); !status.ok())
        return status;
    if (problem.op != Op::filter || problem.shift < 0 || weights == nullptr)
        return {Code::invalid_argument, weights == nullptr
                                            ? "check_separable: weights is null"
                                            : "check_separable: takes filters with whole weights"};
    char text[longest_line];
    Line line(text, sizeof text);
    const Code code = check_separable(problem, weights, order, line);
    return code == Code::ok ? Status() : Status(code, text);
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status Plan::pack(const std::int16_t *weights, WeightOrder order, void *packed) const try {
    if (Status status = check_pack(work(), weights, packed); !status.ok())
        return status;
    if (problem().shift < 0)
        return {Code::invalid_argument, "pack: weights=f32 takes weights of type float"};
    char text[longest_line];
    Line line(text, sizeof text);
    line.add("pack: ");
    if (const Code code = check_sums(problem(), weights, order, line); code != Code::ok)
        return {code, text};
    if (has_separate_weights(*work().weights.front().row, problem()))
        if (const Code code = check_separable(problem(), weights, order, line); code != Code::ok)
            return {code, text};
    return pack_all(work(), weights, order, nullptr, packed);
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

} // namespace selvage
