// The algorithms as Halide generators: what a row of the kernel table names. Each binds the
// arguments of a C function to the inputs of an algorithm and hands its stages to a schedule.

#include <map>

#include "generators/border.h"
#include "generators/conv2d.h"
#include "generators/window2d.h"
#include "schedules/x86/direct.h"
#include "schedules/x86/windows.h"

using namespace Halide;

namespace selvage {

namespace {

/// The first channel of a pixel is at distance 1 from the next; all coordinates begin at 0.
template <class Buffer> void image_layout(Buffer &buffer) {
    buffer.dim(0).set_stride(1);
    for (int d = 0; d < buffer.dimensions(); ++d)
        buffer.dim(d).set_min(0);
}

/// Dense, from 0, aligned as Plan::pack() writes it; an extent that is not 0 is fixed.
template <class Buffer> void packed_layout(Buffer &buffer, std::vector<int> extents) {
    Expr stride = 1;
    for (int d = 0; d < buffer.dimensions(); ++d) {
        buffer.dim(d).set_min(0).set_stride(stride);
        if (extents[d] != 0)
            buffer.dim(d).set_extent(extents[d]);
        stride = stride * buffer.dim(d).extent();
    }
    buffer.set_host_alignment(64);
}

/// A number that a row of the table fixes, or else the run-time argument.
Expr fixed_or(int fixed, const Expr &argument) { return fixed != 0 ? Expr(fixed) : argument; }

} // namespace

class Conv2dGenerator : public Generator<Conv2dGenerator> {
public:
    enum class Schedule { reference, direct };
    GeneratorParam<Schedule> schedule{
        "schedule",
        Schedule::reference,
        {{"reference", Schedule::reference}, {"direct", Schedule::direct}}};
    GeneratorParam<int> lanes{"lanes", 1};
    GeneratorParam<int> tile{"tile", 1};
    GeneratorParam<int> vectors{"vectors", 1};
    GeneratorParam<int> channel_block{"channel_block", 1};
    GeneratorParam<bool> border{"border", true};

    Input<Buffer<float, 5>> input{"input"};
    Input<Buffer<float, 7>> weights{"weights"};
    Input<Buffer<float, 3>> bias{"bias"};
    Input<int> left{"left"}, top{"top"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Input<int> strip_rows{"strip_rows"}, block_rows{"block_rows"};
    Input<int> channel_blocks{"channel_blocks"};
    Input<float> value{"value"}, low{"low"}, high{"high"};
    Output<Buffer<float, 5>> output{"output"};

    void generate() {
        const int lane_block = int(lanes) * int(vectors);
        Conv2dInputs in;
        in.input = input;
        in.weights = weights;
        in.bias = bias;
        in.channels = input.dim(0).extent();
        in.width = input.dim(2).extent();
        in.height = input.dim(3).extent();
        in.kernel_x = weights.dim(2).extent();
        in.kernel_y = weights.dim(3).extent();
        in.left = left;
        in.top = top;
        in.stride_x = stride_x;
        in.stride_y = stride_y;
        in.dilation_x = dilation_x;
        in.dilation_y = dilation_y;
        in.value = value;
        in.low = low;
        in.high = high;
        in.strip_rows = strip_rows;
        in.block_rows = block_rows;
        in.channel_blocks = channel_blocks;
        in.lane_block = lane_block;
        in.channel_block = channel_block;
        in.channel_step = std::min<int>(channel_block, x86::channel_step);
        in.border = border;
        Conv2dStages stages = conv2d(in);
        output = stages.output;

        image_layout(input);
        image_layout(output);
        packed_layout(weights, {lane_block, channel_block, 0, 0, 0, 0, 0});
        packed_layout(bias, {lane_block, 0, 0});
        if (schedule == Schedule::direct)
            x86::direct(stages, lanes, tile, vectors);
    }
};

/// What depthwise2d and the pools have in common.
template <class Derived> class WindowGenerator : public Generator<Derived> {
public:
    enum class Schedule { reference, rows, taps, flat, any };
    GeneratorParam<Schedule> schedule{"schedule",
                                      Schedule::reference,
                                      {{"reference", Schedule::reference},
                                       {"rows", Schedule::rows},
                                       {"taps", Schedule::taps},
                                       {"flat", Schedule::flat},
                                       {"any", Schedule::any}}};
    GeneratorParam<int> lanes{"lanes", 1};
    GeneratorParam<int> tile{"tile", 1};
    GeneratorParam<int> vectors{"vectors", 1};
    GeneratorParam<int> kernel{"kernel", 0};
    GeneratorParam<int> stride{"stride", 0};
    GeneratorParam<bool> border{"border", true};

    GeneratorInput<Buffer<float, 4>> input{"input"};

protected:
    WindowInputs inputs(const Expr &kernel_x, const Expr &kernel_y, const Expr &left,
                        const Expr &top, const Expr &stride_x, const Expr &stride_y,
                        const Expr &dilation_x, const Expr &dilation_y) {
        using Border = WindowInputs::Border;
        const std::map<Schedule, Border> borders = {{Schedule::reference, Border::read},
                                                    {Schedule::rows, Border::skip_rows},
                                                    {Schedule::taps, Border::skip},
                                                    {Schedule::flat, Border::flat},
                                                    {Schedule::any, Border::read}};
        WindowInputs in;
        in.input = input;
        in.width = input.dim(1).extent();
        in.height = input.dim(2).extent();
        in.kernel_x = fixed_or(kernel, kernel_x);
        in.kernel_y = fixed_or(kernel, kernel_y);
        in.left = left;
        in.top = top;
        in.stride_x = fixed_or(stride, stride_x);
        in.stride_y = fixed_or(stride, stride_y);
        // Rows that fix the kernel are for undilated ones.
        in.dilation_x = fixed_or(kernel != 0 ? 1 : 0, dilation_x);
        in.dilation_y = fixed_or(kernel != 0 ? 1 : 0, dilation_y);
        in.border = border ? borders.at(schedule) : Border::none;
        in.channels = positive(input.dim(1).stride());
        in.lanes = lanes;
        return in;
    }

    void apply(WindowStages &stages) {
        if (schedule == Schedule::rows)
            x86::rows(stages, lanes, tile, vectors, border);
        else if (schedule == Schedule::taps)
            x86::taps(stages, lanes, vectors);
        else if (schedule == Schedule::flat)
            x86::flat(stages, lanes, vectors);
        else if (schedule == Schedule::any)
            x86::any(stages, tile);
    }
};

class Depthwise2dGenerator : public WindowGenerator<Depthwise2dGenerator> {
public:
    GeneratorParam<int> fixed_multiplier{"fixed_multiplier", 0};

    Input<Buffer<float, 3>> weights{"weights"};
    Input<Buffer<float, 1>> bias{"bias"};
    Input<int> left{"left"}, top{"top"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Input<int> multiplier{"multiplier"};
    Input<float> value{"value"}, low{"low"}, high{"high"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        const WindowInputs in = inputs(weights.dim(1).extent(), weights.dim(2).extent(), left, top,
                                       stride_x, stride_y, dilation_x, dilation_y);
        WindowStages stages = depthwise2d(in, weights, bias, fixed_or(fixed_multiplier, multiplier),
                                          value, low, high);
        output = stages.output;
        image_layout(input);
        image_layout(output);
        packed_layout(weights, {0, 0, 0});
        packed_layout(bias, {0});
        apply(stages);
    }
};

class MaxPool2dGenerator : public WindowGenerator<MaxPool2dGenerator> {
public:
    Input<int> kernel_x{"kernel_x"}, kernel_y{"kernel_y"};
    Input<int> left{"left"}, top{"top"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        WindowStages stages = max_pool2d(
            inputs(kernel_x, kernel_y, left, top, stride_x, stride_y, dilation_x, dilation_y));
        output = stages.output;
        image_layout(input);
        image_layout(output);
        apply(stages);
    }
};

class AvgPool2dGenerator : public WindowGenerator<AvgPool2dGenerator> {
public:
    Input<Buffer<float, 1>> counted_x{"counted_x"}, counted_y{"counted_y"};
    Input<int> kernel_x{"kernel_x"}, kernel_y{"kernel_y"};
    Input<int> left{"left"}, top{"top"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        WindowStages stages = avg_pool2d(
            inputs(kernel_x, kernel_y, left, top, stride_x, stride_y, dilation_x, dilation_y),
            counted_x, counted_y);
        output = stages.output;
        image_layout(input);
        image_layout(output);
        counted_x.dim(0).set_min(0);
        counted_y.dim(0).set_min(0);
        apply(stages);
    }
};

} // namespace selvage

HALIDE_REGISTER_GENERATOR(selvage::Conv2dGenerator, conv2d)
HALIDE_REGISTER_GENERATOR(selvage::Depthwise2dGenerator, depthwise2d)
HALIDE_REGISTER_GENERATOR(selvage::MaxPool2dGenerator, max_pool2d)
HALIDE_REGISTER_GENERATOR(selvage::AvgPool2dGenerator, avg_pool2d)
