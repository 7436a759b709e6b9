// The C functions of a specialised kernel, with all its instruction sets, on
// tests/specialised_edge.cpp: what calls take, give and refuse.

#include "specialised_edge.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/core/cpu.h"

#include "hold.h"
#include "random_problems.h"
#include "shapes.h"
#include "trial.h"

using selvage::Axis;
using selvage::Problem;
using selvage::Region;
using selvage::Tensor;
using selvage::WeightOrder;

namespace {

/// The problem that edge() computes, but for sizes and pads.
Problem edge_problem() {
    return parse("conv2d c=32 k=48 in=9x9 kernel=3 stride=2 border=reflect bias=1 act=relu6");
}

/// The instruction sets of edge() that this CPU has.
std::vector<std::string> usable_isas() {
    std::vector<std::string> usable;
    for (const char *isa : selvage::isas)
        if (edge_force_isa(isa, nullptr) == SELVAGE_OK)
            usable.push_back(isa);
    edge_force_isa(nullptr, nullptr);
    return usable;
}

Subject subject_of(const selvage_shape &shape, const Region &output, const Region &input) {
    Subject subject = {
        std::string("edge/") + edge_isa(), output, input, EDGE_PACKED_BYTES, 0, nullptr, nullptr};
    EXPECT_EQ(edge_scratch_bytes(&shape, &subject.scratch_bytes, nullptr), SELVAGE_OK);
    subject.pack = [](const void *weights, WeightOrder order, const float *bias, void *packed) {
        selvage_status status;
        edge_pack(static_cast<const float *>(weights), selvage_weight_order(order), bias, packed,
                  &status);
        return std::string(status.text);
    };
    const std::size_t scratch_bytes = subject.scratch_bytes;
    subject.run = [=](const Tensor<const void> &in, const void *packed, const Tensor<void> &out,
                      const Tensor<std::int64_t> *, void *scratch) {
        const selvage_shape s = with_strides(shape, in, out);
        selvage_status status;
        edge(&s, static_cast<const float *>(in.data), packed, static_cast<float *>(out.data),
             scratch, scratch_bytes, &status);
        return std::string(status.text);
    };
    return subject;
}

TEST(SpecialisedEdge, EveryInstructionSetIsExactAtRandomSizesPadsAndPhases) {
    const std::uint64_t seed = seed_from_environment();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    for (int i = 0; i < 60; ++i) {
        Random random(seed + i);
        Problem p = edge_problem();
        p.n = random.pick({0, 1, 1, 2, 3});
        for (Axis *axis : axes(&p)) {
            axis->size = random.between(3, 40);
            axis->begin = random.between(-1, 5);
            axis->end = random.between(-1, 7);
            axis->phase = random.between(0, 1);
        }
        selvage_shape shape = edge_shape(p.n, p.y.size, p.x.size);
        shape.top = p.y.begin;
        shape.bottom = p.y.end;
        shape.left = p.x.begin;
        shape.right = p.x.end;
        shape.phase_y = p.y.phase;
        shape.phase_x = p.x.phase;
        const Trial trial(p, random_data(p, seed + i), seed + i);
        const Region output = trial.output_region();
        selvage_extent extent = {};
        ASSERT_EQ(edge_output(&shape, &extent, nullptr), SELVAGE_OK);
        EXPECT_EQ(extent.depth, 1);
        EXPECT_EQ(extent.height, output.y.size);
        EXPECT_EQ(extent.width, output.x.size);
        EXPECT_EQ(extent.channels, 48);
        for (const std::string &isa : usable_isas()) {
            ASSERT_EQ(edge_force_isa(isa.c_str(), nullptr), SELVAGE_OK);
            ASSERT_EQ(edge_isa(), isa);
            ASSERT_TRUE(
                trial.holds(subject_of(shape, output, {{0, 1}, {0, p.y.size}, {0, p.x.size}})));
        }
    }
    edge_force_isa(nullptr, nullptr);
}

TEST(SpecialisedEdge, ShapesHaveTheDeclaredPads) {
    // TensorFlow's SAME at stride 2: of 9, one on either side; of 8, one at the end.
    const selvage_shape shape = edge_shape(2, 9, 8);
    EXPECT_EQ(shape.n, 2);
    EXPECT_EQ(shape.depth, 1);
    EXPECT_EQ(shape.height, 9);
    EXPECT_EQ(shape.width, 8);
    EXPECT_EQ((std::array<std::int64_t, 6>{shape.front, shape.top, shape.left, shape.back,
                                           shape.bottom, shape.right}),
              (std::array<std::int64_t, 6>{0, 1, 0, 0, 1, 1}));
    EXPECT_EQ(shape.rows, 0);
    EXPECT_EQ(shape.input_stride_n | shape.input_stride_c | shape.output_stride_w, 0);
}

TEST(SpecialisedEdge, CallsUseTheBestInstructionSetUnlessForced) {
    const std::vector<std::string> usable = usable_isas();
    ASSERT_FALSE(usable.empty());
    EXPECT_EQ(edge_isa(), usable.back());
    ASSERT_EQ(edge_force_isa(narrowest_isa(), nullptr), SELVAGE_OK);
    EXPECT_STREQ(edge_isa(), narrowest_isa());
    selvage_status status;
    EXPECT_EQ(edge_force_isa("avx3", &status), SELVAGE_INVALID_ARGUMENT);
    std::string refused = "edge: isa avx3 is not one of this kernel's:";
    for (const char *isa : selvage::isas)
        refused += std::string(" ") + isa;
    EXPECT_EQ(status.text, refused);
    EXPECT_STREQ(edge_isa(), narrowest_isa());
    ASSERT_EQ(edge_force_isa(nullptr, &status), SELVAGE_OK);
    EXPECT_STREQ(status.text, "");
    EXPECT_EQ(edge_isa(), usable.back());
}

/// A call that is right, for tests to break.
class RejectedEdge : public testing::Test {
protected:
    RejectedEdge() {
        edge_force_isa(narrowest_isa(), nullptr);
        EXPECT_EQ(edge_pack(weights.data(), SELVAGE_OIHW, bias.data(), packed_begin, nullptr),
                  SELVAGE_OK);
        EXPECT_EQ(edge_scratch_bytes(&shape, &scratch_bytes, nullptr), SELVAGE_OK);
    }
    ~RejectedEdge() override { edge_force_isa(nullptr, nullptr); }

    selvage_code run(selvage_status *status) {
        return edge(&shape, input, packed_begin, output, scratch_begin, scratch_bytes, status);
    }

    /// The same refusal with a status and without, and nothing is written.
    void expect_rejected(selvage_code code, const std::string &text) {
        std::fill(outputs.begin(), outputs.end(), -7.f);
        selvage_status status = {};
        EXPECT_EQ(run(&status), code);
        EXPECT_EQ(status.code, code);
        EXPECT_EQ(status.text, "edge: " + text);
        EXPECT_EQ(run(nullptr), code);
        EXPECT_EQ(std::count(outputs.begin(), outputs.end(), -7.f), std::ptrdiff_t(outputs.size()));
    }

    /// What the functions that ask only about the shape say of it.
    void expect_bad_shape(selvage_code code, const std::string &text) {
        selvage_status status = {};
        selvage_extent extent = {-1, -1, -1, -1};
        std::size_t bytes = 77;
        EXPECT_EQ(edge_output(&shape, &extent, &status), code);
        EXPECT_EQ(status.text, "edge: " + text);
        EXPECT_EQ(extent.height, -1);
        EXPECT_EQ(edge_scratch_bytes(&shape, &bytes, &status), code);
        EXPECT_EQ(status.text, "edge: " + text);
        EXPECT_EQ(bytes, 77u);
        expect_rejected(code, text);
        shape = edge_shape(2, 9, 8);
    }

    selvage_shape shape = edge_shape(2, 9, 8);
    std::vector<float> weights = std::vector<float>(48 * 32 * 9, 1), bias = std::vector<float>(48);
    std::vector<float> inputs = std::vector<float>(2 * 9 * 8 * 32 + 64, 1),
                       outputs = std::vector<float>(2 * 5 * 4 * 48);
    GuardedMemory packed = GuardedMemory(EDGE_PACKED_BYTES), scratch = GuardedMemory(1 << 20);
    const float *input = inputs.data();
    float *output = outputs.data();
    std::byte *packed_begin = packed.begin<std::byte>(),
              *scratch_begin = scratch.begin<std::byte>();
    std::size_t scratch_bytes = 0;
};

TEST_F(RejectedEdge, TheUnbrokenCallIsRight) {
    selvage_status status = {SELVAGE_INTERNAL, "old"};
    EXPECT_EQ(run(&status), SELVAGE_OK);
    EXPECT_EQ(status.code, SELVAGE_OK);
    EXPECT_STREQ(status.text, "");
    EXPECT_EQ(outputs.back(), 6); // 9 taps of 32 channels of ones, below relu6
}

TEST_F(RejectedEdge, Shapes) {
    shape.n = -1;
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "n -1 is less than 0");
    shape.height = -1;
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "rows: size -1 is less than 0");
    shape.phase_x = 2;
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "columns: phase 2 is not in 0..1 (stride 2)");
    shape.top = -10;
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "rows: pads -10,1 crop more than the size 9");
    shape.top = -9;
    shape.bottom = 3; // a window that reads nothing else
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "rows: size 9 with pads -9,3 leaves no input");
    shape.left = -7;
    shape.right = 0;
    shape.width = 8;
    shape.phase_x = 1;
    expect_bad_shape(SELVAGE_INVALID_ARGUMENT,
                     "columns: size 8 with pads -7,0 and phase 1 is too short for kernel 3 with "
                     "dilation 1 at stride 2: the number of outputs would be negative");
    shape.right = 2147483648;
    expect_bad_shape(SELVAGE_OVERFLOW,
                     "columns: size 8, kernel 3, stride 2, dilation 1, pads 0,2147483648: a value, "
                     "the extent of the window or the padded size exceeds 2147483647");
    shape.height = shape.width = 5000;
    expect_bad_shape(SELVAGE_OVERFLOW,
                     "an image of the input of 1x5000x5000x32 numbers of 4 bytes exceeds "
                     "2147483647 bytes, the most that kernels address");
    shape.bottom = 20000000;
    expect_bad_shape(SELVAGE_OVERFLOW,
                     "an image of the output of 1x10000004x4x48 numbers of 4 bytes exceeds "
                     "2147483647 bytes, the most that kernels address");
}

TEST_F(RejectedEdge, RowsOutsideTheOutput) {
    const std::string but = " are not within the output's 5 rows";
    for (auto [first, rows] : {std::pair(0, 6), {-1, 2}, {5, 1}, {0, -1}, {3, 0}, {4, 2}}) {
        shape.first_row = first;
        shape.rows = rows;
        expect_bad_shape(SELVAGE_INVALID_ARGUMENT, "first_row " + std::to_string(first) +
                                                       " and rows " + std::to_string(rows) + but);
    }
}

TEST_F(RejectedEdge, NullPointers) {
    selvage_status status;
    std::size_t bytes;
    selvage_extent extent;
    const auto said = [&](selvage_code code, const char *text) {
        EXPECT_EQ(code, SELVAGE_INVALID_ARGUMENT);
        EXPECT_EQ(status.code, SELVAGE_INVALID_ARGUMENT);
        EXPECT_STREQ(status.text, text);
    };
    said(edge_output(nullptr, &extent, &status), "edge: shape is null");
    said(edge_output(&shape, nullptr, &status), "edge: output is null");
    said(edge_scratch_bytes(nullptr, &bytes, &status), "edge: shape is null");
    said(edge_scratch_bytes(&shape, nullptr, &status), "edge: bytes is null");
    said(edge_pack(nullptr, SELVAGE_OIHW, bias.data(), packed_begin, &status),
         "edge: weights is null");
    said(edge_pack(weights.data(), SELVAGE_OIHW, nullptr, packed_begin, &status),
         "edge: bias is null, but the kernel has one");
    said(edge_pack(weights.data(), SELVAGE_OIHW, bias.data(), nullptr, &status),
         "edge: packed is null");
    said(edge_pack(weights.data(), selvage_weight_order(2), bias.data(), packed_begin, &status),
         "edge: the order of weights is neither 0 nor 1");
    said(edge(nullptr, input, packed_begin, output, scratch_begin, scratch_bytes, &status),
         "edge: shape is null");

    for (std::int64_t first_row : {0, 3}) {
        shape.first_row = first_row;
        shape.rows = first_row == 0 ? 0 : 2;
        input = nullptr;
        expect_rejected(SELVAGE_INVALID_ARGUMENT, "input is null");
        input = inputs.data();
        output = nullptr;
        expect_rejected(SELVAGE_INVALID_ARGUMENT, "output is null");
        output = outputs.data();
    }
    scratch_begin = nullptr;
    expect_rejected(SELVAGE_INVALID_ARGUMENT, "scratch is null");
    scratch_begin = scratch.begin<std::byte>();
    packed_begin = nullptr;
    expect_rejected(SELVAGE_INVALID_ARGUMENT, "packed is null");
}

TEST_F(RejectedEdge, Memory) {
    const std::size_t needed = scratch_bytes--;
    expect_rejected(SELVAGE_TOO_SMALL, "scratch has " + std::to_string(needed - 1) +
                                           " bytes, the shape needs " + std::to_string(needed));
    scratch_bytes = needed;
    scratch_begin += 32;
    expect_rejected(SELVAGE_INVALID_ARGUMENT, "scratch is not aligned to 64 bytes");
    scratch_begin -= 32;
    packed_begin += 4;
    expect_rejected(SELVAGE_INVALID_ARGUMENT, "packed is not aligned to 64 bytes");
    packed_begin -= 4;
    selvage_status status;
    EXPECT_EQ(edge_pack(weights.data(), SELVAGE_OIHW, bias.data(), packed_begin + 8, &status),
              SELVAGE_INVALID_ARGUMENT);
    EXPECT_STREQ(status.text, "edge: packed is not aligned to 64 bytes");
    input = output + outputs.size() - 1;
    expect_rejected(SELVAGE_INVALID_ARGUMENT, "the memory of input and output overlaps");
}

TEST_F(RejectedEdge, Strides) {
    shape.input_stride_n = 2304;
    shape.input_stride_h = 256;
    shape.input_stride_w = 32;
    shape.input_stride_c = 2;
    expect_rejected(SELVAGE_UNSUPPORTED,
                    "input has neighbours 2 elements apart along its channels, the innermost axis "
                    "of nhwc; they must lie at distance 1");
    shape.input_stride_c = 0;
    expect_rejected(SELVAGE_UNSUPPORTED,
                    "input has neighbours 0 elements apart along its channels, the innermost axis "
                    "of nhwc; they must lie at distance 1; strides that are all 0 mean dense data: "
                    "set one, set all");
    shape.input_stride_c = 1;
    shape.input_stride_h = -256;
    expect_rejected(SELVAGE_INVALID_ARGUMENT,
                    "input has a stride of -256 elements, not in 0..2147483647");
    shape.input_stride_h = std::int64_t(1) << 28; // 8 rows further are 2^33 bytes
    expect_rejected(SELVAGE_OVERFLOW,
                    "input spans 2147483904 elements in an image, more than 2147483647 bytes");
    shape.input_stride_h = 256;
    shape.output_stride_n = 960;
    shape.output_stride_h = 192;
    shape.output_stride_w = 47;
    shape.output_stride_c = 1;
    expect_rejected(SELVAGE_INVALID_ARGUMENT,
                    "output overlaps itself: strides 960,0,192,47,1 (image, plane, row, column, "
                    "channel) for 2x1x5x4x48");
}

TEST_F(RejectedEdge, WeightsPackedForOthers) {
    const std::string text = "packed holds no weights of this kernel for " +
                             std::string(schedule_of("conv", "direct_", "_c16")) + " and " +
                             narrowest_isa();
    std::fill(packed.begin<char>(), packed.begin<char>() + selvage::alignment, '\0');
    expect_rejected(SELVAGE_INVALID_ARGUMENT, text);
    for (const std::string &isa : usable_isas()) {
        edge_force_isa(isa.c_str(), nullptr);
        ASSERT_EQ(edge_pack(weights.data(), SELVAGE_OIHW, bias.data(), packed_begin, nullptr),
                  SELVAGE_OK);
        edge_force_isa(narrowest_isa(), nullptr);
        if (isa == narrowest_isa())
            EXPECT_EQ(run(nullptr), SELVAGE_OK);
        else
            expect_rejected(SELVAGE_INVALID_ARGUMENT, text);
    }
}

TEST_F(RejectedEdge, EmptyResultsNeedNoMemory) {
    shape.n = 0;
    std::size_t bytes = 1;
    ASSERT_EQ(edge_scratch_bytes(&shape, &bytes, nullptr), SELVAGE_OK);
    EXPECT_EQ(bytes, 0u);
    EXPECT_EQ(edge(&shape, nullptr, nullptr, nullptr, nullptr, 0, nullptr), SELVAGE_OK);
    shape = edge_shape(1, 2, 8);
    shape.top = shape.bottom = 0; // a window of 3 does not fit 2 rows
    selvage_extent extent;
    ASSERT_EQ(edge_output(&shape, &extent, nullptr), SELVAGE_OK);
    EXPECT_EQ(extent.height, 0);
    EXPECT_EQ(extent.width, 4);
    EXPECT_EQ(edge(&shape, nullptr, nullptr, nullptr, nullptr, 0, nullptr), SELVAGE_OK);
}

} // namespace
