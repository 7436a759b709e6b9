// Every call that breaks a rule is refused with the code and the values, and writes nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    p = parse("conv_transpose3d in=8 kernel=3");
    p.z.stride = -1;
    expect_status(plan_status(p), Code::invalid_argument, {"planes", "stride -1"});
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
    p = parse("conv_transpose2d c=32 k=32 in=4x4 kernel=1");
    p.g = 3;
    expect_status(plan_status(p), Code::invalid_argument, {"g=3", "c=32"});
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
    p = parse("conv_transpose3d in=4 kernel=3");
    p.z.stride = p.y.stride = p.x.stride = 1000;
    p.k = 200;
    expect_status(plan_status(p), Code::overflow, {"output", "3003", "200"});
    p = parse("max_pool2d in=1x1 kernel=1 indices=plane"); // 8 bytes for each index
    p.y.size = p.x.size = 20000;
    expect_status(plan_status(p), Code::overflow, {"output", "20000"});
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

// Sizes whose strip, sums or packed weights pass 32 bits must not wrap.
TEST(RejectedProblems, StripsAndWeightsThatWrap) {
    const char *const strip = "conv2d in=1x1 kernel=2x2 dilation=1073741823x1073741796 "
                              "pads=1073741823,1073741796,0,0";
    for (const char *schedule : {"", "reference", schedule_of("conv", "direct_", "_c4")})
        expect_status(plan_status(parse(strip), {narrowest_isa(), schedule}), Code::unsupported,
                      {"bytes of scratch", "2147483647"});

    // 4 output channels of 8192 x 8192 weights fill 2^30 bytes, a block of 8 of them 2^31.
    const char *const weights = "conv2d in=1x1 k=4 kernel=8192x8192 pads=4096,4096,4095,4095";
    expect_status(
        plan_status(parse(weights), {narrowest_isa(), schedule_of("conv", "direct_", "_c4")}),
        Code::unsupported, {"packs the weights", "2147483647"});
}

// Positions that 32 bits cannot hold must not wrap into the input: 3 * 1431655766 is 2^32 + 2.
TEST(RejectedProblems, PositionsThatWrap) {
    const Problem problem = parse("max_pool2d c=3 in=1x4 kernel=1x2 dilation=1x1431655766 "
                                  "pads=0,1431655766,0,0");
    expect_status(plan_status(problem, {narrowest_isa(), schedule_of("max_pool", "lines_"), true}),
                  Code::unsupported, {"position", "1073741824"});
    // The first tap of every window reads padding, so the result is the input.
    const std::vector<float> input = count_up(1, 12);
    int served = 0;
    for (const selvage::KernelRow *row : kernels_of("max_pool")) {
        selvage::Layer layer;
        if (!selvage::make_layer(problem, {row->isa, row->schedule, true}, nullptr,
                                 WeightOrder::oihw, nullptr, &layer)
                 .ok())
            continue;
        ++served;
        std::vector<float> output(12);
        EXPECT_TRUE(layer.run(input.data(), output.data()).ok()) << name(*row);
        EXPECT_EQ(output, input) << name(*row);
    }
    EXPECT_GT(served, 0);
}

TEST(RejectedProblems, PC_155_halide_2gb) {
    Problem p = parse("conv2d in=1x1 kernel=1");
    p.y.size = 40960;
    p.x.size = 81920;
    p.c = 3;
    expect_status(plan_status(p), Code::overflow, {"input", "40960", "81920"});
    p = parse("max_pool2d in=1x1 kernel=1 type=u8");
    p.y.size = p.x.size = 4096;
    p.c = p.k = 256;
    expect_status(plan_status(p), Code::overflow, {"input", "4096x4096x256", "1 bytes"});
}

// Forced choices.

TEST(RejectedOptions, UnknownNames) {
    const Problem p = parse("conv2d in=4x4 kernel=3");
    expect_status(plan_status(p, {"mmx", ""}), Code::invalid_argument, {"mmx", narrowest_isa()});
    expect_status(plan_status(p, {"", "fastest"}), Code::invalid_argument, {"fastest"});
    expect_status(plan_status(parse("pad3d in=4"), {"", "fastest"}), Code::invalid_argument,
                  {"fastest", "reference"});
    setenv("SELVAGE_ISA", "mmx", 1);
    expect_status(plan_status(p), Code::invalid_argument, {"mmx", narrowest_isa()});
    unsetenv("SELVAGE_ISA");
    setenv("SELVAGE_SCHEDULE", "fastest", 1);
    expect_status(plan_status(p), Code::invalid_argument, {"fastest"});
    unsetenv("SELVAGE_SCHEDULE");
    selvage::Options options;
    options.accuracy = "quick";
    expect_status(plan_status(p, options), Code::invalid_argument, {"accuracy=quick", "exact"});
    setenv("SELVAGE_ACCURACY", "quick", 1);
    expect_status(plan_status(p), Code::invalid_argument, {"SELVAGE_ACCURACY=quick", "exact"});
    unsetenv("SELVAGE_ACCURACY");
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
    for (const selvage::KernelRow *row : kernels_of("conv")) {
        Plan forced;
        if (!selvage::make_plan(plan.problem(), {row->isa, row->schedule}, &forced).ok())
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
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "120,120,24,3,1"});
    output.stride_w = 4;
    output.stride_h = 23;
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "120,120,23,4,1"});
    output.stride_h = 24;
    output.stride_n = 119;
    expect_rejected(Code::invalid_argument, {"output", "overlaps itself", "119,120,24,4,1"});
}

TEST_F(RejectedMemory, StridesOutOfRange) {
    input.stride_h = -18;
    expect_rejected(Code::invalid_argument, {"input", "-18"});
    input.stride_h = std::int64_t(1) << 31;
    expect_rejected(Code::invalid_argument, {"input", "2147483648"});
    input.stride_h = std::int64_t(1) << 28; // 4 rows further are 2^32 bytes
    expect_rejected(Code::overflow, {"input", "1073741842"});
}

TEST_F(RejectedMemory, PC_139_strides_ignored_aot) {
    // The innermost axis of the layout is dense, and nothing else is believed to be.
    input.stride_c = 2;
    expect_rejected(Code::unsupported, {"input", "2 elements apart", "channels"});
    input.stride_c = 1;
    output.stride_c = 30;
    output.stride_w = 1;
    output.stride_h = 6;
    expect_rejected(Code::unsupported, {"output", "30 elements apart", "channels", "nhwc"});
}

TEST_F(RejectedMemory, Indices) {
    ASSERT_TRUE(
        selvage::make_plan(parse("max_pool2d n=2 c=4 in=5x6 kernel=3 pads=1"), {}, &plan).ok());
    input = selvage::dense<const float>(inputs.data(), 2, 5, 6, 4);
    inputs.resize(2 * 5 * 6 * 4);
    input.data = inputs.data();
    packed_weights = nullptr;
    std::vector<std::int64_t> numbers(2 * 5 * 6 * 4, -5);
    const Tensor<std::int64_t> indices = selvage::dense(numbers.data(), 2, 5, 6, 4);
    const auto run_with = [&](const Tensor<std::int64_t> *view) {
        return plan.run(input, nullptr, output, scratch_begin, scratch_bytes, view);
    };
    EXPECT_TRUE(run_with(nullptr).ok());
    expect_status(run_with(&indices), Code::invalid_argument, {"indices"});
    ASSERT_TRUE(selvage::make_plan(parse("max_pool2d n=2 c=4 in=5x6 kernel=3 pads=1 indices=plane"),
                                   {}, &plan)
                    .ok());
    expect_status(run_with(nullptr), Code::invalid_argument, {"indices", "null"});
    Tensor<std::int64_t> wrong = indices;
    wrong.h = 4;
    expect_status(run_with(&wrong), Code::invalid_argument, {"indices", "4", "5"});
    wrong = indices;
    wrong.stride_w = 3;
    expect_status(run_with(&wrong), Code::invalid_argument, {"indices", "overlaps itself"});
    wrong = indices;
    wrong.data = reinterpret_cast<std::int64_t *>(outputs.data());
    expect_status(run_with(&wrong), Code::invalid_argument, {"indices", "overlap"});
    EXPECT_EQ(numbers, std::vector<std::int64_t>(numbers.size(), -5));
    EXPECT_TRUE(run_with(&indices).ok());
}

TEST_F(RejectedMemory, AnotherTypeOfNumber) {
    ASSERT_TRUE(selvage::make_plan(parse("pad2d c=2 in=3x3 type=u8"), {}, &plan).ok());
    std::vector<std::int8_t> from(18), to(18, 7);
    expect_status(plan.run(selvage::dense<const std::int8_t>(from.data(), 1, 3, 3, 2), nullptr,
                           selvage::dense(to.data(), 1, 3, 3, 2), scratch_begin, scratch_bytes),
                  Code::invalid_argument, {"type", "u8"});
    EXPECT_EQ(to, std::vector<std::int8_t>(18, 7));
}

TEST_F(RejectedMemory, TilesOutsideTheOutput) {
    using selvage::Region;
    Plan tile;
    for (const Region &region :
         {Region{{}, {0, 6}, {0, 6}}, Region{{}, {-1, 2}, {0, 6}}, Region{{}, {0, 5}, {6, 1}},
          Region{{1, 1}, {0, 5}, {0, 6}}, Region{{}, {0, -1}, {0, 6}},
          Region{{}, {1, INT64_MAX}, {0, 6}}, Region{{}, {0, 5}, {INT64_MIN, 3}}})
        expect_status(plan.tile(region, &tile), Code::invalid_argument, {"tile", "not within"});
    expect_status(plan.tile({{}, {0, 5}, {0, 6}}, nullptr), Code::invalid_argument, {"null"});
    expect_status(Plan().tile({{}, {0, 5}, {0, 6}}, &tile), Code::invalid_argument, {"make_plan"});
    // A tile takes its part of the input, not all of it.
    ASSERT_TRUE(plan.tile({{}, {0, 2}, {0, 6}}, &plan).ok());
    expect_rejected(Code::invalid_argument, {"input", "2x5x6x3", "2x3x6x3"});
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

    const std::vector<std::int16_t> whole(9, 1);
    ASSERT_TRUE(
        selvage::make_plan(parse("filter2d in=4x4 kernel=3 weights=fixed:2"), {}, &plan).ok());
    expect_status(pack(weights.data(), nullptr, begin), Code::invalid_argument, {"fixed:2"});
    expect_status(plan.pack(static_cast<const std::int16_t *>(nullptr), WeightOrder::oihw, begin),
                  Code::invalid_argument, {"weights", "null"});
    EXPECT_TRUE(plan.pack(whole.data(), WeightOrder::oihw, begin).ok());
    ASSERT_TRUE(selvage::make_plan(parse("filter2d in=4x4 kernel=3"), {}, &plan).ok());
    expect_status(plan.pack(whole.data(), WeightOrder::oihw, begin), Code::invalid_argument,
                  {"weights=f32"});
    EXPECT_TRUE(pack(weights.data(), nullptr, begin).ok());
}

TEST_F(RejectedMemory, PackOfSeparableWeights) {
    float *const begin = packed.begin<float>();
    selvage::Options options;
    options.adjacent_pixels = options.separable = true;
    const Problem problem = parse("filter2d c=2 in=64x64 kernel=3 weights=fixed:12");
    ASSERT_TRUE(selvage::make_plan(problem, options, &plan).ok());
    ASSERT_NE(plan.kernel().find("_separable"), std::string::npos) << plan.kernel();
    const auto expect = [&](const std::vector<std::int16_t> &oihw, Code code,
                            std::initializer_list<const char *> words) {
        expect_status(plan.pack(oihw.data(), WeightOrder::oihw, begin), code, words);
        expect_status(check_separable(problem, oihw.data(), WeightOrder::oihw), code, words);
    };
    const auto expect_ok = [&](const std::vector<std::int16_t> &oihw) {
        EXPECT_TRUE(plan.pack(oihw.data(), WeightOrder::oihw, begin).ok());
        EXPECT_TRUE(check_separable(problem, oihw.data(), WeightOrder::oihw).ok());
    };
    expect_ok({2, 4, -6, 0, 0, 0, 3, 6, -9, 2, 4, -6, 0, 0, 0, 3, 6, -9});
    expect_ok(std::vector<std::int16_t>(18, 0));
    expect({2, 4, -6, 0, 0, 0, 3, 6, -8, 2, 4, -6, 0, 0, 0, 3, 6, -8}, Code::invalid_argument,
           {"not separable", "channel 0, row 2, column 2 is -8"});
    // A column and a row each, but not the same.
    expect({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2}, Code::invalid_argument,
           {"channel 1, row 2, column 0 is 2"});
    // A row of 127 and 1, and 2.
    std::vector<std::int16_t> large(18, 0);
    large[0] = large[9] = -127;
    large[1] = large[10] = 1;
    expect_ok(large);
    large[1] = large[10] = 2;
    expect(large, Code::overflow, {"129", "16 bits"});
    // 255 * 65784 + 2048 and 255 * 65786 + 2048, of at most 2^24.
    large = {-32767, 0, 0, 32767, 0, 0, 250, 0, 0, -32767, 0, 0, 32767, 0, 0, 250, 0, 0};
    expect_ok(large);
    large[6] = large[15] = 252;
    expect(large, Code::overflow, {"65786", "exact in float"});

    // What no kernel relies on is not checked, by a plan.
    const Problem five = parse("filter2d in=9x9 kernel=9 weights=fixed:12");
    ASSERT_TRUE(selvage::make_plan(five, options, &plan).ok());
    std::vector<std::int16_t> diagonal(81, 0);
    diagonal[0] = diagonal[80] = 1;
    const GuardedMemory memory(plan.packed_bytes());
    EXPECT_TRUE(plan.pack(diagonal.data(), WeightOrder::oihw, memory.begin<std::byte>()).ok());
    expect_status(check_separable(five, diagonal.data(), WeightOrder::hwio), Code::invalid_argument,
                  {"not separable"});
    expect_status(
        check_separable(parse("filter2d in=4x4 kernel=3"), large.data(), WeightOrder::oihw),
        Code::invalid_argument, {"whole weights"});
    expect_status(check_separable(parse("filter3d in=3x4x4 kernel=3 weights=fixed:0"), large.data(),
                                  WeightOrder::oihw),
                  Code::unsupported, {"one plane, not 3"});
    expect_status(check_separable(five, nullptr, WeightOrder::oihw), Code::invalid_argument,
                  {"weights", "null"});
}

TEST_F(RejectedMemory, APlanThatWasNotMade) {
    plan = Plan();
    expect_rejected(Code::invalid_argument, {"make_plan"});
    expect_status(plan.pack(weights.data(), WeightOrder::oihw, nullptr, packed.begin<float>()),
                  Code::invalid_argument, {"make_plan"});
}

} // namespace
