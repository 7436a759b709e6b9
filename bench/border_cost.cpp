// What the border, unequal pads and a phase cost: the library's kernel on a padded layer, against
// the fastest kernel without any border condition on an input that was padded beforehand, with
// equal outputs.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
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
    axis.size += axis.begin + std::max<std::int64_t>(window.after(), 0) + slack;
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

/// A layer with other pads or phases.
struct Variant {
    std::string name;
    selvage::Problem problem;
};

/// The axis with one pad moved to its other side, which leaves as many outputs.
selvage::Axis shifted(selvage::Axis axis) {
    const std::int64_t moved = axis.end > 0 ? 1 : axis.begin > 0 ? -1 : 0;
    return with(axis, {axis.begin + moved, axis.end - moved});
}

selvage::Axis with_last_phase(selvage::Axis axis) {
    axis.phase = axis.stride - 1;
    return axis;
}

std::vector<Variant> variants(const selvage::Problem &given) {
    std::vector<Variant> all = {{"as given", given}, {"pads shifted", given}};
    all.back().problem.y = shifted(given.y);
    all.back().problem.x = shifted(given.x);
    if (given.y.stride > 1 || given.x.stride > 1) {
        all.push_back({"last phase", given});
        all.back().problem.y = with_last_phase(given.y);
        all.back().problem.x = with_last_phase(given.x);
    }
    return all;
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

/// What is measured of a variant; "reason" instead of numbers where it cannot be compared.
nlohmann::json measure(const selvage::Problem &problem, const TurnArguments &arguments) {
    if (problem.op == selvage::Op::avg_pool && !problem.include_pad) {
        return {{"reason", "its divisors depend on the border, so no padded input is equal"}};
    }
    selvage::Plan plan;
    const selvage::Status status = make_plan(problem, {arguments.isa, "", true}, &plan);
    if (!status.ok()) {
        return {{"reason", status.text()}};
    }
    const selvage::Problem bare_problem = padded(plan);
    const Data data = integer_data(problem), bare_data = padded(plan, data);
    Floats output; // of all, so that where it lies makes none of them faster
    Workload ours(plan, data, nullptr, &output);
    const Floats expected = output;
    std::vector<std::unique_ptr<Workload>> bare;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const selvage::KernelRow &row = selvage::kernel_rows()[i];
        selvage::Plan bare_plan;
        if (row.border || row.op != kernel_op(bare_problem) || isa_of(plan) != row.isa ||
            !make_plan(bare_problem, {row.isa, row.schedule, true}, &bare_plan).ok()) {
            continue;
        }
        bare.push_back(std::make_unique<Workload>(bare_plan, bare_data, nullptr, &output));
        if (output != expected) {
            throw std::runtime_error(text(problem) + ": " + bare_plan.kernel() + " differs from " +
                                     plan.kernel());
        }
    }
    if (bare.empty()) {
        return {{"reason", "no kernel without a border takes it"}};
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
    return {{"kernel", plan.kernel()},
            {"milliseconds", median(seconds[0]) * 1e3},
            {"bare_kernel", bare[finalists[fastest - 1]]->plan().kernel()},
            {"bare_milliseconds", median(seconds[fastest]) * 1e3},
            {"turns", arguments.turns},
            {"ratio", median(costs)},
            {"lower_quartile", quantile(costs, 0.25)},
            {"upper_quartile", quantile(costs, 0.75)}};
}

void print(const nlohmann::json &row) {
    const std::string layer = row["layer"], variant = row["variant"];
    if (row.contains("reason")) {
        fmt::print("| {} | {} | {} | | | | | | |\n", layer, variant,
                   row["reason"].get<std::string>());
    } else {
        fmt::print("| {} | {} | {} | {:.4f} | {} | {:.4f} | {:.3f} | {:.3f} | {:.3f} |\n", layer,
                   variant, row["kernel"].get<std::string>(), row["milliseconds"].get<double>(),
                   row["bare_kernel"].get<std::string>(), row["bare_milliseconds"].get<double>(),
                   row["ratio"].get<double>(), row["lower_quartile"].get<double>(),
                   row["upper_quartile"].get<double>());
    }
    std::fflush(stdout);
}

void run(const TurnArguments &arguments) {
    fmt::print("| layer | pads and phase | kernel | ms | without border | ms | ratio | lower "
               "quartile | upper quartile |\n|---|---|---|---|---|---|---|---|---|\n");
    const std::regex filter(arguments.filter);
    nlohmann::json rows = nlohmann::json::array();
    std::map<std::string, std::vector<double>> costs; // by variant
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!reads_border(layer.problem) || !std::regex_search(layer.name, filter)) {
            continue;
        }
        for (const Variant &variant : variants(layer.problem)) {
            nlohmann::json row = {{"layer", layer.name}, {"variant", variant.name}};
            row.update(measure(variant.problem, arguments));
            print(row);
            if (row.contains("ratio")) {
                costs[variant.name].push_back(row["ratio"]);
            }
            rows.push_back(row);
        }
    }
    if (costs.empty()) {
        throw std::runtime_error("no layer could be compared");
    }
    fmt::print("\n");
    nlohmann::json means;
    for (const auto &[variant, ratios] : costs) {
        means[variant] = geometric_mean(ratios);
        fmt::print("time with the border / without, {}, {} layers: geometric mean {:.3f}, highest "
                   "{:.3f}\n",
                   variant, ratios.size(), geometric_mean(ratios),
                   *std::max_element(ratios.begin(), ratios.end()));
    }
    write_json(arguments, {{"layers", rows}, {"geometric_means", means}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "What the border costs on the padded layers, one thread: the library's kernel "
        "against the fastest kernel without a border on an input padded beforehand. Each layer "
        "with its pads, with a pad moved to the other side, and with the last phase of its stride.",
        argc, argv, bench::run);
}
