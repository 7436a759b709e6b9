// What the modes of the border cost: each over zero padding, on the same layers and pictures.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>

#include "layers.h"
#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

/// Layers on maps of 56x56 and more whose windows leave the input, and filters of RGB pictures.
std::vector<Layer> layers() {
    std::vector<Layer> result;
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        const selvage::Problem &p = layer.problem;
        if (p.y.size >= 56 && p.x.size >= 56 && reads_border(p)) {
            result.push_back(layer);
        }
    }
    for (const char *op : {"depthwise2d", "filter2d"}) {
        for (int kernel : {3, 5, 7}) {
            const Layer picture = {
                fmt::format("picture_{}_{}x{}", op, kernel, kernel),
                problem(fmt::format("{} c=3 in=1080x1920 kernel={} same=torch", op, kernel))};
            result.push_back(picture);
        }
    }
    return result;
}

nlohmann::json measure(const Layer &layer, const TurnArguments &arguments) {
    std::vector<std::unique_ptr<Subject>> subjects;
    std::vector<Work> works;
    for (const selvage::NamedMode &mode : selvage::modes) {
        selvage::Problem problem = layer.problem;
        problem.y.mode = problem.x.mode = mode.mode;
        subjects.push_back(std::make_unique<Subject>(problem, arguments.isa));
        works.push_back([subject = subjects.back().get()] { subject->run(); });
    }
    const auto seconds = take_turns(works, arguments.turns, arguments.slice);
    nlohmann::json row = {{"layer", layer.name},
                          {"kernel", subjects.front()->plan().kernel()},
                          {"milliseconds", median(seconds.front()) * 1e3},
                          {"turns", arguments.turns}};
    for (std::size_t i = 1; i < works.size(); ++i) { // modes begin with `constant`
        row["modes"].push_back({{"mode", selvage::modes[i].name},
                                {"kernel", subjects[i]->plan().kernel()},
                                {"ratio", median(ratios(seconds[i], seconds.front()))}});
    }
    return row;
}

void run(const TurnArguments &arguments) {
    std::string head = "| layer | kernel of zero padding | ms |", rule = "|---|---|---|";
    for (std::size_t i = 1; i < selvage::modes.size(); ++i) {
        head += fmt::format(" {} |", selvage::modes[i].name);
        rule += "---|";
    }
    fmt::print("{}\n{}\n", head, rule);
    const std::regex filter(arguments.filter);
    nlohmann::json rows = nlohmann::json::array();
    std::map<std::string, std::vector<double>> costs; // by mode
    std::vector<double> all;
    for (const Layer &layer : layers()) {
        if (!std::regex_search(layer.name, filter)) {
            continue;
        }
        const nlohmann::json row = measure(layer, arguments);
        fmt::print("| {} | {} | {:.4f} |", layer.name, row["kernel"].get<std::string>(),
                   row["milliseconds"].get<double>());
        for (const nlohmann::json &mode : row["modes"]) {
            fmt::print(" {:.3f} |", mode["ratio"].get<double>());
            costs[mode["mode"]].push_back(mode["ratio"]);
            all.push_back(mode["ratio"]);
        }
        fmt::print("\n");
        std::fflush(stdout);
        rows.push_back(row);
    }
    if (all.empty()) {
        throw std::runtime_error("no layer matches " + arguments.filter);
    }
    nlohmann::json means = {{"all", geometric_mean(all)}};
    fmt::print("\ntime over that of zero padding, {} layers: geometric mean {:.3f}", rows.size(),
               geometric_mean(all));
    for (const auto &[mode, ratios] : costs) {
        fmt::print(", {} {:.3f}", mode, geometric_mean(ratios));
        means[mode] = geometric_mean(ratios);
    }
    fmt::print("\n");
    write_json(arguments, {{"layers", rows}, {"geometric_means", means}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "What the modes of the border cost over zero padding, one thread, on padded layers of "
        "56x56 and more and on filters of pictures.",
        argc, argv, bench::run);
}
