// Convolution as a Halide generator: binds the arguments of a C function to the inputs of the
// algorithm and hands its stages to a schedule.

#include <algorithm>

#include "generators/arguments.h"
#include "generators/conv.h"
#include "generators/conv_narrow.h"
#include "generators/conv_planar.h"
#include "generators/conv_pointwise.h"
#include "generators/conv_tiled.h"
#include "generators/schedule_function.h"
#include "schedules/arm/by_element.h"
#include "schedules/cpu/direct.h"
#include "schedules/cpu/narrow.h"
#include "schedules/cpu/planar.h"
#include "schedules/cpu/pointwise.h"
#include "schedules/gpu/any.h"
#include "schedules/gpu/tiled.h"

using namespace Halide;

namespace selvage {

class ConvGenerator : public Generator<ConvGenerator> {
public:
    enum class Schedule { reference, direct, pointwise, narrow, planar, any, tiled, split };
    GeneratorParam<Schedule> schedule{"schedule",
                                      Schedule::reference,
                                      {{"reference", Schedule::reference},
                                       {"direct", Schedule::direct},
                                       {"pointwise", Schedule::pointwise},
                                       {"narrow", Schedule::narrow},
                                       {"planar", Schedule::planar},
                                       {"any", Schedule::any},
                                       {"tiled", Schedule::tiled},
                                       {"split", Schedule::split}}};
    /// A function outside the tree in place of the schedule's own (docs/add-a-schedule.md).
    GeneratorParam<std::string> function{"function", ""};
    GeneratorParam<int> lanes{"lanes", 1};
    GeneratorParam<int> tile{"tile", 1};
    GeneratorParam<int> vectors{"vectors", 1};
    GeneratorParam<int> channel_block{"channel_block", 1};
    GeneratorParam<bool> border{"border", true};
    FixedNumbers numbers;
    /// Of planes: how far apart columns of the output lie, more than 1 in the phases of a
    /// transposed convolution; 0: any.
    GeneratorParam<int> fixed_step{"fixed_step", 0};

    Input<Buffer<float, 6>> input{"input"};
    Input<Buffer<float, 7>> weights{"weights"};
    Input<Buffer<float, 3>> bias{"bias"};
    Input<Buffer<int, 2>> source_x{"source_x"}, source_y{"source_y"}, source_z{"source_z"};
    Input<int> left{"left"}, top{"top"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int> dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Input<int> rows_low{"rows_low"}, rows_high{"rows_high"};
    Input<int> strip_rows{"strip_rows"}, block_rows{"block_rows"};
    Input<int> channel_blocks{"channel_blocks"};
    Input<float> value{"value"}, low{"low"}, high{"high"};
    Output<Buffer<float, 6>> output{"output"};

    void generate() {
        PlanarInputs in;
        in.lanes = lanes;
        in.vectors = vectors;
        in.places_x = source_x.dim(0).extent();
        in.places_y = source_y.dim(0).extent();
        const int lane_block = schedule == Schedule::planar ? int(tile) : int(lanes) * int(vectors);
        in.input = input;
        in.weights = weights;
        in.bias = bias;
        in.source_x = source_x;
        in.source_y = source_y;
        in.source_z = source_z;
        in.channels = fixed_or(numbers.channels, input.dim(0).extent());
        in.width = input.dim(2).extent();
        in.height = input.dim(3).extent();
        in.depth = input.dim(4).extent();
        in.kernel_x = weights.dim(2).extent();
        in.kernel_y = weights.dim(3).extent();
        in.kernel_z = source_z.dim(0).extent();
        in.left = left;
        in.top = top;
        in.stride_x = stride_x;
        in.stride_y = stride_y;
        in.dilation_x = dilation_x;
        in.dilation_y = dilation_y;
        in.rows_low = rows_low;
        in.rows_high = rows_high;
        in.value = value;
        in.low = low;
        in.high = high;
        in.strip_rows = strip_rows;
        in.block_rows = block_rows;
        in.channel_blocks = channel_blocks;
        in.lane_block = lane_block;
        in.channel_block = channel_block;
        in.channel_step = std::min<int>(channel_block, cpu::channel_step);
        // Of images with 3 channels a fourth would be 0.
        if (numbers.channels != 0)
            in.channel_step = std::min<int>(in.channel_step, numbers.channels);
        in.border = border;
        const bool on_arm = get_target().arch == Target::ARM;
        in.staged = on_arm && schedule == Schedule::direct;
        numbers.fix(in);
        fix_extent(input.dim(0), numbers.channels);
        packed_layout(weights, {lane_block, channel_block, 0, 0, 0, 0, 0});
        packed_layout(bias, {lane_block, 0, 0});
        // Places of a remainder lie together, and the outputs of a tap.
        view_layout(source_x, 0);
        view_layout(source_y, 0);
        view_layout(source_z, 1);

        if (schedule == Schedule::tiled || schedule == Schedule::split) {
            const bool split = schedule == Schedule::split;
            const int channels = split ? channel_block / gpu::pieces : int(channel_block);
            // Weights of all taps, where they leave a fourth of the shared memory of a block (48
            // KiB) for inputs; else those of a row of taps.
            const int kernel = std::max<int>(numbers.kernel_x, 1);
            const int row_bytes = kernel * channels * lane_block * int(sizeof(float));
            const int kernel_y = kernel * row_bytes <= 36 * 1024 ? kernel : 1;
            TiledStages stages =
                conv_tiled(in, {lanes, gpu::vectors, lane_block, tile, tile, channels, kernel,
                                kernel_y, numbers.stride_x, split});
            output = stages.output;
            view_layout(input, -1);
            view_layout(output, -1);
            gpu::tiled(stages);
            return;
        }
        if (schedule == Schedule::planar) {
            PlanarStages stages = conv_planar(in);
            output = stages.output;
            view_layout(input, 2);
            view_layout(output, -1);
            if (fixed_step != 0)
                output.dim(2).set_stride(fixed_step);
            fix_extent(output.dim(1), numbers.groups);
            // Without a loop over tiles, Halide would free the strip before the accumulator, but
            // scratch memory is a stack.
            if (int(numbers.outputs) > int(tile))
                fix_extent(output.dim(0), numbers.outputs);
            extra_or(function, cpu::planar)(stages, lanes, tile, vectors);
            return;
        }
        if (schedule == Schedule::narrow) {
            NarrowInputs narrow{in, source_x.dim(0).extent(), source_y.dim(0).extent(), lanes};
            NarrowStages stages = conv_narrow(narrow);
            output = stages.output;
            fix_extent(output.dim(0), numbers.outputs);
            fix_extent(output.dim(1), numbers.groups);
            view_layout(input, 0);
            view_layout(output, 0);
            input.dim(0).set_extent(channel_block);
            extra_or(function, cpu::narrow)(stages, lanes, tile, vectors);
            return;
        }
        if (schedule == Schedule::pointwise) {
            PointwiseStages stages = conv_pointwise(in);
            output = stages.output;
            fix_extent(output.dim(0), numbers.outputs);
            fix_extent(output.dim(1), numbers.groups);
            view_layout(input, 0);
            view_layout(output, 0);
            extra_or(function, on_arm ? arm::pointwise : cpu::pointwise)(stages, lanes, tile,
                                                                         vectors);
            return;
        }
        ConvStages stages = conv(in);
        output = stages.output;
        fix_extent(output.dim(0), numbers.outputs);
        fix_extent(output.dim(1), numbers.groups);
        // The reference serves every layout.
        const int dense = schedule == Schedule::direct ? 0 : -1;
        view_layout(input, dense);
        view_layout(output, dense);
        if (schedule == Schedule::direct)
            extra_or(function, on_arm ? arm::direct : cpu::direct)(stages, lanes, tile, vectors);
        else if (schedule == Schedule::any)
            gpu::any(stages);
    }
};

} // namespace selvage

HALIDE_REGISTER_GENERATOR(selvage::ConvGenerator, conv)
