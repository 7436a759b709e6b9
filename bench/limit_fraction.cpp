// How near the layers are to what the machine can do: to the FMA peak, or to the bandwidth of the
// memory that holds their data, whichever binds. Limits and layer take turns in one process.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <stdexcept>
#include <string>

#include "ceilings.h"
#include "layers.h"
#include "selvage/thread_pool.h"
#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

nlohmann::json measure(const Layer &layer, Ceilings &ceilings, const TurnArguments &arguments) {
    Subject subject(layer.problem, arguments.isa);
    const selvage::Plan &plan = subject.plan();
    const MemoryLevel &level = level_of(bytes(plan), 1);
    const auto seconds =
        take_turns({[&] { subject.run(); }, ceilings.arithmetic(), ceilings.traffic(level)},
                   arguments.turns, arguments.slice);
    // Of every turn, the seconds that either limit allows over those of the layer.
    std::vector<double> arithmetic = ratios(seconds[1], seconds[0]),
                        memory = ratios(seconds[2], seconds[0]);
    for (double &share : arithmetic) {
        share *= operations(plan) / ceilings.operations();
    }
    for (double &share : memory) {
        share *= bytes(plan) / ceilings.bytes(level);
    }
    const bool computes = median(arithmetic) >= median(memory);
    const std::vector<double> &shares = computes ? arithmetic : memory;
    return {{"layer", layer.name},
            {"kernel", plan.kernel()},
            {"group", is_pool(layer.problem.op) || layer.problem.op == selvage::Op::depthwise
                          ? "pools and depthwise"
                          : "convolutions"},
            {"turns", arguments.turns},
            {"milliseconds", median(seconds[0]) * 1e3},
            {"gflops", operations(plan) / median(seconds[0]) * 1e-9},
            {"gbs", bytes(plan) / median(seconds[0]) * 1e-9},
            {"peak_gflops", ceilings.operations() / median(seconds[1]) * 1e-9},
            {"level", level.name},
            {"level_gbs", ceilings.bytes(level) / median(seconds[2]) * 1e-9},
            {"limit", computes ? "FMA" : level.name},
            {"share", median(shares)},
            {"lower_quartile", quantile(shares, 0.25)},
            {"best", quantile(shares, 1)}};
}

/// The line of a group of layers at the end.
nlohmann::json summarise(const std::string &title, const nlohmann::json &rows) {
    std::vector<double> shares, best;
    for (const nlohmann::json &row : rows) {
        shares.push_back(row["share"]);
        best.push_back(row["best"]);
    }
    if (shares.empty()) {
        return nullptr;
    }
    const nlohmann::json summary = {{"layers", shares.size()},
                                    {"geometric_mean", geometric_mean(shares)},
                                    {"lowest", *std::min_element(shares.begin(), shares.end())},
                                    {"geometric_mean_of_best", geometric_mean(best)}};
    fmt::print("{}, {} layers: geometric mean {:.3f}, lowest {:.3f}; of the best turns {:.3f}\n",
               title, shares.size(), summary["geometric_mean"].get<double>(),
               summary["lowest"].get<double>(), summary["geometric_mean_of_best"].get<double>());
    return summary;
}

void run(const TurnArguments &arguments) {
    fmt::print(
        "| layer | kernel | ms | GFLOP/s | peak | GB/s | of its level | limit | share | lower "
        "quartile | best |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    nlohmann::json rows = nlohmann::json::array(), bound = rows, light = rows;
    const std::regex filter(arguments.filter);
    selvage::ThreadPool pool(1);
    Ceilings ceilings(arguments.isa.empty() ? selvage::available_isas().back() : arguments.isa,
                      pool);
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!std::regex_search(layer.name, filter)) {
            continue;
        }
        const nlohmann::json row = measure(layer, ceilings, arguments);
        fmt::print("| {} | {} | {:.4f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} | {:.3f} | {:.3f} "
                   "| {:.3f} |\n",
                   layer.name, row["kernel"].get<std::string>(), row["milliseconds"].get<double>(),
                   row["gflops"].get<double>(), row["peak_gflops"].get<double>(),
                   row["gbs"].get<double>(), row["level_gbs"].get<double>(),
                   row["limit"].get<std::string>(), row["share"].get<double>(),
                   row["lower_quartile"].get<double>(), row["best"].get<double>());
        std::fflush(stdout);
        rows.push_back(row);
        if (row["group"] == "pools and depthwise") {
            light.push_back(row);
        } else if (row["limit"] == "FMA") {
            bound.push_back(row);
        }
    }
    if (rows.empty()) {
        throw std::runtime_error("no layer matches " + arguments.filter);
    }
    fmt::print("\n");
    const nlohmann::json of_bound =
        summarise("share of the FMA peak, convolutions that it limits", bound);
    const nlohmann::json of_light =
        summarise("share of the limit that binds, pools and depthwise", light);
    write_json(arguments, {{"layers", rows},
                           {"compute_bound_convolutions", of_bound},
                           {"pools_and_depthwise", of_light}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "How near every layer is to the limit that binds: the FMA peak, where one maximum counts "
        "as one operation, or the bandwidth of the smallest memory that holds its data. One "
        "thread; in every turn, limits and layer run equally long.",
        argc, argv, bench::run);
}
