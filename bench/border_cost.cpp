// What the border costs: the library's kernel on a padded layer, against the fastest kernel without
// any border condition on an input that was padded beforehand, with equal outputs.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <regex>
#include <stdexcept>

#include "layers.h"
#include "selvage/kernels.h"
#include "turn_program.h"
#include "turns.h"
#include "workload.h"

namespace bench {
namespace {

/// The axis as it is once the border has become part of the input. Layers have no crops. Kernels
/// without a border may load up to a tile more than their windows read, so there is `slack` behind
/// the input, cropped off again.
selvage::Axis padded(selvage::Axis axis, const selvage::Window &window) {
    const std::int64_t slack = 28 * axis.stride; // the widest tile
    axis.size += axis.begin + window.after() + slack;
    return with(axis, {0, -slack});
}

selvage::Problem padded(const selvage::Plan &plan) {
    selvage::Problem problem = plan.problem();
    problem.y = padded(problem.y, window(problem.y, problem.ceil).window);
    problem.x = padded(problem.x, window(problem.x, problem.ceil).window);
    problem.ceil = false; // what it adds is in the size now
    return problem;
}

/// The data with its input inside a border of what the problem reads there.
Data padded(const selvage::Plan &plan, Data data) {
    const selvage::Problem &from = plan.problem(), to = padded(plan);
    const float border =
        from.op == selvage::Op::max_pool ? -std::numeric_limits<float>::infinity() : from.value;
    Floats input(to.n * to.y.size * to.x.size * to.c, border);
    const std::int64_t row = from.x.size * from.c;
    for (std::int64_t n = 0; n < from.n; ++n) {
        for (std::int64_t y = 0; y < from.y.size; ++y) {
            const float *source = data.input.data() + (n * from.y.size + y) * row;
            std::copy(source, source + row,
                      input.data() +
                          ((n * to.y.size + from.y.begin + y) * to.x.size + from.x.begin) * to.c);
        }
    }
    data.input = std::move(input);
    return data;
}

std::string isa_of(const selvage::Plan &plan) {
    return plan.kernel().substr(plan.kernel().rfind('/') + 1);
}

/// The `count` fastest of several works, after a few turns.
std::vector<std::size_t> fastest_of(const std::vector<Work> &works, std::size_t count,
                                    double slice) {
    const auto seconds = take_turns(works, 3, slice);
    std::vector<std::size_t> order(works.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return quantile(seconds[a], 0.25) < quantile(seconds[b], 0.25);
    });
    order.resize(std::min(order.size(), count));
    return order;
}

/// A row of the results; "reason" instead of numbers where the layer cannot be compared.
nlohmann::json measure(const Layer &layer, const selvage::Plan &plan,
                       const TurnArguments &arguments) {
    const selvage::Problem bare_problem = padded(plan);
    const Data data = integer_data(layer.problem), bare_data = padded(plan, data);
    Workload ours(plan, data);
    std::vector<std::unique_ptr<Workload>> bare;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const selvage::KernelRow &row = selvage::kernel_rows()[i];
        selvage::Plan bare_plan;
        if (row.border || row.op != kernel_op(bare_problem) || isa_of(plan) != row.isa ||
            !make_plan(bare_problem, {row.isa, row.schedule, true}, &bare_plan).ok()) {
            continue;
        }
        bare.push_back(std::make_unique<Workload>(bare_plan, bare_data));
        if (bare.back()->output() != ours.output()) {
            throw std::runtime_error(layer.name + ": " + bare_plan.kernel() + " differs from " +
                                     plan.kernel());
        }
    }
    if (bare.empty()) {
        return {{"layer", layer.name}, {"reason", "no kernel without a border takes it"}};
    }

    std::vector<Work> candidates;
    for (auto &workload : bare) {
        candidates.push_back([&workload] { workload->run(); });
    }
    const std::vector<std::size_t> finalists = fastest_of(candidates, 3, arguments.slice);
    std::vector<Work> works = {[&] { ours.run(); }};
    for (std::size_t finalist : finalists) {
        works.push_back(candidates[finalist]);
    }
    const auto seconds = take_turns(works, arguments.turns, arguments.slice);
    std::size_t fastest = 1; // by a low quantile, which noise moves least
    for (std::size_t i = 2; i < works.size(); ++i) {
        if (quantile(seconds[i], 0.25) < quantile(seconds[fastest], 0.25)) {
            fastest = i;
        }
    }
    const std::vector<double> costs = ratios(seconds[0], seconds[fastest]);
    return {{"layer", layer.name},
            {"kernel", plan.kernel()},
            {"milliseconds", median(seconds[0]) * 1e3},
            {"bare_kernel", bare[finalists[fastest - 1]]->plan().kernel()},
            {"bare_milliseconds", median(seconds[fastest]) * 1e3},
            {"turns", arguments.turns},
            {"ratio", median(costs)},
            {"lower_quartile", quantile(costs, 0.25)},
            {"upper_quartile", quantile(costs, 0.75)}};
}

void print(const nlohmann::json &row) {
    if (row.contains("reason")) {
        fmt::print("| {} | {} | | | | | | |\n", row["layer"].get<std::string>(),
                   row["reason"].get<std::string>());
    } else {
        fmt::print("| {} | {} | {:.4f} | {} | {:.4f} | {:.3f} | {:.3f} | {:.3f} |\n",
                   row["layer"].get<std::string>(), row["kernel"].get<std::string>(),
                   row["milliseconds"].get<double>(), row["bare_kernel"].get<std::string>(),
                   row["bare_milliseconds"].get<double>(), row["ratio"].get<double>(),
                   row["lower_quartile"].get<double>(), row["upper_quartile"].get<double>());
    }
    std::fflush(stdout);
}

void run(const TurnArguments &arguments) {
    fmt::print("| layer | kernel | ms | without border | ms | ratio | lower quartile | "
               "upper quartile |\n|---|---|---|---|---|---|---|---|\n");
    const std::regex filter(arguments.filter);
    nlohmann::json rows = nlohmann::json::array();
    std::vector<double> costs;
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!std::regex_search(layer.name, filter)) {
            continue;
        }
        nlohmann::json row = {{"layer", layer.name}};
        selvage::Plan plan;
        const selvage::Status status = make_plan(layer.problem, {arguments.isa, "", true}, &plan);
        if (!reads_border(layer.problem)) {
            continue;
        }
        if (!status.ok()) {
            row["reason"] = status.text();
        } else if (layer.problem.op == selvage::Op::avg_pool && !layer.problem.include_pad) {
            row["reason"] = "its divisors depend on the border, so no padded input is equal";
        } else {
            row = measure(layer, plan, arguments);
        }
        print(row);
        if (row.contains("ratio")) {
            costs.push_back(row["ratio"]);
        }
        rows.push_back(row);
    }
    if (costs.empty()) {
        throw std::runtime_error("no layer could be compared");
    }
    const double mean = geometric_mean(costs);
    fmt::print("\ntime with the border / without, {} layers: geometric mean {:.3f}\n", costs.size(),
               mean);
    write_json(arguments, {{"layers", rows}, {"geometric_mean", mean}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "What the border costs on the padded layers, one thread: the library's kernel "
        "against the fastest kernel without a border on an input padded beforehand.",
        argc, argv, bench::run);
}
