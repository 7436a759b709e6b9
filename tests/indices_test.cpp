// Max pools that tell where each maximum lies.

#include <limits>

#include <gtest/gtest.h>

#include "hold.h"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

Data input(const std::vector<float> &values) { return {values, {}, {}}; }

TEST(Indices, TheFirstOfEqualMaximaInScanOrder) {
    const Data data = input({1, 5, 5, 2, 5, 0, 7, 7, 3});
    hold_indices("max_pool2d in=3x3 kernel=2 indices=plane", data, {5, 5, 7, 7}, {1, 1, 6, 7});
    hold_indices("max_pool2d in=3x3 kernel=2 indices=plane order=column", data, {5, 5, 7, 7},
                 {3, 3, 2, 5});
}

TEST(Indices, VolumesCountTheirPlanesOutermostOrInnermost) {
    std::vector<float> values(12);
    values[(1 * 3 + 2) * 2 + 0] = 9; // z 1, y 2, x 0 of 2x3x2
    hold_indices("max_pool3d in=2x3x2 kernel=2x3x2 indices=plane", input(values), {9}, {10});
    hold_indices("max_pool3d in=2x3x2 kernel=2x3x2 indices=plane order=column", input(values), {9},
                 {(0 * 3 + 2) * 2 + 1});
}

TEST(Indices, ThroughThePlaneOrTheWholeTensor) {
    // Two images of two channels: 1 3 and 8 4, 5 7 and 6 2.
    const Data data = input({1, 8, 3, 4, 5, 6, 7, 2});
    hold_indices("max_pool1d n=2 c=2 in=2 kernel=2 indices=plane", data, {3, 8, 7, 6},
                 {1, 0, 1, 0});
    hold_indices("max_pool1d n=2 c=2 in=2 kernel=2 indices=tensor", data, {3, 8, 7, 6},
                 {1, 2, 5, 6});
}

TEST(Indices, PadsHaveNone) {
    hold_indices("max_pool1d in=4 kernel=3 stride=2 pads=1 indices=plane", input({4, 3, 2, 9}),
                 {4, 9}, {0, 3});
    hold_indices("max_pool1d in=2 kernel=2 pads=2 indices=plane", input({1, 2}),
                 {-infinity, 1, 2, 2, -infinity}, {-1, 0, 1, 1, -1});
    hold_indices("max_pool1d in=2 kernel=2 pads=2 indices=tensor", input({1, 2}),
                 {-infinity, 1, 2, 2, -infinity}, {-1, 0, 1, 1, -1});
    // The lowest number of a type is an element like others.
    hold_indices("max_pool1d in=2 kernel=2 indices=plane", input({-infinity, -infinity}),
                 {-infinity}, {0});
    hold_indices("max_pool1d in=2 kernel=2 pads=2 indices=plane type=u8", input({0, 0}),
                 {0, 0, 0, 0, 0}, {-1, 0, 0, 1, -1});
    hold_indices("max_pool1d in=2 kernel=2 pads=1 indices=plane type=i8", input({-128, -128}),
                 {-128, -128, -128}, {0, 0, 1});
}

TEST(Indices, CropsDoNotMoveThem) {
    hold_indices("max_pool1d in=5 kernel=2 pads=-2,0 indices=plane", input({9, 9, 1, 2, 3}), {2, 3},
                 {3, 4});
    hold_indices("max_pool2d n=2 in=3x2 kernel=1 pads=-1,-1,0,0 indices=tensor",
                 input(count_up(1, 12)), {4, 6, 10, 12}, {3, 5, 9, 11});
}

TEST(Indices, TheFirstNanWins) {
    hold_indices("max_pool1d in=4 kernel=3 indices=plane", input({1, quiet_nan, quiet_nan, 5}),
                 {quiet_nan, quiet_nan}, {1, 1});
    hold_indices("max_pool1d in=3 kernel=2 pads=0,1 indices=plane", input({7, 2, quiet_nan}),
                 {7, quiet_nan, quiet_nan}, {0, 2, 2});
}

TEST(Indices, BordersThatRepeatTheInputPointIntoIt) {
    hold_indices("max_pool1d in=3 kernel=3 pads=2,0 border=reflect indices=plane", input({1, 2, 9}),
                 {9, 2, 9}, {2, 1, 2});
    hold_indices("max_pool1d in=3 kernel=2 pads=1,1 border=circular indices=plane",
                 input({4, 2, 4}), {4, 4, 4, 4}, {2, 0, 2, 2});
}

TEST(Indices, ChannelTails) {
    for (int channels = 1; channels <= 33; ++channels)
        hold_problem("max_pool2d n=2 in=5x4 kernel=3 stride=2 pads=1,0,2,1 indices=tensor c=" +
                     std::to_string(channels));
}

} // namespace
