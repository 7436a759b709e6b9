#include "tune.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>

#include <selvage/schedule_table.h>

#include "commands.h"
#include "files.h"
#include "kernel_targets.h"
#include "tuned_table.h"

namespace {

struct CommandLine {
    std::vector<std::string> layers; ///< files and problem texts
    std::string budget = "10m", check, import, folder, target = "host";
    TuneArguments tune;
};

bool is_file_name(const std::string &text) {
    const std::string extension = ".json";
    return text.size() > extension.size() &&
           text.compare(text.size() - extension.size(), extension.size(), extension) == 0;
}

/// The layers of files and problem texts.
std::vector<bench::Layer> read_layers(const std::vector<std::string> &all) {
    std::vector<bench::Layer> layers;
    for (const std::string &each : all) {
        try {
            const std::vector<bench::Layer> some =
                is_file_name(each) ? bench::read_layers(each)
                                   : std::vector<bench::Layer>{bench::parse_layer(each)};
            layers.insert(layers.end(), some.begin(), some.end());
        } catch (const std::exception &error) {
            throw BadInput((is_file_name(each) ? each + ": " : "") + error.what());
        }
    }
    if (layers.empty())
        throw BadInput("layers are needed: a file that ends in .json, or problem texts");
    return layers;
}

/// Seconds of a time such as 90s, 10m or 1h.
double read_seconds(const std::string &text) {
    constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    for (const auto &[unit, seconds] : units)
        if (std::string(1, unit) == end && number > 0 && std::isfinite(number))
            return number * seconds;
    throw BadInput("--budget " + text + ": must be a time such as 90s, 10m or 1h");
}

void import(const std::string &result, const std::string &path) {
    TunedTable table;
    if (std::filesystem::exists(path))
        table = read_tuned_table(path);
    const TunedTable other = read_tuned_table(result);
    merge(&table, other);
    write_file(path, text(table));
    std::cerr << path << " has " << other.entries.size() << " entries of " << result << "\n";
}

void run(CommandLine line) {
    TuneArguments &arguments = line.tune;
    const std::vector<std::string> isas = selvage::available_isas();
    if (!line.folder.empty()) {
        arguments.layers = read_layers(line.layers);
        return export_layers(arguments, line.folder, architecture_of(line.target));
    }
    // They would take the place of what is measured.
    unsetenv("SELVAGE_SCHEDULE");
    unsetenv("SELVAGE_ISA");
    unsetenv("SELVAGE_ACCURACY");
    if (arguments.isa.empty())
        arguments.isa = isas.back();
    if (std::find(isas.begin(), isas.end(), arguments.isa) == isas.end())
        throw BadInput("--isa " + arguments.isa + " is not one of " + joined(isas) +
                       ", those of this CPU");
    if (!line.check.empty())
        return check_table(arguments, line.check);
    if (arguments.table.empty())
        throw BadInput("-o is needed: the table to write");
    if (!line.import.empty())
        return import(line.import, arguments.table);
    arguments.layers = read_layers(line.layers);
    arguments.budget = read_seconds(line.budget);
    tune_layers(arguments);
}

} // namespace

selvage::Options options_of(const TuneArguments &arguments) {
    selvage::Options options;
    // Of machines like this one, kernels of lesser sets are candidates too.
    if (arguments.isa != selvage::available_isas().back())
        options.isa = arguments.isa;
    options.schedule = "auto";
    options.adjacent_pixels = true; // data are dense
    options.threads = arguments.threads;
    options.accuracy = arguments.accuracy;
    return options;
}

selvage::Plan plan_by(const TunedTable &table, const selvage::Problem &problem,
                      const TuneArguments &arguments) {
    std::vector<std::string> problems;
    std::vector<selvage::TunedSchedule> entries;
    for (const TunedEntry &each : table.entries)
        problems.push_back(text(each.problem));
    for (const TunedEntry &each : table.entries)
        entries.push_back({problems[entries.size()].c_str(), each.isa.c_str(), each.threads,
                           each.accuracy.c_str(), each.schedule.c_str()});
    const selvage::ScheduleTable read = {entries.data(), entries.size()};
    selvage::Options options = options_of(arguments);
    options.schedule.clear();
    options.table = &read;
    selvage::Plan plan;
    if (const selvage::Status status = make_plan(problem, options, &plan); !status.ok())
        throw BadInput(text(problem) + ": " + status.text());
    // What is wrong with an entry comes before other rows.
    if (!plan.declined().empty() && plan.declined()[0].kernel.rfind("schedule table", 0) == 0)
        throw BadInput(plan.declined()[0].reason);
    return plan;
}

bench::Clock clock_of(const TuneArguments &arguments) {
    return arguments.threads > 1 ? bench::now : bench::processor_time;
}

std::string rounded(double number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

void add_tune(CLI::App &program) {
    CLI::App *command = program.add_subcommand(
        "tune", "Measure which schedules are the fastest, and write a table of them.");
    command->footer(
        "LAYERS are problem texts, and files that end in .json: lists of problem texts, or of "
        "objects as in bench/peers/layers.json. Every candidate is verified, then all take turns. "
        "The table is written after each layer; the same command goes on where it was stopped.\n"
        "Examples:\n"
        "  selvage tune layers.json -o table.json --budget 10m\n"
        "  selvage tune --check table.json\n"
        "  selvage tune layers.json --export board --target arm-64\n"
        "  selvage tune --import board/result.json -o table.json");
    const auto line = std::make_shared<CommandLine>();
    TuneArguments &arguments = line->tune;
    command->add_option("LAYERS", line->layers, "What to measure");
    command->add_option("-o,--output", arguments.table, "The table to write or to add to");
    command->add_option("--threads", arguments.threads, "Threads of a run")
        ->check(CLI::Range(1, selvage::most_threads))
        ->capture_default_str();
    command->add_option("--budget", line->budget, "What all layers may take: 90s, 10m, 1h")
        ->capture_default_str();
    command->add_option("--isa", arguments.isa,
                        "Tune for machines whose best instruction set is this one; else for those "
                        "like this one");
    command->add_option("--accuracy", arguments.accuracy, "exact, or fast")
        ->check(CLI::IsMember({"exact", "fast"}))
        ->capture_default_str();
    command->add_option("--candidates", arguments.candidates, "Measure at most so many of a layer")
        ->check(CLI::PositiveNumber);
    command->add_flag("--again", arguments.again, "Measure what the table has already, too");
    command->add_flag("--json", arguments.json, "Write what was measured to stdout as JSON");
    CLI::Option *const modes[] = {
        command->add_option("--check", line->check,
                            "Measure the entries of this table against the cost model"),
        command->add_option("--export", line->folder,
                            "Write a folder that measures on another machine"),
        command->add_option("--import", line->import, "Add the results of such a machine to -o")};
    for (CLI::Option *mode : modes)
        for (CLI::Option *other : modes)
            if (mode != other)
                mode->excludes(other);
    command->add_option("--target", line->target, "Of --export: host, x86-64 or arm-64")
        ->capture_default_str();
    command->callback([line] { run(*line); });
}
