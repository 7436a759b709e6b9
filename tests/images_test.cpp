// Filters of 8-bit images: rounding, saturation, borders, and random problems.

#include <string>

#include <gtest/gtest.h>

#include "hold.h"

using selvage::Op;

namespace {

TEST(Filter, FloatSumsRoundHalvesToEvenAndSaturate) {
    hold_values("filter1d in=6 kernel=1", {{1, 2, 3, 5, 7, 255}, {.5}, {}}, {0, 1, 2, 2, 4, 128});
    hold_values("filter1d in=4 kernel=1", {{1, 127, 128, 255}, {2}, {}}, {2, 254, 255, 255});
    hold_values("filter1d in=3 kernel=1", {{0, 1, 255}, {-1}, {}}, {0, 0, 0});
    hold_values("filter1d in=4 kernel=2", {{10, 20, 50, 255}, {-1, 1.5}, {}}, {20, 55, 255});
}

TEST(Filter, WholeWeightsRoundHalvesUpAndSaturate) {
    hold_values("filter1d in=6 kernel=1 weights=fixed:1", {{1, 2, 3, 5, 7, 255}, {1}, {}},
                {1, 1, 2, 3, 4, 128});
    hold_values("filter1d in=3 kernel=1 weights=fixed:0", {{1, 128, 255}, {2}, {}}, {2, 255, 255});
    // -0.5 becomes 0, and -1.5 and all below 0 saturate.
    hold_values("filter1d in=3 kernel=1 weights=fixed:1", {{1, 3, 255}, {-1}, {}}, {0, 0, 0});
    hold_values("filter1d in=3 kernel=2 weights=fixed:2", {{10, 21, 9}, {-2, 3}, {}}, {11, 0});
}

TEST(Filter, TheLargestWholeWeights) {
    hold_values("filter1d in=2 kernel=1 weights=fixed:15", {{1, 255}, {32767}, {}}, {1, 255});
    hold_values("filter1d in=2 kernel=1 weights=fixed:8", {{1, 2}, {32767}, {}}, {128, 255});
    hold_values("filter1d in=2 kernel=1", {{0, 255}, {-32768}, {}}, {0, 0});
    hold_values(
        "filter2d in=3x3 kernel=3 weights=fixed:15",
        {repeat(9, 255), {32767, -32768, 32767, -32768, 32767, -32768, 32767, -32768, 32767}, {}},
        {255}); // 255 * (5 * 32767 - 4 * 32768) / 32768 = 254.96
}

TEST(Filter, BordersAndChannels) {
    // One plane and weights for each channel; the border's value is a byte.
    hold_values("filter1d c=2 in=2 kernel=3 pads=1 value=100",
                {{1, 10, 2, 20}, {1, 1, 1, 0, 2, 0}, {}}, {103, 20, 103, 40});
    hold_values("filter1d c=3 in=2 kernel=2 pads=0,1 border=replicate",
                {{1, 2, 3, 10, 20, 30}, {1, 1, 0, 1, 1, 0}, {}}, {11, 20, 3, 20, 20, 30});
    hold_values("filter2d in=2x2 kernel=2 pads=1,0,0,1 border=circular",
                {{1, 2, 3, 4}, {1, 10, 100, 1000}, {}}, {255, 255, 255, 255});
    hold_values("filter2d in=2x2 kernel=2x1 pads=1,0,0,0 border=circular",
                {{1, 2, 3, 4}, {1, 10}, {}}, {13, 24, 31, 42});
}

TEST(Filter, Pictures) {
    for (const char *channels : {" c=1", " c=2", " c=3", " c=4"})
        for (const char *kernel : {" kernel=3 pads=1", " kernel=5 pads=2 stride=2 phase=1,0",
                                   " kernel=7 pads=3 border=reflect", " kernel=1x9 pads=0,4,0,4"})
            for (const char *weights : {" weights=f32", " weights=fixed:8"})
                hold_problem("filter2d in=33x41" + std::string(channels) + kernel + weights);
}

TEST(Filter, SeparableWeights) {
    // Column (1, 2, 3) times row (1, 0, -1), pads 2, 1, 0, 1, in halves.
    hold_values("filter2d in=2x3 kernel=3 pads=2,1,0,1 weights=fixed:1",
                {{10, 7, 4, 20, 9, 2}, {1, 0, -1, 2, 0, -2, 3, 0, -3}, {}, true},
                {0, 9, 11, 0, 33, 21});
    // Column (128, 0, 128) times row (128, 128, 0): 255 * 2^16 + 2^15 of at most 2^24.
    std::vector<float> white(27, 255);
    white[0] = 254;
    white[1] = 253;
    white[2] = 252;
    std::vector<float> each_of_three;
    for (int channel = 0; channel < 3; ++channel)
        for (float weight : {1, 1, 0, 0, 0, 0, 1, 1, 0})
            each_of_three.push_back(16384 * weight);
    hold_values("filter2d c=3 in=3x3 kernel=3 weights=fixed:16", {white, each_of_three, {}, true},
                {255, 255, 254});
}

TEST(Filter, SeparablePictures) {
    for (const char *channels : {" c=1", " c=3", " c=4", " c=7"})
        for (const char *kernel : {" kernel=3 pads=2,0,1,3", " kernel=5 pads=0,3,4,1",
                                   " kernel=7 pads=5,1,2,6", " kernel=3 pads=-2,1,1,-3"})
            for (selvage::NamedMode mode : selvage::modes)
                hold_separable("filter2d n=2 in=21x43 weights=fixed:9 border=" +
                               std::string(mode.name) + channels + kernel);
}

TEST(Filter, SeparableKernelsAreTaken) {
    for (const std::string &isa : selvage::available_isas())
        for (bool promised : {true, false})
            for (const char *kernel : {" kernel=3", " kernel=5", " kernel=7"}) {
                selvage::Options options;
                options.isa = isa;
                options.adjacent_pixels = true;
                options.separable = promised;
                selvage::Plan plan;
                const std::string text =
                    "filter2d c=3 in=108x192 weights=fixed:12" + std::string(kernel);
                ASSERT_TRUE(selvage::make_plan(parse(text), options, &plan).ok());
                EXPECT_EQ(plan.kernel().find("_separable") != std::string::npos, promised)
                    << text << " " << plan.kernel();
            }
}

TEST(Filter, PC_142_extent_below_vector) {
    for (int size = 1; size <= 17; ++size)
        for (const char *channels : {" c=1", " c=3", " c=4", " c=16"})
            hold_problem("filter2d kernel=3 pads=1 in=2x" + std::to_string(size) + channels);
}

class RandomFilter : public testing::TestWithParam<std::string> {};

TEST_P(RandomFilter, MatchesTheOracle) { hold_random_problems(Op::filter, GetParam()); }

INSTANTIATE_TEST_SUITE_P(, RandomFilter, testing::ValuesIn(tested_isas()),
                         [](const auto &info) { return info.param; });

} // namespace
