// What threads gain: every layer that takes long enough, by one thread and by several.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <stdexcept>

#include "layers.h"
#include "selvage/thread_pool.h"
#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

struct Limits {
    int threads = 2;
    double least = 1e-3; ///< seconds
};

/// The shortest of a few calls.
double seconds(Subject &subject) {
    double shortest = 1e9;
    for (int call = 0; call < 5; ++call) {
        const double begin = processor_time();
        subject.run();
        shortest = std::min(shortest, processor_time() - begin);
    }
    return shortest;
}

nlohmann::json measure(const std::string &name, Subject &one, Subject &many,
                       const TurnArguments &arguments) {
    const auto seconds = take_turns({[&] { one.run(); }, [&] { many.run(); }}, arguments.turns,
                                    arguments.slice, now);
    const std::vector<double> gains = ratios(seconds[0], seconds[1]);
    return {{"layer", name},
            {"kernel", one.plan().kernel()},
            {"turns", arguments.turns},
            {"milliseconds_of_one", median(seconds[0]) * 1e3},
            {"milliseconds", median(seconds[1]) * 1e3},
            {"speed_up", median(gains)},
            {"lower_quartile", quantile(gains, 0.25)},
            {"upper_quartile", quantile(gains, 0.75)},
            // What other programs on the machine take least from.
            {"of_fastest", quantile(seconds[0], 0) / quantile(seconds[1], 0)}};
}

void run(const TurnArguments &arguments, const Limits &limits) {
    fmt::print("| layer | kernel | ms of 1 | ms of {} | speed-up | lower quartile | upper quartile "
               "| of fastest |\n|---|---|---|---|---|---|---|---|\n",
               limits.threads);
    selvage::ThreadPool pool(limits.threads);
    nlohmann::json rows = nlohmann::json::array();
    std::vector<double> gains, of_fastest;
    const std::regex filter(arguments.filter);
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!std::regex_search(layer.name, filter)) {
            continue;
        }
        Subject one(layer.problem, arguments.isa);
        if (seconds(one) < limits.least) {
            continue;
        }
        Subject many(layer.problem, arguments.isa, limits.threads, &pool.parallel());
        const nlohmann::json row = measure(layer.name, one, many, arguments);
        fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n",
                   layer.name, row["kernel"].get<std::string>(),
                   row["milliseconds_of_one"].get<double>(), row["milliseconds"].get<double>(),
                   row["speed_up"].get<double>(), row["lower_quartile"].get<double>(),
                   row["upper_quartile"].get<double>(), row["of_fastest"].get<double>());
        std::fflush(stdout);
        gains.push_back(row["speed_up"]);
        of_fastest.push_back(row["of_fastest"]);
        rows.push_back(row);
    }
    if (gains.empty()) {
        throw std::runtime_error("no layer matches " + arguments.filter + " and takes long enough");
    }
    const double mean = geometric_mean(gains), mean_of_fastest = geometric_mean(of_fastest);
    fmt::print("\nspeed-up by {} threads over {} layers: geometric mean {:.3f}, lowest {:.3f}; of "
               "the fastest turns {:.3f}\n",
               limits.threads, gains.size(), mean, *std::min_element(gains.begin(), gains.end()),
               mean_of_fastest);
    write_json(arguments, {{"layers", rows},
                           {"threads", limits.threads},
                           {"geometric_mean", mean},
                           {"geometric_mean_of_fastest", mean_of_fastest}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Limits limits;
    return bench::run_turn_program(
        "What several threads of a pool gain over one on every layer that takes one long enough. "
        "Time is the time on the wall, so nothing else should run.",
        argc, argv, [&](const bench::TurnArguments &arguments) { bench::run(arguments, limits); },
        [&](CLI::App &app) {
            app.add_option("--threads", limits.threads, "threads that are compared with one")
                ->check(CLI::Range(1, selvage::most_threads))
                ->capture_default_str();
            app.add_option("--least", limits.least,
                           "seconds that a layer takes one thread at least")
                ->check(CLI::NonNegativeNumber)
                ->capture_default_str();
        });
}
