// Border modes: the hand-worked cases of cases.md, and short axes in every mode. The random
// problems of all operators have modes too.

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "hold.h"

namespace {

constexpr const char *modes[] = {"constant", "reflect", "symmetric", "replicate", "circular"};

Data input(const std::vector<float> &values) { return {values, {}, {}}; }

TEST(Modes, PC_070_circular_one_side_zero) {
    hold_values("pad1d in=5 pads=4,0 border=circular", input(count_up(0, 4)),
                {1, 2, 3, 4, 0, 1, 2, 3, 4});
    hold_outputs("pad2d in=5x5 pads=3,4,0,0 border=circular", {8, 9});
}

TEST(Modes, PC_071_circular_half_amount) {
    hold_outputs("conv2d in=5x5 kernel=1 pads=1 border=circular", {7, 7});
    hold_outputs("conv2d in=5x5 kernel=3 pads=1 border=circular", {5, 5});
}

TEST(Modes, PC_073_reflect_doc_example) {
    // Where a pad is as long as the input or longer, the reflection is reflected.
    const Data data = input({1, 1.2f, 2.3f, 3.4f, 4.5f, 5.7f});
    hold_values("pad2d in=3x2 pads=0,2,0,0 border=reflect", data,
                {1, 1.2f, 1, 1.2f, 2.3f, 3.4f, 2.3f, 3.4f, 4.5f, 5.7f, 4.5f, 5.7f});
    hold_values("pad2d in=3x2 pads=0,1,0,1 border=reflect", data,
                {1.2f, 1, 1.2f, 1, 3.4f, 2.3f, 3.4f, 2.3f, 5.7f, 4.5f, 5.7f, 4.5f});
}

TEST(Modes, PC_074_reflect_with_crop) {
    // What the crop leaves is reflected: of one element, that element.
    hold_values("pad1d in=4 pads=-3,3 border=reflect", input(count_up(0, 3)), {3, 3, 3, 3});
    hold_values("pad1d in=4 pads=-2,3 border=reflect", input(count_up(0, 3)), {2, 3, 2, 3, 2});
}

TEST(Modes, PC_076_circular_export) {
    hold_values("pad2d in=4x4 pads=2,1,2,1 border=circular", input(count_up(0, 15)),
                {11, 8, 9, 10, 11, 8, 15, 12, 13, 14, 15, 12, 3, 0, 1, 2, 3, 0, 7, 4, 5, 6, 7, 4,
                 11, 8, 9, 10, 11, 8, 15, 12, 13, 14, 15, 12, 3, 0, 1, 2, 3, 0, 7, 4, 5, 6, 7, 4});
    hold_outputs("conv2d in=8x8 kernel=6 same=torch border=circular", {8, 8});
    EXPECT_EQ(parse("conv2d in=8x8 kernel=6 same=torch border=circular"),
              parse("conv2d in=8x8 kernel=6 pads=2,2,3,3 border=circular"));
}

TEST(Modes, PC_077_wrap_became_constant) {
    const std::vector<float> rights[] = {{100, 210, 321, 432, 43},
                                         {123, 212, 321, 432, 343},
                                         {112, 211, 321, 432, 443},
                                         {111, 211, 321, 432, 443},
                                         {143, 214, 321, 432, 143}};
    const Data data = {count_up(1, 4), {1, 10, 100}, {}};
    for (const char *op : {"conv1d", "depthwise1d"}) {
        for (int mode = 0; mode < 5; ++mode)
            hold_values(std::string(op) + " in=4 kernel=3 pads=2,1 border=" + modes[mode], data,
                        rights[mode]);
        hold_values(std::string(op) + " in=4 kernel=3 pads=2,1 value=7", data,
                    {177, 217, 321, 432, 743});
    }
}

TEST(Modes, PC_079_halide_border_on_all_axes) {
    // Images and channels are not padded, whatever lies beside them.
    for (const char *mode : modes) {
        hold_problem("pad2d n=2 c=3 in=4x5 pads=10,9,8,7 border=" + std::string(mode));
        hold_problem("conv2d n=2 c=3 k=2 in=4x5 kernel=3 pads=10,9,8,7 border=" +
                     std::string(mode));
    }
}

TEST(Modes, PC_080_replicate_delegate_wrong) {
    hold_values("pad2d in=3x3 pads=1 border=reflect", input(count_up(1, 9)),
                {5, 4, 5, 6, 5, 2, 1, 2, 3, 2, 5, 4, 5, 6, 5, 8, 7, 8, 9, 8, 5, 4, 5, 6, 5});
    hold_values("pad2d in=3x3 pads=1 border=replicate", input(count_up(1, 9)),
                {1, 1, 2, 3, 3, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 7, 8, 9, 9, 7, 7, 8, 9, 9});
}

TEST(Modes, EachAxisHasItsOwn) {
    hold_values("pad2d in=2x2 pads=1 border=circular,constant value=9", input(count_up(1, 4)),
                {9, 3, 4, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9, 1, 2, 9});
    hold_values("pad2d in=2x2 pads=1 border=constant,circular value=9", input(count_up(1, 4)),
                {9, 9, 9, 9, 2, 1, 2, 1, 4, 3, 4, 3, 9, 9, 9, 9});
    hold_problem("conv3d c=4 k=6 in=4x5x6 kernel=3 pads=2,3,4,5,1,0 "
                 "border=reflect,circular,symmetric");
    hold_problem("max_pool3d c=4 in=4x5x6 kernel=3 pads=2,3,4,5,1,0 "
                 "border=replicate,constant,circular indices=plane");
}

TEST(Modes, PoolsReadTheInputAgain) {
    // Every tap reads an element and counts, pads or not; the overhang of ceil goes on as well.
    for (const char *flag : {" include_pad=0", " include_pad=1"})
        hold_values("avg_pool1d in=3 kernel=3 pads=1 border=reflect" + std::string(flag),
                    input({1, 2, 6}), {5 / 3.f, 3, 10 / 3.f});
    hold_values("avg_pool1d in=4 kernel=2 stride=3 ceil=1 border=replicate", input({1, 2, 3, 7}),
                {1.5, 7});
    hold_values("max_pool1d in=3 kernel=2 pads=1 border=circular", input({-5, -9, -2}),
                {-2, -5, -2, -2});
    hold_values("lp_pool1d in=2 kernel=2 pads=1,0 border=symmetric p=1", input({-1, 4}), {2, 5});
}

TEST(Modes, AxesShorterThanThePads) {
    for (const char *mode : modes)
        for (const char *op : {"conv2d k=3 kernel=3x4", "depthwise2d kernel=3x4",
                               "max_pool2d kernel=3x4", "avg_pool2d kernel=3x4 include_pad=1",
                               "lp_pool2d kernel=3x4", "filter2d kernel=3x4", "pad2d"})
            for (const char *size : {"1x1", "1x2", "2x3", "5x1"})
                hold_problem(std::string(op) + " c=2 in=" + size + " pads=9,7,5,8 border=" + mode);
}

TEST(Modes, CropsOnOneSideAndPadsOnTheOther) {
    for (const char *mode : modes)
        for (const char *op : {"conv2d c=3 k=5 kernel=3 stride=2", "max_pool2d c=3 kernel=2",
                               "pad2d c=3", "filter2d c=3 kernel=3x5"})
            hold_problem(std::string(op) + " in=6x7 pads=-2,5,4,-3 border=" + mode);
}

} // namespace
