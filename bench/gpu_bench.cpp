// How fast layers are on a GPU, beside cuDNN where that is installed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <regex>
#include <stdexcept>

#include "cudnn.h"
#include "layers.h"
#include "reference.h"
#include "selvage/layer.h"
#include "turn_program.h"
#include "turns.h"
#include "workload.h"

namespace bench {
namespace {

/// Runs that are queued before one waits, as the layers of a network are.
constexpr int queued = 10;

void check(const selvage::Status &status) {
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
}

/// A layer whose tensors are on the device, and right.
class OnDevice {
public:
    OnDevice(const selvage::Device &device, const selvage::Problem &problem, const Data &data) {
        selvage::Options options;
        options.device = device;
        options.adjacent_pixels = true;
        const bool weights = has_weights(problem.op);
        check(make_layer(problem, options, weights ? data.weights.data() : nullptr,
                         selvage::WeightOrder::oihw, problem.bias ? data.bias.data() : nullptr,
                         &layer_));
        const selvage::Region &out = plan().output_region();
        output_.resize(std::size_t(problem.n * out.z.size * out.y.size * out.x.size * problem.k),
                       std::nanf(""));
        const std::size_t in_bytes = data.input.size() * sizeof(float);
        check(allocate(device, in_bytes, &from_));
        check(allocate(device, out_bytes(), &to_));
        check(device.copy_in(data.input.data(), from_.get(), in_bytes));
        check(device.copy_in(output_.data(), to_.get(), out_bytes()));
        run();
        check(device.copy_out(to_.get(), output_.data(), out_bytes()));
        const std::string wrong = fault(plan(), reference(plan(), data), output_);
        if (!wrong.empty()) {
            throw std::runtime_error(text(problem) + " by " + plan().kernel() + ": " + wrong);
        }
    }

    const selvage::Plan &plan() const { return layer_.plan(); }
    const Floats &output() const { return output_; }

    void run() {
        check(layer_.run(static_cast<const float *>(from_.get()), static_cast<float *>(to_.get())));
    }

private:
    std::size_t out_bytes() const { return output_.size() * sizeof(float); }

    selvage::Layer layer_;
    selvage::DeviceMemory from_, to_;
    Floats output_;
};

/// cuDNN may round, by Winograd for one; the numbers are whole.
void compare(CudnnConvolution &peer, const Floats &right) {
    peer.run();
    const Floats found = peer.output();
    for (std::size_t i = 0; i < right.size(); ++i) {
        if (std::round(found[i]) != right[i]) {
            throw std::runtime_error("cuDNN computes something else than the layer");
        }
    }
}

nlohmann::json measure(const selvage::Device &device, const Layer &layer,
                       const TurnArguments &arguments) {
    const Data data = integer_data(layer.problem);
    OnDevice ours(device, layer.problem, data);
    std::string reason;
    const auto peer = CudnnConvolution::make(device, layer.problem, data, &reason);
    const auto waiting = [&](auto &work) {
        return [&] {
            for (int i = 0; i < queued; ++i) {
                work.run();
            }
            check(device.synchronize());
        };
    };
    std::vector<Work> works = {waiting(ours)};
    if (peer != nullptr) {
        compare(*peer, ours.output());
        works.push_back(waiting(*peer));
    }
    const auto seconds = take_turns(works, arguments.turns, arguments.slice, now);
    const double own = median(seconds[0]) / queued;
    nlohmann::json row = {{"layer", layer.name},
                          {"kernel", ours.plan().kernel()},
                          {"microseconds", own * 1e6},
                          {"gflops", operations(ours.plan()) / own / 1e9}};
    if (peer != nullptr) {
        row["cudnn_microseconds"] = median(seconds[1]) / queued * 1e6;
        row["of_cudnn"] = median(ratios(seconds[1], seconds[0]));
    } else {
        row["no_cudnn"] = reason;
    }
    return row;
}

void run(const std::string &target, const TurnArguments &arguments) {
    selvage::Device device;
    check(selvage::open_device(target, {}, &device));
    fmt::print(
        "{}: {}\n\n| layer | kernel | us | GFLOP/s | of cuDNN's speed |\n|---|---|---|---|---|\n",
        device.target(), device.name());
    nlohmann::json rows = nlohmann::json::array();
    const std::regex filter(arguments.filter);
    for (const Layer &layer : read_layers(BENCH_LAYERS)) {
        if (!std::regex_search(layer.name, filter) || layer.problem.type != selvage::Type::f32) {
            continue;
        }
        const nlohmann::json row = measure(device, layer, arguments);
        fmt::print("| {} | {} | {:.1f} | {:.0f} | {} |\n", layer.name,
                   row["kernel"].get<std::string>(), row["microseconds"].get<double>(),
                   row["gflops"].get<double>(),
                   row.contains("of_cudnn") ? fmt::format("{:.2f}", row["of_cudnn"].get<double>())
                                            : row["no_cudnn"].get<std::string>());
        std::fflush(stdout);
        rows.push_back(row);
    }
    if (rows.empty()) {
        throw std::invalid_argument("no layer matches " + arguments.filter);
    }
    write_json(arguments, {{"target", target}, {"device", device.name()}, {"layers", rows}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    std::string target = "cuda";
    return bench::run_turn_program(
        "How long layers take on a GPU, with their tensors there, and how fast cuDNN is beside "
        "them (float32 without TF32), if it is installed. Results are held to plain loops first.",
        argc, argv, [&](const bench::TurnArguments &arguments) { bench::run(target, arguments); },
        [&](CLI::App &app) {
            app.add_option("--target", target, "cuda or opencl")
                ->check(CLI::IsMember({"cuda", "opencl"}))
                ->capture_default_str();
        });
}
