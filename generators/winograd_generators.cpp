// Winograd convolution as a Halide generator, as conv_generators.cpp has the others: a kernel is
// made for one size of kernel and tile, and has fewer arguments.

#include <algorithm>

#include "generators/arguments.h"
#include "generators/conv_winograd.h"
#include "generators/schedule_function.h"
#include "runtime/selvage/core/winograd.h"
#include "schedules/arm/by_element.h"
#include "schedules/cpu/winograd.h"

using namespace Halide;

namespace selvage {

class WinogradGenerator : public Generator<WinogradGenerator> {
public:
    GeneratorParam<int> kernel{"kernel", 3};           ///< taps along both axes
    GeneratorParam<int> output_tile{"output_tile", 2}; ///< outputs of a tile along both axes
    /// A function outside the tree in place of its own (docs/add-a-schedule.md).
    GeneratorParam<std::string> function{"function", ""};
    GeneratorParam<int> lanes{"lanes", 1};
    GeneratorParam<int> tile{"tile", 1};
    GeneratorParam<int> vectors{"vectors", 1};
    GeneratorParam<int> channel_block{"channel_block", 1};

    Input<Buffer<float, 6>> input{"input"};
    Input<Buffer<float, 7>> weights{"weights"};
    Input<Buffer<float, 3>> bias{"bias"};
    Input<Buffer<int, 2>> source_x{"source_x"}, source_y{"source_y"}, source_z{"source_z"};
    Input<int> first_x{"first_x"}, end_x{"end_x"}, first_y{"first_y"}, end_y{"end_y"};
    Input<int> strip_rows{"strip_rows"}, strip_columns{"strip_columns"};
    Input<float> value{"value"}, low{"low"}, high{"high"};
    Output<Buffer<float, 6>> output{"output"};

    void generate() {
        WinogradInputs in;
        in.input = input;
        in.weights = weights;
        in.bias = bias;
        in.source_x = source_x;
        in.source_y = source_y;
        in.source_z = source_z;
        in.channels = input.dim(0).extent();
        in.width = input.dim(2).extent();
        in.height = input.dim(3).extent();
        in.depth = input.dim(4).extent();
        in.first_x = first_x;
        in.end_x = end_x;
        in.first_y = first_y;
        in.end_y = end_y;
        in.strip_rows = strip_rows;
        in.strip_columns = strip_columns;
        in.value = value;
        in.low = low;
        in.high = high;
        in.taps = kernel;
        in.output_tile = output_tile;
        in.tile = tile;
        in.lane_block = int(lanes) * int(vectors);
        in.channel_block = channel_block;
        in.channel_step = std::min<int>(channel_block, cpu::channel_step);
        WinogradStages stages = conv_winograd(in);
        output = stages.output;
        const int products = winograd::size(output_tile, kernel);
        packed_layout(weights, {in.lane_block, channel_block, 0, products, products, 0, 0});
        packed_layout(bias, {in.lane_block, 0, 0});
        view_layout(source_x, 0);
        view_layout(source_y, 0);
        view_layout(source_z, 1);
        view_layout(input, 0);
        view_layout(output, 0);
        const bool on_arm = get_target().arch == Target::ARM;
        extra_or(function, on_arm ? arm::winograd : cpu::winograd)(stages, lanes, tile, vectors);
    }
};

} // namespace selvage

HALIDE_REGISTER_GENERATOR(selvage::WinogradGenerator, winograd)
