// Any rectangle of an output can be computed from its part of the input, and tiles meet without
// seams.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/kernels.h"
#include "selvage/plan.h"

#include "hold.h"
#include "random_problems.h"

using selvage::DeviceMemory;
using selvage::KernelRow;
using selvage::Op;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Range;
using selvage::Region;
using selvage::Status;
using selvage::Tensor;

namespace {

/// A part of a range that is not empty; now and then all of it.
Range part_of(Random &random, const Range &range) {
    if (random.one_in(4))
        return range;
    const std::int64_t begin = random.between(0, int(range.size) - 1);
    return {range.begin + begin, random.between(1, int(range.size - begin))};
}

Region part_of(Random &random, const Region &region) {
    return {part_of(random, region.z), part_of(random, region.y), part_of(random, region.x)};
}

bool is_empty(const Region &region) {
    return region.z.size == 0 || region.y.size == 0 || region.x.size == 0;
}

class Tiles : public testing::TestWithParam<Op> {};

TEST_P(Tiles, HoldWhatTheWholeHolds) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    for (std::uint64_t each = seed; each < seed + (alone ? 1 : sample(300)); ++each) {
        const Problem problem = alone ? parse(alone) : random_problem(GetParam(), each);
        const Trial trial(problem, random_data(problem, each), each);
        if (problem.n == 0 || is_empty(trial.output_region()))
            continue;
        std::vector<Options> choices = {{}};
        for (const KernelRow *row : kernels_of(kernel_op(problem)))
            if (row->family == selvage::Family::reference)
                choices.push_back({row->isa, row->schedule});
        for (const std::string &isa : tested_isas())
            choices.push_back({isa, ""});
        for (Options options : choices) {
            options.device = tested_device();
            options.adjacent_pixels = trial.adjacent_pixels();
            options.separable = trial.separable();
            Plan plan;
            ASSERT_TRUE(selvage::make_plan(problem, options, &plan).ok()) << text(problem);
            Random random(each);
            for (int tile = 0; tile < 3; ++tile)
                ASSERT_TRUE(trial.holds(plan, part_of(random, plan.output_region())));
        }
    }
}

/// A float in -1..1 whose sums are not exact.
std::vector<float> random_reals(Random &random, std::size_t count) {
    std::vector<float> numbers(count);
    for (float &number : numbers)
        number = float(random.between(-16777216, 16777216)) / 16777216;
    return numbers;
}

/// The range cut into some that follow each other.
std::vector<Range> cuts(Random &random, const Range &range) {
    std::vector<Range> all;
    for (std::int64_t begin = range.begin; begin < range.begin + range.size;) {
        const std::int64_t rest = range.begin + range.size - begin;
        all.push_back({begin, random.between(1, int(rest))});
        begin += all.back().size;
    }
    return all;
}

/// Runs a plan or a tile of it between the dense tensors of the whole problem.
void run(const Plan &part, const std::vector<float> &input, const void *packed, const Region &whole,
         std::vector<float> *output) {
    const Problem &p = part.problem();
    DeviceMemory scratch;
    ASSERT_TRUE(allocate(part.device(), part.scratch_bytes(), &scratch).ok());
    const Status status = part.run_on_host_memory(
        cut(selvage::dense(input.data(), p.n, p.z.size, p.y.size, p.x.size, p.c, p.layout),
            part.input_region()),
        packed,
        cut(selvage::dense(output->data(), p.n, whole.z.size, whole.y.size, whole.x.size, p.k,
                           p.layout),
            part.output_region()),
        scratch.get(), part.scratch_bytes());
    ASSERT_TRUE(status.ok()) << status.text();
}

// With numbers that are no integers, another order of summation would show.
TEST_P(Tiles, MeetWithoutSeams) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    for (std::uint64_t each = seed; each < seed + (alone ? 1 : sample(200)); ++each) {
        Problem problem = alone ? parse(alone) : random_problem(GetParam(), each);
        problem.indices = selvage::Indices::none;
        if (problem.type != selvage::Type::f32)
            continue;
        Random random(each ^ 0x711e5);
        Plan plan;
        Options options;
        options.adjacent_pixels = true;
        options.device = tested_device();
        ASSERT_TRUE(selvage::make_plan(problem, options, &plan).ok()) << text(problem);
        const Region whole = plan.output_region();
        if (problem.n == 0 || is_empty(whole))
            continue;

        const std::string repro =
            "\n" + plan.kernel() + "\n  SELVAGE_SEED=" + std::to_string(each) +
            " SELVAGE_PROBLEM='" + text(problem) +
            "' tiles_test --gtest_filter=*MeetWithoutSeams*" + name(problem.op, 2);
        const Data data = random_data(problem, each); // for its sizes
        const std::vector<float> input = random_reals(random, data.input.size()),
                                 weights = random_reals(random, data.weights.size()),
                                 bias = random_reals(random, data.bias.size());
        DeviceMemory packed_memory;
        ASSERT_TRUE(allocate(plan.device(), plan.packed_bytes(), &packed_memory).ok());
        void *const packed = packed_memory.get();
        if (has_weights(problem.op)) {
            ASSERT_TRUE(plan.pack(weights.data(), selvage::WeightOrder::oihw,
                                  problem.bias ? bias.data() : nullptr, packed)
                            .ok());
        }
        const std::size_t outputs =
            problem.n * whole.z.size * whole.y.size * whole.x.size * problem.k;
        std::vector<float> at_once(outputs), in_tiles(outputs, -12345);
        run(plan, input, packed, whole, &at_once);
        for (const Range &z : cuts(random, whole.z))
            for (const Range &y : cuts(random, whole.y))
                for (const Range &x : cuts(random, whole.x)) {
                    Plan tile;
                    const Status status = plan.tile({z, y, x}, &tile);
                    ASSERT_TRUE(status.ok()) << status.text() << repro;
                    run(tile, input, packed, whole, &in_tiles);
                }
        ASSERT_EQ(std::memcmp(at_once.data(), in_tiles.data(), outputs * sizeof(float)), 0)
            << repro;
    }
}

INSTANTIATE_TEST_SUITE_P(, Tiles,
                         testing::Values(Op::conv, Op::depthwise, Op::conv_transpose, Op::max_pool,
                                         Op::avg_pool, Op::lp_pool, Op::filter, Op::stride_sample,
                                         Op::pad),
                         [](const auto &info) { return name(info.param, 2); });

TEST(Tile, PC_020_phase_of_tiles) {
    // Outputs 4 and 5 read 8 .. 11 and the border; a tile that starts at 7 has phase (-7) mod 2.
    const Data data = {count_up(1, 12), {1, 10, 100}, {}};
    const Problem problem = parse("conv1d in=12 kernel=3 stride=2 pads=0,1");
    const Trial trial(problem, data, 1);
    Plan plan, tile;
    ASSERT_TRUE(selvage::make_plan(problem, {}, &plan).ok());
    ASSERT_TRUE(plan.tile({{}, {}, {4, 2}}, &tile).ok());
    EXPECT_EQ(tile.input_region().x.begin, 8);
    EXPECT_EQ(tile.input_region().x.size, 4);
    EXPECT_TRUE(trial.holds(plan, {{}, {}, {4, 2}}));
    hold_values("conv1d in=5 kernel=3 stride=2 pads=0,1 phase=1",
                {count_up(8, 12), {1, 10, 100}, {}}, {1209, 131});
}

TEST(Tile, TilesHaveTiles) {
    for (const char *text : {"conv2d c=3 k=5 in=20x31 kernel=3x5 stride=2 pads=1,2,3,4",
                             "conv_transpose2d c=3 k=5 in=9x8 kernel=3 stride=2 pads=1,0,2,1",
                             "max_pool2d c=3 in=20x31 kernel=3 pads=1 border=reflect",
                             "avg_pool2d c=3 in=20x31 adaptive=7x9"}) {
        Plan plan, tile, inner;
        ASSERT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok()) << text;
        ASSERT_TRUE(plan.tile({{}, {2, 5}, {1, 8}}, &tile).ok()) << text;
        ASSERT_TRUE(tile.tile({{}, {3, 4}, {2, 3}}, &inner).ok()) << text;
        Plan same;
        ASSERT_TRUE(plan.tile({{}, {3, 4}, {2, 3}}, &same).ok());
        EXPECT_TRUE(inner.output_region() == same.output_region()) << text;
        EXPECT_TRUE(inner.input_region() == same.input_region()) << text;
        const Trial trial(plan.problem(), random_data(plan.problem(), 1), 1);
        EXPECT_TRUE(trial.holds(tile, {{}, {3, 4}, {2, 3}}));
    }
}

TEST(Tile, TheInputIsNoMoreThanWindowsRead) {
    const auto rows = [](const char *text, Range output) {
        Plan plan, tile;
        EXPECT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok()) << text;
        EXPECT_TRUE(plan.tile({{}, output, plan.output_region().x}, &tile).ok()) << text;
        return tile.input_region().y;
    };
    EXPECT_EQ(rows("conv2d in=100x9 kernel=5 pads=2", {0, 10}), (Range{0, 12}));
    EXPECT_EQ(rows("conv2d in=100x9 kernel=5 pads=2", {50, 10}), (Range{48, 14}));
    EXPECT_EQ(rows("conv2d in=100x9 kernel=5 pads=2", {90, 10}), (Range{88, 12}));
    EXPECT_EQ(rows("max_pool2d in=100x9 kernel=3 stride=2", {10, 1}), (Range{20, 3}));
    EXPECT_EQ(rows("conv2d in=100x9 kernel=5 pads=2 border=reflect", {0, 1}), (Range{0, 3}));
    EXPECT_EQ(rows("conv2d in=100x9 kernel=5 pads=2 border=circular", {0, 1}), (Range{0, 100}));
    EXPECT_EQ(rows("conv_transpose2d in=100x9 kernel=2 stride=2", {100, 20}), (Range{50, 10}));
    EXPECT_EQ(rows("avg_pool2d in=100x9 adaptive=10", {3, 2}), (Range{30, 20}));
    EXPECT_EQ(rows("pad2d in=100x9 pads=-7,0,0,0", {3, 2}), (Range{10, 2}));
}

} // namespace
