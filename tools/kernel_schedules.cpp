#include "kernel_schedules.h"

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include <kernel_sources.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "files.h"
#include "kernel_choice.h"

namespace {

using nlohmann::json;
using selvage::Problem;

/// One entry of a table.
struct Entry {
    Problem problem;
    std::string isa, schedule;
};

void require_schedule(const std::string &where, const Problem &problem, const std::string &isa,
                      const std::string &schedule) {
    std::vector<std::string> names = schedules_of(problem, isa);
    if (std::find(names.begin(), names.end(), schedule) == names.end())
        throw BadInput(where + ": '" + schedule + "' is not a schedule of " + kernel_op(problem) +
                       " and " + isa + "; must be one of " + joined(names));
}

std::string string_field(const json &entry, const char *field, const std::string &where) {
    const auto found = entry.find(field);
    if (found == entry.end() || !found->is_string())
        throw BadInput(where + ": \"" + field + "\" must be there and be a string");
    return *found;
}

Entry read_entry(const json &entry, const std::string &where) {
    if (!entry.is_object())
        throw BadInput(where + ": must be an object");
    for (const auto &[key, value] : entry.items())
        if (key != "problem" && key != "isa" && key != "schedule")
            throw BadInput(where + ": \"" + key + "\" is not one of problem, isa, schedule");
    Entry result;
    if (selvage::Status status =
            selvage::parse_problem(string_field(entry, "problem", where), &result.problem);
        !status.ok())
        throw BadInput(where + ".problem: " + status.text());
    result.isa = string_field(entry, "isa", where);
    std::vector<std::string> isas;
    for (const selvage::KernelTarget &each : selvage::kernel_targets())
        isas.push_back(each.isa);
    if (std::find(isas.begin(), isas.end(), result.isa) == isas.end())
        throw BadInput(where + ".isa: '" + result.isa + "' is not one of " + joined(isas));
    result.schedule = string_field(entry, "schedule", where);
    if (result.schedule != "auto")
        require_schedule(where + ".schedule", result.problem, result.isa, result.schedule);
    return result;
}

std::vector<Entry> read_table(const std::string &path) {
    const std::string bytes = read_file(path);
    json table;
    try {
        table = json::parse(bytes);
    } catch (const json::parse_error &error) {
        // The byte at fault counts from 1; one behind the last is the end.
        const std::string before = bytes.substr(0, error.byte - 1);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
        throw BadInput(path + ": is not JSON at line " + std::to_string(line) + ", column " +
                       std::to_string(column));
    }
    if (!table.is_object() || table.size() != 1 || !table.contains("schedules") ||
        !table["schedules"].is_array())
        throw BadInput(path + ": must be an object with one field, the array \"schedules\"");
    std::vector<Entry> entries;
    for (const json &each : table["schedules"])
        entries.push_back(
            read_entry(each, path + ": schedules[" + std::to_string(entries.size()) + "]"));
    return entries;
}

} // namespace

std::string schedule_for(const std::string &option, const Problem &problem,
                         const std::string &isa) {
    constexpr std::string_view extension = ".json";
    if (option.size() <= extension.size() ||
        option.compare(option.size() - extension.size(), extension.size(), extension) != 0) {
        if (option != "auto")
            require_schedule("--schedule", problem, isa, option);
        return option;
    }
    for (const Entry &each : read_table(option))
        if (each.isa == isa && each.problem == problem)
            return each.schedule;
    std::cerr << "selvage: " << option << " has no schedule for " << isa << " of '" << text(problem)
              << "'; auto is taken\n";
    return "auto";
}
