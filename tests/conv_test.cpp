// Convolution: the hand-worked cases of cases.md, small sizes, and random problems.

#include <limits>

#include <gtest/gtest.h>

#include "selvage/plan.h"

#include "hold.h"

using selvage::Op;
using selvage::Plan;
using selvage::Problem;

namespace {

// `same` and phases.

TEST(Conv, PC_001_torch_same_even_kernel) {
    hold_values("conv1d in=6 kernel=4 same=torch", {count_up(1, 6), {1, 10, 100, 1000}, {}},
                {3210, 4321, 5432, 6543, 654, 65});
    hold_values("conv1d in=6 kernel=2 dilation=3 same=torch", {count_up(1, 6), {1, 10}, {}},
                {30, 41, 52, 63, 4, 5});
}

TEST(Conv, PC_004_onnx_same_upper_lower) {
    const Data data = {count_up(1, 6), {1, 10, 100}, {}};
    hold_values("conv1d in=6 kernel=3 stride=2 same=onnx-upper", data, {321, 543, 65});
    hold_values("conv1d in=6 kernel=3 stride=2 same=onnx-lower", data, {210, 432, 654});
    hold_values("conv1d in=6 kernel=4 same=onnx-lower", {count_up(1, 6), {1, 10, 100, 1000}, {}},
                {2100, 3210, 4321, 5432, 6543, 654});
}

TEST(Conv, PC_005_same_integer_division) {
    const Data data = {{1, 2}, {1, 10, 100}, {}};
    hold_values("conv1d in=2 kernel=3 stride=2 same=onnx-upper", data, {21});
    hold_values("conv1d in=2 kernel=3 stride=2 same=onnx-lower", data, {210});
}

TEST(Conv, PC_007_same_dilated_conv) {
    hold_values("conv1d in=6 kernel=3 dilation=2 same=onnx-upper",
                {count_up(1, 6), {1, 10, 100}, {}}, {310, 420, 531, 642, 53, 64});
}

TEST(Conv, PC_011_same_stride_of_wrong_axis) {
    hold_values("conv2d in=7x9 kernel=3x3 stride=2x3 same=tf", {repeat(63, 1), repeat(9, 1), {}},
                {6, 6, 6, 9, 9, 9, 9, 9, 9, 6, 6, 6});
}

TEST(Conv, PC_014_scipy_same_centre) {
    // A true convolution by [2, 4, -1, 1] is a correlation with the flipped kernel.
    hold_values("conv1d in=7 kernel=4 same=scipy", {{-1, 2, 3, -2, 0, 1, 2}, {1, -1, 4, 2}, {}},
                {0, 15, 5, -9, 7, 6, 7});
}

TEST(Conv, PC_016_causal_with_stride) {
    const Data data = {count_up(1, 6), {1, 10, 100, 1000, 10000}, {}};
    hold_values("conv1d in=6 kernel=5 stride=2 same=causal", data, {10000, 32100, 54321});
    hold_values("conv1d in=6 kernel=5 stride=2 same=causal phase=1", data, {21000, 43210, 65432});
    hold_values("conv1d in=6 kernel=5 stride=2 pads=3,1", data, {21000, 43210, 65432});
    hold_values("conv1d in=6 kernel=3 dilation=2 same=causal", {count_up(1, 6), {1, 10, 100}, {}},
                {100, 200, 310, 420, 531, 642});
}

TEST(Conv, PC_017_guard_same_is_not_same_size) {
    hold_values("conv2d in=7x5 kernel=3x3 stride=2 same=onnx-upper",
                {repeat(35, 1), repeat(9, 1), {}}, {4, 6, 4, 6, 9, 6, 6, 9, 6, 4, 6, 4});
}

TEST(Conv, PC_019_phase_by_crop) {
    const Data data = {count_up(1, 6), {1, 10, 100}, {}};
    hold_values("conv1d in=6 kernel=3 stride=2 pads=0,1", data, {321, 543, 65});
    hold_values("conv1d in=6 kernel=3 stride=2 pads=2,2", data, {100, 321, 543, 65});
    hold_values("conv1d in=6 kernel=3 stride=2 pads=1,1 phase=1", data, {321, 543, 65});
    hold_values("conv1d in=6 kernel=3 stride=2 pads=1,1", data, {210, 432, 654});
}

TEST(Conv, PC_020_phase_of_tiles) {
    hold_values("conv1d in=12 kernel=3 stride=2 pads=0,1", {count_up(1, 12), {1, 10, 100}, {}},
                {321, 543, 765, 987, 1209, 131});
    hold_values("conv1d in=5 kernel=3 stride=2 pads=0,1 phase=1",
                {count_up(8, 12), {1, 10, 100}, {}}, {1209, 131});
}

TEST(Conv, PC_161_same_kernel_above_input) {
    hold_values("conv1d in=3 kernel=5 same=tf", {{1, 2, 3}, {1, 1, 1, 1, 1}, {}}, {6, 6, 6});
}

// Pads of each side, crops and border values.

TEST(Conv, PC_022_conv3d_end_pad_lost) {
    const Data data = {{1, 2, 3, 4}, {1, 1}, {}};
    hold_values("conv1d in=4 kernel=2 pads=0,1", data, {3, 5, 7, 4});
    hold_values("conv3d in=1x1x4 kernel=1x1x2 pads=0,0,0,0,0,1", data, {3, 5, 7, 4});
    hold_values("conv3d in=4x1x1 kernel=2x1x1 pads=0,0,0,1,0,0", data, {3, 5, 7, 4});
}

TEST(Conv, PC_023_begin_pads_used_for_both) {
    hold_values("conv1d in=5 kernel=4 pads=1,2", {count_up(1, 5), {1, 10, 100, 1000}, {}},
                {3210, 4321, 5432, 543, 54});
}

TEST(Conv, PC_025_four_different_sides) {
    hold_values(
        "conv2d in=3x4 kernel=2x3 pads=1,2,0,3", {count_up(1, 12), count_up(1, 6), {}},
        {6, 17, 32, 47, 32, 16, 0, 33, 69, 106, 127, 79, 36, 0, 69, 133, 190, 211, 127, 56, 0});
}

TEST(Conv, PC_031_import_refuses_asymmetric) {
    hold_values("conv2d in=4x4 kernel=3 pads=1,0,0,2", {count_up(0, 15), repeat(9, 1), {}},
                {18, 24, 18, 10, 45, 54, 39, 21, 81, 90, 63, 33});
    hold_values("conv2d in=4x4 kernel=3 pads=0,0,1,1", {count_up(0, 15), repeat(9, 1), {}},
                {45, 54, 39, 81, 90, 63, 66, 72, 50});
}

TEST(Conv, PC_032_padding_pair_taken_as_mode) {
    hold_values("conv1d in=8 kernel=7 pads=3,3", {repeat(8, 1), repeat(7, 1), {}},
                {4, 5, 6, 7, 7, 6, 5, 4});
}

TEST(Conv, PC_034_pads_order_efficientnet) {
    hold_problem("conv2d c=3 k=32 in=224x224 kernel=3 stride=2 pads=0,0,1,1");
}

TEST(Conv, SixDifferentSides) {
    // Front 1, top 0, left 2, back 4, bottom 5, right 3. Of ones, each output is the number of taps
    // inside the input, which is the product of those along the axes.
    std::vector<float> counts;
    for (float z : {1, 2, 2, 1, 0, 0, 0})
        for (float y : {1, 1, 1, 1, 1, 0, 0, 0, 0, 0})
            for (float x : {1, 2, 3, 3, 2, 1, 0})
                counts.push_back(z * y * x);
    hold_values("conv3d in=3x5x4 kernel=2x1x3 pads=1,0,2,4,5,3", {repeat(60, 1), repeat(6, 1), {}},
                counts);
    hold_problem("conv3d n=2 c=5 k=7 in=4x5x6 kernel=2x3x3 stride=1x2x1 pads=1,0,3,2,4,5 value=2");
    hold_problem("conv3d c=6 k=8 g=2 in=5x6x7 kernel=3x2x3 stride=2x1x3 dilation=2x3x1 "
                 "pads=4,1,2,0,3,5 phase=1,0,2 bias=1");
}

TEST(Conv, PC_068_strides_per_axis) {
    hold_values("conv3d c=3 in=5x9x11 kernel=3 stride=1x2x2 bias=1",
                {repeat(5 * 9 * 11 * 3, 1), repeat(81, 1), {1}}, repeat(3 * 4 * 5, 82));
}

TEST(Conv, PC_083_fold_negative_pad) {
    hold_values("conv1d in=5 kernel=3 pads=-1,2", {count_up(1, 5), {1, 10, 100}, {}},
                {432, 543, 54, 5});
    // Pads of its own after Pad(-1, 2) are other pads.
    hold_values("conv1d in=6 kernel=3 pads=1,1", {{2, 3, 4, 5, 0, 0}, {1, 10, 100}, {}},
                {320, 432, 543, 54, 5, 0});
}

TEST(Conv, PC_086_fold_leaves_auto_pad) {
    // SAME after Pad(1, 1) is resolved on the padded size: pads 0 and 1 more.
    const std::vector<float> right = {210, 432, 654, 6};
    hold_values("conv1d in=8 kernel=3 stride=2 same=onnx-upper",
                {{0, 1, 2, 3, 4, 5, 6, 0}, {1, 10, 100}, {}}, right);
    hold_values("conv1d in=6 kernel=3 stride=2 pads=1,2", {count_up(1, 6), {1, 10, 100}, {}},
                right);
}

TEST(Conv, PC_089_fold_bn_before_padded_conv) {
    // Weights and bias hold the scale 2 and the shift 1; the border -1/2 makes the shift vanish.
    hold_values("conv1d in=3 kernel=3 pads=1,1 value=-0.5 bias=1", {{1, 2, 3}, {2, 2, 2}, {3}},
                {8, 15, 12});
}

TEST(Conv, PC_118_conv_pad_at_least_kernel) {
    hold_problem("conv2d in=224x224 kernel=3 pads=100");
    hold_values("conv1d in=3 kernel=2 pads=3,2", {{1, 2, 3}, {1, 10}, {}},
                {0, 0, 10, 21, 32, 3, 0});
}

// Strides, dilations, groups.

TEST(Conv, PC_113_pointwise_shortcut) {
    hold_values("conv2d in=4x4 kernel=1 stride=2 pads=1", {count_up(1, 16), {1}, {}},
                {0, 0, 0, 0, 6, 8, 0, 14, 16});
    hold_values("conv2d in=4x4 kernel=1 stride=2", {count_up(1, 16), {1}, {}}, {1, 3, 9, 11});
    hold_values("conv2d in=2x2 kernel=1 pads=1", {count_up(1, 4), {2}, {}},
                {0, 0, 0, 0, 0, 2, 4, 0, 0, 6, 8, 0, 0, 0, 0, 0});
}

TEST(Conv, PC_115_dilation_counted_from_zero) {
    hold_values("conv1d in=7 kernel=3 dilation=2", {count_up(1, 7), {1, 10, 100}, {}},
                {531, 642, 753});
}

TEST(Conv, PC_116_winograd_pads) {
    for (const char *size : {"58x58", "60x58", "57x57", "5x5", "3x3"})
        for (const char *channels : {"3", "16"})
            hold_problem(std::string("conv2d c=") + channels + " k=16 in=" + size +
                         " kernel=3 same=tf");
}

TEST(Conv, PC_136_one_channel_channels_last) {
    hold_problem("conv2d k=64 in=100x100 kernel=3 pads=1");
}

TEST(Conv, PC_127_conv_add_fusion_groups) {
    hold_problem("conv2d c=136 k=136 g=4 in=5x7 kernel=1 bias=1");
}

// What follows the sum.

TEST(Conv, ActivationsClampAndKeepNan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Data data = {{nan, -1, 2, 9}, {1}, {}};
    hold_values("conv1d in=4 kernel=1", data, {nan, -1, 2, 9});
    hold_values("conv1d in=4 kernel=1 act=relu", data, {nan, 0, 2, 9});
    hold_values("conv1d in=4 kernel=1 act=relu6", data, {nan, 0, 2, 6});
    hold_values("conv1d in=4 kernel=1 act=clamp:-0.5:3", data, {nan, -0.5, 2, 3});
}

TEST(Conv, BiasBelongsToItsChannelAndComesBeforeTheActivation) {
    hold_values("conv1d k=3 in=2 kernel=1 bias=1 act=relu", {{1, 2}, {1, 10, 100}, {-2, 5, -150}},
                {0, 15, 0, 0, 25, 50});
}

// Small sizes and tails.

TEST(Conv, PC_142_extent_below_vector) {
    hold_problem("conv2d in=10x10 kernel=5");
    for (int size = 1; size <= 17; ++size) {
        const std::string s = std::to_string(size);
        hold_problem("conv2d c=3 k=16 kernel=3 pads=1 in=2x" + s);
        hold_problem("conv2d c=16 k=32 kernel=3 pads=1 in=" + s + "x2");
    }
}

TEST(Conv, PC_143_split_update_tail) {
    for (const char *width : {"13", "51"})
        hold_problem(std::string("conv2d c=8 k=32 kernel=3 pads=1 in=3x") + width);
}

TEST(Conv, PC_146_channel_tails) {
    for (int channels = 1; channels <= 33; ++channels) {
        const std::string s = std::to_string(channels);
        hold_problem("conv2d c=" + s + " k=32 in=3x5 kernel=1");
        hold_problem("conv2d c=5 k=" + s + " in=3x5 kernel=1");
        hold_problem("conv2d c=" + s + " k=" + s + " in=3x5 kernel=3 pads=1");
    }
}

TEST(Conv, PC_148_packed_small_map) { hold_problem("conv2d c=64 k=64 in=14x14 kernel=1"); }

TEST(Conv, PC_151_single_row_stride2) {
    hold_problem("conv2d c=16 k=32 in=1x8 kernel=3 stride=2 pads=1");
}

TEST(Conv, PC_160_floor_versus_truncation) {
    hold_values("conv2d in=2x5 kernel=3 stride=2", {count_up(1, 10), count_up(1, 9), {}}, {});
}

// Views.

/// Plans the problem, packs OIHW weights and runs it between two views.
void run(const char *text, const std::vector<float> &weights,
         const selvage::Tensor<const float> &input, const selvage::Tensor<float> &output) {
    Plan plan;
    ASSERT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok());
    const GuardedMemory packed(plan.packed_bytes()), scratch(plan.scratch_bytes());
    ASSERT_TRUE(
        plan.pack(weights.data(), selvage::WeightOrder::oihw, nullptr, packed.begin<std::byte>())
            .ok());
    const selvage::Status status = plan.run(input, packed.begin<std::byte>(), output,
                                            scratch.begin<std::byte>(), plan.scratch_bytes());
    ASSERT_TRUE(status.ok()) << status.text();
}

TEST(Conv, PC_140_output_stride_ignored) {
    std::vector<float> input(100), output(10 * 128, -1);
    const std::vector<float> row = {0, 1, 4, 4, 4, 2, 0, 0, 0, 0};
    const std::vector<float> sums = {5, 9, 13, 15, 14, 10, 6, 2, 0, 0};
    for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 10; ++x)
            input[y * 10 + x] = row[x] * float(y + 1);
    run("conv2d in=10x10 kernel=1x5 pads=0,2,0,2", repeat(5, 1),
        selvage::dense<const float>(input.data(), 1, 10, 10, 1),
        {output.data(), 1, 10, 10, 1, 1280, 128, 1});
    for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 128; ++x)
            EXPECT_EQ(output[y * 128 + x], x < 10 ? sums[x] * float(y + 1) : -1) << y << " " << x;
}

TEST(Conv, PC_166_view_in_the_middle) {
    // The border begins where the view ends, whatever lies there in memory.
    const std::vector<float> memory = count_up(-9, 16);
    std::vector<float> output(6);
    run("conv1d in=6 kernel=3 pads=1,1", {1, 10, 100},
        selvage::dense<const float>(memory.data() + 10, 1, 1, 6, 1),
        selvage::dense(output.data(), 1, 1, 6, 1));
    EXPECT_EQ(output, (std::vector<float>{210, 321, 432, 543, 654, 65}));
}

TEST(Conv, PC_149_padded_channels_garbage) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> input(4 * 8, nan), output(4);
    for (int pixel = 0; pixel < 4; ++pixel)
        for (int c = 0; c < 3; ++c)
            input[pixel * 8 + c] = float(pixel + 1);
    run("conv2d c=3 in=2x2 kernel=1", {1, 10, 100}, {input.data(), 1, 2, 2, 3, 32, 16, 8},
        selvage::dense(output.data(), 1, 2, 2, 1));
    EXPECT_EQ(output, (std::vector<float>{111, 222, 333, 444}));
}

TEST(Conv, PC_152_zero_strides_repeat_an_image) {
    const std::vector<float> input = {1, 2, 3};
    std::vector<float> output(9);
    run("conv1d n=3 in=3 kernel=3 pads=1,1", {1, 10, 100}, {input.data(), 3, 1, 3, 1, 0, 3, 1},
        selvage::dense(output.data(), 3, 1, 3, 1));
    EXPECT_EQ(output, (std::vector<float>{210, 321, 32, 210, 321, 32, 210, 321, 32}));
}

TEST(Conv, PC_167_uneven_pads_take_the_same_kernel) {
    const auto plan = [](const char *text) {
        Plan plan;
        EXPECT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok());
        return plan;
    };
    const Plan even = plan("conv2d c=64 k=64 in=32x32 kernel=3 pads=1,1,1,1");
    const Plan uneven = plan("conv2d c=64 k=64 in=32x32 kernel=3 pads=0,0,2,2");
    EXPECT_EQ(uneven.kernel(), even.kernel());
    EXPECT_EQ(uneven.scratch_bytes(), even.scratch_bytes());
}

class RandomConv : public testing::TestWithParam<std::string> {};

TEST_P(RandomConv, MatchesTheOracle) { hold_random_problems(Op::conv, GetParam()); }

INSTANTIATE_TEST_SUITE_P(, RandomConv, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
