// Times every kernel that accepts a layer of peers/layers.json, and the library's own choice.
// README.md tells how to run it and what the counters mean.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fma_peak.h"
#include "layers.h"
#include "reference.h"
#include "selvage/kernels.h"
#include "turns.h"
#include "workload.h"

namespace bench {
namespace {

// The reference schedule has no directives and takes too long on layers above this.
constexpr double reference_operations = 20e6;

/// Measures the FMA peak between the calls of a kernel: whenever the calls have filled a slice, the
/// peak gets one as long.
class PeakShare {
public:
    PeakShare(const FmaPeak &peak, double operations_per_call)
        : peak_(peak), operations_per_call_(operations_per_call),
          ratios_(most_ratios) { // touched here, so that no page is faulted in while timing
        ratios_.clear();
        peak_.run(rounds_);
    }

    void add_call(double seconds) {
        seconds_ += seconds;
        ++calls_;
        if (seconds_ > slice_seconds && ratios_.size() < most_ratios) {
            close_slice();
        }
    }

    /// Median of the slices' ratios.
    double share() {
        if (ratios_.empty()) {
            close_slice();
        }
        return median(ratios_);
    }

private:
    static constexpr double slice_seconds = 1e-3;
    static constexpr std::size_t most_ratios = 1 << 14;

    void close_slice() {
        rounds_ = std::max(1L, static_cast<long>(seconds_ * rounds_per_second_));
        const double begin = now();
        peak_.run(rounds_);
        rounds_per_second_ = rounds_ / (now() - begin);
        const double rate = operations_per_call_ * calls_ / seconds_;
        ratios_.push_back(rate / (peak_.operations_per_round * rounds_per_second_));
        seconds_ = 0;
        calls_ = 0;
    }

    FmaPeak peak_;
    double operations_per_call_;
    std::vector<double> ratios_;
    double seconds_ = 0; // of the calls since the last slice of the peak
    long calls_ = 0;
    long rounds_ = 1000;
    double rounds_per_second_ = 1e8; // a guess, for the first slice
};

/// A layer with its data and results, which all kernels share.
struct Case {
    Layer layer;
    Data data;
    std::vector<Expected> expected;
};

const Case &case_of(const Layer &layer, const selvage::Plan &plan) {
    static Case current; // one at a time: benchmarks of a layer follow one another
    if (current.layer.name != layer.name || !(current.layer.problem == layer.problem)) {
        current = {layer, integer_data(layer.problem), {}};
        current.expected = reference(plan, current.data);
    }
    return current;
}

/// The workload of the benchmark `name`, verified; throws std::runtime_error where it is wrong.
Workload &workload_of(const std::string &name, const Layer &layer, const selvage::Plan &plan) {
    static std::string current_name; // the library runs a benchmark several times in a row
    static std::unique_ptr<Workload> current;
    if (current_name != name) {
        current_name.clear();
        current.reset();
        const Case &shared = case_of(layer, plan);
        current = std::make_unique<Workload>(plan, shared.data);
        const std::string text = fault(plan, shared.expected, current->output());
        if (!text.empty()) {
            throw std::runtime_error("wrong result: " + text);
        }
        current_name = name;
    }
    return *current;
}

long minor_faults() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

void run(benchmark::State &state, const std::string &name, const Layer &layer,
         const selvage::Plan &plan) try {
    Workload &workload = workload_of(name, layer, plan);
    PeakShare peak(fma_peak(plan.kernel()), operations(plan));
    workload.run();
    const long faults_before = minor_faults();
    double total_seconds = 0;
    for (auto _ : state) {
        const double begin = now();
        workload.run();
        const double seconds = now() - begin;
        state.SetIterationTime(seconds);
        total_seconds += seconds;
        peak.add_call(seconds);
    }
    const long faults = minor_faults() - faults_before;

    const double gigacalls_per_second = state.iterations() / total_seconds * 1e-9;
    state.SetLabel(plan.kernel());
    state.counters["GFLOP/s"] = operations(plan) * gigacalls_per_second;
    state.counters["GB/s"] = bytes(plan) * gigacalls_per_second;
    state.counters["peak_fraction"] = peak.share();
    state.counters["minor_faults"] = faults;
} catch (const std::exception &error) {
    state.SkipWithError(error.what());
}

void add(const std::string &name, const Layer &layer, const selvage::Plan &plan) {
    benchmark::RegisterBenchmark(
        name.c_str(),
        [name, layer, plan](benchmark::State &state) { bench::run(state, name, layer, plan); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

/// Registers a benchmark for every kernel and layer, and says in the output what is left out.
/// Names end with `suffix`.
void add_all(const std::vector<Layer> &layers, const std::string &suffix,
             bool with_slow_references) {
    for (const Layer &layer : layers) {
        const std::string prefix =
            name(layer.problem.op, layer.problem.rank) + '/' + layer.name + '/';
        const std::string choice = prefix + "auto" + suffix;
        selvage::Plan plan;
        if (const selvage::Status status = make_plan(layer.problem, {"", "", true}, &plan);
            !status.ok()) {
            benchmark::AddCustomContext("not covered: " + choice, status.text());
            continue;
        }
        add(choice, layer, plan);
        for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
            const selvage::KernelRow &row = selvage::kernel_rows()[i];
            if (row.op != kernel_op(layer.problem) ||
                !make_plan(layer.problem, {row.isa, row.schedule, true}, &plan).ok()) {
                continue;
            }
            if (row.family != selvage::Family::reference || with_slow_references ||
                operations(plan) <= reference_operations) {
                add(prefix + row.schedule + '/' + row.isa + suffix, layer, plan);
            }
        }
    }
}

/// Takes --layout=NAME out of the arguments: nhwc where it is missing.
std::string take_layout(int *argc, char **argv) {
    const std::string option = "--layout=";
    std::string layout = "nhwc";
    char **const end = std::remove_if(argv + 1, argv + *argc, [&](const std::string &argument) {
        const bool found = argument.compare(0, option.size(), option) == 0;
        if (found) {
            layout = argument.substr(option.size());
        }
        return found;
    });
    *argc = static_cast<int>(end - argv);
    return layout;
}

} // namespace
} // namespace bench

int main(int argc, char **argv) try {
    benchmark::Initialize(&argc, argv);
    const std::string layout = bench::take_layout(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    if (layout != "nhwc" && layout != "nchw" && layout != "both") {
        std::fprintf(stderr, "%s: --layout=%s: must be nhwc, nchw or both\n", argv[0],
                     layout.c_str());
        return 2;
    }
    const bool asked = benchmark::GetBenchmarkFilter().find("reference") != std::string::npos;
    std::vector<bench::Layer> layers = bench::read_layers(BENCH_LAYERS);
    if (layout != "nchw") {
        bench::add_all(layers, "", asked);
    }
    if (layout != "nhwc") {
        for (bench::Layer &layer : layers) {
            layer.problem.layout = selvage::Layout::nchw;
        }
        bench::add_all(layers, "/nchw", asked);
    }
    if (!asked) {
        benchmark::AddCustomContext("left out", "the schedule reference on layers above 20 MFLOP; "
                                                "name it in the filter to time it there too");
    }
    const std::size_t matches = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return matches > 0 ? 0 : 1; // the library has said so by then
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
}
