// Shapes at the edge of what is meaningful: no images, no outputs, sizes of 1, strides and kernels
// beyond the input.

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "hold.h"

namespace {

/// The operators with windows, all of which take a border.
const std::string windowed[] = {"conv", "depthwise", "max_pool", "avg_pool", "lp_pool", "filter"};

/// Nothing is to be computed, and so by no kernel.
void hold_empty(const std::string &text) {
    selvage::Plan plan;
    ASSERT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok()) << text;
    EXPECT_EQ(plan.kernel(), "none") << text;
    EXPECT_TRUE(plan.declined().empty()) << text;
    hold_problem(text);
}

TEST(Degenerate, NoImages) {
    for (const char *text :
         {"conv2d n=0 c=3 k=4 in=5x6 kernel=3 pads=1 bias=1",
          "conv_transpose2d n=0 c=3 k=4 in=5x6 kernel=3 stride=2",
          "depthwise2d n=0 c=3 in=5x6 kernel=3", "lp_pool1d n=0 in=5 kernel=2",
          "max_pool2d n=0 c=3 in=5x6 kernel=3 indices=tensor",
          "avg_pool3d n=0 c=3 in=5x6x7 adaptive=2", "filter2d n=0 c=3 in=5x6 kernel=3",
          "pad1d n=0 c=3 in=5 pads=1", "stride_sample1d n=0 c=3 in=5 stride=2"})
        hold_empty(text);
}

TEST(Degenerate, NoOutputs) {
    for (const std::string &op : windowed)
        for (const char *sizes : {"1d in=2 kernel=3", "2d in=2x9 kernel=3", "2d in=9x2 kernel=3",
                                  "3d in=4x4x2 kernel=3", "3d in=2x4x4 kernel=3"})
            hold_empty(op + sizes);
    for (const char *text : {"conv_transpose1d in=3 kernel=3 pads=2,3",
                             "conv_transpose2d c=2 in=3x3 kernel=3 pads=2,0,3,0",
                             "stride_sample2d in=3x2 stride=4 phase=3"})
        hold_empty(text);
}

TEST(Degenerate, OneOfEverything) {
    for (const std::string &op : windowed) {
        hold_problem(op + "1d in=1 kernel=1");
        hold_problem(op + "2d in=1 kernel=3 pads=1");
        hold_problem(op + "3d in=1 kernel=2 pads=1,0,0,0,1,1");
    }
    hold_problem("conv_transpose3d in=1 kernel=1 bias=1");
    hold_problem("pad3d in=1");
    hold_problem("stride_sample3d in=1 stride=3");
}

TEST(Degenerate, WidthsHeightsAndChannelsOfOne) {
    for (const std::string &op : windowed)
        for (const char *sizes : {"in=1x37", "in=37x1", "c=19 in=1x9", "c=19 in=9x1"})
            for (const char *kernel : {" kernel=3 pads=1", " kernel=5x2 stride=2x3 pads=4,2,3,1"})
                hold_problem(op + "2d " + sizes + kernel);
}

TEST(Degenerate, KernelsAndStridesBeyondTheInput) {
    for (const std::string &op : windowed) {
        hold_problem(op + "2d c=3 in=2x3 kernel=7x8 pads=3,4,5,6");
        hold_problem(op + "2d c=3 in=2x3 kernel=2 stride=50x1000 pads=1");
        hold_problem(op + "2d c=3 in=2x3 kernel=2 dilation=20x90 pads=19,90,20,89");
    }
    hold_problem("conv_transpose2d c=3 k=2 in=2x3 kernel=2 stride=12x25 dilation=7");
    hold_problem("conv_transpose1d c=3 k=2 in=2 kernel=3 dilation=100 pads=90,7");
}

TEST(Degenerate, PadsFarBeyondTheKernel) {
    for (const std::string &op : windowed)
        hold_problem(op + "2d c=3 in=4x5 kernel=3x2 pads=31,17,5,40");
}

} // namespace
