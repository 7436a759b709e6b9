// Adaptive pools: a given number of outputs that share the input out among them.

#include <gtest/gtest.h>

#include "hold.h"

namespace {

Data input(const std::vector<float> &values) { return {values, {}, {}}; }

TEST(Adaptive, SharesOutEveryAxis) {
    hold_values("avg_pool1d in=7 adaptive=3", input(count_up(1, 7)), {2, 4, 6});
    hold_values("max_pool1d in=7 adaptive=5", input(count_up(1, 7)), {2, 3, 5, 6, 7});
    hold_values("avg_pool2d in=3x4 adaptive=2x3", input(count_up(1, 12)),
                {3.5, 4.5, 5.5, 7.5, 8.5, 9.5});
    hold_values("lp_pool1d in=3 adaptive=2", input({3, -4, 0}), {5, 4});
    hold_outputs("avg_pool3d c=3 in=4x5x7 adaptive=3x2x5", {3, 2, 5});
}

TEST(Adaptive, MoreOutputsThanInputs) {
    hold_values("avg_pool1d in=2 adaptive=3", input({1, 2}), {1, 1.5, 2});
    hold_values("max_pool1d in=1 adaptive=4", input({-7}), {-7, -7, -7, -7});
}

TEST(Adaptive, GlobalPools) {
    const Data data = input({1, 10, 2, 20, 3, 30, 4, 40});
    hold_values("avg_pool2d c=2 in=2x2 adaptive=1", data, {2.5, 25});
    hold_indices("max_pool2d c=2 in=2x2 adaptive=1 indices=plane", data, {4, 40}, {3, 3});
    hold_values("lp_pool2d in=1x2 adaptive=1", input({3, -4}), {5});
    hold_values("lp_pool2d in=1x2 adaptive=1 p=1", input({3, -4}), {7});
    for (const char *op : {"max_pool3d", "avg_pool3d", "lp_pool3d"})
        hold_problem(std::string(op) + " n=2 c=37 in=3x7x7 adaptive=1");
    hold_problem("max_pool2d c=19 in=7x7 adaptive=1 type=u8");
    hold_problem("max_pool2d c=19 in=7x7 adaptive=1 type=i8");
}

} // namespace
