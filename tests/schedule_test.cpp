// Schedule texts: what they say is what runs, and never changes a value.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/plan.h"
#include "selvage/schedule.h"

#include "hold.h"
#include "random_problems.h"

using selvage::Code;
using selvage::Op;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Schedule;
using selvage::ScheduleTable;
using selvage::Split;
using selvage::Status;
using selvage::TunedSchedule;

namespace {

constexpr ScheduleTable no_table = {nullptr, 0};

Schedule parsed(const std::string &text) {
    Schedule schedule;
    const Status status = selvage::parse_schedule(text, &schedule);
    EXPECT_TRUE(status.ok()) << text << ": " << status.text();
    return schedule;
}

Options with(const std::string &schedule, int threads = 1) {
    Options options;
    options.schedule = schedule;
    options.threads = threads;
    options.table = &no_table;
    return options;
}

Plan planned(const Problem &problem, const Options &options) {
    Plan plan;
    const Status status = make_plan(problem, options, &plan);
    EXPECT_TRUE(status.ok()) << text(problem) << ": " << status.text();
    return plan;
}

// Texts.

TEST(ScheduleText, IsReadBack) {
    const char *const full = "direct_14x2_c64 strip_rows=7 block_rows=2 channel_blocks=4 "
                             "strip_planes=3 split=channels isa=avx512";
    const Schedule schedule = parsed(full);
    EXPECT_EQ(schedule.kernel, "direct_14x2_c64");
    EXPECT_EQ(schedule.blocking.strip_rows, 7);
    EXPECT_EQ(schedule.blocking.block_rows, 2);
    EXPECT_EQ(schedule.blocking.channel_blocks, 4);
    EXPECT_EQ(schedule.blocking.strip_planes, 3);
    EXPECT_EQ(schedule.split, Split::channels);
    EXPECT_EQ(schedule.isa, "avx512");
    EXPECT_EQ(text(schedule), full);
    for (const auto &[split, name] : selvage::splits)
        EXPECT_EQ(parsed(std::string("split=") + name).split, split);
    EXPECT_EQ(text(parsed("isa=avx2   split=rows\tstrip_rows=3")),
              "auto strip_rows=3 split=rows isa=avx2");
    for (const char *nothing : {"", " ", "auto", "split=automatic"})
        EXPECT_EQ(text(parsed(nothing)), "auto");
}

TEST(ScheduleText, IsRefusedWithTheReason) {
    const struct {
        const char *text, *reason;
    } cases[] = {
        {"a b", "'b' is not KEY=VALUE; the kernel comes first"},
        {"isa=avx2 any", "'any' is not KEY=VALUE; the kernel comes first"},
        {"any tile=3", "'tile=3' is no key; the keys are strip_rows, block_rows, channel_blocks, "
                       "strip_planes, strip_columns, split, isa"},
        {"any =3", "'=3' is no key; the keys are strip_rows"},
        {"strip_rows=0", "'strip_rows=0' must be a whole number of at least 1 and below 2^31"},
        {"strip_rows=-1", "'strip_rows=-1' must be"},
        {"strip_rows=", "'strip_rows=' must be"},
        {"strip_rows=7x", "'strip_rows=7x' must be"},
        {"strip_rows=2147483648", "'strip_rows=2147483648' must be"},
        {"strip_rows=99999999999999999999", "must be a whole number"},
        {"strip_rows=1 strip_rows=1", "'strip_rows' is given twice"},
        {"split=diagonals", "'split=diagonals' must be one of automatic, images, planes, rows, "
                            "columns, channels"},
        {"isa=", "'isa=' names no instruction set"},
    };
    for (const auto &each : cases) {
        Schedule schedule = parsed("any strip_rows=3");
        const Status status = selvage::parse_schedule(each.text, &schedule);
        EXPECT_EQ(status.code(), Code::invalid_argument) << each.text;
        EXPECT_NE(status.text().find(each.reason), std::string::npos) << status.text();
        EXPECT_EQ(text(schedule), "any strip_rows=3") << each.text;
    }
    EXPECT_EQ(selvage::parse_schedule("any", nullptr).code(), Code::invalid_argument);
}

// Plans.

const Problem &conv() {
    static const Problem problem =
        parse("conv2d n=2 c=130 k=200 in=15x17 kernel=3 stride=2 pads=1,2,3,4");
    return problem;
}

/// The schedules below are of this instruction set.
const std::string isa = narrowest_isa(), of_isa = " isa=" + isa,
                  direct = schedule_of("conv", "direct_", "_c64");

TEST(ScheduleOfPlan, IsWhatWasAskedFor) {
    for (const char *const cut : {" strip_rows=4 block_rows=3 channel_blocks=2",
                                  " strip_rows=4 block_rows=3 channel_blocks=2 split=rows",
                                  " strip_rows=9 block_rows=9 channel_blocks=3 split=columns",
                                  " strip_rows=1 block_rows=1 channel_blocks=1 split=channels",
                                  " strip_rows=1 block_rows=1 channel_blocks=1 split=images"}) {
        const std::string text = direct + cut + of_isa;
        const bool threads = parsed(text).split != Split::automatic;
        const Plan plan = planned(conv(), with(text, threads ? 2 : 1));
        EXPECT_EQ(plan.kernel(), "conv/" + direct + "/" + isa);
        EXPECT_EQ(plan.schedule(), text);
        EXPECT_TRUE(Trial(conv(), random_data(conv(), 1), 1).holds(plan)) << text;
    }
    EXPECT_EQ(planned(parse("max_pool2d c=64 in=9x9 kernel=3"), with("taps_1" + of_isa)).schedule(),
              "taps_1" + of_isa);
}

TEST(ScheduleOfPlan, IsRefusedWhereItDoesNotApply) {
    const Problem pool = parse("max_pool2d c=64 in=9x9 kernel=3");
    const Problem row = parse("conv1d c=8 k=8 in=9 kernel=3");
    const struct {
        Problem problem;
        std::string text;
        Code code;
        std::string reason;
    } cases[] = {
        {conv(), "nonsense", Code::invalid_argument, "schedule=nonsense: conv has reference, "},
        {conv(), "isa=mmx", Code::invalid_argument, "schedule=isa=mmx: conv has " + isa},
        {conv(), "any", Code::invalid_argument, "schedule=any: conv has reference, "},
        {conv(), "tile=1", Code::invalid_argument, "schedule=tile=1: 'tile=1' is no key"},
        {conv(), direct + " strip_planes=2", Code::unsupported, "has no strip_planes"},
        {conv(), "reference strip_rows=2", Code::unsupported, "has no strip_rows"},
        {pool, "taps_1 strip_rows=2", Code::unsupported, "has no strip_rows"},
        {conv(), direct + of_isa + " strip_rows=10", Code::invalid_argument,
         "strip_rows=10: conv/" + direct + "/" + isa + " has at most 9 here"},
        {conv(), direct + of_isa + " channel_blocks=4", Code::invalid_argument,
         "channel_blocks=4: conv/" + direct + "/" + isa + " has at most 3 here"},
        {conv(), "split=planes", Code::invalid_argument, "split=planes: the output has one plane"},
        {row, "split=rows", Code::invalid_argument, "split=rows: the output has one row"},
        {row, "split=images", Code::invalid_argument, "split=images: the output has one image"},
        {row, "split=channels" + of_isa, Code::invalid_argument,
         "split=channels: the output has one block of channels"},
        {pool, "split=channels", Code::invalid_argument,
         "split=channels: only convolutions are cut by channels"},
        {parse("conv2d c=65 k=8 in=2700x2700 kernel=3"), direct + of_isa + " strip_rows=2698",
         Code::unsupported, "bytes of scratch"},
    };
    for (const auto &each : cases) {
        Plan plan;
        const Status status = make_plan(each.problem, with(each.text, 2), &plan);
        EXPECT_EQ(status.code(), each.code) << each.text << ": " << status.text();
        EXPECT_NE(status.text().find(each.reason), std::string::npos) << status.text();
    }
    Options options = with("any" + of_isa);
    options.isa = "mmx";
    Plan plan;
    EXPECT_EQ(make_plan(pool, options, &plan).text(),
              "schedule=any" + of_isa + ": contradicts isa=mmx");
}

// Candidates: whatever can be asked for holds, is replayed and is told apart.

class Candidates : public testing::TestWithParam<Op> {};

TEST_P(Candidates, HoldAndAreReplayed) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    int kernels = 0;
    for (std::uint64_t each = seed; each < seed + (alone ? 1 : sample(60)); ++each) {
        const Problem problem = alone ? parse(alone) : random_problem(GetParam(), each);
        const Trial trial(problem, random_data(problem, each), each);
        Random random(each ^ 0x5c4ed);
        Options options;
        options.table = &no_table;
        options.adjacent_pixels = trial.adjacent_pixels();
        options.separable = trial.separable();
        options.threads = random.between(1, 4);
        const std::vector<Schedule> all = candidate_schedules(problem, options);
        std::set<std::string> texts;
        for (const Schedule &schedule : all)
            EXPECT_TRUE(texts.insert(text(schedule)).second) << text(schedule);
        if (!all.empty()) {
            EXPECT_EQ(text(all.front()), planned(problem, options).schedule());
        }
        for (int i = 0; i < 12 && !all.empty(); ++i) {
            options.schedule = text(all[random.next() % all.size()]);
            const Plan plan = planned(problem, options);
            const std::string repro = "\n  SELVAGE_SEED=" + std::to_string(each) +
                                      " SELVAGE_PROBLEM='" + text(problem) +
                                      "' schedule_test: " + options.schedule;
            ASSERT_EQ(plan.schedule(), options.schedule) << repro;
            ASSERT_TRUE(trial.holds(plan)) << repro;
            const selvage::Region whole = plan.output_region();
            const std::int64_t half = whole.y.size / 2;
            ASSERT_TRUE(trial.holds(plan, {whole.z, {half, whole.y.size - half}, whole.x}))
                << repro;
            ++kernels;
        }
    }
    EXPECT_TRUE(alone || kernels >= sample(200)) << kernels;
}

INSTANTIATE_TEST_SUITE_P(, Candidates,
                         testing::Values(Op::conv, Op::depthwise, Op::conv_transpose, Op::max_pool,
                                         Op::avg_pool, Op::filter, Op::pad),
                         [](const auto &info) { return name(info.param, 2); });

TEST(CandidateCount, IsTwentyAndMoreForConvolutions) {
    for (const std::string &isa : selvage::available_isas())
        for (const char *const text :
             {"conv2d c=3 k=64 in=224x224 kernel=7 stride=2 pads=3,3,2,2",
              "conv2d c=64 k=256 in=56x56 kernel=1", "conv2d c=512 k=512 in=7x7 kernel=3 pads=1",
              "conv2d c=256 k=256 g=32 in=28x28 kernel=3 pads=1",
              "conv_transpose2d c=128 k=64 in=28x28 kernel=2 stride=2",
              "conv2d c=64 k=64 in=28x28 kernel=3 pads=1 layout=nchw"}) {
            Options options;
            options.isa = isa;
            EXPECT_GE(candidate_schedules(parse(text), options).size(), 20u) << isa << " " << text;
        }
}

} // namespace
