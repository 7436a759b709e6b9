#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <selvage/plan.h>

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

using Memory = std::unique_ptr<void, decltype(&std::free)>;

/// Null for 0 bytes.
Memory allocate(std::size_t bytes) {
    const std::size_t blocks = (bytes + selvage::alignment - 1) / selvage::alignment;
    void *const memory =
        bytes == 0 ? nullptr : std::aligned_alloc(selvage::alignment, blocks * selvage::alignment);
    if (bytes != 0 && !memory)
        throw std::bad_alloc();
    return {memory, std::free};
}

void explain(const selvage::Plan &plan) {
    std::cerr << "problem  " << text(plan.problem()) << "\n"
              << "kernel   " << plan.kernel() << "\n";
    for (const selvage::Decline &decline : plan.declined())
        std::cerr << "declined " << decline.kernel << ": " << decline.reason << "\n";
}

/// The packed weights; null for pools.
Memory pack(const Arguments &arguments, const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    const bool pool = is_pool(p.op);
    if (pool != arguments.weights.empty())
        throw BadInput(std::string(name(p.op)) +
                       (pool ? " takes no weights, -w" : " needs weights, -w"));
    if (p.bias == arguments.bias.empty())
        throw BadInput(p.bias ? "the problem has bias=1: -b is needed"
                              : "the problem has no bias=1: -b is not used");
    Memory packed = allocate(plan.packed_bytes());
    if (pool)
        return packed;
    const std::int64_t inputs = p.op == selvage::Op::depthwise2d ? 1 : p.c / p.g;
    const NpyArray weights = read(arguments.weights, {p.k, inputs, p.y.kernel, p.x.kernel});
    NpyArray bias;
    if (p.bias)
        bias = read(arguments.bias, {p.k});
    require(plan.pack(weights.data.data(), selvage::WeightOrder::oihw,
                      p.bias ? bias.data.data() : nullptr, packed.get()));
    return packed;
}

void apply(const Arguments &arguments) {
    selvage::Problem p;
    require(parse_problem(arguments.problem, &p));
    selvage::Plan plan;
    selvage::Options options = arguments.options;
    options.adjacent_pixels = true; // arrays of .npy files are dense
    require(make_plan(p, options, &plan));
    if (arguments.verbose)
        explain(plan);

    const NpyArray input = read(arguments.input, {p.n, p.y.size, p.x.size, p.c});
    const Memory packed = pack(arguments, plan);
    const Memory scratch = allocate(plan.scratch_bytes());
    const std::int64_t height = plan.window_y().outputs, width = plan.window_x().outputs;
    NpyArray output = {{p.n, height, width, p.k}, {}};
    output.data.resize(p.n * height * width * p.k);
    require(plan.run(selvage::dense(input.data.data(), p.n, p.y.size, p.x.size, p.c), packed.get(),
                     selvage::dense(output.data.data(), p.n, height, width, p.k), scratch.get(),
                     plan.scratch_bytes()));
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
