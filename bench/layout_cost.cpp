// What planes cost: every convolution layer in NCHW over the same in NHWC.
#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <regex>
#include <stdexcept>

#include "layers.h"
#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

nlohmann::json measure(const Layer &layer, const TurnArguments &arguments) {
    selvage::Problem planar = layer.problem;
    planar.layout = selvage::Layout::nchw;
    Subject nhwc(layer.problem, arguments.isa), nchw(planar, arguments.isa);
    const auto seconds =
        take_turns({[&] { nhwc.run(); }, [&] { nchw.run(); }}, arguments.turns, arguments.slice);
    const std::vector<double> costs = ratios(seconds[1], seconds[0]);
    return {{"layer", layer.name},
            {"op", name(layer.problem.op, layer.problem.rank)},
            {"nhwc_kernel", nhwc.plan().kernel()},
            {"nhwc_milliseconds", median(seconds[0]) * 1e3},
            {"nchw_kernel", nchw.plan().kernel()},
            {"nchw_milliseconds", median(seconds[1]) * 1e3},
            {"turns", arguments.turns},
            {"ratio", median(costs)},
            {"lower_quartile", quantile(costs, 0.25)},
            {"upper_quartile", quantile(costs, 0.75)}};
}

void run(const TurnArguments &arguments) {
    fmt::print("| layer | nhwc | ms | nchw | ms | ratio | lower quartile | upper quartile |\n"
               "|---|---|---|---|---|---|---|---|\n");
    const std::regex filter(arguments.filter);
    nlohmann::json rows = nlohmann::json::array();
    std::map<std::string, std::vector<double>> costs; // by operator
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!has_weights(layer.problem.op) || !std::regex_search(layer.name, filter)) {
            continue;
        }
        const nlohmann::json row = measure(layer, arguments);
        fmt::print("| {} | {} | {:.4f} | {} | {:.4f} | {:.3f} | {:.3f} | {:.3f} |\n", layer.name,
                   row["nhwc_kernel"].get<std::string>(), row["nhwc_milliseconds"].get<double>(),
                   row["nchw_kernel"].get<std::string>(), row["nchw_milliseconds"].get<double>(),
                   row["ratio"].get<double>(), row["lower_quartile"].get<double>(),
                   row["upper_quartile"].get<double>());
        std::fflush(stdout);
        costs[row["op"]].push_back(row["ratio"]);
        rows.push_back(row);
    }
    if (costs.empty()) {
        throw std::runtime_error("no convolution matches " + arguments.filter);
    }
    fmt::print("\n");
    nlohmann::json means;
    for (const auto &[op, ratios] : costs) {
        fmt::print("time in nchw over nhwc, {} layers of {}: geometric mean {:.3f}\n",
                   ratios.size(), op, geometric_mean(ratios));
        means[op] = geometric_mean(ratios);
    }
    write_json(arguments, {{"layers", rows}, {"geometric_means", means}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "What the layout NCHW costs over NHWC on the layers of convolutions, one thread.", argc,
        argv, bench::run);
}
