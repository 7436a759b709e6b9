// Depthwise convolution: the hand-worked cases of cases.md, small sizes, and random problems.

#include <gtest/gtest.h>

#include "selvage/plan.h"

#include "hold.h"

using selvage::Op;

namespace {

TEST(Depthwise, PC_112_dilated_depthwise_skipped) {
    // Weights of 1 instead of 1/9: the count of taps inside the input, plus the bias of 1.
    hold_values("depthwise2d c=4 in=5x5 kernel=3 dilation=2 pads=2 bias=1",
                {repeat(100, 1), repeat(36, 1), {1, 1, 1, 1}},
                in_each_channel(4, {5, 5, 7, 5, 5, 5, 5, 7, 5, 5, 7, 7, 10,
                                    7, 7, 5, 5, 7, 5, 5, 5, 5, 7, 5, 5}));
}

TEST(Depthwise, PC_119_height_1_depthwise) {
    const Data data = {{1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12}, {1, 10, 100, 1, 1, 1}, {}};
    const std::vector<float> right = {210, 15, 321, 24, 432, 27, 543, 30, 654, 33, 65, 23};
    hold_values("depthwise1d c=2 in=6 kernel=3 pads=1", data, right);
    hold_values("depthwise2d c=2 in=1x6 kernel=1x3 pads=0,1,0,1", data, right);
    hold_problem("depthwise1d c=32 in=32 kernel=3 pads=1");
    hold_problem("depthwise2d c=32 in=1x32 kernel=1x3 pads=0,1,0,1");
}

TEST(Depthwise, PC_121_depthwise_multiplier) {
    hold_values("depthwise1d c=2 k=4 in=3 kernel=2",
                {{1, 4, 2, 5, 3, 6}, {1, 0, 0, 1, 1, 1, 2, 3}, {}}, {1, 2, 9, 23, 2, 3, 11, 28});
}

TEST(Depthwise, PC_122_tf_depthwise_order) {
    // Every output channel sees its own input channel through its own weight: c*m+q reads c.
    hold_problem("depthwise2d n=2 c=3 k=6 in=4x4 kernel=3");
    hold_values("depthwise2d c=3 k=6 in=1x1 kernel=1", {{1, 10, 100}, {1, 2, 3, 4, 5, 6}, {}},
                {1, 2, 30, 40, 500, 600});
}

TEST(Depthwise, PC_124_depthwise_pointer) {
    const Data data = {{1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0,
                        1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0},
                       repeat(18, 1),
                       {}};
    hold_values("depthwise2d c=2 in=4x4 kernel=3", data, {3, 4, 4, 3, 2, 3, 3, 3});
    hold_values("depthwise2d c=2 in=4x4 kernel=3 pads=1", data,
                {1, 3, 2, 3, 3, 2, 3, 0, 2, 4, 3, 4, 4, 3, 4, 0,
                 2, 3, 2, 3, 3, 3, 3, 0, 2, 2, 2, 2, 2, 2, 2, 0});
}

TEST(Depthwise, PC_125_depthwise_1d_even) {
    hold_values("depthwise1d c=8 in=10 kernel=10 same=tf", {repeat(80, 1), repeat(80, 1), {}},
                in_each_channel(8, {6, 7, 8, 9, 10, 9, 8, 7, 6, 5}));
}

TEST(Depthwise, BorderValueAndFourPads) {
    hold_values("depthwise1d c=1 in=4 kernel=3 pads=2,1 value=7", {{1, 2, 3, 4}, {1, 10, 100}, {}},
                {177, 217, 321, 432, 743});
    hold_problem("depthwise2d c=24 in=6x9 kernel=3 stride=2 pads=1,2,4,3 value=-2");
}

TEST(Depthwise, Volumes) {
    hold_problem("depthwise3d c=18 in=4x6x7 kernel=2x3x3 stride=1x2x1 pads=1,0,3,2,4,5");
    hold_problem("depthwise3d c=3 k=6 in=4x6x7 kernel=3 dilation=1x2x3 pads=1,2,3,4,5,6 value=-2");
}

// Maps with loops of their own (schedules/cpu/windows.h), and with one pad more or less.
TEST(Depthwise, SmallMapsWithPadsAroundSame) {
    const int step = 100 / sample(100); // every so manyth
    int problems = 0;
    for (int kernel : {3, 5, 7})
        for (int stride : {1, 2})
            for (int outputs : {7, 14, 28})
                for (int left = 0; left < kernel; ++left)
                    for (int right : {kernel - stride - left, kernel - left}) {
                        if (right < 0 || problems++ % step != 0)
                            continue;
                        const auto text = [](int number) { return std::to_string(number); };
                        hold_problem("depthwise2d c=37 in=6x" + text(outputs * stride) +
                                     " kernel=" + text(kernel) + " stride=" + text(stride) +
                                     " pads=3," + text(left) + ",1," + text(right) + " bias=1");
                    }
}

TEST(Depthwise, PC_139_strides_ignored) {
    hold_problem("depthwise2d c=8 in=16x16 kernel=3 pads=1");
}

TEST(Depthwise, PC_142_extent_below_vector) {
    for (int size = 1; size <= 17; ++size) {
        const std::string s = std::to_string(size);
        hold_problem("depthwise2d c=16 kernel=3 pads=1 in=2x" + s);
        hold_problem("depthwise2d c=16 kernel=3 pads=1 in=" + s + "x2");
    }
}

TEST(Depthwise, PC_146_channel_tails) {
    for (int channels = 1; channels <= 33; ++channels) {
        const std::string s = std::to_string(channels);
        hold_problem("depthwise2d c=" + s + " in=4x5 kernel=3 pads=1");
        hold_problem("depthwise2d c=" + s + " in=9x8 kernel=5 stride=2 pads=2");
    }
}

TEST(Depthwise, PC_148_packed_small_map) { hold_problem("depthwise2d c=64 in=16x16 kernel=3"); }

TEST(Depthwise, PC_151_single_row_stride2) {
    hold_problem("depthwise2d c=16 in=1x8 kernel=3 stride=2 pads=1");
}

class RandomDepthwise : public testing::TestWithParam<std::string> {};

TEST_P(RandomDepthwise, MatchesTheOracle) { hold_random_problems(Op::depthwise, GetParam()); }

INSTANTIATE_TEST_SUITE_P(, RandomDepthwise, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
