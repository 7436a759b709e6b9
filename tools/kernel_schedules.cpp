#include "kernel_schedules.h"

#include <iostream>
#include <string_view>

#include "kernel_choice.h"
#include "tuned_table.h"

namespace {

bool is_table(std::string_view option) {
    constexpr std::string_view extension = ".json";
    return option.size() > extension.size() &&
           option.substr(option.size() - extension.size()) == extension;
}

} // namespace

std::string schedule_for(const std::string &option, const selvage::Problem &problem,
                         const std::string &isa) {
    if (!is_table(option)) {
        read_schedule("--schedule", problem, isa, option);
        return option;
    }
    const TunedTable table = read_tuned_table(option);
    if (const TunedEntry *const entry = find(table, {problem, isa, 1, "exact", ""})) {
        selvage::Schedule schedule = read_schedule(
            option + ": schedule of '" + text(entry->problem) + "'", problem, isa, entry->schedule);
        if (schedule.isa.empty() || schedule.isa == isa) {
            // What threads share is up to callers of a kernel.
            schedule.split = selvage::Split::automatic;
            return text(schedule);
        }
    }
    std::cerr << "selvage: " << option << " has no schedule for " << isa << " of '" << text(problem)
              << "'; auto is taken\n";
    return "auto";
}
