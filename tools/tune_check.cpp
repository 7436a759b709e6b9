#include <iostream>
#include <memory>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <reference.h>
#include <selvage/thread_pool.h>
#include <workload.h>

#include "commands.h"
#include "progress.h"
#include "tune.h"
#include "tuned_table.h"

namespace {

using nlohmann::ordered_json;

// What two sides take turns for; medians of so many repeat within 1 to 2 %.
constexpr int turns = 40;
constexpr double slice_seconds = 2e-3;

/// An entry of a table, with what both sides share.
class Match {
public:
    Match(const TunedEntry &entry, const TunedTable &table, const TuneArguments &arguments)
        : entry_(entry), table_(table), arguments_(arguments), pool_(arguments.threads),
          data_(bench::integer_data(entry.problem)) {}

    ordered_json measure() {
        const auto tuned = subject(plan_by(table_, entry_.problem, arguments_));
        const auto model = subject(plan_by({}, entry_.problem, arguments_));
        const auto seconds = bench::take_turns({[&] { tuned->run(); }, [&] { model->run(); }},
                                               turns, slice_seconds, clock_of(arguments_));
        std::vector<double> ratios = bench::ratios(seconds[0], seconds[1]);
        // Of equal schedules, only noise differs.
        if (tuned->plan().schedule() == model->plan().schedule())
            ratios = {1};
        return {{"problem", text(entry_.problem)},
                {"schedule", tuned->plan().schedule()},
                {"cost_model", model->plan().schedule()},
                {"milliseconds", bench::median(seconds[0]) * 1e3},
                {"ratio", bench::median(ratios)},
                {"lower_quartile", bench::quantile(ratios, 0.25)},
                {"upper_quartile", bench::quantile(ratios, 0.75)}};
    }

private:
    /// The plan, right and ready to be timed.
    std::unique_ptr<bench::Workload> subject(const selvage::Plan &plan) {
        auto workload = std::make_unique<bench::Workload>(plan, data_, &pool_.parallel(), &output_);
        const std::string wrong = fault(plan, reference(plan, data_), output_);
        if (!wrong.empty())
            throw std::runtime_error(text(entry_.problem) + " by " + plan.kernel() + ": " + wrong);
        return workload;
    }

    const TunedEntry &entry_;
    const TunedTable &table_;
    const TuneArguments &arguments_;
    selvage::ThreadPool pool_;
    const bench::Data data_;
    bench::Floats output_;
};

/// Those of a table that the arguments ask for.
std::vector<TunedEntry> entries_of(const TunedTable &table, const TuneArguments &arguments,
                                   const std::string &path) {
    std::vector<TunedEntry> entries;
    for (const TunedEntry &each : table.entries)
        if (each.isa == arguments.isa && each.threads == arguments.threads &&
            each.accuracy == arguments.accuracy)
            entries.push_back(each);
    if (entries.empty())
        throw BadInput(path + ": has no entries for " + arguments.isa + ", " +
                       std::to_string(arguments.threads) + " thread(s) and accuracy " +
                       arguments.accuracy);
    return entries;
}

} // namespace

void check_table(const TuneArguments &arguments, const std::string &path) {
    const TunedTable table = read_tuned_table(path);
    const std::vector<TunedEntry> entries = entries_of(table, arguments, path);
    Progress progress(entries.size());
    ordered_json rows = ordered_json::array();
    std::vector<double> ratios;
    if (!arguments.json)
        std::cout << "| layer | tuned | cost model | ms | of the cost model's time |\n"
                     "|---|---|---|---|---|\n";
    for (const TunedEntry &each : entries) {
        progress.begin(text(each.problem));
        const ordered_json row = Match(each, table, arguments).measure();
        ratios.push_back(row["ratio"]);
        rows.push_back(row);
        if (!arguments.json)
            std::cout << "| " << text(each.problem) << " | " << each.schedule << " | "
                      << row["cost_model"].get<std::string>() << " | "
                      << rounded(row["milliseconds"], 4) << " | " << rounded(row["ratio"], 3)
                      << " |" << std::endl;
    }
    const double mean = bench::geometric_mean(ratios);
    if (arguments.json)
        std::cout << ordered_json{{"layers", rows}, {"geometric_mean", mean}}.dump(1) << "\n";
    else
        std::cout << "\ngeometric mean of tuned / cost model, " << arguments.threads
                  << " thread(s), " << ratios.size() << " layers: " << rounded(mean, 3) << "\n";
}
