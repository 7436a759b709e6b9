// Maxima, averages and norms: the hand-worked cases of cases.md, small sizes, and random problems.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "selvage/plan.h"

#include "hold.h"

using selvage::Op;
using selvage::Problem;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// A pool's data: there are only inputs.
Data input(const std::vector<float> &values) { return {values, {}, {}}; }

// `same`.

TEST(Pools, PC_002_same_pool_even_kernel) {
    hold_values("max_pool2d in=3x3 kernel=2 same=torch", input(count_up(1, 9)),
                {5, 6, 6, 8, 9, 9, 8, 9, 9});
    hold_values("avg_pool2d in=3x3 kernel=2 same=tf", input(count_up(1, 9)),
                {3, 4, 4.5, 6, 7, 7.5, 7.5, 8.5, 9});
}

TEST(Pools, PC_008_same_dilated_pool) {
    hold_outputs("max_pool2d in=7x7 kernel=3 dilation=2", {3, 3});
    hold_values("max_pool1d in=6 kernel=3 dilation=2 same=onnx-upper", input(count_up(1, 6)),
                {3, 4, 5, 6, 5, 6});
    hold_values("avg_pool1d in=6 kernel=3 dilation=2 same=onnx-upper", input(count_up(1, 6)),
                {2, 3, 3, 4, 4, 5});
    hold_values("avg_pool1d in=6 kernel=3 dilation=2 same=onnx-upper include_pad=1",
                input(count_up(1, 6)), {4 / 3.f, 2, 3, 4, 8 / 3.f, 10 / 3.f});
}

TEST(Pools, PC_010_same_avg_nonsquare) {
    hold_values("avg_pool2d in=3x5 kernel=2 stride=2 same=tf", input(count_up(1, 15)),
                {4, 6, 7.5, 11.5, 13.5, 15});
}

TEST(Pools, PC_013_same_ignores_ceil) {
    for (const char *ceil : {" ceil=0", " ceil=1"}) {
        const std::string same = std::string(" same=onnx-upper") + ceil;
        hold_outputs("max_pool1d in=5 kernel=1 stride=2" + same, {3});
        hold_outputs("max_pool1d in=10 kernel=1 stride=3" + same, {4});
        hold_outputs("max_pool1d in=6 kernel=3 stride=2" + same, {3});
        hold_values("avg_pool1d in=7 kernel=2 stride=3" + same, input(count_up(1, 7)),
                    {1.5, 4.5, 7});
    }
}

// Pads of each side.

TEST(Pools, PC_023_begin_pads_used_for_both) {
    hold_values("avg_pool1d in=9 kernel=7 stride=3 pads=0,3 ceil=1 include_pad=1",
                input(count_up(1, 9)), {4, 39 / 7.f, 4});
}

TEST(Pools, PC_026_end_pads_mirrored) {
    hold_values("avg_pool2d in=3x3 kernel=2 pads=0,0,1,1 include_pad=1", input(count_up(1, 9)),
                {3, 4, 2.25, 6, 7, 3.75, 3.75, 4.25, 2.25});
}

TEST(Pools, PC_028_pool3d_one_axis_pad) {
    for (const char *op : {"max_pool3d", "avg_pool3d", "lp_pool3d"})
        hold_outputs(std::string(op) + " in=5x5x5 kernel=2 pads=1,0,1,1,1,0", {6, 5, 5});
}

TEST(Pools, PC_029_window_1xk_with_pads) {
    // Rows of padding only: the identity of the maximum, and an average of nothing.
    hold_values("max_pool2d in=4x4 kernel=1x2 pads=1,0,1,0", input(count_up(0, 15)),
                {-infinity, -infinity, -infinity, 1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15,
                 -infinity, -infinity, -infinity});
    hold_values("avg_pool2d in=4x4 kernel=1x2 pads=1,0,1,0 include_pad=1", input(count_up(0, 15)),
                {0, 0, 0, .5, 1.5, 2.5, 4.5, 5.5, 6.5, 8.5, 9.5, 10.5, 12.5, 13.5, 14.5, 0, 0, 0});
}

TEST(Pools, PC_031_import_refuses_asymmetric) {
    hold_values("max_pool2d in=4x4 kernel=3 pads=1,0,0,2", input(count_up(0, 15)),
                {6, 7, 7, 7, 10, 11, 11, 11, 14, 15, 15, 15});
    hold_values("avg_pool2d in=4x4 kernel=3 pads=1,0,0,2", input(count_up(0, 15)),
                {3, 4, 4.5, 5, 5, 6, 6.5, 7, 9, 10, 10.5, 11});
}

TEST(Pools, PC_082_fold_pad_into_avgpool) {
    hold_values("avg_pool2d in=2x2 kernel=2 pads=0,0,1,1 include_pad=1", input(repeat(4, 1)),
                {1, .5, .5, .25});
    // A pool with uncounted pads of its own after Pad(0, 0, 1, 1) has no such counterpart.
    hold_values("avg_pool2d in=3x3 kernel=2 pads=1,1,0,0", input({1, 1, 0, 1, 1, 0, 0, 0, 0}),
                {1, 1, .5, 1, 1, .5, .5, .5, .25});
}

// ceil_mode.

TEST(Pools, PC_035_ceil_last_window_in_pad) {
    hold_values("max_pool2d in=5x5 kernel=2 stride=2 pads=1 ceil=1", input(count_up(1, 25)),
                {1, 3, 5, 11, 13, 15, 21, 23, 25});
}

TEST(Pools, PC_037_ceil_stride_above_kernel) {
    hold_values("max_pool2d in=8x10 kernel=3 stride=4 ceil=1", input(count_up(1, 80)),
                {23, 27, 30, 63, 67, 70});
}

TEST(Pools, PC_038_ceil_3d_mixed) {
    hold_values("max_pool3d in=3x6x5 kernel=3 stride=3 pads=1 ceil=1", input(count_up(0, 89)),
                {36, 39, 51, 54, 56, 59, 66, 69, 81, 84, 86, 89});
    hold_outputs("max_pool3d c=2 in=3x6x5 kernel=3 stride=3 pads=1 ceil=1", {2, 3, 2});
}

TEST(Pools, PC_040_ceil_empty_window_policy) {
    hold_values("max_pool2d in=5x5 kernel=3 stride=3 pads=1 ceil=1", input(count_up(0, 24)),
                {6, 9, 21, 24});
}

TEST(Pools, PC_041_ceil_average_nan) {
    hold_values("avg_pool2d in=8x8 kernel=3 stride=3x4 ceil=1", input(repeat(64, 1)), repeat(6, 1));
}

TEST(Pools, PC_043_ceil_flag_ignored) {
    hold_outputs("max_pool2d in=56x56 kernel=3 stride=2 ceil=1", {28, 28});
    hold_outputs("max_pool2d in=56x56 kernel=3 stride=2 ceil=0", {27, 27});
    hold_outputs("max_pool2d in=112x112 kernel=3 stride=2 pads=1 ceil=0", {56, 56});
    hold_outputs("max_pool2d in=112x112 kernel=3 stride=2 pads=1 ceil=1", {57, 57});
}

TEST(Pools, PC_044_ceil_by_padding_both_sides) {
    hold_values("max_pool1d in=6 kernel=3 stride=2 ceil=1", input(count_up(1, 6)), {3, 5, 6});
    hold_outputs("max_pool2d in=64x64 kernel=3 stride=2 pads=1 ceil=1", {33, 33});
}

// The divisor of averages.

TEST(Pools, PC_046_avg_last_divisor) {
    // The values of the report times 10,000, so that the sums are exact.
    hold_values("avg_pool1d in=9 kernel=7 stride=3 pads=3,3 ceil=1 include_pad=1",
                input({20903, 46493, 16320, -32051, 46975, 47296, 33653, -15815, -23832}),
                {51665 / 7.f, 179589 / 7.f, 56226 / 7.f, -5994 / 6.f});
}

TEST(Pools, PC_058_avg_ceil_by_larger_pad) {
    hold_values("avg_pool1d in=6 kernel=3 stride=2 ceil=1 include_pad=1", input(count_up(1, 6)),
                {2, 4, 5.5});
}

TEST(Pools, PC_047_avg_end_pad_not_counted) {
    hold_values(
        "avg_pool2d in=6x2 kernel=5x1 same=onnx-lower include_pad=1", input(count_up(0, 11)),
        {6 / 5.f, 9 / 5.f, 12 / 5.f, 16 / 5.f, 4, 5, 6, 7, 28 / 5.f, 32 / 5.f, 24 / 5.f, 27 / 5.f});
    hold_values("avg_pool2d in=6x2 kernel=5x1 same=onnx-lower", input(count_up(0, 11)),
                {2, 3, 3, 4, 4, 5, 6, 7, 7, 8, 8, 9});
}

TEST(Pools, PC_049_avg_ceil_overhang_counted) {
    hold_values("avg_pool2d in=3x3 kernel=2 stride=2 ceil=1 include_pad=1", input(count_up(0, 8)),
                {2, 3.5, 6.5, 8});
    hold_values("avg_pool2d in=7x7 kernel=2 stride=3 ceil=1 include_pad=1", input(count_up(0, 48)),
                {4, 7, 9.5, 25, 28, 30.5, 42.5, 45.5, 48});
    hold_values("avg_pool1d in=7 kernel=2 stride=3 ceil=1 include_pad=1", input(count_up(0, 6)),
                {.5, 3.5, 6});
}

TEST(Pools, PC_050_avg_large_window_stride) {
    const float corner = 16 / 49.f, edge = 28 / 49.f;
    hold_values("avg_pool2d in=16x12 kernel=7 stride=4 pads=3 include_pad=1", input(repeat(192, 1)),
                {corner, edge, edge, edge, 1, 1, edge, 1, 1, edge, 1, 1});
}

TEST(Pools, PC_052_avg_flag_default_differs) {
    // The values of the report times 10,000, so that the sums are exact.
    const Data corner = input({55212, 36313, 45027, 18430});
    hold_values("avg_pool2d in=2x2 kernel=3 pads=1 include_pad=1", corner,
                std::vector<float>(4, 154982 / 9.f));
    hold_values("avg_pool2d in=2x2 kernel=3 pads=1", corner, std::vector<float>(4, 154982 / 4.f));
}

TEST(Pools, PC_053_avg_onnx_default) {
    hold_values("avg_pool2d in=2x2 kernel=3 pads=0,0,1,1", input({2, 4, 6, 8}), {5});
    hold_values("avg_pool2d in=2x2 kernel=3 pads=0,0,1,1 include_pad=1", input({2, 4, 6, 8}),
                {20 / 9.f});
}

TEST(Pools, PC_055_avg_same_vs_zero_pad) {
    std::vector<float> values(16);
    values[2 * 4 + 1] = 1;
    const float quarter = 1 / 4.f, sixth = 1 / 6.f, ninth = 1 / 9.f;
    hold_values(
        "avg_pool2d in=4x4 kernel=3 same=tf", input(values),
        {0, 0, 0, 0, sixth, ninth, ninth, 0, sixth, ninth, ninth, 0, quarter, sixth, sixth, 0});
    hold_values(
        "avg_pool2d in=4x4 kernel=3 same=tf include_pad=1", input(values),
        {0, 0, 0, 0, ninth, ninth, ninth, 0, ninth, ninth, ninth, 0, ninth, ninth, ninth, 0});
}

TEST(Pools, PC_056_avg_count_flag_pair) {
    hold_values("avg_pool2d in=2x2 kernel=2 same=tf include_pad=1", input(count_up(1, 4)),
                {2.5, 1.5, 1.75, 1});
    hold_values("avg_pool2d in=2x2 kernel=2 same=tf", input(count_up(1, 4)), {2.5, 3, 3.5, 4});
}

TEST(Pools, PC_059_avg_flag_lost_on_save) {
    const Problem problem = parse("avg_pool2d in=2x2 kernel=3 pads=1 include_pad=1");
    hold_values(text(problem), input({10000, 2000, 1500, 95}), std::vector<float>(4, 13595 / 9.f));
}

// The identity of the maximum, NaN, windows of padding.

TEST(Pools, PC_061_max_zero_pad_used) {
    hold_values("max_pool2d in=3x3 kernel=2 same=tf", input({-1, -2, -3, -4, -5, -6, -7, -8, -9}),
                {-1, -2, -3, -4, -5, -6, -7, -8, -9});
}

TEST(Pools, PC_062_all_padding_windows) {
    const float none = -infinity;
    hold_values("max_pool2d in=2x2 kernel=2 pads=2", input(count_up(1, 4)),
                {none, none, none, none, none, none, 1,    2,    2,    none, none, 3,   4,
                 4,    none, none, 3,    4,    4,    none, none, none, none, none, none});
    hold_values("max_pool1d in=5 kernel=2 stride=2 pads=2,3", input(count_up(1, 5)),
                {none, 2, 4, 5, none});
    hold_values("avg_pool1d in=5 kernel=2 stride=2 pads=2,3 include_pad=1", input(count_up(1, 5)),
                {0, 1.5, 3.5, 2.5, 0});
    hold_values("avg_pool1d in=5 kernel=2 stride=2 pads=2,3", input(count_up(1, 5)),
                {0, 1.5, 3.5, 5, 0});
}

TEST(Pools, PC_064_pool_pad_limit) {
    hold_outputs("max_pool2d in=20x20 kernel=4 stride=4 pads=3", {6, 6});
    hold_outputs("max_pool1d in=1000 kernel=3 stride=2 dilation=10 pads=2,2", {492});
    hold_values("max_pool1d in=6 kernel=4 stride=4 pads=3,3", input(count_up(1, 6)), {1, 5, 6});
}

TEST(Pools, PC_065_max_nan) {
    hold_values("max_pool2d in=3x3 kernel=3", input(std::vector<float>(9, quiet_nan)), {quiet_nan});
    hold_values("max_pool1d in=8 kernel=3",
                input({quiet_nan, quiet_nan, quiet_nan, 1, 2, quiet_nan, 3, 4}),
                std::vector<float>(6, quiet_nan));
    hold_values("max_pool1d in=5 kernel=2", input({quiet_nan, 1, 2, quiet_nan, 3}),
                {quiet_nan, 2, quiet_nan, quiet_nan});
    hold_values("avg_pool1d in=4 kernel=2", input({quiet_nan, 1, 2, 3}), {quiet_nan, 1.5, 2.5});
}

TEST(Pools, PC_065_max_nan_skipped) {
    hold_values("max_pool1d in=8 kernel=3 nan=skip",
                input({quiet_nan, quiet_nan, quiet_nan, 1, 2, quiet_nan, 3, 4}),
                {-infinity, 1, 2, 2, 3, 4});
    hold_values("max_pool1d in=2 kernel=2 pads=1 nan=skip", input({quiet_nan, -7}),
                {-infinity, -7, -7});
}

TEST(Pools, InfinitiesAreNumbers) {
    hold_values("max_pool1d in=4 kernel=2", input({-infinity, -infinity, 1, infinity}),
                {-infinity, 1, infinity});
}

TEST(Pools, PC_067_max_integer_pads) {
    const Data signed_data = input({-5, -7, -128, -128, -128, -9}), data = input({5, 0, 0, 0, 9});
    for (const char *type : {" type=i8", " type=f32"})
        hold_values(std::string("max_pool1d in=6 kernel=3 pads=1") + type, signed_data,
                    {-5, -5, -7, -128, -9, -9});
    for (const char *type : {" type=u8", " type=f32"})
        hold_values(std::string("max_pool1d in=5 kernel=3 pads=1") + type, data, {5, 5, 0, 9, 9});
    // A window of padding only.
    hold_values("max_pool1d in=1 kernel=1 pads=1,2 type=i8", input({-3}), {-128, -3, -128, -128});
    hold_values("max_pool1d in=1 kernel=1 pads=1,2 type=u8", input({7}), {0, 7, 0, 0});
}

TEST(Pools, PC_068_pool_strides_per_axis) {
    hold_values("max_pool2d in=4x5 kernel=3 stride=1x2", input(count_up(1, 20)), {13, 15, 18, 20});
    hold_outputs("max_pool3d in=14x55x55 kernel=3 stride=1x2x2", {12, 27, 27});
    hold_outputs("avg_pool3d c=3 in=7x5x6 kernel=2x3x2 stride=3x1x2 pads=1,0,2,0,3,1", {3, 6, 4});
}

TEST(Pools, PC_088_fold_integer_minimum) {
    // Padding with the lowest number is what the pool does by itself; with another it is not.
    hold_values("max_pool1d in=2 kernel=2 pads=1 type=i8", input({-100, -90}), {-100, -90, -90});
    hold_values("max_pool1d in=4 kernel=2 type=i8", input({-128, -100, -90, -128}),
                {-100, -90, -90});
    hold_values("max_pool1d in=4 kernel=2 type=i8", input({0, -100, -90, 0}), {0, -90, 0});
}

// Norms.

TEST(Pools, NormsOfPadding) {
    const Data data = input({3, -4, 0, 5});
    hold_values("lp_pool1d in=4 kernel=2", data, {5, 4, 5});
    hold_values("lp_pool1d in=4 kernel=2 p=1", data, {7, 4, 5});
    hold_values("lp_pool1d in=4 kernel=2 pads=2,1 p=2", data, {0, 3, 5, 4, 5, 5});
    hold_values("lp_pool1d in=4 kernel=2 stride=3 ceil=1 p=1", data, {7, 5});
    hold_values("lp_pool1d in=3 kernel=3 p=3", input({3, -4, 5}), {6}); // 27 + 64 + 125 = 216
    hold_values("lp_pool2d in=2x2 kernel=2 pads=0,1,0,0 p=2", input({2, 1, 4, 2}),
                {std::sqrt(20.f), 5});
}

// Small sizes and tails.

TEST(Pools, PC_142_extent_below_vector) {
    for (const char *op : {"max_pool2d", "avg_pool2d", "lp_pool2d"})
        for (int size = 1; size <= 17; ++size) {
            const std::string s = std::to_string(size);
            hold_problem(std::string(op) + " c=16 kernel=3 pads=1 in=2x" + s);
            hold_problem(std::string(op) + " c=16 kernel=3 pads=1 in=" + s + "x2");
        }
}

TEST(Pools, PC_145_maxpool_tail_over_read) {
    for (const char *op : {"max_pool2d", "avg_pool2d", "lp_pool2d"})
        for (int channels = 1; channels <= 33; ++channels)
            hold_problem(std::string(op) + " in=5x4 kernel=3 c=" + std::to_string(channels));
}

TEST(Pools, PC_146_predicate_width) {
    for (const char *type : {" type=u8 c=", " type=i8 c="})
        for (int channels = 1; channels <= 33; ++channels)
            hold_problem("max_pool2d in=4x5 kernel=3 stride=2 pads=1,0,2,1" + std::string(type) +
                         std::to_string(channels));
}

TEST(Pools, PC_151_single_row_stride2) {
    hold_problem("max_pool2d c=16 in=1x8 kernel=3 stride=2 pads=1");
    hold_problem("avg_pool2d c=16 in=1x8 kernel=3 stride=2 pads=1");
}

class RandomPools : public testing::TestWithParam<std::string> {};

TEST_P(RandomPools, MaximaMatchTheOracle) { hold_random_problems(Op::max_pool, GetParam()); }
TEST_P(RandomPools, AveragesMatchTheOracle) { hold_random_problems(Op::avg_pool, GetParam()); }
TEST_P(RandomPools, NormsMatchTheOracle) { hold_random_problems(Op::lp_pool, GetParam()); }

INSTANTIATE_TEST_SUITE_P(, RandomPools, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
