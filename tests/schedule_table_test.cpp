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

/// The instruction set of entries and plans, and two of its kernels.
const char *const isa = narrowest_isa(), *const direct = schedule_of("conv", "direct_", "_c64"),
                  *const other = schedule_of("conv", "direct_", "_c16");

std::string conv_kernel(const std::string &schedule) { return "conv/" + schedule + "/" + isa; }

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

Options narrow(int threads = 1, const char *schedule = "") {
    Options options;
    options.isa = isa;
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
    for (const char *const kernel : {direct, other, "reference"}) {
        const Plan plan = planned(layer, {{layer, isa, 1, "exact", kernel}}, narrow());
        EXPECT_EQ(plan.kernel(), conv_kernel(kernel));
        EXPECT_EQ(declined(plan), "");
        for (const selvage::Decline &each : plan.declined())
            EXPECT_NE(each.kernel, plan.kernel());
        EXPECT_GT(plan.declined().size(), 2u);
    }
}

TEST(ScheduleTable, DecidesHowItIsCutUp) {
    const std::string text = std::string(direct) + " strip_rows=4 block_rows=3 channel_blocks=2";
    const Plan plan = planned(layer, {{layer, isa, 1, "exact", text.c_str()}}, narrow());
    EXPECT_EQ(plan.schedule(), text + " isa=" + isa);
    const std::string by_channels = text + " split=channels";
    EXPECT_EQ(planned(layer, {{layer, isa, 1, "exact", by_channels.c_str()}}, narrow(2)).schedule(),
              by_channels + " isa=" + isa);
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
            {"conv2d c=192 k=8 in=4x4 kernel=3", isa, threads, "exact", schedule}};
        const ScheduleTable table = {entries.data(), 1};
        Options options = narrow(threads);
        options.table = &table;
        selvage::Layer made;
        std::vector<float> output(2 * 2 * 8);
        EXPECT_TRUE(
            make_layer(problem, options, weights.data(), selvage::WeightOrder::oihw, nullptr, &made)
                .ok());
        EXPECT_TRUE(made.run(input.data(), output.data()).ok());
        return output;
    };
    const std::string together = std::string(direct) + " channel_blocks=3",
                      apart = std::string(direct) + " channel_blocks=1";
    EXPECT_NE(result(together.c_str(), 1), result(apart.c_str(), 1));
    // For two threads nothing may change them.
    EXPECT_EQ(result(together.c_str(), 2), result(apart.c_str(), 2));
}

TEST(ScheduleTable, KnowsLayersByWhatMattersToThem) {
    const Entries entries = {
        {"conv2d c=130 k=200 in=15x17 kernel=3", isa, 1, "exact", other},
        {layer, "avx2", 1, "exact", "direct_12x1_c16"},
        {layer, isa, 1, "fast", other},
        {layer, isa, 3, "exact", other},
        {"max_pool2d c=64 in=9x9 kernel=3", isa, 1, "exact", "any"},
        {layer, isa, 1, "exact", "reference"},
        {layer, isa, 1, "exact", other}, // the first one counts
    };
    const std::string text = layer;
    EXPECT_EQ(planned(text, entries, narrow()).kernel(), conv_kernel("reference"));
    EXPECT_EQ(planned(text + " n=2 bias=1 act=relu", entries, narrow()).kernel(),
              conv_kernel("reference"));
    // With two threads that of one; with three their own, unless the sums are others.
    EXPECT_EQ(planned(text, entries, narrow(2)).kernel(), conv_kernel("reference"));
    const Plan three = planned(text, entries, narrow(3));
    EXPECT_EQ(declined(three), std::string("schedule table: ") + other +
                                   ": sums in another order than reference isa=" + isa +
                                   ", which one thread takes");
    EXPECT_NE(planned(text + " border=reflect", entries, narrow()).kernel(),
              conv_kernel("reference"));
    EXPECT_EQ(planned("max_pool2d c=64 in=9x9 kernel=3", entries, narrow()).kernel(),
              std::string("max_pool/any/") + isa);
    if (selvage::available_isas().size() > 1) {
        Options options;
        options.isa = "avx2";
        EXPECT_EQ(planned(text, entries, options).kernel(), "conv/direct_12x1_c16/avx2");
    }
}

TEST(ScheduleTable, GivesWayToWhatIsAskedFor) {
    const Entries entries = {{layer, isa, 1, "exact", "reference"}};
    EXPECT_EQ(planned(layer, entries, narrow(1, direct)).kernel(), conv_kernel(direct));
    const std::string estimated = planned(layer, {}, narrow()).kernel();
    EXPECT_EQ(planned(layer, entries, narrow(1, "auto")).kernel(), estimated);
    EXPECT_NE(estimated, conv_kernel("reference"));
    ASSERT_EQ(setenv("SELVAGE_SCHEDULE", other, 1), 0);
    EXPECT_EQ(planned(layer, entries, narrow()).kernel(), conv_kernel(other));
    unsetenv("SELVAGE_SCHEDULE");
}

TEST(ScheduleTable, NeverFailsAPlan) {
    const std::string estimated = planned(layer, {}, narrow()).schedule();
    const struct {
        std::string schedule, reason;
    } cases[] = {
        {"direct_of_another_version", "direct_of_another_version: conv has reference, "},
        {std::string(direct) + " tile=7", "'tile=7' is no key"},
        {std::string(direct) + " strip_rows=10", "has at most 9 here"},
        {std::string(direct) + " strip_planes=2", "has no strip_planes"},
        {schedule_of("conv", "planar_", "_c32"), "takes layout nchw"},
        {schedule_of("conv", "direct_", "_inside"), "has no border"},
        {"reference isa=mmx", std::string("is not of ") + isa + ", which is asked for"},
        {"split=planes", "the output has one plane"},
    };
    for (const auto &each : cases) {
        const Plan plan =
            planned(layer, {{layer, isa, 1, "exact", each.schedule.c_str()}}, narrow());
        EXPECT_EQ(plan.schedule(), estimated) << each.schedule;
        EXPECT_NE(declined(plan).find(each.reason), std::string::npos)
            << each.schedule << ": " << declined(plan);
    }
    EXPECT_EQ(declined(planned(layer, {{layer, isa, 1, "exact", "auto"}}, narrow())), "");
    EXPECT_EQ(planned(layer, {{"no problem", isa, 1, "exact", "reference"}}, narrow()).schedule(),
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
