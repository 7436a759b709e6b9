// The window operators as Halide generators. Each binds the arguments of a C function to the inputs
// of an algorithm and hands its stages to a schedule.

#include <map>

#include "generators/arguments.h"
#include "generators/border.h"
#include "generators/schedule_function.h"
#include "generators/windows.h"
#include "schedules/cpu/lines.h"
#include "schedules/cpu/windows.h"
#include "schedules/gpu/any.h"

using namespace Halide;

namespace selvage {

namespace {

enum class Schedule { reference, rows, taps, lines, any };

const std::map<std::string, Schedule> schedules = {{"reference", Schedule::reference},
                                                   {"rows", Schedule::rows},
                                                   {"taps", Schedule::taps},
                                                   {"lines", Schedule::lines},
                                                   {"any", Schedule::any}};

} // namespace

/// Where taps lie: arguments of every window operator, in this order. See WindowInputs.
struct WindowArguments {
    GeneratorInput<Buffer<int, 2>> source_x{"source_x"}, source_y{"source_y"}, source_z{"source_z"};
    GeneratorInput<int> left{"left"}, top{"top"};
    GeneratorInput<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    GeneratorInput<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
};

/// What the window operators have in common. Their arguments are the input, those of the operator,
/// WindowArguments, scalars of the operator, and the output.
template <class Derived> class WindowGenerator : public Generator<Derived> {
public:
    GeneratorParam<Schedule> schedule{"schedule", Schedule::reference, schedules};
    /// A function outside the tree in place of the schedule's own (docs/add-a-schedule.md).
    GeneratorParam<std::string> function{"function", ""};
    GeneratorParam<int> lanes{"lanes", 1};
    GeneratorParam<int> tile{"tile", 1};
    GeneratorParam<int> vectors{"vectors", 1};
    GeneratorParam<bool> border{"border", true};
    GeneratorParam<int> widest_map{"widest_map", 0}; ///< of rows, see there
    FixedNumbers numbers;

    GeneratorInput<Buffer<void, 5>> input{"input"};

    /// Schedule::lines takes these too, after all other arguments.
    void configure() {
        if (schedule == Schedule::lines)
            for (const char *name :
                 {"kernel_x", "kernel_y", "interleaved", "strip_rows", "strip_planes"})
                of_lines[name] = this->template add_input<int>(name);
    }

protected:
    WindowInputs inputs(WindowArguments &arguments) {
        using Border = WindowInputs::Border;
        const std::map<Schedule, Border> borders = {{Schedule::reference, Border::read},
                                                    {Schedule::rows, Border::skip_rows},
                                                    {Schedule::taps, Border::skip},
                                                    {Schedule::lines, Border::lines},
                                                    {Schedule::any, Border::read}};
        WindowInputs in;
        in.input = input;
        in.width = input.dim(1).extent();
        in.height = input.dim(2).extent();
        in.depth = input.dim(3).extent();
        in.source_x = arguments.source_x;
        in.source_y = arguments.source_y;
        in.source_z = arguments.source_z;
        in.outputs_x = arguments.source_x.dim(1).extent();
        in.kernel_x = arguments.source_x.dim(0).extent();
        in.kernel_y = arguments.source_y.dim(0).extent();
        in.kernel_z = arguments.source_z.dim(0).extent();
        in.left = arguments.left;
        in.top = arguments.top;
        in.stride_x = arguments.stride_x;
        in.stride_y = arguments.stride_y;
        in.dilation_x = arguments.dilation_x;
        in.dilation_y = arguments.dilation_y;
        in.border = border ? borders.at(schedule) : Border::none;
        if (schedule == Schedule::lines) {
            in.channels =
                numbers.channels != 0 ? Expr(numbers.channels) : positive(*of_lines["interleaved"]);
            in.planes = input.dim(1).extent();
            in.width = input.dim(0).extent() / in.channels;
            in.kernel_x = *of_lines["kernel_x"];
            in.kernel_y = *of_lines["kernel_y"];
            in.places_x = arguments.source_x.dim(0).extent();
            in.places_y = arguments.source_y.dim(0).extent();
            in.strip_rows = *of_lines["strip_rows"];
            in.strip_planes = *of_lines["strip_planes"];
            in.lanes = lanes;
            in.block = int(lanes) * int(vectors);
            in.line_block = cpu::line_block;
            in.wide = this->natural_vector_size(input.type());
            in.fill = cpu::fill_lanes(input.type(), lanes);
        } else {
            fix_extent(input.dim(0), numbers.channels);
        }
        numbers.fix(in);
        // Positions by arithmetic lie in one plane.
        if (schedule == Schedule::rows)
            in.kernel_z = 1;

        view_layout(input, dense());
        // The entries of one tap lie together, and those of one remainder.
        const int entries = schedule == Schedule::lines ? 0 : 1;
        view_layout(arguments.source_x, entries);
        view_layout(arguments.source_y, entries);
        view_layout(arguments.source_z, 1);
        return in;
    }

    /// The dimension of input and output whose elements lie together: the channels; none where any
    /// layout is taken.
    int dense() const {
        return schedule == Schedule::reference || schedule == Schedule::any ? -1 : 0;
    }

    void apply(WindowStages &stages) {
        if (!function.value().empty())
            extra_function<WindowStages>(function)(stages, lanes, tile, vectors);
        else if (this->get_target().has_gpu_feature())
            gpu::any(stages.output, stages.window);
        else if (schedule == Schedule::rows)
            cpu::rows(stages, lanes, tile, vectors, border,
                      {numbers.kernel_x, numbers.stride_x, widest_map});
        else if (schedule == Schedule::taps)
            cpu::taps(stages, lanes, vectors);
        else if (schedule == Schedule::lines)
            cpu::lines(stages, lanes, tile, vectors);
        else if (schedule == Schedule::any)
            cpu::any(stages, lanes);
        // Halide lets the first of several outputs speak for the bounds of all.
        for (OutputImageParam buffer : stages.output.output_buffers())
            for (int d = 0; d < buffer.dimensions(); ++d)
                buffer.dim(d).set_stride(d == dense() ? Expr(1) : Expr());
        OutputImageParam first = stages.output.output_buffers()[0];
        for (int d = 0; d < stages.output.dimensions(); ++d)
            first.dim(d).set_min(0);
        if (schedule != Schedule::lines)
            fix_extent(first.dim(0), numbers.outputs);
    }

private:
    std::map<std::string, GeneratorInput<int> *> of_lines;
};

class DepthwiseGenerator : public WindowGenerator<DepthwiseGenerator> {
public:
    GeneratorParam<int> fixed_multiplier{"fixed_multiplier", 0};

    Input<Buffer<float, 4>> weights{"weights"};
    Input<Buffer<float, 1>> bias{"bias"};
    WindowArguments windows;
    Input<int> multiplier{"multiplier"};
    Input<float> value{"value"}, low{"low"}, high{"high"};
    Output<Buffer<float, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(Float(32));
    }

    void generate() {
        WindowStages stages = depthwise(inputs(windows), weights, bias,
                                        fixed_or(fixed_multiplier, multiplier), value, low, high);
        output = stages.output;
        packed_layout(weights, {0, 0, 0, 0});
        packed_layout(bias, {0});
        apply(stages);
    }
};

class MaxPoolGenerator : public WindowGenerator<MaxPoolGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<bool> nan{"nan", true}; ///< NaN wins
    /// Of lines: finds the largest of each kernel column first.
    GeneratorParam<bool> separable{"separable", false};

    WindowArguments windows;
    Output<Buffer<void, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(type);
        output.set_type(type);
    }

    void generate() {
        WindowStages stages = max_pool(inputs(windows), nan, separable);
        output = stages.output;
        apply(stages);
    }
};

class MaxPoolIndicesGenerator : public WindowGenerator<MaxPoolIndicesGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};

    WindowArguments windows;
    Input<int64_t> index_base{"index_base"};
    Input<int64_t> index_x{"index_x"}, index_y{"index_y"}, index_z{"index_z"};
    Input<int64_t> index_c{"index_c"}, index_n{"index_n"};
    Output<Func> output{"output", 5}; ///< of type, and indices of int64

    void configure() {
        WindowGenerator::configure();
        input.set_type(type);
        output.set_type({type, Int(64)});
    }

    void generate() {
        WindowStages stages = max_pool_indices(
            inputs(windows), {index_base, index_x, index_y, index_z, index_c, index_n});
        output = stages.output;
        apply(stages);
    }
};

class AvgPoolGenerator : public WindowGenerator<AvgPoolGenerator> {
public:
    Input<Buffer<float, 1>> counted_x{"counted_x"}, counted_y{"counted_y"}, counted_z{"counted_z"};
    WindowArguments windows;
    Output<Buffer<float, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(Float(32));
    }

    void generate() {
        WindowStages stages = avg_pool(inputs(windows), counted_x, counted_y, counted_z);
        output = stages.output;
        view_layout(counted_x, 0);
        view_layout(counted_y, 0);
        view_layout(counted_z, 0);
        apply(stages);
    }
};

class LpPoolGenerator : public WindowGenerator<LpPoolGenerator> {
public:
    GeneratorParam<int> power{"power", 0}; ///< 1 or 2: the only p; 0: any

    WindowArguments windows;
    Input<float> p{"p"};
    Output<Buffer<float, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(Float(32));
    }

    void generate() {
        // The C library's power, since Halide's own of vectors is less exact; on a GPU, the
        // device's.
        const char *of_target = get_target().has_gpu_feature() ? "pow_f32" : "powf";
        WindowStages stages = lp_pool(inputs(windows), power, p, of_target);
        output = stages.output;
        apply(stages);
    }
};

class FilterGenerator : public WindowGenerator<FilterGenerator> {
public:
    GeneratorParam<bool> fixed{"fixed", false}; ///< weights of int16, not float
    /// Of lines: such weights are those of a column times those of a row, in all channels.
    GeneratorParam<bool> separable{"separable", false};

    Input<Buffer<void>> weights{"weights"};
    WindowArguments windows;
    Input<int> value{"value"}, shift{"shift"};
    Output<Buffer<uint8_t, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(UInt(8));
        weights.set_type(fixed && !separable ? Int(16) : Float(32));
        weights.set_dimensions(separable ? 1 : fixed ? 5 : 4);
    }

    void generate() {
        WindowStages stages = filter(inputs(windows), weights, value, shift);
        output = stages.output;
        std::vector<int> extents(std::size_t(weights.dimensions()));
        if (fixed && !separable)
            extents[0] = 2;
        packed_layout(weights, extents);
        apply(stages);
    }
};

class CopyGenerator : public WindowGenerator<CopyGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};

    WindowArguments windows;
    Input<float> value{"value"};
    Output<Buffer<void, 5>> output{"output"};

    void configure() {
        WindowGenerator::configure();
        input.set_type(type);
        output.set_type(type);
    }

    void generate() {
        WindowStages stages = copy(inputs(windows), cast(type, value));
        output = stages.output;
        apply(stages);
    }
};

} // namespace selvage

HALIDE_REGISTER_GENERATOR(selvage::DepthwiseGenerator, depthwise)
HALIDE_REGISTER_GENERATOR(selvage::MaxPoolGenerator, max_pool)
HALIDE_REGISTER_GENERATOR(selvage::MaxPoolIndicesGenerator, max_pool_indices)
HALIDE_REGISTER_GENERATOR(selvage::AvgPoolGenerator, avg_pool)
HALIDE_REGISTER_GENERATOR(selvage::LpPoolGenerator, lp_pool)
HALIDE_REGISTER_GENERATOR(selvage::FilterGenerator, filter)
HALIDE_REGISTER_GENERATOR(selvage::CopyGenerator, copy)
