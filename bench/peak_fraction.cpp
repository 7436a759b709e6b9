// How much of the FMA peak the dense 3x3 layers reach: peak and layer take turns in one process.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <stdexcept>

#include "fma_peak.h"
#include "layers.h"
#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

nlohmann::json measure(const Layer &layer, const TurnArguments &arguments) {
    Subject subject(layer.problem, arguments.isa);
    const selvage::Plan &plan = subject.plan();
    const FmaPeak peak = fma_peak(plan.kernel());
    constexpr long rounds = 1000; // a few microseconds
    const auto seconds = take_turns({[&] { peak.run(rounds); }, [&] { subject.run(); }},
                                    arguments.turns, arguments.slice);
    const double peak_operations = rounds * peak.operations_per_round;
    // Operations per second of the layer over those of the peak in the same turn.
    std::vector<double> fractions = ratios(seconds[0], seconds[1]);
    for (double &fraction : fractions) {
        fraction *= operations(plan) / peak_operations;
    }
    return {{"layer", layer.name},
            {"kernel", plan.kernel()},
            {"turns", arguments.turns},
            {"milliseconds", median(seconds[1]) * 1e3},
            {"gflops", operations(plan) / median(seconds[1]) * 1e-9},
            {"peak_gflops", peak_operations / median(seconds[0]) * 1e-9},
            {"fraction", median(fractions)},
            {"lower_quartile", quantile(fractions, 0.25)},
            {"best", quantile(fractions, 1)}};
}

void run(const TurnArguments &arguments) {
    fmt::print(
        "| layer | kernel | ms | GFLOP/s | peak GFLOP/s | fraction | lower quartile | best |\n"
        "|---|---|---|---|---|---|---|---|\n");
    nlohmann::json rows = nlohmann::json::array();
    std::vector<double> fractions;
    const std::regex filter(arguments.filter);
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!is_dense_3x3(layer.problem) || !std::regex_search(layer.name, filter)) {
            continue;
        }
        const nlohmann::json row = measure(layer, arguments);
        fmt::print("| {} | {} | {:.3f} | {:.1f} | {:.1f} | {:.3f} | {:.3f} | {:.3f} |\n",
                   layer.name, row["kernel"].get<std::string>(), row["milliseconds"].get<double>(),
                   row["gflops"].get<double>(), row["peak_gflops"].get<double>(),
                   row["fraction"].get<double>(), row["lower_quartile"].get<double>(),
                   row["best"].get<double>());
        std::fflush(stdout);
        fractions.push_back(row["fraction"]);
        rows.push_back(row);
    }
    if (fractions.empty()) {
        throw std::runtime_error("no dense 3x3 layer matches " + arguments.filter);
    }
    const double mean = geometric_mean(fractions);
    const double lowest = *std::min_element(fractions.begin(), fractions.end());
    fmt::print("\nfraction of the FMA peak over {} layers: geometric mean {:.3f}, lowest {:.3f}\n",
               fractions.size(), mean, lowest);
    write_json(arguments, {{"layers", rows}, {"geometric_mean", mean}, {"lowest", lowest}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "How much of the FMA peak the dense 3x3 layers (one group, 64 channels and more) "
        "reach, one thread. In every turn, peak and layer run equally long.",
        argc, argv, bench::run);
}
