#include "selvage/schedule_table.h"

#include <array>

#include "schedule_table.inc"

namespace selvage {

namespace {

/// A problem without what makes no difference to its schedule.
Problem layer(Problem problem) {
    problem.n = 1;
    problem.bias = false;
    problem.act = Activation::none;
    return problem;
}

} // namespace

const ScheduleTable &shipped_schedules() {
    static constexpr ScheduleTable table = {shipped.data(), shipped.size()};
    return table;
}

const TunedSchedule *find_schedule(const ScheduleTable &table, const Problem &problem,
                                   std::string_view isa, int threads, std::string_view accuracy) {
    const Problem wanted = layer(problem);
    const std::string op = name(problem.op, problem.rank) + " ";
    const TunedSchedule *of_one_thread = nullptr;
    for (std::size_t i = 0; i < table.count; ++i) {
        const TunedSchedule &entry = table.entries[i];
        const bool one = entry.threads == 1 && of_one_thread == nullptr;
        // What is cheap to compare comes first.
        if ((entry.threads != threads && !one) || isa != entry.isa || accuracy != entry.accuracy ||
            std::string_view(entry.problem).substr(0, op.size()) != op)
            continue;
        Problem read;
        if (!parse_problem(entry.problem, &read).ok() || !(layer(read) == wanted))
            continue;
        if (entry.threads == threads)
            return &entry;
        of_one_thread = &entry;
    }
    return of_one_thread;
}

} // namespace selvage
