// The library as a program that takes its turns among the peers: peers.py --join. The requests that
// it answers, one JSON object a line, are described in peers/README.md.
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "layers.h"
#include "npy.h"
#include "program.h"
#include "selvage/thread_pool.h"
#include "turns.h"
#include "workload.h"

namespace bench {
namespace {

using nlohmann::json;

/// A request that is understood but not served; the text is the reason.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Copies (images, rows, columns) to (images, columns, rows).
void swap_axes(const float *from, std::int64_t images, std::int64_t rows, std::int64_t columns,
               float *to) {
    for (std::int64_t image = 0; image < images; ++image) {
        for (std::int64_t column = 0; column < columns; ++column) {
            for (std::int64_t row = 0; row < rows; ++row) {
                *to++ = from[(image * rows + row) * columns + column];
            }
        }
    }
}

/// The elements of a file, which have to be `count`.
NpyArray<float> read(const std::string &path, std::size_t count) {
    NpyArray<float> array = read_npy(path);
    if (array.data.size() != count) {
        throw std::runtime_error(path + ": " + std::to_string(array.data.size()) +
                                 " elements instead of " + std::to_string(count));
    }
    return array;
}

/// The data that a request names, with the input in the problem's layout.
Data read_data(const selvage::Problem &problem, const json &request) {
    Data data = integer_data(problem); // for the sizes
    const NpyArray<float> input = read(request.at("input"), data.input.size());
    if (problem.layout == selvage::Layout::nhwc) {
        swap_axes(input.data.data(), problem.n, problem.c, problem.y.size * problem.x.size,
                  data.input.data());
    } else {
        data.input.assign(input.data.begin(), input.data.end());
    }
    for (auto [key, part] : {std::pair("weights", &data.weights), std::pair("bias", &data.bias)}) {
        if (!part->empty()) {
            const NpyArray<float> array = read(request.at(key), part->size());
            part->assign(array.data.begin(), array.data.end());
        }
    }
    return data;
}

class Joined {
public:
    Joined(selvage::Options options, const std::string &layout)
        : options_(std::move(options)), layout_(layout), pool_(options_.threads) {
        options_.adjacent_pixels = true; // Workload's tensors are dense
    }

    /// The answer to one line. Never throws.
    json answer(const std::string &line) try {
        const json request = json::parse(line);
        const std::string action = request.at("action");
        if (action == "start") {
            return {{"status", "ok"}, {"version", BENCH_VERSION}, {"layout", layout_}};
        }
        if (action == "build") {
            return build(request);
        }
        if (action == "time") {
            return time(request.at("calls"));
        }
        throw std::runtime_error("unknown action " + action);
    } catch (const Unsupported &reason) {
        return {{"status", "unsupported"}, {"reason", reason.what()}};
    } catch (const std::exception &error) {
        return {{"status", "error"}, {"reason", error.what()}};
    }

private:
    json build(const json &request) {
        workload_.reset();
        Layer layer = parse_layer(request.at("layer"));
        if (layout_ == "nchw") {
            layer.problem.layout = selvage::Layout::nchw;
        }
        selvage::Plan plan;
        const selvage::Status status = make_plan(layer.problem, options_, &plan);
        if (!status.ok()) {
            throw Unsupported(status.text());
        }
        data_ = read_data(layer.problem, request);
        workload_ = std::make_unique<Workload>(plan, data_, &pool_.parallel());
        write_output(request.at("output"));
        return {{"status", "ok"},
                {"pad", reads_border(layer.problem) ? "native" : "none"},
                {"note", plan.kernel()}};
    }

    json time(long calls) {
        if (!workload_) {
            throw std::runtime_error("nothing was built");
        }
        const double begin = now();
        for (long call = 0; call < calls; ++call) {
            workload_->run();
        }
        return {{"status", "ok"}, {"seconds", now() - begin}};
    }

    void write_output(const std::string &path) const {
        const selvage::Problem &p = workload_->plan().problem();
        const std::int64_t rows = workload_->plan().output_region().y.size,
                           columns = workload_->plan().output_region().x.size;
        const Floats &output = workload_->output();
        NpyArray<float> array = {{p.n, p.k, rows, columns}, {output.begin(), output.end()}};
        if (p.layout == selvage::Layout::nhwc) {
            swap_axes(output.data(), p.n, rows * columns, p.k, array.data.data());
        }
        write_npy(path, array);
    }

    selvage::Options options_;
    std::string layout_;
    selvage::ThreadPool pool_;
    Data data_; // before the workload, which reads it and calls the pool
    std::unique_ptr<Workload> workload_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    selvage::Options options;
    std::string layout = "nhwc";
    CLI::App app("Takes turns among the peers: peers.py --join ours='join_peers'.");
    app.add_option("--isa", options.isa, "take kernels of this instruction set only")
        ->check(CLI::IsMember(selvage::available_isas()));
    app.add_option("--schedule", options.schedule, "take this schedule only");
    app.add_option("--accuracy", options.accuracy, "exact, or fast: winograd kernels too")
        ->check(CLI::IsMember({"exact", "fast"}));
    app.add_option("--layout", layout, "order of the axes of input and output")
        ->check(CLI::IsMember({"nhwc", "nchw"}))
        ->capture_default_str();
    app.add_option("threads", options.threads, "threads to use")
        ->required()
        ->check(CLI::Range(1, selvage::most_threads));
    return bench::run_program(app, argc, argv, [&] {
        bench::Joined joined(options, layout);
        for (std::string line; std::getline(std::cin, line);) {
            std::cout << joined.answer(line).dump() << std::endl;
        }
    });
}
