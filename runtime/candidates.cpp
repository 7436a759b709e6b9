#include "candidates.h"

#include <algorithm>
#include <string_view>

#include "selvage/core/packing.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

/// Why the choice leaves a row out, or empty. Weights that were packed for its like have settled
/// it.
std::string rounds_more(const KernelRow &row, const Choice &choice) {
    return row.family != Family::winograd || choice.fast || choice.packed_for != nullptr
               ? ""
               : "needs accuracy=fast";
}

} // namespace

bool runs(const Device &device, std::string_view isa) {
    return std::find(device.isas().begin(), device.isas().end(), isa) != device.isas().end();
}

std::string who(const Device &device) {
    return device.queue() == nullptr ? "this CPU" : device.name();
}

bool same_packing(const Problem &problem, const KernelRow &a, const KernelRow &b) {
    // Window kernels of one operator share one order, of weights as of sums that round.
    return std::string_view(a.op) == b.op && std::string_view(a.isa) == b.isa &&
           has_separate_weights(a, problem) == has_separate_weights(b, problem) &&
           (!is_conv(problem) ||
            (a.family == b.family && lane_block(a) == lane_block(b) &&
             a.channel_block == b.channel_block && a.output_tile == b.output_tile));
}

std::vector<Candidate> candidates(const Task &task, const Choice &choice) {
    const std::string op = kernel_op(task.problem);
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.function == nullptr || row.op != op ||
            is_for_gpu(row) != (choice.device.queue() != nullptr) ||
            (!choice.isa.empty() && choice.isa != row.isa) ||
            (!choice.kernel.empty() && choice.kernel != row.schedule) ||
            (choice.packed_for != nullptr && !same_packing(task.problem, row, *choice.packed_for)))
            continue;
        std::string reason = runs(choice.device, row.isa)
                                 ? rounds_more(row, choice)
                                 : who(choice.device) + " lacks " + row.isa;
        if (reason.empty())
            reason = decline(row, task);
        found.push_back({&row, std::move(reason)});
    }
    return found;
}

Costed cheapest(const Task &task, const Choice &choice) {
    Costed best;
    for (const Candidate &each : candidates(task, choice)) {
        if (!each.reason.empty())
            continue;
        const double estimate = cost(*each.row, task);
        if (best.row == nullptr || estimate < best.cost)
            best = {each.row, estimate};
    }
    return best;
}

} // namespace selvage
