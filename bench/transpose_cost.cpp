// How fast transposed convolutions are: each against the convolution of as many operations that has
// four times the outputs of each pixel as channels.
#include <fmt/core.h>

#include <cstdio>
#include <regex>
#include <stdexcept>
#include <tuple>

#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

/// Two problems of equal operations.
struct Pair {
    std::string name;
    selvage::Problem transposed, convolution;
};

/// Up-convolutions of U-Net decoders: from c to k channels on maps of size x size.
std::vector<Pair> pairs() {
    std::vector<Pair> result;
    for (const auto &[c, k, size] :
         {std::tuple(512, 256, 28), std::tuple(256, 128, 56), std::tuple(128, 64, 112)}) {
        const std::string shape = fmt::format("c={} in={}x{} bias=1", c, size, size);
        const std::string channels = fmt::format("{}_{}_{}", c, k, size);
        result.push_back(
            {"convt_2x2s2_" + channels,
             problem(fmt::format("conv_transpose2d {} k={} kernel=2 stride=2", shape, k)),
             problem(fmt::format("conv2d {} k={} kernel=1", shape, 4 * k))});
        result.push_back(
            {"convt_4x4s2_" + channels,
             problem(fmt::format("conv_transpose2d {} k={} kernel=4 stride=2 pads=1", shape, k)),
             problem(fmt::format("conv2d {} k={} kernel=2 pads=0,0,1,1", shape, 4 * k))});
    }
    return result;
}

nlohmann::json measure(const Pair &pair, const TurnArguments &arguments) {
    Subject transposed(pair.transposed, arguments.isa),
        convolution(pair.convolution, arguments.isa);
    const auto seconds = take_turns({[&] { transposed.run(); }, [&] { convolution.run(); }},
                                    arguments.turns, arguments.slice);
    const std::vector<double> speeds = ratios(seconds[1], seconds[0]);
    return {{"problem", pair.name},
            {"kernel", transposed.plan().kernel()},
            {"milliseconds", median(seconds[0]) * 1e3},
            {"convolution_kernel", convolution.plan().kernel()},
            {"convolution_milliseconds", median(seconds[1]) * 1e3},
            {"turns", arguments.turns},
            {"speed", median(speeds)},
            {"lower_quartile", quantile(speeds, 0.25)},
            {"upper_quartile", quantile(speeds, 0.75)}};
}

void run(const TurnArguments &arguments) {
    fmt::print("| problem | kernel | ms | convolution | ms | speed | lower quartile | "
               "upper quartile |\n|---|---|---|---|---|---|---|---|\n");
    const std::regex filter(arguments.filter);
    nlohmann::json rows = nlohmann::json::array();
    std::vector<double> speeds;
    for (const Pair &pair : pairs()) {
        if (!std::regex_search(pair.name, filter)) {
            continue;
        }
        const nlohmann::json row = measure(pair, arguments);
        fmt::print("| {} | {} | {:.4f} | {} | {:.4f} | {:.0f}% | {:.0f}% | {:.0f}% |\n", pair.name,
                   row["kernel"].get<std::string>(), row["milliseconds"].get<double>(),
                   row["convolution_kernel"].get<std::string>(),
                   row["convolution_milliseconds"].get<double>(), row["speed"].get<double>() * 100,
                   row["lower_quartile"].get<double>() * 100,
                   row["upper_quartile"].get<double>() * 100);
        std::fflush(stdout);
        speeds.push_back(row["speed"]);
        rows.push_back(row);
    }
    if (speeds.empty()) {
        throw std::runtime_error("no problem matches " + arguments.filter);
    }
    const double mean = geometric_mean(speeds);
    fmt::print("\nspeed of the transposed convolution over the convolution's, {} problems: "
               "geometric mean {:.0f}%\n",
               speeds.size(), mean * 100);
    write_json(arguments, {{"problems", rows}, {"geometric_mean", mean}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "How fast the up-convolutions of U-Net decoders are, one thread: 2x2 and 4x4 at stride 2 "
        "against convolutions of as many operations, 1x1 and 2x2 to four times the channels.",
        argc, argv, bench::run);
}
