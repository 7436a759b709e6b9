// Every call that breaks a rule is refused with the code and the values, and writes nothing.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/layer.h"

#include "hold.h"

using selvage::Code;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;
using selvage::Tensor;
using selvage::WeightOrder;

namespace {

/// The code, and a text of one line that holds all of these.
void expect_status(const Status &status, Code code, std::initializer_list<const char *> parts) {
    EXPECT_STREQ(name(status.code()), name(code)) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos) << status.text();
    for (const char *part : parts)
        EXPECT_NE(status.text().find(part), std::string::npos)
            << "'" << part << "' is missing in: " << status.text();
}

Status plan_status(const Problem &problem, const selvage::Options &options = {}) {
    Plan plan;
    return selvage::make_plan(problem, options, &plan);
}

// Problems. The fields are set one by one, since a text with such values would not parse.

TEST(RejectedProblems, PC_158_stride_or_kernel_zero) {
    Problem p = parse("max_pool2d in=8x8 kernel=3");
    p.y.stride = 0;
    expect_status(plan_status(p), Code::invalid_argument, {"rows", "stride 0"});
    p.y.stride = -1;
    expect_status(plan_status(p), Code::invalid_argument, {"rows", "stride -1"});
    p.y.stride = 1;
    p.x.kernel = 0;
    expect_status(plan_status(p), Code::invalid_argument, {"columns", "kernel 0"});
    p.x.kernel = 3;
    p.x.dilation = 0;
    expect_status(plan_status(p), Code::invalid_argument, {"columns", "dilation 0"});
    p.x.dilation = 1;
    p.x.phase = 1;
    expect_status(plan_status(p), Code::invalid_argument, {"columns", "phase 1"});
}

TEST(RejectedProblems, PC_160_floor_versus_truncation) {
    Problem p = parse("conv2d in=9x9 kernel=6 stride=2");
    p.x.size = 3;
    expect_status(plan_status(p), Code::invalid_argument, {"columns", "3", "6", "negative"});
}

TEST(RejectedProblems, PC_163_group_divisibility) {
    Problem p = parse("conv2d c=32 k=32 in=4x4 kernel=1");
    p.g = 3;
    expect_status(plan_status(p), Code::invalid_argument, {"g=3", "c=32"});
    p = parse("depthwise2d c=4 in=4x4 kernel=1");
    p.k = 6;
    expect_status(plan_status(p), Code::invalid_argument, {"k=6", "c=4"});
    p = parse("avg_pool2d c=4 in=4x4 kernel=1");
    p.k = 5;
    expect_status(plan_status(p), Code::invalid_argument, {"k=5", "c=4"});
}

TEST(RejectedProblems, CropsThatLeaveNothing) {
    Problem p = parse("conv2d in=4x4 kernel=1");
    p.y.begin = -2;
    p.y.end = -2;
    expect_status(plan_status(p), Code::invalid_argument, {"rows", "-2,-2", "4"});
    p.y.end = -3;
    expect_status(plan_status(p), Code::invalid_argument, {"rows", "-2,-3", "4"});
}

TEST(RejectedProblems, PC_152_output_over_2g_elements) {
    Problem p = parse("conv2d c=1 k=1 in=4x4 kernel=1");
    p.y.size = p.x.size = 4096;
    p.k = 64;
    expect_status(plan_status(p), Code::overflow, {"output", "4096"});
    p = parse("max_pool2d in=1x1 kernel=1");
    p.n = 190;
    p.y.size = p.x.size = 64;
    p.c = p.k = 2933;
    expect_status(plan_status(p), Code::overflow, {"190", "64", "2933"});
}

TEST(RejectedProblems, PC_154_table_size_wraps) {
    Problem p = parse("conv2d in=1x1 kernel=1");
    p.y.size = p.x.size = 1;
    p.y.kernel = p.x.kernel = 65536;
    p.y.begin = p.x.begin = 65535;
    expect_status(plan_status(p), Code::overflow, {"65536"});
    p.y.kernel = std::int64_t(1) << 62;
    expect_status(plan_status(p), Code::overflow, {"4611686018427387904"});
}

// Sizes whose strip, sums or packed weights pass 32 bits must not wrap: a tuned kernel declines
// them, forced it is refused, and without force a kernel that needs no such memory computes them.
TEST(RejectedProblems, StripsAndWeightsThatWrap) {
    const char *const strip = "conv2d in=1x1 kernel=2x2 dilation=1073741823x1073741796 "
                              "pads=1073741823,1073741796,0,0";
    expect_status(plan_status(parse(strip), {"sse41", "direct_6x2_c4"}), Code::unsupported,
                  {"bytes of scratch", "2147483647"});
    EXPECT_TRUE(plan_status(parse(strip)).ok());

    // 4 output channels of 8192 x 8192 weights fill 2^30 bytes, a block of 8 of them 2^31.
    const char *const weights = "conv2d in=1x1 k=4 kernel=8192x8192 pads=4096,4096,4095,4095";
    expect_status(plan_status(parse(weights), {"sse41", "direct_6x2_c4"}), Code::unsupported,
                  {"packs the weights", "2147483647"});
    EXPECT_TRUE(plan_status(parse(weights)).ok());
}

// Positions that 32 bits cannot hold must not wrap into the input: 3 * 1431655766 is 2^32 + 2, and
// rows beyond 2^30 are told from rows of padding by a comparison.
TEST(RejectedProblems, PositionsThatWrap) {
    const char *const flat = "max_pool2d c=3 in=1x4 kernel=1x2 dilation=1x1431655766 "
                             "pads=0,1431655766,0,0";
    for (const char *schedule : {"flat_1", "flat_4", "any", "taps_1"})
        EXPECT_EQ(plan_status(parse(flat), {"sse41", schedule, true}).code(), Code::unsupported)
            << schedule;
    // The first tap of every window reads padding, so the result is the input.
    const std::vector<float> input = count_up(1, 12);
    std::vector<float> output(12);
    selvage::Layer layer;
    ASSERT_TRUE(selvage::make_layer(parse(flat), {"", "", true}, nullptr, WeightOrder::oihw,
                                    nullptr, &layer)
                    .ok());
    ASSERT_TRUE(layer.run(input.data(), output.data()).ok());
    EXPECT_EQ(output, input);

    const char *const rows = "conv2d value=2 in=1x1 kernel=2x1 dilation=1500000000x1 "
                             "pads=1500000000,0,0,0";
    expect_status(plan_status(parse(rows)), Code::unsupported, {"position", "1073741824"});
}

TEST(RejectedProblems, AnEmptyAverageNeedsNoTables) {
    const Problem p = parse("avg_pool2d n=0 in=1x1 kernel=1 pads=1073741823,0,1073741823,0");
    EXPECT_TRUE(plan_status(p).ok());
}

TEST(RejectedProblems, PC_155_halide_2gb) {
    Problem p = parse("conv2d in=1x1 kernel=1");
    p.y.size = 40960;
    p.x.size = 81920;
    p.c = 3;
    expect_status(plan_status(p), Code::overflow, {"input", "40960", "81920"});
}

// Forced choices.

TEST(RejectedOptions, UnknownNames) {
    const Problem p = parse("conv2d in=4x4 kernel=3");
    expect_status(plan_status(p, {"mmx", ""}), Code::invalid_argument, {"mmx", "sse41"});
    expect_status(plan_status(p, {"", "fastest"}), Code::invalid_argument, {"fastest"});
    setenv("SELVAGE_ISA", "mmx", 1);
    expect_status(plan_status(p), Code::invalid_argument, {"mmx", "sse41"});
    unsetenv("SELVAGE_ISA");
    setenv("SELVAGE_SCHEDULE", "fastest", 1);
    expect_status(plan_status(p), Code::invalid_argument, {"fastest"});
    unsetenv("SELVAGE_SCHEDULE");
}

TEST(RejectedOptions, NoPlanToFill) {
    expect_status(selvage::make_plan(parse("conv2d in=4x4 kernel=3"), {}, nullptr),
                  Code::invalid_argument, {"plan", "null"});
}

TEST(RejectedOptions, FailureLeavesThePlanAlone) {
    const Problem p = parse("conv2d in=4x4 kernel=3");
    Plan plan;
    ASSERT_TRUE(selvage::make_plan(p, {}, &plan).ok());
    const std::string kernel = plan.kernel();
    EXPECT_FALSE(selvage::make_plan(parse("conv2d in=8x8 kernel=1"), {"mmx", ""}, &plan).ok());
    EXPECT_EQ(plan.kernel(), kernel);
    EXPECT_EQ(plan.problem(), p);
}

// Memory. Each test breaks one argument of a call that is right otherwise.

class RejectedMemory : public testing::Test {
protected:
    static constexpr float sentinel = -12345;

    void SetUp() override {
        ASSERT_TRUE(
            selvage::make_plan(parse("conv2d n=2 c=3 k=4 in=5x6 kernel=3 pads=1 bias=1"), {}, &plan)
                .ok());
        ASSERT_TRUE(
            plan.pack(weights.data(), WeightOrder::oihw, bias.data(), packed.begin<float>()).ok());
    }

    Status run() { return plan.run(input, packed_weights, output, scratch_begin, scratch_bytes); }

    /// Refused, and the output is as it was.
    void expect_rejected(Code code, std::initializer_list<const char *> parts) {
        std::fill(outputs.begin(), outputs.end(), sentinel);
        expect_status(run(), code, parts);
        EXPECT_TRUE(std::all_of(outputs.begin(), outputs.end(),
                                [](float value) { return value == sentinel; }));
    }

    Plan plan;
    std::vector<float> weights = std::vector<float>(4 * 3 * 9, 1), bias = {1, 2, 3, 4};
    std::vector<float> inputs = std::vector<float>(2 * 5 * 6 * 3 + 64, 1);
    std::vector<float> outputs = std::vector<float>(2 * 5 * 6 * 4 + 64);
    GuardedMemory packed = GuardedMemory(1 << 20), scratch = GuardedMemory(1 << 20);

    Tensor<const float> input = selvage::dense<const float>(inputs.data(), 2, 5, 6, 3);
    Tensor<float> output = selvage::dense(outputs.data(), 2, 5, 6, 4);
    const void *packed_weights = packed.begin<std::byte>();
    std::byte *scratch_begin = scratch.begin<std::byte>();
    std::size_t scratch_bytes = 1 << 20;
};

TEST_F(RejectedMemory, TheUnbrokenCallIsRight) {
    EXPECT_TRUE(run().ok());
    EXPECT_EQ(outputs[0], 13); // a corner sees 4 pixels of 3 channels; the bias is 1
}

TEST_F(RejectedMemory, NullPointers) {
    input.data = nullptr;
    expect_rejected(Code::invalid_argument, {"input", "null"});
    input.data = inputs.data();
    packed_weights = nullptr;
    expect_rejected(Code::invalid_argument, {"packed", "null"});
    packed_weights = packed.begin<std::byte>();
    output.data = nullptr;
    expect_rejected(Code::invalid_argument, {"output", "null"});
}

TEST_F(RejectedMemory, ScratchThatIsNullOrTooSmall) {
    for (const selvage::Options &kernel : kernels_of(selvage::Op::conv2d)) {
        Plan forced;
        if (!selvage::make_plan(plan.problem(), kernel, &forced).ok())
            continue;
        if (forced.scratch_bytes() == 0)
            continue;
        plan = forced;
        ASSERT_LE(plan.packed_bytes(), std::size_t(1) << 20);
        ASSERT_LE(plan.scratch_bytes(), std::size_t(1) << 20);
        ASSERT_TRUE(
            plan.pack(weights.data(), WeightOrder::oihw, bias.data(), packed.begin<float>()).ok());
        scratch_bytes = plan.scratch_bytes();
        scratch_begin = nullptr;
        expect_rejected(Code::invalid_argument, {"scratch", "null"});
        scratch_begin = scratch.begin<std::byte>();
        scratch_bytes -= 1;
        expect_rejected(Code::too_small, {"scratch", std::to_string(scratch_bytes).c_str(),
                                          std::to_string(plan.scratch_bytes()).c_str()});
        scratch_bytes = plan.scratch_bytes();
        EXPECT_TRUE(run().ok());
    }
}

TEST_F(RejectedMemory, Misalignment) {
    packed_weights = packed.begin<std::byte>() + 32;
    expect_rejected(Code::invalid_argument, {"packed", "64"});
    packed_weights = packed.begin<std::byte>();
    scratch_begin = scratch.begin<std::byte>() + 4;
    expect_rejected(Code::invalid_argument, {"scratch", "64"});
}

TEST_F(RejectedMemory, WrongSizes) {
    const Tensor<const float> right = input;
    for (std::int64_t Tensor<const float>::*size :
         {&Tensor<const float>::n, &Tensor<const float>::h, &Tensor<const float>::w,
          &Tensor<const float>::c}) {
        input.*size -= 1;
        expect_rejected(Code::invalid_argument, {"input", std::to_string(right.*size).c_str(),
                                                 std::to_string(input.*size).c_str()});
        input.*size += 1;
    }
    for (std::int64_t Tensor<float>::*size :
         {&Tensor<float>::n, &Tensor<float>::h, &Tensor<float>::w, &Tensor<float>::c}) {
        output.*size += 1;
        expect_rejected(Code::invalid_argument, {"output", std::to_string(output.*size).c_str()});
        output.*size -= 1;
    }
}

TEST_F(RejectedMemory, OutputStridesThatOverlap) {
    output.stride_w = 3;
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "120,24,3"});
    output.stride_w = 4;
    output.stride_h = 23;
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "120,23,4"});
    output.stride_h = 24;
    output.stride_n = 119;
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "119,24,4"});
}

TEST_F(RejectedMemory, StridesOutOfRange) {
    input.stride_h = -18;
    expect_rejected(Code::invalid_argument, {"input", "-18"});
    input.stride_h = 18;
    input.stride_n = std::int64_t(1) << 31;
    expect_rejected(Code::invalid_argument, {"input", "2147483648"});
}

TEST_F(RejectedMemory, PC_164_aliasing) {
    std::vector<float> image(2 * 5 * 6 * 4 + 2 * 5 * 6 * 3, sentinel);
    output.data = image.data();
    const auto with_input_at = [&](std::size_t offset) {
        input.data = image.data() + offset;
        return run();
    };
    const std::size_t end_of_output = 2 * 5 * 6 * 4;
    for (std::size_t offset : {std::size_t(0), std::size_t(24), end_of_output - 1}) {
        expect_status(with_input_at(offset), Code::invalid_argument, {"overlap"});
        EXPECT_EQ(image, std::vector<float>(image.size(), sentinel));
    }
    EXPECT_TRUE(with_input_at(end_of_output).ok());
}

TEST_F(RejectedMemory, Pack) {
    float *const begin = packed.begin<float>();
    const auto pack = [&](const float *w, const float *b, void *p) {
        return plan.pack(w, WeightOrder::oihw, b, p);
    };
    expect_status(pack(nullptr, bias.data(), begin), Code::invalid_argument, {"weights", "null"});
    expect_status(pack(weights.data(), nullptr, begin), Code::invalid_argument, {"bias", "null"});
    expect_status(pack(weights.data(), bias.data(), nullptr), Code::invalid_argument,
                  {"packed", "null"});
    expect_status(pack(weights.data(), bias.data(), begin + 1), Code::invalid_argument,
                  {"packed", "64"});

    ASSERT_TRUE(selvage::make_plan(parse("conv2d in=4x4 kernel=3"), {}, &plan).ok());
    expect_status(pack(weights.data(), bias.data(), begin), Code::invalid_argument, {"bias"});
    ASSERT_TRUE(selvage::make_plan(parse("max_pool2d in=4x4 kernel=3"), {}, &plan).ok());
    expect_status(pack(weights.data(), nullptr, begin), Code::invalid_argument, {"max_pool2d"});
}

TEST_F(RejectedMemory, APlanThatWasNotMade) {
    plan = Plan();
    expect_rejected(Code::invalid_argument, {"make_plan"});
    expect_status(plan.pack(weights.data(), WeightOrder::oihw, nullptr, packed.begin<float>()),
                  Code::invalid_argument, {"make_plan"});
}

} // namespace
