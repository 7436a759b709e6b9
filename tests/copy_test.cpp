// Operators that only move numbers: stride_sample and pad. Modes are in modes_test.cpp.

#include <limits>

#include <gtest/gtest.h>

#include "hold.h"

using selvage::Op;

namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

Data input(const std::vector<float> &values) { return {values, {}, {}}; }

TEST(StrideSample, EveryPhaseOfEveryAxis) {
    hold_values("stride_sample1d in=7 stride=3", input(count_up(1, 7)), {1, 4, 7});
    hold_values("stride_sample1d in=7 stride=3 phase=1", input(count_up(1, 7)), {2, 5});
    hold_values("stride_sample1d in=7 stride=3 phase=2", input(count_up(1, 7)), {3, 6});
    hold_values("stride_sample2d in=3x4 stride=2x3 phase=1,0", input(count_up(1, 12)), {5, 8});
    hold_values("stride_sample3d in=2x2x2 stride=2 phase=0,1,1", input(count_up(1, 8)), {4});
    hold_values("stride_sample1d in=2 stride=9 phase=4", input({1, 2}), {});
}

TEST(Pad, AmountsOnEachSide) {
    hold_values("pad1d in=2 pads=1,3 value=7", input({1, 2}), {7, 1, 2, 7, 7, 7});
    hold_values("pad2d in=2x2 pads=1,0,0,2", input(count_up(1, 4)),
                {0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0});
    hold_values("pad3d in=1x1x2 pads=0,0,0,1,1,1 value=-1", input({5, 6}),
                {5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
    hold_values("pad1d in=1 pads=1 value=inf", input({quiet_nan}),
                {std::numeric_limits<float>::infinity(), quiet_nan,
                 std::numeric_limits<float>::infinity()});
}

TEST(Pad, PC_083_fold_negative_pad) {
    hold_values("pad1d in=5 pads=-1,2", input(count_up(1, 5)), {2, 3, 4, 5, 0, 0});
    hold_values("pad1d in=5 pads=-1,-3", input(count_up(1, 5)), {2});
}

TEST(Pad, ToASize) {
    hold_values("pad1d in=3 to=6", input({1, 2, 3}), {0, 1, 2, 3, 0, 0});
    hold_values("pad1d in=3 to=5", input({1, 2, 3}), {0, 1, 2, 3, 0});
    hold_values("pad1d in=5 to=3", input(count_up(1, 5)), {2, 3, 4});
    hold_values("pad2d in=1x2 to=2x3 value=9", input({1, 2}), {1, 2, 9, 9, 9, 9});
    hold_outputs("pad2d in=7x9 to=32x16", {32, 16});
}

TEST(Copies, BytesOfEitherSign) {
    for (const char *type : {" type=u8", " type=i8"}) {
        hold_problem("stride_sample2d c=3 in=9x11 stride=2x3 phase=1,2" + std::string(type));
        hold_problem("pad2d c=3 in=9x11 pads=1,2,3,4 value=17" + std::string(type));
    }
    hold_values("pad1d in=2 pads=1,0 value=-128 type=i8", input({127, -1}), {-128, 127, -1});
    hold_values("pad1d in=2 pads=1,0 value=255 type=u8", input({0, 128}), {255, 0, 128});
}

TEST(Copies, PC_142_extent_below_vector) {
    for (int size = 1; size <= 17; ++size) {
        const std::string s = std::to_string(size);
        for (const char *channels : {" c=1", " c=3", " c=16"}) {
            hold_problem("pad2d pads=1,2,0,3 in=2x" + s + channels);
            hold_problem("stride_sample2d stride=1x2 in=2x" + s + channels);
        }
    }
}

class RandomCopies : public testing::TestWithParam<std::string> {};

TEST_P(RandomCopies, SamplesMatchTheOracle) { hold_random_problems(Op::stride_sample, GetParam()); }
TEST_P(RandomCopies, PadsMatchTheOracle) { hold_random_problems(Op::pad, GetParam()); }

INSTANTIATE_TEST_SUITE_P(, RandomCopies, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
