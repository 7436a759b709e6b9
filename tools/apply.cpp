#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <selvage/device.h>
#include <selvage/plan.h>

#include "commands.h"
#include "npy.h"

namespace {

using selvage::Op;
using selvage::Plan;
using selvage::Problem;
using selvage::WeightOrder;

using Shape = std::vector<std::int64_t>;

struct Arguments {
    std::string problem, input, weights, bias, output, indices, order = "oihw", target = "host";
    selvage::Options options;
    bool verbose = false;
};

/// A status whose fault is the user's, or the library's own or the machine's, as the exception that
/// fits.
void require(const selvage::Status &status) {
    switch (status.code()) {
    case selvage::Code::ok: return;
    case selvage::Code::internal:
    case selvage::Code::device:
    case selvage::Code::too_small: throw std::runtime_error(status.text());
    default: throw BadInput(status.text());
    }
}

// Shapes.

/// The last axes of three, as many as the problem has.
Shape last_axes(const Problem &p, const Shape &zyx) { return {zyx.end() - p.rank, zyx.end()}; }

/// Of the input or output, in the order of the problem's layout.
Shape tensor_shape(const Problem &p, std::int64_t channels, const selvage::Region &region) {
    Shape shape = last_axes(p, {region.z.size, region.y.size, region.x.size});
    shape.insert(p.layout == selvage::Layout::nchw ? shape.begin() : shape.end(), channels);
    shape.insert(shape.begin(), p.n);
    return shape;
}

Shape weights_shape(const Problem &p, WeightOrder order) {
    Shape shape = last_axes(p, {p.z.kernel, p.y.kernel, p.x.kernel});
    const bool transposed = p.op == Op::conv_transpose;
    std::int64_t outputs = p.k, inputs = 1;
    if (transposed) {
        outputs = p.k / p.g;
        inputs = p.c;
    } else if (p.op == Op::conv) {
        inputs = p.c / p.g;
    }
    if (order == WeightOrder::hwio)
        shape.insert(shape.end(), {inputs, outputs});
    else if (transposed)
        shape.insert(shape.begin(), {inputs, outputs});
    else
        shape.insert(shape.begin(), {outputs, inputs});
    return shape;
}

std::int64_t elements(const Shape &shape) {
    std::int64_t product = 1;
    for (std::int64_t size : shape)
        product *= size;
    return product;
}

// Files.

template <class T> NpyArray<T> read(const std::string &path, const Shape &shape) {
    NpyArray<T> array = read_npy<T>(path);
    if (array.shape != shape)
        throw BadInput(path + ": has the shape " + shape_text(array.shape) +
                       ", the problem asks for " + shape_text(shape));
    return array;
}

/// Whether the files that only some problems have are given just where this one has them.
void check_files(const Arguments &arguments, const Problem &p) {
    const bool has_indices = p.indices != selvage::Indices::none;
    if (has_weights(p.op) == arguments.weights.empty())
        throw BadInput(name(p.op, p.rank) +
                       (has_weights(p.op) ? " needs weights, -w" : " takes no weights, -w"));
    if (p.bias == arguments.bias.empty())
        throw BadInput(p.bias ? "the problem has bias=1: -b is needed"
                              : "the problem has no bias=1: -b is not used");
    if (has_indices == arguments.indices.empty())
        throw BadInput(has_indices ? "the problem has indices: --indices is needed"
                                   : "the problem has no indices: --indices is not used");
}

// Work.

void explain(const Plan &plan) {
    const Problem &p = plan.problem();
    const auto join = [&](const Shape &zyx, const char *separator) {
        std::string text;
        for (std::int64_t number : last_axes(p, zyx))
            text.append(text.empty() ? "" : separator).append(std::to_string(number));
        return text;
    };
    std::cerr << "problem  " << text(p) << "\n"
              << "kernel   " << plan.kernel() << "\n"
              << "schedule " << plan.schedule() << "\n";
    for (const selvage::PlannedPart &part : plan.parts()) {
        const selvage::Region &output = part.output;
        std::cerr << "part     " << part.kernel << " size "
                  << join({output.z.size, output.y.size, output.x.size}, "x") << " at "
                  << join({output.z.begin, output.y.begin, output.x.begin}, ",");
        if (p.op == Op::conv_transpose)
            std::cerr << " of every " << join({p.z.stride, p.y.stride, p.x.stride}, "x");
        std::cerr << "\n";
    }
    for (const selvage::Decline &decline : plan.declined())
        std::cerr << "declined " << decline.kernel << ": " << decline.reason << "\n";
}

/// Memory as the plan wants it.
selvage::DeviceMemory allocate(const Plan &plan, std::size_t bytes) {
    selvage::DeviceMemory memory;
    require(selvage::allocate(plan.device(), bytes, &memory));
    return memory;
}

WeightOrder order(const Arguments &arguments) {
    return arguments.order == "hwio" ? WeightOrder::hwio : WeightOrder::oihw;
}

/// Whether the weights are those of a filter whose rows can be added up first.
bool are_separable(const Arguments &arguments, const Problem &p) {
    if (p.op != Op::filter || p.shift < 0)
        return false;
    const auto weights = read<std::int16_t>(arguments.weights, weights_shape(p, order(arguments)));
    return check_separable(p, weights.data.data(), order(arguments)).ok();
}

selvage::DeviceMemory pack(const Plan &plan, const Arguments &arguments) {
    const Problem &p = plan.problem();
    selvage::DeviceMemory packed = allocate(plan, plan.packed_bytes());
    if (!has_weights(p.op))
        return packed;
    const WeightOrder order = ::order(arguments);
    const Shape shape = weights_shape(p, order);
    if (p.shift >= 0) {
        const auto weights = read<std::int16_t>(arguments.weights, shape);
        require(plan.pack(weights.data.data(), order, packed.get()));
        return packed;
    }
    const auto weights = read<float>(arguments.weights, shape);
    const auto bias = p.bias ? read<float>(arguments.bias, {p.k}) : NpyArray<float>();
    require(
        plan.pack(weights.data.data(), order, p.bias ? bias.data.data() : nullptr, packed.get()));
    return packed;
}

/// A view of a dense array of the problem's layout.
template <class T>
selvage::Tensor<T> view(const Problem &p, T *data, const selvage::Region &region,
                        std::int64_t channels) {
    return selvage::dense(data, p.n, region.z.size, region.y.size, region.x.size, channels,
                          p.layout);
}

template <class T> void compute(const Plan &plan, const Arguments &arguments) {
    const Problem &p = plan.problem();
    const auto input = read<T>(arguments.input, tensor_shape(p, p.c, plan.input_region()));
    const selvage::DeviceMemory packed = pack(plan, arguments);
    if (arguments.verbose)
        explain(plan);

    const selvage::DeviceMemory scratch = allocate(plan, plan.scratch_bytes());
    const Shape shape = tensor_shape(p, p.k, plan.output_region());
    NpyArray<T> output = {shape, std::vector<T>(elements(shape))};
    NpyArray<std::int64_t> indices = {shape, {}};
    if (p.indices != selvage::Indices::none)
        indices.data.resize(output.data.size());
    const auto index_view = view(p, indices.data.data(), plan.output_region(), p.k);
    require(plan.run_on_host_memory(
        view(p, input.data.data(), plan.input_region(), p.c), packed.get(),
        view(p, output.data.data(), plan.output_region(), p.k), scratch.get(), plan.scratch_bytes(),
        p.indices != selvage::Indices::none ? &index_view : nullptr));
    write_npy(arguments.output, output);
    if (p.indices != selvage::Indices::none)
        write_npy(arguments.indices, indices);
}

void apply(const Arguments &arguments) {
    Problem p;
    require(parse_problem(arguments.problem, &p));
    check_files(arguments, p);
    selvage::Options options = arguments.options;
    options.adjacent_pixels = true; // arrays of .npy files are dense
    require(selvage::open_device(arguments.target, {}, &options.device));
    options.separable = are_separable(arguments, p);
    Plan plan;
    require(make_plan(p, options, &plan));
    switch (p.type) {
    case selvage::Type::f32: return compute<float>(plan, arguments);
    case selvage::Type::u8: return compute<std::uint8_t>(plan, arguments);
    case selvage::Type::i8: return compute<std::int8_t>(plan, arguments);
    }
}

} // namespace

void add_apply(CLI::App &program) {
    CLI::App *command =
        program.add_subcommand("apply", "Compute a problem on NumPy arrays (.npy files).");
    command->footer(
        "Input and output are n,c,h,w with layout=nchw, else n,h,w,c; of 1-D problems without h, "
        "of 3-D ones with d before it. They are float32, or uint8 or int8 as the problem's type "
        "says.\n"
        "Example:\n"
        "  selvage apply 'conv2d c=3 k=8 in=32x32 kernel=3 pads=0,0,1,1 stride=2' "
        "-i x.npy -w w.npy -o y.npy -v");
    const auto arguments = std::make_shared<Arguments>();
    command->add_option("problem", arguments->problem, "Problem text")->required();
    command->add_option("-i", arguments->input, "Input")->required();
    command->add_option("-w", arguments->weights,
                        "Weights, k x c/g x taps (conv_transpose: c x k/g x taps; filter: k x 1 x "
                        "taps), float32, or int16 with weights=fixed");
    command
        ->add_option("--order", arguments->order,
                     "oihw, or hwio: weights are taps x c/g x k (conv_transpose: taps x c x k/g; "
                     "filter: taps x 1 x k)")
        ->check(CLI::IsMember({"oihw", "hwio"}));
    command->add_option("-b", arguments->bias, "Bias, k");
    command->add_option("-o", arguments->output, "Output")->required();
    command->add_option("--indices", arguments->indices,
                        "Where each maximum lies, an int64 output of max_pool with indices");
    command->add_option("--schedule", arguments->options.schedule,
                        "Schedule text: a kernel's name, for example reference, and how it works: "
                        "strip_rows=N, block_rows=N, channel_blocks=N, strip_planes=N");
    command->add_option("--isa", arguments->options.isa,
                        "Only kernels of this instruction set: sse41, avx2 or avx512");
    command
        ->add_option("--accuracy", arguments->options.accuracy,
                     "exact, or fast: convolutions may be computed with larger rounding errors "
                     "(docs/accuracy.md)")
        ->check(CLI::IsMember({"exact", "fast"}));
    command
        ->add_option("--target", arguments->target,
                     "Where it is computed: host, or on a GPU by cuda or opencl")
        ->capture_default_str();
    command->add_flag("-v", arguments->verbose,
                      "Tell on stderr which kernels ran on which parts of the output, and why "
                      "others did not");
    command->callback([arguments] { apply(*arguments); });
}
