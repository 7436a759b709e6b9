// Schedule tables: an entry decides which kernel runs, one that cannot serve never fails a plan,
// and no entry changes the bits by the number of threads.

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/layer.h"
#include "selvage/plan.h"
#include "selvage/schedule_table.h"

#include "hold.h"

using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::ScheduleTable;
using selvage::Status;
using selvage::TunedSchedule;

namespace {

const char *const layer = "conv2d c=130 k=200 in=15x17 kernel=3 stride=2 pads=1,2,3,4";

using Entries = std::vector<TunedSchedule>;

/// A plan by a table of these entries, which computes the right values.
Plan planned(const std::string &problem, const Entries &entries, const Options &asked = {}) {
    const ScheduleTable table = {entries.data(), entries.size()};
    Options options = asked;
    options.table = &table;
    Plan plan;
    const Status status = make_plan(parse(problem), options, &plan);
    EXPECT_TRUE(status.ok()) << problem << ": " << status.text();
    EXPECT_TRUE(Trial(parse(problem), random_data(parse(problem), 1), 1).holds(plan)) << problem;
    return plan;
}

Options sse41(int threads = 1, const char *schedule = "") {
    Options options;
    options.isa = "sse41";
    options.schedule = schedule;
    options.threads = threads;
    return options;
}

/// Why the table's entry was not taken; "" where it was, or there is none.
std::string declined(const Plan &plan) {
    const selvage::Decline &first = plan.declined().front();
    return first.kernel.rfind("schedule table: ", 0) == 0 ? first.kernel + ": " + first.reason : "";
}

TEST(ScheduleTable, DecidesWhichKernelRuns) {
    for (const char *const kernel : {"direct_6x2_c64", "direct_12x1_c16", "reference"}) {
        const Plan plan = planned(layer, {{layer, "sse41", 1, "exact", kernel}}, sse41());
        EXPECT_EQ(plan.kernel(), std::string("conv/") + kernel + "/sse41");
        EXPECT_EQ(declined(plan), "");
        for (const selvage::Decline &each : plan.declined())
            EXPECT_NE(each.kernel, plan.kernel());
        EXPECT_GT(plan.declined().size(), 2u);
    }
}

TEST(ScheduleTable, DecidesHowItIsCutUp) {
    const char *const text = "direct_6x2_c64 strip_rows=4 block_rows=3 channel_blocks=2";
    const Plan plan = planned(layer, {{layer, "sse41", 1, "exact", text}}, sse41());
    EXPECT_EQ(plan.schedule(), std::string(text) + " isa=sse41");
    const std::string by_channels = std::string(text) + " split=channels";
    EXPECT_EQ(
        planned(layer, {{layer, "sse41", 1, "exact", by_channels.c_str()}}, sse41(2)).schedule(),
        by_channels + " isa=sse41");
}

// Otherwise real numbers are summed in another order: the table is seen in the bits.
TEST(ScheduleTable, DecidesTheBits) {
    const Problem problem = parse("conv2d c=192 k=8 in=4x4 kernel=3");
    std::vector<float> input(4 * 4 * 192), weights(8 * 192 * 9);
    for (std::size_t i = 0; i < input.size(); ++i)
        input[i] = 1.f / float(i + 3);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = 1.f / float(i + 7);
    const auto result = [&](const char *schedule, int threads) {
        const Entries entries = {
            {"conv2d c=192 k=8 in=4x4 kernel=3", "sse41", threads, "exact", schedule}};
        const ScheduleTable table = {entries.data(), 1};
        Options options = sse41(threads);
        options.table = &table;
        selvage::Layer made;
        std::vector<float> output(2 * 2 * 8);
        EXPECT_TRUE(
            make_layer(problem, options, weights.data(), selvage::WeightOrder::oihw, nullptr, &made)
                .ok());
        EXPECT_TRUE(made.run(input.data(), output.data()).ok());
        return output;
    };
    const char *const together = "direct_6x2_c64 channel_blocks=3", *const apart =
                                                                        "direct_6x2_c64 "
                                                                        "channel_blocks=1";
    EXPECT_NE(result(together, 1), result(apart, 1));
    // For two threads nothing may change them.
    EXPECT_EQ(result(together, 2), result(apart, 2));
}

TEST(ScheduleTable, KnowsLayersByWhatMattersToThem) {
    const Entries entries = {
        {"conv2d c=130 k=200 in=15x17 kernel=3", "sse41", 1, "exact", "direct_12x1_c16"},
        {layer, "avx2", 1, "exact", "direct_12x1_c16"},
        {layer, "sse41", 1, "fast", "direct_12x1_c16"},
        {layer, "sse41", 3, "exact", "direct_12x1_c16"},
        {"max_pool2d c=64 in=9x9 kernel=3", "sse41", 1, "exact", "any"},
        {layer, "sse41", 1, "exact", "reference"},
        {layer, "sse41", 1, "exact", "direct_12x1_c16"}, // the first one counts
    };
    const std::string text = layer;
    EXPECT_EQ(planned(text, entries, sse41()).kernel(), "conv/reference/sse41");
    EXPECT_EQ(planned(text + " n=2 bias=1 act=relu", entries, sse41()).kernel(),
              "conv/reference/sse41");
    // With two threads that of one; with three their own, unless the sums are others.
    EXPECT_EQ(planned(text, entries, sse41(2)).kernel(), "conv/reference/sse41");
    const Plan three = planned(text, entries, sse41(3));
    EXPECT_EQ(declined(three),
              "schedule table: direct_12x1_c16: sums in another order than reference isa=sse41, "
              "which one thread takes");
    EXPECT_NE(planned(text + " border=reflect", entries, sse41()).kernel(), "conv/reference/sse41");
    EXPECT_EQ(planned("max_pool2d c=64 in=9x9 kernel=3", entries, sse41()).kernel(),
              "max_pool/any/sse41");
    if (selvage::available_isas().size() > 1) {
        Options options;
        options.isa = "avx2";
        EXPECT_EQ(planned(text, entries, options).kernel(), "conv/direct_12x1_c16/avx2");
    }
}

TEST(ScheduleTable, GivesWayToWhatIsAskedFor) {
    const Entries entries = {{layer, "sse41", 1, "exact", "reference"}};
    EXPECT_EQ(planned(layer, entries, sse41(1, "direct_6x2_c64")).kernel(),
              "conv/direct_6x2_c64/sse41");
    const std::string estimated = planned(layer, {}, sse41()).kernel();
    EXPECT_EQ(planned(layer, entries, sse41(1, "auto")).kernel(), estimated);
    EXPECT_NE(estimated, "conv/reference/sse41");
    ASSERT_EQ(setenv("SELVAGE_SCHEDULE", "direct_12x1_c16", 1), 0);
    EXPECT_EQ(planned(layer, entries, sse41()).kernel(), "conv/direct_12x1_c16/sse41");
    unsetenv("SELVAGE_SCHEDULE");
}

TEST(ScheduleTable, NeverFailsAPlan) {
    const std::string estimated = planned(layer, {}, sse41()).schedule();
    const struct {
        const char *schedule, *reason;
    } cases[] = {
        {"direct_of_another_version", "direct_of_another_version: conv has reference, "},
        {"direct_6x2_c64 tile=7", "'tile=7' is no key"},
        {"direct_6x2_c64 strip_rows=10", "has at most 9 here"},
        {"direct_6x2_c64 strip_planes=2", "has no strip_planes"},
        {"planar_4x3_c32", "takes layout nchw"},
        {"direct_6x2_c64_inside", "has no border"},
        {"direct_4x3_c64 isa=avx2", "is not of sse41, which is asked for"},
        {"split=planes", "the output has one plane"},
    };
    for (const auto &each : cases) {
        const Plan plan = planned(layer, {{layer, "sse41", 1, "exact", each.schedule}}, sse41());
        EXPECT_EQ(plan.schedule(), estimated) << each.schedule;
        EXPECT_NE(declined(plan).find(each.reason), std::string::npos)
            << each.schedule << ": " << declined(plan);
    }
    EXPECT_EQ(declined(planned(layer, {{layer, "sse41", 1, "exact", "auto"}}, sse41())), "");
    EXPECT_EQ(
        planned(layer, {{"no problem", "sse41", 1, "exact", "reference"}}, sse41()).schedule(),
        estimated);
}

// The library's own table: whatever it names there is, and serves.
TEST(ShippedSchedules, Serve) {
    const ScheduleTable &table = selvage::shipped_schedules();
    const std::vector<std::string> isas = selvage::available_isas();
    for (std::size_t i = 0; i < table.count; ++i) {
        const TunedSchedule &entry = table.entries[i];
        if (std::find(isas.begin(), isas.end(), entry.isa) == isas.end())
            continue;
        Options options;
        options.isa = entry.isa;
        options.threads = entry.threads;
        options.adjacent_pixels = true;
        Plan plan;
        ASSERT_TRUE(make_plan(parse(entry.problem), options, &plan).ok()) << entry.problem;
        EXPECT_EQ(declined(plan), "") << entry.problem;
    }
}

} // namespace
