// Every schedule of layers or problems against each other: the kernels of the library, its own
// choice, and what Halide's autoschedulers make of plain algorithms. README.md explains it.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include "autoscheduler.h"
#include "comparison.h"
#include "kernel_text.h"
#include "layers.h"
#include "machine.h"
#include "program.h"
#include "selvage/thread_pool.h"
#include "subject.h"

namespace bench {
namespace {

using nlohmann::json;

constexpr int quick_turns = 3;
constexpr double quick_slice = 2e-4;

struct Arguments {
    std::vector<std::string> problems;
    std::string layers;
    std::vector<int> threads = {1};
    std::string isa = selvage::available_isas().back(), schedule;
    int turns = 15;
    double slice = 2e-3;
    int autoschedule = 0; ///< seconds that an autoscheduler may take; 0: none is asked
    std::string cache = BENCH_AUTOSCHEDULED;
    std::string json_file, emit, emit_file;
};

/// What is measured: layers of the file, or problems by their texts.
std::vector<Layer> chosen_layers(const Arguments &arguments) {
    std::vector<Layer> layers;
    for (const std::string &text : arguments.problems) {
        const selvage::Problem each = problem(text);
        layers.push_back({selvage::text(each), each});
    }
    if (layers.empty()) {
        const std::regex filter(arguments.layers);
        for (const Layer &layer : read_layers(BENCH_LAYERS)) {
            if (std::regex_search(layer.name, filter)) {
                layers.push_back(layer);
            }
        }
    }
    if (layers.empty()) {
        throw std::invalid_argument("no layer matches " + arguments.layers);
    }
    return layers;
}

/// Has every autoscheduler make a kernel of each layer, on all CPUs; result[layer][autoscheduler].
std::vector<std::vector<Rival>> make_rivals(const std::vector<Layer> &layers,
                                            const Arguments &arguments,
                                            const AutoschedulerPlace &place) {
    const std::size_t kinds = autoschedulers().size();
    std::vector<std::vector<Rival>> rivals(layers.size(), std::vector<Rival>(kinds));
    const int most_threads = *std::max_element(arguments.threads.begin(), arguments.threads.end());
    std::atomic<std::size_t> next{0}, done{0};
    const auto work = [&] {
        for (std::size_t job; (job = next++) < layers.size() * kinds;) {
            const Layer &layer = layers[job / kinds];
            const Autoscheduler &autoscheduler = autoschedulers()[job % kinds];
            Rival &rival = rivals[job / kinds][job % kinds];
            rival.name = autoscheduler.name;
            rival.kernel.failure = no_plain_algorithm(layer.problem);
            if (rival.kernel.failure.empty()) {
                try {
                    rival.kernel = make_autoscheduled(layer.problem, autoscheduler, most_threads,
                                                      arguments.autoschedule, place);
                } catch (const std::exception &error) {
                    rival.kernel.failure = error.what();
                }
            }
            fmt::print(stderr, "autoscheduled {}/{}: {} {}\n", ++done, layers.size() * kinds,
                       layer.name, autoscheduler.name);
        }
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
        workers.emplace_back(work);
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    return rivals;
}

json facts_of(const Layer &layer) {
    selvage::Plan plan;
    selvage::Options options;
    options.adjacent_pixels = true;
    const selvage::Status status = make_plan(layer.problem, options, &plan);
    if (!status.ok()) {
        throw std::runtime_error(layer.name + ": " + status.text());
    }
    return {{"name", layer.name},
            {"problem", text(layer.problem)},
            {"operations", operations(plan)},
            {"bytes", bytes(plan)}};
}

json facts_of(const Ceilings &ceilings, int threads) {
    json bandwidths = json::array();
    for (const Ceilings::Bandwidth &each : ceilings.bandwidths()) {
        bandwidths.push_back({{"level", each.level.name}, {"gbs", each.bytes_per_second * 1e-9}});
    }
    return {{"threads", threads},
            {"gflops", ceilings.operations_per_second() * 1e-9},
            {"bandwidths", bandwidths}};
}

/// The results of one layer and number of threads as a table, the fastest first.
void print_table(FILE *file, const json &layer, std::vector<json> results) {
    fmt::print(file, "{}, {} thread(s)\n\n", layer["name"].get<std::string>(),
               results.front()["threads"].get<int>());
    fmt::print(file, "| schedule | kernel | layout | ms | ratio | fraction | bound | scratch |\n"
                     "|---|---|---|---|---|---|---|---|\n");
    std::stable_sort(results.begin(), results.end(), [](const json &a, const json &b) {
        return a.value("milliseconds", 1e9) < b.value("milliseconds", 1e9);
    });
    for (const json &each : results) {
        const std::string start =
            fmt::format("| {} | {} | {} |", each["schedule"].get<std::string>(),
                        each["kernel"].get<std::string>(), each["layout"].get<std::string>());
        if (each["status"] != "ok") {
            fmt::print(file, "{} {}: {} | | | | |\n", start, each["status"].get<std::string>(),
                       each["reason"].get<std::string>());
            continue;
        }
        fmt::print(file, "{} {:.4f} | {:.3f} | {:.3f} | {} | {} |\n", start,
                   each["milliseconds"].get<double>(), each["ratio"].get<double>(),
                   each["fraction"].get<double>(), each["bound"].get<std::string>(),
                   each.value("scratch_bytes", 0));
    }
    fmt::print(file, "\n");
    std::fflush(file);
}

/// The kernel that ran: the one that was asked for, else the library's choice.
std::string kernel_that_ran(const std::vector<json> &results) {
    const auto asked = std::find_if(results.begin(), results.end(), [](const json &each) {
        return each["schedule"] == "asked for";
    });
    return (asked == results.end() ? results.front() : *asked)["kernel"];
}

void write_file(const std::string &path, const std::string &text) {
    if (!(std::ofstream(path) << text).flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

void run(const Arguments &arguments) {
    const std::vector<Layer> layers = chosen_layers(arguments);
    const AutoschedulerPlace place = {BENCH_AUTOSCHEDULED_GENERATORS, BENCH_AUTOSCHEDULERS,
                                      arguments.cache};
    std::vector<std::vector<Rival>> rivals(layers.size());
    if (arguments.autoschedule > 0) {
        rivals = make_rivals(layers, arguments, place);
    }
    const bool quiet_table =
        arguments.json_file == "-" || (!arguments.emit.empty() && arguments.emit_file.empty());
    FILE *const tables = quiet_table ? stderr : stdout;

    json all = {{"schema", 1},
                {"date", fmt::format("{:%F}", fmt::localtime(std::time(nullptr)))},
                {"machine", machine_name()},
                {"isa", arguments.isa},
                {"turns", arguments.turns},
                {"layers", json::array()},
                {"ceilings", json::array()},
                {"results", json::array()}};
    for (const Layer &layer : layers) {
        all["layers"].push_back(facts_of(layer));
    }
    std::string kernel;
    for (int threads : arguments.threads) {
        selvage::ThreadPool pool(threads);
        Ceilings ceilings(arguments.isa, pool);
        all["ceilings"].push_back(facts_of(ceilings, threads));
        if (arguments.autoschedule > 0) {
            use_halide_runtime(place, threads);
        }
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const Layer &layer = layers[i];
            std::vector<std::unique_ptr<Case>> cases;
            std::vector<Case *> pointers;
            const auto add = [&](const selvage::Problem &each) {
                cases.push_back(std::make_unique<Case>(each));
                pointers.push_back(cases.back().get());
            };
            add(layer.problem);
            if (arguments.problems.empty()) { // layers have no layout of their own
                selvage::Problem planes = layer.problem;
                planes.layout = selvage::Layout::nchw;
                add(planes);
            }
            std::vector<json> results =
                compare_schedules(pointers, rivals[i],
                                  {arguments.isa, arguments.schedule, !arguments.problems.empty(),
                                   arguments.turns, arguments.slice},
                                  ceilings, pool);
            for (json &each : results) {
                each["layer"] = layer.name;
                all["results"].push_back(each);
            }
            kernel = kernel_that_ran(results);
            fmt::print(stderr, "{}/{} of {} thread(s): {} {:.4f} ms by {}\n", i + 1, layers.size(),
                       threads, layer.name, results.front()["milliseconds"].get<double>(),
                       results.front()["kernel"].get<std::string>());
            print_table(tables, all["layers"][i], results);
        }
    }
    if (arguments.json_file == "-") {
        fmt::print("{}\n", all.dump(1));
    } else if (!arguments.json_file.empty()) {
        write_file(arguments.json_file, all.dump(1) + "\n");
    }
    if (!arguments.emit.empty()) {
        const std::string text = kernel_text(kernel, arguments.emit);
        if (arguments.emit_file.empty()) {
            fmt::print("{}", text);
        } else {
            write_file(arguments.emit_file, text);
        }
    }
}

std::string check_problem(const std::string &text) {
    selvage::Problem problem;
    const selvage::Status status = selvage::parse_problem(text, &problem);
    return status.ok() ? "" : status.text();
}

std::vector<int> numbers_of(const std::string &threads) {
    std::vector<int> numbers;
    std::istringstream words(threads);
    for (std::string word; std::getline(words, word, ',');) {
        numbers.push_back(std::atoi(word.c_str()));
    }
    return numbers;
}

std::string check_threads(const std::string &threads) {
    const std::regex list("[1-9][0-9]{0,2}(,[1-9][0-9]{0,2})*");
    return std::regex_match(threads, list) ? "" : "must be numbers of threads, such as 1,2";
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Arguments arguments;
    CLI::App app("Times every schedule of layers of bench/peers/layers.json or of problems: the "
                 "library's choice, its kernels, and what Halide's autoschedulers make.");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_option("problems", arguments.problems, "Problem texts, in place of layers")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->check(bench::check_problem);
    app.add_option("--layers", arguments.layers, "regular expression on the names of layers");
    std::string threads = "1";
    app.add_option("--threads", threads, "numbers of threads, such as 1,2")
        ->check(bench::check_threads)
        ->capture_default_str();
    app.add_option("--schedule", arguments.schedule,
                   "a schedule text: this alone, beside the library's choice");
    app.add_option("--isa", arguments.isa, "the kernels of this instruction set")
        ->check(CLI::IsMember(selvage::available_isas()))
        ->capture_default_str();
    app.add_option("--turns", arguments.turns, "turns of each schedule")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--slice", arguments.slice, "seconds that each gets in a turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--quick", "a few short turns, for a first look");
    app.add_option(
           "--autoschedule", arguments.autoschedule,
           "ask Halide's autoschedulers too, each for so many seconds of a processor at most")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--cache", arguments.cache, "folder of the kernels that these have made")
        ->capture_default_str();
    app.add_option("--json", arguments.json_file, "write the results to this file; - is stdout");
    app.add_option("--emit", arguments.emit,
                   "write Halide's lowered statement or the assembly of the kernel that ran")
        ->check(CLI::IsMember({"stmt", "asm"}));
    app.add_option("-o", arguments.emit_file, "the file of --emit, in place of stdout");
    return bench::run_program(app, argc, argv, [&] {
        arguments.threads = bench::numbers_of(threads);
        if (app.count("--quick") > 0) {
            arguments.turns = bench::quick_turns;
            arguments.slice = bench::quick_slice;
        }
        bench::run(arguments);
    });
}
