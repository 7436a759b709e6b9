// Layer: a plan that brings its own memory.

#include "selvage/layer.h"

#include <gtest/gtest.h>

#include "hold.h"

using selvage::Code;
using selvage::Layer;
using selvage::WeightOrder;

TEST(Layer, RunsDenseTensorsManyTimes) {
    // PC-025's numbers: x = 1..12 as 3x4, w = 1..6 as 2x3, pads top 1, left 2, bottom 0, right 3.
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, w[] = {1, 2, 3, 4, 5, 6};
    const std::vector<float> right = {6,  17, 32, 47, 32,  16,  0,   33,  69, 106, 127,
                                      79, 36, 0,  69, 133, 190, 211, 127, 56, 0};
    Layer layer;
    ASSERT_TRUE(selvage::make_layer(parse("conv2d in=3x4 kernel=2x3 pads=1,2,0,3"), {}, w,
                                    WeightOrder::oihw, nullptr, &layer)
                    .ok());
    for (int call = 0; call < 3; ++call) {
        std::vector<float> y(right.size(), -1);
        ASSERT_TRUE(layer.run(x, y.data()).ok());
        EXPECT_EQ(y, right);
    }
}

TEST(Layer, PoolsHaveNoWeights) {
    const float x[] = {1, 2, 3, 4};
    float y[] = {0, 0, 0, 0};
    const selvage::Problem pool = parse("max_pool2d in=2x2 kernel=2 same=tf");
    Layer layer;
    ASSERT_TRUE(selvage::make_layer(pool, {}, nullptr, WeightOrder::oihw, nullptr, &layer).ok());
    ASSERT_TRUE(layer.run(x, y).ok());
    EXPECT_EQ(std::vector<float>(y, y + 4), std::vector<float>({4, 4, 4, 4}));
    EXPECT_EQ(selvage::make_layer(pool, {}, x, WeightOrder::oihw, nullptr, &layer).code(),
              Code::invalid_argument);
}

TEST(Layer, OtherLayoutsTypesAndIndices) {
    // The same numbers as planes: 1 2 and 3 4 of two channels.
    const float x[] = {1, 2, 3, 4};
    float y[] = {0, 0};
    std::int64_t indices[] = {-7, -7};
    const selvage::Problem planes =
        parse("max_pool1d c=2 in=2 kernel=2 layout=nchw indices=tensor");
    Layer layer;
    ASSERT_TRUE(selvage::make_layer(planes, {}, nullptr, WeightOrder::oihw, nullptr, &layer).ok());
    ASSERT_TRUE(layer.run(x, y, indices).ok());
    EXPECT_EQ(std::vector<float>(y, y + 2), std::vector<float>({2, 4}));
    EXPECT_EQ(std::vector<std::int64_t>(indices, indices + 2), std::vector<std::int64_t>({1, 3}));
    EXPECT_EQ(layer.run(x, y).code(), Code::invalid_argument); // indices are wanted

    const std::uint8_t bytes[] = {200, 0, 100};
    std::uint8_t padded[5] = {};
    ASSERT_TRUE(selvage::make_layer(parse("pad1d in=3 pads=1 border=reflect type=u8"), {}, nullptr,
                                    WeightOrder::oihw, nullptr, &layer)
                    .ok());
    ASSERT_TRUE(layer.run(bytes, padded).ok());
    EXPECT_EQ(std::vector<int>(padded, padded + 5), std::vector<int>({0, 200, 0, 100, 0}));
}

TEST(Layer, TakesAProblemText) {
    const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 10, 100};
    float y[3] = {-1, -1, -1};
    Layer layer;
    const char *text = "conv1d in=6 kernel=3 stride=2 same=tf";
    ASSERT_TRUE(selvage::make_layer(text, {}, w, WeightOrder::oihw, nullptr, &layer).ok());
    const selvage::Status status =
        selvage::make_layer("conv1d in=6", {}, w, WeightOrder::oihw, nullptr, &layer);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(status.text(), "kernel is missing");
    ASSERT_TRUE(layer.run(x, y).ok()); // it is still the first one
    EXPECT_EQ(std::vector<float>(y, y + 3), std::vector<float>({321, 543, 65}));
}

TEST(Layer, FailuresLeaveTheLayerAsItWas) {
    const float x[] = {5}, w[] = {2};
    float y[] = {0};
    Layer layer;
    EXPECT_EQ(layer.run(x, y).code(), Code::invalid_argument); // nothing was made yet
    const selvage::Problem problem = parse("conv2d in=1x1 kernel=1");
    ASSERT_TRUE(selvage::make_layer(problem, {}, w, WeightOrder::oihw, nullptr, &layer).ok());
    EXPECT_EQ(selvage::make_layer(problem, {}, nullptr, WeightOrder::oihw, nullptr, &layer).code(),
              Code::invalid_argument);
    EXPECT_EQ(selvage::make_layer(problem, {}, w, WeightOrder::oihw, nullptr, nullptr).code(),
              Code::invalid_argument);
    ASSERT_TRUE(layer.run(x, y).ok());
    EXPECT_EQ(y[0], 10);
}
