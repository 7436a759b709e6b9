// Every instruction set that this machine has is offered, and what is forced is what runs.

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "selvage/plan.h"

#include "hold.h"

using selvage::Code;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;

namespace {

// What the kernel of the operating system says, which the library does not ask.
#if defined(__aarch64__)

std::vector<std::string> isas_of_this_cpu() {
    return getauxval(AT_HWCAP) & HWCAP_ASIMD ? std::vector<std::string>{"neon"}
                                             : std::vector<std::string>{};
}

#else

std::set<std::string> cpu_flags() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.rfind("flags", 0) == 0) {
            std::istringstream words(line.substr(line.find(':') + 1));
            return {std::istream_iterator<std::string>(words), {}};
        }
    return {};
}

std::vector<std::string> isas_of_this_cpu() {
    const std::set<std::string> flags = cpu_flags();
    const auto has = [&](std::initializer_list<const char *> needed) {
        for (const char *flag : needed)
            if (!flags.count(flag))
                return false;
        return true;
    };
    std::vector<std::string> isas;
    if (has({"sse4_1"}))
        isas.push_back("sse41");
    if (has({"avx2", "fma", "f16c"}))
        isas.push_back("avx2");
    if (has({"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
        isas.push_back("avx512");
    return isas;
}

#endif

/// Sets an environment variable for as long as it lives.
class Environment {
public:
    Environment(const char *name, const std::string &value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Environment() { unsetenv(name_); }

private:
    const char *name_;
};

/// Problems that tuned kernels of every instruction set take.
const char *const problems[] = {
    "conv2d c=16 k=32 in=14x14 kernel=3 pads=1",
    "conv2d c=3 k=37 in=7x9 kernel=5x2 stride=2x3 pads=1,2,3,4",
    "depthwise2d c=32 in=14x14 kernel=3 pads=1",
    "depthwise2d c=39 in=7x9 kernel=5x2 stride=2x3 pads=1,2,3,4",
    "max_pool2d c=32 in=14x14 kernel=3 stride=2 pads=1",
    "avg_pool2d c=35 in=7x9 kernel=5x2 stride=2x3 pads=1,2,3,4",
    "conv2d c=16 k=32 in=14x14 kernel=3 pads=1 layout=nchw",
    "depthwise2d c=32 in=14x14 kernel=3 pads=1 layout=nchw",
    "max_pool2d c=32 in=14x14 kernel=3 stride=2 pads=1 layout=nchw",
    "conv1d c=16 k=32 in=140 kernel=3 dilation=2 pads=1,2 border=circular",
    "conv3d c=16 k=32 in=4x5x6 kernel=3 pads=1",
    "conv_transpose2d c=16 k=32 in=7x9 kernel=4 stride=2 pads=1",
    "avg_pool3d c=32 in=4x5x6 adaptive=2",
    "lp_pool2d c=32 in=14x14 kernel=3",
    "max_pool2d c=32 in=14x14 kernel=3 type=u8",
    "max_pool2d c=32 in=14x14 kernel=3 indices=plane",
    "filter2d c=3 in=14x14 kernel=3 pads=1 border=reflect",
    "stride_sample2d c=32 in=14x14 stride=2",
    "pad2d c=32 in=14x14 pads=1,2,3,4 border=symmetric",
};

std::string isa_of(const std::string &kernel) { return kernel.substr(kernel.rfind('/') + 1); }

TEST(Isa, WhatTheCpuHasIsAvailable) {
    EXPECT_EQ(selvage::available_isas(), isas_of_this_cpu());
    EXPECT_FALSE(selvage::available_isas().empty());
}

class ForcedIsa : public testing::TestWithParam<std::string> {};

TEST_P(ForcedIsa, ByOptionRuns) {
    for (const char *text : problems) {
        const Problem problem = parse(text);
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(problem, {GetParam(), ""}, &plan).ok()) << text;
        for (const selvage::PlannedPart &part : plan.parts())
            EXPECT_EQ(isa_of(part.kernel), GetParam()) << text;
        EXPECT_TRUE(Trial(problem, random_data(problem, 1), 1).holds(plan));
    }
}

TEST_P(ForcedIsa, ByEnvironmentRuns) {
    const Environment isa("SELVAGE_ISA", GetParam());
    for (const char *text : problems) {
        const Problem problem = parse(text);
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(problem, {}, &plan).ok()) << text;
        for (const selvage::PlannedPart &part : plan.parts())
            EXPECT_EQ(isa_of(part.kernel), GetParam()) << text;
        EXPECT_TRUE(Trial(problem, random_data(problem, 1), 1).holds(plan));
    }
}

TEST_P(ForcedIsa, OptionWinsOverEnvironment) {
    const Environment isa("SELVAGE_ISA", "no such set");
    Plan plan;
    ASSERT_TRUE(selvage::make_plan(parse(problems[0]), {GetParam(), ""}, &plan).ok());
    EXPECT_EQ(isa_of(plan.kernel()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ForcedIsa, testing::ValuesIn(selvage::available_isas()),
                         [](const auto &info) { return info.param; });

TEST(Isa, ScheduleByOptionAndByEnvironment) {
    for (const char *text : problems) {
        const Problem problem = parse(text);
        const std::string reference = kernel_op(problem) + "/reference/";
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(problem, {"", "reference"}, &plan).ok()) << text;
        EXPECT_EQ(plan.kernel().rfind(reference, 0), 0u) << plan.kernel();

        const Environment schedule("SELVAGE_SCHEDULE", "reference");
        ASSERT_TRUE(selvage::make_plan(problem, {}, &plan).ok()) << text;
        EXPECT_EQ(plan.kernel().rfind(reference, 0), 0u) << plan.kernel();
    }
}

// With few channels, a narrower set may waste less of its vectors and is taken then.
TEST(Isa, WithoutForceWholeVectorsTakeTheWidest) {
    for (const char *text :
         {"conv2d c=64 k=64 in=14x14 kernel=3 pads=1", "depthwise2d c=64 in=14x14 kernel=3 pads=1",
          "depthwise2d c=64 in=7x9 kernel=5x2 stride=2x3 pads=1,2,3,4",
          "max_pool2d c=64 in=14x14 kernel=3 stride=2 pads=1",
          "avg_pool2d c=64 in=7x9 kernel=5x2 stride=2x3 pads=1,2,3,4"}) {
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(parse(text), {}, &plan).ok()) << text;
        EXPECT_EQ(isa_of(plan.kernel()), selvage::available_isas().back()) << text;
    }
}

} // namespace
