#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <selvage/layer.h>

#include "commands.h"
#include "npy.h"

namespace {

struct Arguments {
    std::string problem, input, weights, bias, output;
    selvage::Options options;
    bool verbose = false;
};

/// A status whose fault is the user's, or the library's own, as the exception that fits.
void require(const selvage::Status &status) {
    if (status.code() == selvage::Code::internal)
        throw std::runtime_error(status.text());
    if (!status.ok())
        throw BadInput(status.text());
}

NpyArray read(const std::string &path, const std::vector<std::int64_t> &shape) {
    NpyArray array = read_npy(path);
    if (array.shape != shape)
        throw BadInput(path + ": has the shape " + shape_text(array.shape) +
                       ", the problem asks for " + shape_text(shape));
    return array;
}

void explain(const selvage::Plan &plan) {
    std::cerr << "problem  " << text(plan.problem()) << "\n"
              << "kernel   " << plan.kernel() << "\n";
    for (const selvage::Decline &decline : plan.declined())
        std::cerr << "declined " << decline.kernel << ": " << decline.reason << "\n";
}

/// Whether weights and bias are given just where the problem has them.
void check_files(const Arguments &arguments, const selvage::Problem &p) {
    const bool pool = is_pool(p.op);
    if (pool != arguments.weights.empty())
        throw BadInput(std::string(name(p.op)) +
                       (pool ? " takes no weights, -w" : " needs weights, -w"));
    if (p.bias == arguments.bias.empty())
        throw BadInput(p.bias ? "the problem has bias=1: -b is needed"
                              : "the problem has no bias=1: -b is not used");
}

void apply(const Arguments &arguments) {
    selvage::Problem p;
    require(parse_problem(arguments.problem, &p));
    check_files(arguments, p);
    const NpyArray input = read(arguments.input, {p.n, p.y.size, p.x.size, p.c});
    NpyArray weights, bias;
    if (!is_pool(p.op))
        weights = read(arguments.weights, {p.k, p.op == selvage::Op::depthwise2d ? 1 : p.c / p.g,
                                           p.y.kernel, p.x.kernel});
    if (p.bias)
        bias = read(arguments.bias, {p.k});

    selvage::Options options = arguments.options;
    options.adjacent_pixels = true; // arrays of .npy files are dense
    selvage::Layer layer;
    require(make_layer(p, options, is_pool(p.op) ? nullptr : weights.data.data(),
                       selvage::WeightOrder::oihw, p.bias ? bias.data.data() : nullptr, &layer));
    if (arguments.verbose)
        explain(layer.plan());

    const std::int64_t height = layer.plan().window_y().outputs;
    const std::int64_t width = layer.plan().window_x().outputs;
    NpyArray output = {{p.n, height, width, p.k}, {}};
    output.data.resize(p.n * height * width * p.k);
    require(layer.run(input.data.data(), output.data.data()));
    write_npy(arguments.output, output);
}

} // namespace

void add_apply(CLI::App &program) {
    CLI::App *command = program.add_subcommand(
        "apply", "Compute a problem on NumPy arrays (.npy files of little-endian float32).");
    command->footer("Example:\n"
                    "  selvage apply 'conv2d c=3 k=8 in=32x32 kernel=3 pads=0,0,1,1 stride=2' "
                    "-i x.npy -w w.npy -o y.npy -v");
    const auto arguments = std::make_shared<Arguments>();
    command->add_option("problem", arguments->problem, "Problem text")->required();
    command->add_option("-i", arguments->input, "Input, n x height x width x c")->required();
    command->add_option("-w", arguments->weights, "Weights, k x c/g x height x width");
    command->add_option("-b", arguments->bias, "Bias, k");
    command->add_option("-o", arguments->output, "Output, n x height x width x k")->required();
    command->add_option("--schedule", arguments->options.schedule,
                        "Only kernels of this schedule, for example reference");
    command->add_option("--isa", arguments->options.isa,
                        "Only kernels of this instruction set: sse41, avx2 or avx512");
    command->add_flag("-v", arguments->verbose,
                      "Tell on stderr which kernel ran and why others did not");
    command->callback([arguments] { apply(*arguments); });
}
