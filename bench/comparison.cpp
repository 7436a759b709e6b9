#include "comparison.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

#include "layers.h"
#include "selvage/kernels.h"

namespace bench {
namespace {

using nlohmann::json;

// The schedule `reference` has no directives and takes too long on layers above this.
constexpr double reference_operations = 20e6;
// What takes this many times as long as the library's choice gets no more turns: the slices of all
// others would be as long as its calls.
constexpr double hopeless = 3;
constexpr int glance_turns = 3;

selvage::Options options_of(const std::string &isa, const std::string &schedule, int threads) {
    selvage::Options options;
    options.isa = isa;
    options.schedule = schedule;
    options.adjacent_pixels = true; // the data are dense
    options.threads = threads;
    return options;
}

selvage::Plan plan_of(const selvage::Problem &problem,
                      const selvage::Options &options = options_of("", "", 1)) {
    selvage::Plan plan;
    const selvage::Status status = make_plan(problem, options, &plan);
    if (!status.ok()) {
        throw std::invalid_argument(status.text());
    }
    return plan;
}

void require_right(const Case &each, const selvage::Plan &plan) {
    const std::string wrong = fault(plan, each.expected, each.output);
    if (!wrong.empty()) {
        throw std::runtime_error("wrong result: " + wrong);
    }
}

/// One line of the results.
struct Entrant {
    json facts;
    /// Gets ready, checks the result, and returns what is timed. Throws std::exception with the
    /// reason where there is nothing to time. None where that is known.
    std::function<Work()> prepare;
    Work work; ///< of those that are timed in full
};

class Comparison {
public:
    Comparison(const std::vector<Case *> &cases, const std::vector<Rival> &rivals,
               const ComparisonOptions &options, Ceilings &ceilings, selvage::ThreadPool &pool)
        : first_(*cases.front()), options_(options), ceilings_(ceilings), pool_(pool) {
        const int threads = pool.threads();
        const auto add_choice = [&](const char *schedule, const selvage::Options &of) {
            add_plan(schedule, "choice", first_, plan_of(first_.problem, of));
        };
        selvage::Options fast = options_of(options.isa, "", threads);
        fast.accuracy = "fast";
        add_choice("tuned", options_of(options.isa, "", threads));
        add_choice("tuned, fast", fast);
        add_choice("cost model", options_of(options.isa, "auto", threads));
        if (!options.schedule.empty()) {
            add_choice("asked for", options_of("", options.schedule, threads));
            return;
        }
        for (Case *each : cases) {
            add_rows(*each);
        }
        for (const Rival &rival : rivals) {
            add_rival(rival);
        }
    }

    std::vector<json> measure() {
        glance();
        choose_finalists();
        finals();
        std::vector<json> results;
        for (Entrant &each : entrants_) {
            results.push_back(std::move(each.facts));
        }
        return results;
    }

private:
    Entrant &add(const std::string &schedule, const std::string &kind, const Case &each,
                 const std::string &kernel) {
        const bool nchw = each.problem.layout == selvage::Layout::nchw;
        entrants_.push_back({});
        entrants_.back().facts = {{"threads", pool_.threads()}, {"layout", nchw ? "nchw" : "nhwc"},
                                  {"schedule", schedule},       {"kind", kind},
                                  {"kernel", kernel},           {"status", "ok"}};
        return entrants_.back();
    }

    void add_plan(const std::string &schedule, const std::string &kind, Case &each,
                  const selvage::Plan &plan) {
        Entrant &entrant = add(schedule, kind, each, plan.kernel());
        entrant.facts["text"] = plan.schedule();
        entrant.facts["scratch_bytes"] = plan.scratch_bytes();
        entrant.prepare = [this, plan, &each]() -> Work {
            const auto workload =
                std::make_shared<Workload>(plan, each.data, &pool_.parallel(), &each.output);
            require_right(each, plan);
            return [workload] { workload->run(); };
        };
    }

    void add_rows(Case &each) {
        for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
            const selvage::KernelRow &row = selvage::kernel_rows()[i];
            const bool is_reference = row.family == selvage::Family::reference;
            selvage::Plan plan;
            if (row.op != kernel_op(each.problem) || (row.isa != options_.isa && !is_reference) ||
                !make_plan(each.problem, options_of(row.isa, row.schedule, pool_.threads()), &plan)
                     .ok()) {
                continue;
            }
            if (is_reference && operations(plan) > reference_operations) {
                json &facts = add("reference", "reference", each, plan.kernel()).facts;
                facts["text"] = row.schedule;
                facts["status"] = "left out";
                facts["reason"] = "more than 20 million operations";
                continue;
            }
            const std::string schedule = row.schedule;
            add_plan(schedule.substr(0, schedule.find('_')), is_reference ? "reference" : "family",
                     each, plan);
        }
    }

    void add_rival(const Rival &rival) {
        Entrant &entrant = add(rival.name, "autoscheduler", first_, rival.name);
        entrant.facts["text"] = rival.name;
        if (!rival.kernel.failure.empty()) {
            entrant.facts["status"] = "error";
            entrant.facts["reason"] = rival.kernel.failure;
            return;
        }
        entrant.facts["code_bytes"] = rival.kernel.code_bytes;
        entrant.facts["compile_seconds"] = rival.kernel.compile_seconds;
        entrant.prepare = [this, kernel = rival.kernel]() -> Work {
            const selvage::Plan plan = plan_of(first_.problem); // tells the output
            const auto workload =
                std::make_shared<AutoscheduledWorkload>(kernel, plan, first_.data, &first_.output);
            require_right(first_, plan);
            return [workload] { workload->run(); };
        };
    }

    /// Of works with threads of their own, only the time on the wall tells something.
    Clock clock() const { return pool_.threads() == 1 ? processor_time : now; }

    /// Gives everything a turn beside the first entrant, and what has a chance a few more.
    void glance() {
        const Work first = entrants_.front().prepare();
        for (Entrant &each : entrants_) {
            if (!each.prepare) {
                continue;
            }
            try {
                const std::vector<Work> works = {first, each.prepare()};
                auto seconds = take_turns(works, 1, 0, clock());
                if (seconds[1][0] < hopeless * seconds[0][0]) {
                    seconds = take_turns(works, glance_turns, 0, clock());
                }
                score(&each.facts, seconds[1], seconds[0]);
            } catch (const std::exception &error) {
                each.facts["status"] = "error";
                each.facts["reason"] = error.what();
                each.prepare = nullptr;
            }
        }
    }

    /// Of the rows of a family and layout the fastest, and all others; but none without a chance.
    void choose_finalists() {
        std::map<std::string, Entrant *> fastest;
        const auto key = [](const Entrant &each) {
            return each.facts["schedule"].get<std::string>() +
                   each.facts["layout"].get<std::string>();
        };
        for (Entrant &each : entrants_) {
            if (each.prepare && each.facts["kind"] == "family") {
                Entrant *&best = fastest[key(each)];
                if (best == nullptr || each.facts["ratio"] < best->facts["ratio"]) {
                    best = &each;
                }
            }
        }
        for (Entrant &each : entrants_) {
            const bool best = each.facts["kind"] != "family" || fastest[key(each)] == &each;
            each.facts["best_of_family"] = best;
            if (each.prepare && (best || options_.all_rows) && each.facts["ratio"] < hopeless) {
                each.work = each.prepare();
            }
        }
    }

    /// Lets the ceilings and the finalists take turns.
    void finals() {
        const selvage::Plan plan = plan_of(first_.problem);
        const double all_operations = operations(plan), all_bytes = bytes(plan);
        const MemoryLevel &level = level_of(all_bytes, pool_.threads());
        std::vector<Work> works = {ceilings_.arithmetic(), ceilings_.traffic(level)};
        std::vector<json *> timed;
        for (Entrant &each : entrants_) {
            if (each.work) {
                works.push_back(each.work);
                timed.push_back(&each.facts);
            }
        }
        const auto seconds = take_turns(works, options_.turns, options_.slice, clock());
        const std::vector<double> &choice = seconds[2];

        // Seconds that the layer takes at least: by its arithmetic, and by its traffic.
        const double arithmetic_calls = all_operations / ceilings_.operations();
        const double traffic_calls = all_bytes / ceilings_.bytes(level);
        std::vector<double> limits;
        for (int turn = 0; turn < options_.turns; ++turn) {
            limits.push_back(
                std::max(arithmetic_calls * seconds[0][turn], traffic_calls * seconds[1][turn]));
        }
        const bool by_arithmetic =
            arithmetic_calls * median(seconds[0]) > traffic_calls * median(seconds[1]);

        for (std::size_t i = 0; i < timed.size(); ++i) {
            score(timed[i], seconds[i + 2], choice);
            (*timed[i])["fraction"] = median(ratios(limits, seconds[i + 2]));
        }
        for (Entrant &each : entrants_) {
            json &facts = each.facts;
            if (!facts.contains("ratio")) {
                continue;
            }
            // Ratios are of one turn, so they are the better figures where machines change speed.
            const double time = median(choice) * facts["ratio"].get<double>();
            facts["milliseconds"] = time * 1e3;
            facts["gflops"] = all_operations / time * 1e-9;
            facts["gbs"] = all_bytes / time * 1e-9;
            facts["bound"] = by_arithmetic ? "FMA" : level.name;
            if (!facts.contains("fraction")) {
                facts["fraction"] = median(ratios(limits, choice)) / facts["ratio"].get<double>();
            }
        }
    }

    static void score(json *facts, const std::vector<double> &seconds,
                      const std::vector<double> &first) {
        const std::vector<double> times = ratios(seconds, first);
        (*facts)["turns"] = times.size();
        (*facts)["ratio"] = median(times);
        (*facts)["lower_quartile"] = quantile(times, 0.25);
        (*facts)["upper_quartile"] = quantile(times, 0.75);
    }

    Case &first_;
    const ComparisonOptions &options_;
    Ceilings &ceilings_;
    selvage::ThreadPool &pool_;
    std::vector<Entrant> entrants_; ///< the library's choice first
};

} // namespace

Case::Case(const selvage::Problem &which) : problem(which), data(integer_data(which)) {
    if (not_covered(problem).empty()) {
        expected = reference(plan_of(problem), data);
        return;
    }
    // The reference kernels are held to loops by the tests.
    const Workload kernel(plan_of(problem, options_of("", "reference", 1)), data);
    for (std::size_t i = 0; i < kernel.output().size(); ++i) {
        expected.push_back({i, kernel.output()[i]});
    }
}

std::vector<json> compare_schedules(const std::vector<Case *> &cases,
                                    const std::vector<Rival> &rivals,
                                    const ComparisonOptions &options, Ceilings &ceilings,
                                    selvage::ThreadPool &pool) {
    return Comparison(cases, rivals, options, ceilings, pool).measure();
}

} // namespace bench
