#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "selvage/kernels.h"
#include "selvage/plan.h"
#include "work.h"

namespace selvage {

namespace {

/// Numbers around one that the library takes, up to the most that there are.
std::vector<std::int64_t> neighbours(std::int64_t own, std::int64_t most) {
    std::vector<std::int64_t> numbers;
    for (const std::int64_t each : {own / 2, own * 2, own / 4, own * 4, most, std::int64_t(1)})
        if (each >= 1 && each <= most && each != own)
            numbers.push_back(each);
    return numbers;
}

/// Schedules that differ from that of a plan in a number or two, or in what threads share.
std::vector<Schedule> variations(const Work &work, int threads) {
    std::vector<Schedule> result;
    const Schedule &schedule = work.schedule;
    const Blocking &own = schedule.blocking;
    const Part &first = work.parts.front();
    // Where kernels are mixed, the library cuts up their work.
    const Blocking most =
        schedule.kernel.empty() ? Blocking() : most_blocking(*first.row, first.task);
    for (const BlockingKey &key : blocking_keys)
        for (const std::int64_t number : neighbours(own.*key.number, most.*key.number)) {
            result.push_back(schedule);
            result.back().blocking.*key.number = number;
        }
    // More rows at a time pay off together.
    for (const std::int64_t rows : neighbours(own.block_rows, most.block_rows)) {
        result.push_back(schedule);
        result.back().blocking.strip_rows = std::max(rows, own.strip_rows);
        result.back().blocking.block_rows = rows;
    }
    for (const auto &[split, name] : splits)
        if (threads > 1 && split != schedule.split) {
            result.push_back(schedule);
            result.back().split = split;
        }
    return result;
}

} // namespace

std::vector<Schedule> candidate_schedules(const Problem &problem, const Options &options) try {
    std::vector<const Work *> found;
    std::vector<Plan> plans; // what `found` points into
    std::set<std::string> seen;
    const auto add = [&](const std::string &text) {
        Options asked = options;
        asked.schedule = text;
        Plan plan;
        if (make_plan(problem, asked, &plan).ok() && !plan.work().parts.empty() &&
            seen.insert(plan.schedule()).second) {
            found.push_back(&plan.work());
            plans.push_back(std::move(plan));
        }
    };
    add(options.schedule);
    // A name would be consent to its accuracy.
    const bool fast = !found.empty() && found.front()->fast;
    const std::string op = kernel_op(problem);
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (op == row.op && row.family != Family::reference &&
            (fast || row.family != Family::winograd) &&
            (options.isa.empty() || options.isa == row.isa))
            add(text(Schedule{row.schedule, row.isa, {}, Split::automatic}));
    }
    if (found.empty())
        return {};
    std::sort(found.begin() + 1, found.end(),
              [](const Work *a, const Work *b) { return a->cost < b->cost; });
    for (std::size_t i = 0, kernels = found.size(); i < kernels; ++i)
        for (const Schedule &each : variations(*found[i], options.threads))
            add(text(each));
    std::vector<Schedule> result;
    for (const Work *each : found)
        result.push_back(each->schedule);
    return result;
} catch (const std::bad_alloc &) {
    return {};
}

} // namespace selvage
