#include "tune.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>

#include <machine.h>
#include <nlohmann/json.hpp>
#include <reference.h>
#include <selvage/thread_pool.h>
#include <workload.h>

#include "commands.h"
#include "files.h"
#include "progress.h"
#include "tuned_table.h"
#include "tuning.h"

namespace {

using nlohmann::ordered_json;

/// A layer with what all of its candidates share.
class Course {
public:
    /// `table` is what an app has besides the entry of a candidate.
    Course(const TunedEntry &layer, const TunedTable &table, const TuneArguments &arguments,
           const selvage::Parallel &parallel)
        : layer_(layer), table_(table), arguments_(arguments), parallel_(parallel),
          data_(bench::integer_data(layer.problem)) {}

    /// The candidates of the layer, the cost model's choice first.
    std::vector<selvage::Schedule> candidates() const {
        std::vector<selvage::Schedule> all =
            candidate_schedules(layer_.problem, options_of(arguments_));
        all.resize(std::min(all.size(), arguments_.candidates));
        return all;
    }

    /// Candidates as they take part in a contest; they last as long as this.
    std::vector<Entrant> entrants(const std::vector<selvage::Schedule> &schedules) {
        std::vector<Entrant> result;
        for (const selvage::Schedule &each : schedules) {
            const std::string schedule = text(each);
            const auto workload = std::make_shared<std::unique_ptr<bench::Workload>>();
            const auto ready = [this, schedule, workload] { return prepare(schedule, &*workload); };
            result.push_back({schedule, ready, [workload] { (*workload)->run(); }});
        }
        return result;
    }

private:
    /// Returns what is wrong with the result.
    std::string prepare(const std::string &schedule, std::unique_ptr<bench::Workload> *workload) {
        layer_.schedule = schedule;
        put(&table_, layer_);
        const selvage::Plan plan = plan_by(table_, layer_.problem, arguments_);
        if (expected_.empty())
            expected_ = reference(plan, data_);
        *workload = std::make_unique<bench::Workload>(plan, data_, &parallel_, &output_);
        return fault(plan, expected_, output_);
    }

    TunedEntry layer_;
    TunedTable table_;
    const TuneArguments &arguments_;
    const selvage::Parallel &parallel_;
    const bench::Data data_;
    std::vector<bench::Expected> expected_;
    bench::Floats output_;
};

// Candidates are hundreds: kernels, each with numbers by which it cuts up its work. Of the best
// kernels, so many have theirs tried.
constexpr std::size_t best_kernels = 4;
constexpr double share_of_kernels = 1. / 3; // of the time of a layer

std::string kernel_of(const selvage::Schedule &schedule) {
    return schedule.kernel + "/" + schedule.isa;
}

/// The first candidate of each kernel, which is cut up as the library would; and the very first.
std::vector<selvage::Schedule> kernels(const std::vector<selvage::Schedule> &all) {
    std::vector<selvage::Schedule> result;
    std::set<std::string> seen;
    for (const selvage::Schedule &each : all)
        if (seen.insert(kernel_of(each)).second)
            result.push_back(each);
    return result;
}

/// The first candidate, and all of the kernels that did best.
std::vector<selvage::Schedule> of_best(const std::vector<selvage::Schedule> &all,
                                       const std::vector<selvage::Schedule> &kernels,
                                       const Tuned &tuned) {
    std::vector<std::pair<double, std::string>> order;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (tuned.entrants[i].excluded.empty())
            order.push_back({tuned.entrants[i].score.ratio, kernel_of(kernels[i])});
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), best_kernels));
    std::vector<selvage::Schedule> result = {all.front()};
    std::copy_if(
        all.begin() + 1, all.end(), std::back_inserter(result), [&](const selvage::Schedule &each) {
            return std::any_of(order.begin(), order.end(),
                               [&](const auto &best) { return best.second == kernel_of(each); });
        });
    return result;
}

/// The plan that the library makes of a layer; BadInput tells why one cannot be measured.
selvage::Plan plan_of(const bench::Layer &layer, const selvage::Options &options) {
    std::string reason = bench::not_covered(layer.problem);
    selvage::Plan plan;
    if (reason.empty())
        reason = make_plan(layer.problem, options, &plan).text();
    if (reason.empty() && (layer.problem.n == 0 || plan.kernel() == "none"))
        reason = "the output is empty";
    if (!reason.empty())
        throw BadInput(layer.name + ": " + reason);
    return plan;
}

/// Whether there are kernels for the problem that round more than others.
bool has_fast(const selvage::Problem &problem, const selvage::Options &options) {
    const std::vector<selvage::Schedule> all = candidate_schedules(problem, options);
    return std::any_of(all.begin(), all.end(), [](const selvage::Schedule &each) {
        return each.kernel.rfind("winograd_", 0) == 0;
    });
}

ordered_json to_json(const Measured &candidate) {
    if (!candidate.excluded.empty())
        return {{"schedule", candidate.schedule}, {"excluded", candidate.excluded}};
    const bench::Score &score = candidate.score;
    return {{"schedule", candidate.schedule},
            {"milliseconds", score.seconds * 1e3},
            {"ratio", score.ratio},
            {"lower_quartile", score.lower_quartile},
            {"upper_quartile", score.upper_quartile},
            {"turns", score.turns}};
}

ordered_json to_json(const bench::Layer &layer, const selvage::Plan &plan, const Tuned &tuned) {
    const Measured &winner = tuned.entrants[tuned.winner];
    ordered_json result = {{"name", layer.name},
                           {"problem", text(layer.problem)},
                           {"default_kernel", plan.kernel()},
                           {"schedule", winner.schedule},
                           {"ratio", winner.score.ratio},
                           {"candidates", ordered_json::array()},
                           {"declined", ordered_json::array()}};
    for (const Measured &each : tuned.entrants)
        result["candidates"].push_back(to_json(each));
    for (const selvage::Decline &each : plan.declined())
        result["declined"].push_back({{"kernel", each.kernel}, {"reason", each.reason}});
    return result;
}

/// Layers that are measured one after the other, and what was found out.
class Tuning {
public:
    explicit Tuning(const TuneArguments &arguments)
        : arguments_(arguments), options_(options_of(arguments)), pool_(arguments.threads),
          end_(bench::now() + arguments.budget) {
        if (std::filesystem::exists(arguments.table))
            table_ = read_tuned_table(arguments.table);
        for (const bench::Layer &each : arguments.layers) {
            const selvage::Plan plan = plan_of(each, options_);
            if (arguments.accuracy == "fast" && !has_fast(each.problem, options_))
                ++exact_;
            else if (!arguments.again && find(table_, entry(each, "")) != nullptr)
                ++known_;
            else
                wanted_.push_back({&each, plan});
        }
        found_.machine = bench::machine_name();
        save(); // so that a path that cannot be written is told before anything is measured
    }

    /// Returns whether the default of every layer was right.
    bool run() {
        Progress progress(wanted_.size());
        const std::string all = " of " + std::to_string(arguments_.layers.size()) + " layers ";
        if (known_ > 0)
            progress.note(std::to_string(known_) + all + "are in " + arguments_.table +
                          " already; --again measures them, too");
        if (exact_ > 0)
            progress.note(std::to_string(exact_) + all +
                          "have no fast kernels; they are tuned by --accuracy exact");
        if (!arguments_.json)
            std::cout << "| layer | candidates | schedule | ms | of the default's time |\n"
                         "|---|---|---|---|---|\n";
        bool right = true;
        for (const Wanted &each : wanted_) {
            // One layer at least, so that reruns come to an end.
            if (done_ > 0 && bench::now() > end_)
                break;
            progress.begin(each.layer->name);
            try {
                add(each, measure(*each.layer, &progress));
            } catch (const std::runtime_error &error) {
                progress.note(each.layer->name + ": " + error.what());
                right = false;
            }
            ++done_;
            save();
        }
        if (left() > 0)
            progress.note("the budget is used up with " + std::to_string(left()) +
                          " layers left, which the same command goes on with");
        return right;
    }

    void print_summary() const {
        const double mean = bench::geometric_mean(ratios_); // NaN, null in JSON, of none
        if (!arguments_.json) {
            if (!ratios_.empty())
                std::cout << "\ngeometric mean of tuned / cost model, " << arguments_.threads
                          << " thread(s), " << ratios_.size() << " layers: " << rounded(mean, 3)
                          << "\n";
            return;
        }
        ordered_json result = ordered_json::parse(text(found_));
        result["geometric_mean"] = mean;
        result["layers_left"] = left();
        result["layers"] = layers_;
        std::cout << result.dump(1) << "\n";
    }

private:
    struct Wanted {
        const bench::Layer *layer;
        selvage::Plan plan; ///< the library's own
    };

    TunedEntry entry(const bench::Layer &layer, const std::string &schedule) const {
        return {layer.problem, arguments_.isa, arguments_.threads, arguments_.accuracy, schedule};
    }

    std::size_t left() const { return wanted_.size() - done_; }

    void save() {
        merge(&table_, found_);
        write_file(arguments_.table, text(table_));
    }

    /// Kernels first; then what the best of them can do otherwise, which decides.
    Tuned measure(const bench::Layer &layer, Progress *progress) {
        const double seconds = (end_ - bench::now()) / double(left());
        Course course(entry(layer, ""), table_, arguments_, pool_.parallel());
        const std::vector<selvage::Schedule> all = course.candidates(), some = kernels(all);
        const Tuned first = measure(&course, some, seconds * share_of_kernels, progress);
        Tuned tuned =
            measure(&course, of_best(all, some, first), seconds * (1 - share_of_kernels), progress);
        const std::vector<Measured> again = tuned.entrants;
        for (const Measured &each : first.entrants)
            if (std::none_of(again.begin(), again.end(), [&](const Measured &other) {
                    return other.schedule == each.schedule;
                }))
                tuned.entrants.push_back(each);
        for (const Measured &each : tuned.entrants)
            if (each.wrong)
                progress->note(layer.name + ": " + each.schedule + ": " + each.excluded);
        return tuned;
    }

    Tuned measure(Course *course, const std::vector<selvage::Schedule> &schedules, double seconds,
                  Progress *progress) const {
        const std::vector<Entrant> entrants = course->entrants(schedules);
        return tune(
            entrants, seconds, clock_of(arguments_),
            [&](std::size_t ready) {
                progress->tell(std::to_string(ready) + "/" + std::to_string(entrants.size()) +
                               " verified");
            },
            [&](std::size_t left, std::size_t best, double ratio) {
                progress->tell(std::to_string(left) + " left, " + rounded(ratio, 3) + " by " +
                               entrants[best].schedule);
            });
    }

    void add(const Wanted &wanted, const Tuned &tuned) {
        const Measured &winner = tuned.entrants[tuned.winner];
        const bench::Score &score = winner.score;
        put(&found_, entry(*wanted.layer, winner.schedule));
        layers_.push_back(to_json(*wanted.layer, wanted.plan, tuned));
        ratios_.push_back(score.ratio);
        if (!arguments_.json)
            std::cout << "| " << wanted.layer->name << " | " << tuned.measured() << " | "
                      << winner.schedule << " | " << rounded(score.seconds * 1e3, 4) << " | "
                      << rounded(score.ratio, 3) << " |" << std::endl;
    }

    const TuneArguments &arguments_;
    const selvage::Options options_;
    selvage::ThreadPool pool_;
    const double end_; ///< of the budget, as bench::now()
    std::vector<Wanted> wanted_;
    std::size_t known_ = 0, exact_ = 0; ///< layers that the table has; that accuracy fast has not
    std::size_t done_ = 0;              ///< of these layers
    TunedTable table_, found_;          ///< the file's; of this run alone
    ordered_json layers_ = ordered_json::array();
    std::vector<double> ratios_; ///< winners' to defaults' time
};

} // namespace

void tune_layers(const TuneArguments &arguments) {
    Tuning tuning(arguments);
    const bool right = tuning.run();
    tuning.print_summary();
    if (!right)
        throw std::runtime_error("the library's own choice failed on a layer or was wrong");
}
