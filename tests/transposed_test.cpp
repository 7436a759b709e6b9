// Transposed convolution: the hand-worked cases of cases.md, small sizes, and random problems.

#include <cstddef>

#include <gtest/gtest.h>

#include "selvage/layer.h"

#include "hold.h"

using selvage::Op;

namespace {

const Data one_to_three = {{1, 2, 3}, {1, 10, 100}, {}};

// `same`, the size of the output, and on which side it is cropped.

TEST(ConvTranspose, PC_091_convt_same_size) {
    hold_outputs("conv_transpose1d in=5 kernel=3 stride=2 same=tf", {10});
    hold_outputs("conv_transpose1d in=32 kernel=3 same=onnx-lower", {32});
    hold_outputs("conv_transpose1d in=512 kernel=4 stride=2 same=onnx-upper", {1024});
    hold_outputs("conv_transpose2d c=3 k=4 in=5x7 kernel=2x5 stride=3x2 same=tf", {15, 14});
    hold_outputs("conv_transpose3d c=3 k=4 in=2x5x7 kernel=3 stride=1x3x2 same=torch", {2, 15, 14});
}

TEST(ConvTranspose, PC_092_convt_upper_lower) {
    hold_values("conv_transpose1d in=3 kernel=3 stride=2", one_to_three,
                {1, 10, 102, 20, 203, 30, 300});
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 same=onnx-upper", one_to_three,
                {1, 10, 102, 20, 203, 30});
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 same=onnx-lower", one_to_three,
                {10, 102, 20, 203, 30, 300});
    hold_values("conv_transpose2d in=3x3 kernel=3 stride=2 same=onnx-upper",
                {count_up(0, 8), repeat(9, 1), {}},
                {0, 0, 1, 1, 3, 2, 0, 0, 1,  1,  3,  2,  3, 3, 8,  5, 12, 7,
                 3, 3, 7, 4, 9, 5, 9, 9, 20, 11, 24, 13, 6, 6, 13, 7, 15, 8});
}

TEST(ConvTranspose, PC_094_convt_same_kernel_below_stride) {
    hold_values("conv_transpose1d in=3 kernel=2 stride=3 same=onnx-upper", {{1, 2, 3}, {1, 10}, {}},
                {1, 10, 0, 2, 20, 0, 3, 30, 0});
}

TEST(ConvTranspose, PC_095_convt_output_shape_side) {
    const std::vector<float> end = {10, 102, 20, 203, 30, 300}, begin = {1, 10, 102, 20, 203, 30};
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6", one_to_three, end);
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6 same=onnx-lower",
                one_to_three, end);
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6 same=onnx-upper",
                one_to_three, begin);
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 output_shape=8", one_to_three,
                {1, 10, 102, 20, 203, 30, 300, 0});
}

TEST(ConvTranspose, PC_097_convt_dilation_in_size) {
    hold_outputs("conv_transpose1d in=4 kernel=3 dilation=2 stride=2", {11});
}

TEST(ConvTranspose, PC_098_convt_stride_and_dilation) {
    hold_values("conv_transpose2d in=3x3 kernel=3 stride=2 dilation=2 pads=2",
                {count_up(1, 9), {0, 0, 0, 0, 1, 0, 0, 0, 0}, {}},
                {1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8, 0, 9});
    hold_values(
        "conv_transpose2d in=3x3 kernel=3 stride=2 dilation=2 pads=2",
        {count_up(1, 9), count_up(1, 9), {}},
        {26, 0, 56, 0, 54, 0, 0, 0, 0, 0, 84, 0, 165, 0, 144, 0, 0, 0, 0, 0, 134, 0, 236, 0, 186});
}

TEST(ConvTranspose, PC_100_convt_explicit_pad_meaning) {
    hold_outputs("conv_transpose1d in=128 kernel=4 stride=4", {512});
    hold_outputs("conv_transpose1d in=128 kernel=4 stride=4 pads=3", {506});
}

// Crops, and what output_padding adds.

TEST(ConvTranspose, PC_101_convt_crop_not_input_pad) {
    hold_values("conv_transpose1d in=2 kernel=3 stride=2 pads=1", {{1, 2}, {1, 10, 100}, {}},
                {10, 102, 20});
}

TEST(ConvTranspose, PC_103_convt_output_padding_zeros) {
    const Data data = {{1, 2}, {1, 1, 1}, {}};
    hold_values("conv_transpose1d in=2 kernel=3 stride=2 pads=1 output_padding=1", data,
                {1, 3, 2, 2});
    hold_values("conv_transpose1d in=2 kernel=3 stride=2 output_padding=1", data,
                {1, 1, 3, 2, 2, 0});
}

TEST(ConvTranspose, PC_104_convt_output_padding_gpu) {
    hold_outputs("conv_transpose2d c=16 k=3 in=7x7 kernel=3 stride=2 pads=1 output_padding=1",
                 {14, 14});
}

TEST(ConvTranspose, PC_106_convt_output_padding_equals_crop) {
    hold_values("conv_transpose1d in=3 kernel=4 stride=2 pads=1 output_padding=1",
                {{1, 2, 3}, repeat(4, 1), {}}, {1, 3, 3, 5, 5, 3, 3});
}

TEST(ConvTranspose, PC_107_convt_crop_beyond_kernel) {
    hold_values("conv_transpose2d in=6x6 kernel=2 dilation=2 pads=3 output_padding=1",
                {repeat(36, .5), repeat(4, 1), {}}, repeat(9, 2));
    hold_values("conv_transpose1d in=6 kernel=3 pads=3", {count_up(1, 6), repeat(3, 1), {}},
                {9, 12});
}

TEST(ConvTranspose, NegativePadsAddPlaces) {
    hold_values("conv_transpose1d in=2 kernel=1 pads=-1,-2", {{1, 2}, {3}, {}}, {0, 3, 6, 0, 0});
}

TEST(ConvTranspose, APhaseMovesTheOutputs) {
    hold_values("conv_transpose1d in=2 kernel=1 stride=2 phase=1", {{1, 2}, {1}, {}}, {0, 1, 0, 2});
    hold_values("conv_transpose1d in=3 kernel=3 stride=2 pads=1 phase=1", one_to_three,
                {1, 10, 102, 20, 203, 30});
}

TEST(ConvTranspose, PlacesThatNoTapReachesHoldTheBias) {
    hold_values("conv_transpose1d in=2 kernel=1 stride=3 bias=1", {{1, 2}, {2}, {5}}, {7, 5, 5, 9});
    hold_values("conv_transpose1d in=2 kernel=1 stride=3 bias=1 act=relu6", {{-1, 2}, {4}, {1}},
                {0, 1, 1, 6});
    hold_values("conv_transpose1d in=1 kernel=2 dilation=3 k=2 bias=1", {{1}, {1, 2, 3, 4}, {5, 6}},
                {6, 9, 5, 6, 5, 6, 7, 10});
}

// Groups and the order of weights: inputs before outputs.

TEST(ConvTranspose, PC_109_convt_two_groups) {
    std::vector<float> weights = count_up(1, 9);
    weights.insert(weights.end(), weights.begin(), weights.begin() + 9);
    hold_values("conv_transpose2d c=2 k=2 g=2 in=2x2 kernel=3",
                {{1, 5, 2, 6, 3, 7, 4, 8}, weights, {}},
                {1,  5,  4,  16,  7,  27,  6,  18,  7,  27, 23, 71,  33, 97,  24, 60,
                 19, 63, 53, 149, 63, 175, 42, 102, 21, 49, 52, 112, 59, 127, 36, 72});
}

TEST(ConvTranspose, PC_110_convt_group_weight_shape) {
    hold_outputs("conv_transpose2d c=64 k=64 g=64 in=15x20 kernel=2 stride=2", {30, 40});
    hold_values("conv_transpose1d c=4 k=4 g=2 in=2 kernel=1",
                {{1, 3, 5, 7, 2, 4, 6, 8}, {1, 10, 100, 1000, 1, 2, 3, 4}, {}},
                {301, 3010, 26, 38, 402, 4020, 30, 44});
}

TEST(ConvTranspose, Volumes) {
    hold_problem("conv_transpose3d n=2 c=5 k=6 in=3x4x5 kernel=2x3x4 stride=2x1x3 "
                 "pads=1,0,2,0,3,1 output_padding=1,0,2 bias=1");
    hold_problem("conv_transpose3d c=6 k=4 g=2 in=2x3x4 kernel=3 stride=3 dilation=2x1x3 "
                 "pads=0,1,2,3,-1,4 phase=2,0,1");
}

// Small sizes and tails.

TEST(ConvTranspose, PC_142_extent_below_vector) {
    for (int size = 1; size <= 17; ++size) {
        const std::string s = std::to_string(size);
        hold_problem("conv_transpose2d c=16 k=16 kernel=2 stride=2 in=2x" + s);
        hold_problem("conv_transpose2d c=3 k=16 kernel=4 stride=2 pads=1 in=" + s + "x2");
    }
}

TEST(ConvTranspose, PC_146_channel_tails) {
    for (int channels = 1; channels <= 33; ++channels) {
        const std::string s = std::to_string(channels);
        hold_problem("conv_transpose2d c=" + s + " k=32 in=3x5 kernel=2 stride=2");
        hold_problem("conv_transpose2d c=5 k=" + s + " in=3x5 kernel=3 stride=2 pads=0,1,1,0");
    }
}

// 21 million products; the memory beside input and output must not grow with outputs x kernel.
TEST(ConvTranspose, PC_157_im2col_blow_up) {
    const selvage::Problem problem = parse("conv_transpose1d in=5158 kernel=4096 stride=1024");
    const Data data = random_data(problem, 1);
    const std::vector<float> right = expected_output(problem, data).values;
    ASSERT_EQ(right.size(), std::size_t(5284864));
    selvage::Layer layer;
    const selvage::Status status = selvage::make_layer(problem, {}, data.weights.data(),
                                                       selvage::WeightOrder::oihw, nullptr, &layer);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_LT(layer.plan().packed_bytes() + layer.plan().scratch_bytes(),
              right.size() * sizeof(float));
    std::vector<float> found(right.size());
    ASSERT_TRUE(layer.run(data.input.data(), found.data()).ok());
    EXPECT_TRUE(found == right);
}

class RandomConvTranspose : public testing::TestWithParam<std::string> {};

TEST_P(RandomConvTranspose, MatchesTheOracle) {
    hold_random_problems(Op::conv_transpose, GetParam());
}

INSTANTIATE_TEST_SUITE_P(, RandomConvTranspose, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
