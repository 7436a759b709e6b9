#include "tuned_table.h"

#include <algorithm>

#include <kernel_sources.h>
#include <nlohmann/json.hpp>
#include <selvage/parallel.h>
#include <selvage/schedule.h>

#include "commands.h"
#include "files.h"

namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using selvage::Problem;

const std::vector<std::string> entry_fields = {"problem", "isa", "threads", "accuracy", "schedule"};

/// The JSON of a file. Throws BadInput with line and column where it is none.
json read_json(const std::string &path) {
    const std::string bytes = read_file(path);
    try {
        return json::parse(bytes);
    } catch (const json::parse_error &error) {
        // The byte at fault counts from 1; one behind the last is the end.
        const std::string before = bytes.substr(0, error.byte - 1);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
        throw BadInput(path + ": is not JSON at line " + std::to_string(line) + ", column " +
                       std::to_string(column));
    }
}

/// The field of an entry; where it may be left out, `standard` then.
template <class T>
T field(const json &entry, const char *name, const std::string &where, const T *standard) try {
    return standard == nullptr ? entry.at(name).get<T>() : entry.value(name, *standard);
} catch (const json::exception &) {
    throw BadInput(where + ": \"" + name + "\" must be a " +
                   (std::is_same_v<T, int> ? "number" : "string"));
}

void require_one_of(const std::string &where, const std::string &value,
                    const std::vector<std::string> &known) {
    if (std::find(known.begin(), known.end(), value) == known.end())
        throw BadInput(where + ": '" + value + "' is not one of " + joined(known));
}

TunedEntry read_entry(const json &fields, const std::string &where) {
    if (!fields.is_object())
        throw BadInput(where + ": must be an object");
    // A field that may be left out would be passed over where it is misspelled.
    for (const auto &[name, value] : fields.items())
        if (std::find(entry_fields.begin(), entry_fields.end(), name) == entry_fields.end())
            throw BadInput(where + ": \"" + name + "\" is not one of " + joined(entry_fields));
    TunedEntry entry;
    const auto text = field<std::string>(fields, "problem", where, nullptr);
    if (selvage::Status status = selvage::parse_problem(text, &entry.problem); !status.ok())
        throw BadInput(where + ".problem: " + status.text());
    entry.isa = field<std::string>(fields, "isa", where, nullptr);
    std::vector<std::string> isas;
    for (const selvage::KernelTarget &each : selvage::kernel_targets())
        isas.push_back(each.isa);
    require_one_of(where + ".isa", entry.isa, isas);
    entry.threads = field(fields, "threads", where, &entry.threads);
    if (entry.threads < 1 || entry.threads > selvage::most_threads)
        throw BadInput(where + ".threads: " + std::to_string(entry.threads) + " is not within 1.." +
                       std::to_string(selvage::most_threads));
    entry.accuracy = field(fields, "accuracy", where, &entry.accuracy);
    require_one_of(where + ".accuracy", entry.accuracy, {"exact", "fast"});
    entry.schedule = field<std::string>(fields, "schedule", where, nullptr);
    selvage::Schedule schedule;
    if (selvage::Status status = parse_schedule(entry.schedule, &schedule); !status.ok())
        throw BadInput(where + ".schedule: " + status.text());
    return entry;
}

/// What a schedule depends on.
Problem layer(Problem problem) {
    problem.n = 1;
    problem.bias = false;
    problem.act = selvage::Activation::none;
    return problem;
}

bool same_key(const TunedEntry &a, const TunedEntry &b) {
    return a.isa == b.isa && a.threads == b.threads && a.accuracy == b.accuracy &&
           layer(a.problem) == layer(b.problem);
}

} // namespace

TunedTable read_tuned_table(const std::string &path) {
    const json file = read_json(path);
    if (!file.is_object() || !file.contains("schedules") || !file["schedules"].is_array())
        throw BadInput(path + ": must be an object with an array \"schedules\"");
    TunedTable table;
    table.machine = field(file, "machine", path, &table.machine);
    for (const json &each : file["schedules"])
        table.entries.push_back(
            read_entry(each, path + ": schedules[" + std::to_string(table.entries.size()) + "]"));
    return table;
}

std::string text(const TunedTable &table) {
    std::string result = "{\"machine\": " + json(table.machine).dump() + ",\n \"schedules\": [";
    const char *separator = "\n";
    for (const TunedEntry &each : table.entries) {
        const ordered_json fields = {{"problem", text(each.problem)},
                                     {"isa", each.isa},
                                     {"threads", each.threads},
                                     {"accuracy", each.accuracy},
                                     {"schedule", each.schedule}};
        result += separator + ("  " + fields.dump());
        separator = ",\n";
    }
    return result + "\n]}\n";
}

const TunedEntry *find(const TunedTable &table, const TunedEntry &like) {
    const auto found = std::find_if(table.entries.begin(), table.entries.end(),
                                    [&](const TunedEntry &each) { return same_key(each, like); });
    return found == table.entries.end() ? nullptr : &*found;
}

void put(TunedTable *table, const TunedEntry &entry) {
    if (const TunedEntry *found = find(*table, entry))
        table->entries[std::size_t(found - table->entries.data())] = entry;
    else
        table->entries.push_back(entry);
}

void merge(TunedTable *table, const TunedTable &other) {
    for (const TunedEntry &each : other.entries)
        put(table, each);
    // Entries of several machines: all are told, each once.
    if (table->machine.find(other.machine) == std::string::npos)
        table->machine.append(table->machine.empty() ? "" : "; ").append(other.machine);
}
