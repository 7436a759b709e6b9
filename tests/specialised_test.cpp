// The engine of specialised kernels, on kernels of the table: a description that tests replace
// stands for the constants of a specialised kernel. Then kernels as selvage_add_kernel() makes
// them, written by hand (tests/specialised_*.h).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <HalideRuntime.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "selvage/core/engine.h"
#include "selvage/kernels.h"

#include "hold.h"
#include "random_problems.h"
#include "shapes.h"
#include "trial.h"

using selvage::Axis;
using selvage::Code;
using selvage::KernelRow;
using selvage::Op;
using selvage::Pads;
using selvage::Plan;
using selvage::Problem;
using selvage::Region;
using selvage::Specialised;
using selvage::Status;
using selvage::Tensor;
using selvage::Type;
using selvage::WeightOrder;

namespace {

// What kernels are given is what Halide expects.
static_assert(sizeof(selvage::NumberType) == sizeof(halide_type_t));
static_assert(offsetof(selvage::NumberType, code) == offsetof(halide_type_t, code));
static_assert(offsetof(selvage::NumberType, bits) == offsetof(halide_type_t, bits));
static_assert(offsetof(selvage::NumberType, lanes) == offsetof(halide_type_t, lanes));
static_assert(selvage::number_type(float()).code == halide_type_float);
static_assert(selvage::number_type(std::uint8_t()).code == halide_type_uint);
static_assert(selvage::number_type(std::int8_t()).code == halide_type_int);
static_assert(sizeof(selvage::Dimension) == sizeof(halide_dimension_t));
static_assert(offsetof(selvage::Dimension, min) == offsetof(halide_dimension_t, min));
static_assert(offsetof(selvage::Dimension, extent) == offsetof(halide_dimension_t, extent));
static_assert(offsetof(selvage::Dimension, stride) == offsetof(halide_dimension_t, stride));
static_assert(offsetof(selvage::Dimension, flags) == offsetof(halide_dimension_t, flags));
static_assert(sizeof(selvage::BufferHeader) == sizeof(halide_buffer_t));
static_assert(offsetof(selvage::BufferHeader, device) == offsetof(halide_buffer_t, device));
static_assert(offsetof(selvage::BufferHeader, device_interface) ==
              offsetof(halide_buffer_t, device_interface));
static_assert(offsetof(selvage::BufferHeader, host) == offsetof(halide_buffer_t, host));
static_assert(offsetof(selvage::BufferHeader, flags) == offsetof(halide_buffer_t, flags));
static_assert(offsetof(selvage::BufferHeader, type) == offsetof(halide_buffer_t, type));
static_assert(offsetof(selvage::BufferHeader, dimensions) == offsetof(halide_buffer_t, dimensions));
static_assert(offsetof(selvage::BufferHeader, dim) == offsetof(halide_buffer_t, dim));
static_assert(offsetof(selvage::BufferHeader, padding) == offsetof(halide_buffer_t, padding));

/// A kernel that is described anew for every problem.
struct AnyKernel {
    static constexpr char name[] = "any";
    static Problem problem;
    static constexpr Pads (*same)(const Axis &) = nullptr;
    static KernelRow rows[1];
    static selvage::Blocking cuts[1];
    static constexpr bool may_ask = true;
    static constexpr bool may_be(selvage::Family) { return true; }
};
Problem AnyKernel::problem;
KernelRow AnyKernel::rows[1];
selvage::Blocking AnyKernel::cuts[1];

/// The first element of the whole tensor, of which a view shows a part.
template <class T, class From> T *whole(const Tensor<From> &part, const Region &region) {
    return static_cast<T *>(part.data) - region.z.begin * part.stride_d -
           region.y.begin * part.stride_h - region.x.begin * part.stride_w;
}

/// The engine on the kernel and problem of AnyKernel, for the outputs of a region that is whole
/// but along the outermost axis.
template <class Number, class Weight>
Subject specialised(const selvage_shape &shape, const Region &output, const Region &input) {
    using Any = Specialised<AnyKernel, Number, Weight>;
    Subject subject = {
        name(AnyKernel::rows[0]), output, input, Any::packed_bytes(), 0, nullptr, nullptr};
    selvage_status status = {};
    if (Any::scratch_bytes(&shape, &subject.scratch_bytes, &status) != SELVAGE_OK)
        ADD_FAILURE() << text(AnyKernel::problem) << ": " << status.text;
    subject.pack = [](const void *weights, WeightOrder order, const float *bias, void *packed) {
        selvage_status status;
        Any::pack(static_cast<const Weight *>(weights), selvage_weight_order(order), bias, packed,
                  &status);
        return std::string(status.text);
    };
    subject.run = [=](const Tensor<const void> &in, const void *packed, const Tensor<void> &out,
                      const Tensor<std::int64_t> *indices, void *scratch) {
        const selvage_shape s = with_strides(shape, in, out);
        selvage_status status;
        Any::run(&s, whole<const Number>(in, input), packed, whole<Number>(out, output),
                 indices == nullptr ? nullptr : whole<std::int64_t>(*indices, output), scratch,
                 subject.scratch_bytes, &status);
        return std::string(status.text);
    };
    return subject;
}

Subject specialised(const selvage_shape &shape, const Region &output, const Region &input) {
    const Problem &p = AnyKernel::problem;
    if (p.shift >= 0)
        return specialised<std::uint8_t, std::int16_t>(shape, output, input);
    if (p.type == Type::u8)
        return specialised<std::uint8_t, float>(shape, output, input);
    return p.type == Type::i8 ? specialised<std::int8_t, float>(shape, output, input)
                              : specialised<float, float>(shape, output, input);
}

selvage::Range &outermost(const Problem &p, Region *region) {
    return p.rank == 3 ? region->z : p.rank == 2 ? region->y : region->x;
}

/// Whether the row is one for specialised kernels: those without a border are for parts of an
/// output, and winograd ones cannot begin a slice within a tile.
bool is_specialised(const KernelRow &row) {
    return row.border && row.family != selvage::Family::winograd;
}

class RandomSpecialised : public testing::TestWithParam<Op> {};

TEST_P(RandomSpecialised, EveryKernelOfTheTable) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    int wholes = 0, slices = 0;
    for (int i = 0; i < (alone ? 1 : sample(120)); ++i) {
        const std::uint64_t each = seed + i;
        const Problem problem = alone ? parse(alone) : random_problem(GetParam(), each);
        Random random(each ^ 0x5119);
        const Trial trial(problem, random_data(problem, each), each, true);
        for (const KernelRow *row : kernels_of(kernel_op(problem))) {
            Plan plan;
            const selvage::Options options = {row->isa, row->schedule, trial.adjacent_pixels()};
            if (!is_specialised(*row) || !make_plan(problem, options, &plan).ok())
                continue;
            trial.announce(name(*row));
            AnyKernel::problem = problem;
            AnyKernel::rows[0] = *row;
            const selvage_shape shape = shape_of(problem);
            const Region all = plan.output_region();
            ASSERT_TRUE(trial.holds(specialised(shape, all, plan.input_region())));
            ++wholes;

            Region slice = all;
            selvage::Range &rows = outermost(problem, &slice);
            if (rows.size < 2)
                continue;
            const int outputs = int(rows.size);
            rows.size = random.between(1, outputs - 1);
            rows.begin = random.between(0, outputs - int(rows.size));
            Plan tile;
            ASSERT_TRUE(plan.tile(slice, &tile).ok());
            selvage_shape part = shape;
            part.first_row = rows.begin;
            part.rows = rows.size;
            ASSERT_TRUE(trial.holds(specialised(part, slice, tile.input_region())));
            ++slices;
        }
    }
    std::printf("%d runs of wholes, %d of slices\n", wholes, slices);
    EXPECT_TRUE(alone || (wholes >= sample(100) && slices >= sample(50)));
}

INSTANTIATE_TEST_SUITE_P(All, RandomSpecialised,
                         testing::Values(Op::conv, Op::depthwise, Op::conv_transpose, Op::max_pool,
                                         Op::avg_pool, Op::lp_pool, Op::filter, Op::stride_sample,
                                         Op::pad),
                         [](const auto &info) {
                             const std::string op = name(info.param, 2);
                             return op.substr(0, op.size() - 2);
                         });

/// AnyKernel becomes a row of the table on the problem of a text.
selvage_shape describe(const std::string &problem, const std::string &schedule,
                       const std::string &isa = narrowest_isa()) {
    AnyKernel::problem = parse(problem);
    for (const KernelRow *row : kernels_of(kernel_op(AnyKernel::problem)))
        if (row->schedule == schedule && row->isa == isa) {
            AnyKernel::rows[0] = *row;
            return shape_of(AnyKernel::problem);
        }
    ADD_FAILURE() << "no kernel " << schedule << "/" << isa << " for " << problem;
    return {};
}

/// What depends on sizes and pads is refused, with the reason that planning has.
TEST(Specialised, WhatTheRowCannotTake) {
    const auto expect_refused = [](const char *problem, const char *schedule, const char *text) {
        const selvage_shape shape = describe(problem, schedule);
        std::size_t bytes = 77;
        selvage_status status;
        EXPECT_EQ(Specialised<AnyKernel>::scratch_bytes(&shape, &bytes, &status),
                  SELVAGE_UNSUPPORTED)
            << problem;
        EXPECT_EQ(std::string(status.text).rfind("any: ", 0), 0u) << status.text;
        EXPECT_NE(std::string(status.text).find(text), std::string::npos) << status.text;
        EXPECT_EQ(bytes, 77u);
        EXPECT_EQ(Specialised<AnyKernel>::run(&shape, nullptr, nullptr, nullptr, nullptr, nullptr,
                                              0, nullptr),
                  SELVAGE_UNSUPPORTED);
    };
    const char *const rows = schedule_of("max_pool", "rows_3x3_s1_");
    expect_refused("max_pool1d c=1 type=u8 in=4 kernel=2 pads=0,1200000000",
                   schedule_of("max_pool_u8", "lines_"),
                   "reaches position 1200000033, beyond 1073741824");
    expect_refused("max_pool1d c=1 type=u8 in=4 kernel=2 pads=0,1200000000", "any",
                   "needs a table of 2x1200000003 taps x outputs, above 2147483647 bytes");
    expect_refused("conv1d c=1 k=1 in=1 kernel=2 dilation=530000000 pads=0,530000000",
                   schedule_of("conv", "direct_", "_c16"),
                   " bytes of scratch, more than 2147483647");
    expect_refused("max_pool2d c=8 in=9x9 kernel=3 pads=1 border=reflect", rows,
                   "reads no border but a constant");
    expect_refused("max_pool3d c=8 in=3x9x9 kernel=1x3x3 pads=1", rows,
                   "takes single planes, not kernel 1 with 1 planes before and 1 after the input");
    expect_refused("depthwise2d c=8 in=9x9 kernel=3 pads=1 value=2", "taps_1",
                   "leaves padding out, which needs value 0");
    expect_refused("avg_pool2d c=1 in=9x9 adaptive=2x2", schedule_of("avg_pool", "lines_"),
                   "takes windows of one size");
}

TEST(Specialised, LinesNeedAdjacentPixels) {
    selvage_shape shape =
        describe("max_pool2d c=2 in=3x3 kernel=3", schedule_of("max_pool", "lines_"));
    const std::vector<float> input(3 * 3 * 3, 1);
    float output[2] = {};
    alignas(64) std::byte scratch[1 << 16];
    const auto run = [&](selvage_status *status) {
        return Specialised<AnyKernel>::run(&shape, input.data(), nullptr, output, nullptr, scratch,
                                           sizeof scratch, status);
    };
    EXPECT_EQ(run(nullptr), SELVAGE_OK);
    EXPECT_EQ(output[1], 1);
    shape.input_stride_w = 3;
    shape.input_stride_h = 9;
    shape.input_stride_c = 1;
    selvage_status status;
    EXPECT_EQ(run(&status), SELVAGE_INVALID_ARGUMENT);
    EXPECT_STREQ(status.text, "any: adjacent pixels are needed, but those of input and output are "
                              "3 and 2 elements apart");
}

/// The values of a dense run of AnyKernel, -1 where it writes none: of the input's numbers, 0, 1,
/// 2,
/// ... times `unit`, and weights that are sevenths.
std::vector<float> dense_run(const selvage_shape &shape, float unit = 1) {
    using Any = Specialised<AnyKernel>;
    const Problem &p = AnyKernel::problem;
    std::vector<float> input = count_up(0, int(p.n * p.z.size * p.y.size * p.x.size * p.c) - 1);
    for (float &number : input)
        number *= unit;
    std::vector<float> weights(p.k * p.c * p.z.kernel * p.y.kernel * p.x.kernel);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = float(int(i % 11) - 5) / 7;
    const GuardedMemory packed(Any::packed_bytes());
    selvage_extent extent = {};
    selvage_status status;
    std::size_t scratch_bytes = 0;
    EXPECT_EQ(Any::output(&shape, &extent, &status), SELVAGE_OK) << status.text;
    EXPECT_EQ(Any::scratch_bytes(&shape, &scratch_bytes, &status), SELVAGE_OK) << status.text;
    if (has_weights(p.op)) {
        EXPECT_EQ(Any::pack(weights.data(), SELVAGE_OIHW, nullptr, packed.begin<char>(), &status),
                  SELVAGE_OK)
            << status.text;
    }
    std::vector<float> output(p.n * extent.depth * extent.height * extent.width * extent.channels,
                              -1);
    const GuardedMemory scratch(scratch_bytes);
    EXPECT_EQ(Any::run(&shape, input.data(), packed.begin<char>(), output.data(), nullptr,
                       scratch.begin<char>(), scratch_bytes, &status),
              SELVAGE_OK)
        << status.text;
    return output;
}

/// The same from a run for every row of the output.
std::vector<float> runs_of_rows(selvage_shape shape, std::int64_t rows, float unit = 1) {
    std::vector<float> all;
    shape.rows = 1;
    for (; shape.first_row < rows; ++shape.first_row) {
        const std::vector<float> some = dense_run(shape, unit);
        all.resize(some.size(), -1);
        for (std::size_t i = 0; i < some.size(); ++i)
            if (some[i] != -1) {
                EXPECT_EQ(all[i], -1) << "written twice by " << name(AnyKernel::rows[0]);
                all[i] = some[i];
            }
    }
    return all;
}

TEST(Specialised, NoStridesAreThoseOfDenseTensors) {
    for (const char *problem : {"pad1d n=2 c=3 in=4 pads=1,2", "pad2d n=2 c=3 in=4x5 pads=1,2,3,4",
                                "pad3d n=2 c=3 in=2x4x5 pads=1,2,3,4,5,6"})
        for (const char *layout : {" layout=nhwc", " layout=nchw"}) {
            selvage_shape shape = describe(problem + std::string(layout), "any");
            const Problem &p = AnyKernel::problem;
            const std::vector<float> whole = dense_run(shape);
            Plan plan;
            ASSERT_TRUE(make_plan(p, {}, &plan).ok());
            const Region &in = plan.input_region(), &out = plan.output_region();
            const std::vector<float> input =
                count_up(0, int(p.n * in.z.size * in.y.size * in.x.size * p.c) - 1);
            std::vector<float> expected(whole.size());
            ASSERT_TRUE(plan.run(selvage::dense(input.data(), p.n, in.z.size, in.y.size, in.x.size,
                                                p.c, p.layout),
                                 nullptr,
                                 selvage::dense(expected.data(), p.n, out.z.size, out.y.size,
                                                out.x.size, p.k, p.layout),
                                 nullptr, 0)
                            .ok());
            EXPECT_EQ(whole, expected) << text(p);
            // A slice writes its rows into the whole output.
            Region rest = out;
            EXPECT_EQ(runs_of_rows(shape, outermost(p, &rest).size), expected) << text(p);
        }
}

TEST(Specialised, SlicesGiveTheBitsOfTheWhole) {
    int kernels = 0;
    for (const char *problem :
         {"conv2d c=70 k=9 in=9x12 kernel=3 pads=1,2,2,1 border=reflect",
          "conv1d c=70 k=9 in=20 kernel=3",
          "conv_transpose2d c=70 k=9 in=4x5 kernel=4x3 stride=2 pads=1,0,0,1",
          "depthwise2d c=70 in=9x12 kernel=5 pads=2,1,1,2",
          "avg_pool2d c=70 in=9x12 kernel=3 pads=1", "lp_pool2d c=70 in=9x12 kernel=3 p=2"})
        for (const char *layout : {" layout=nhwc", " layout=nchw"}) {
            const Problem p = parse(problem + std::string(layout));
            for (const KernelRow *row : kernels_of(kernel_op(p))) {
                Plan plan;
                if (!is_specialised(*row) ||
                    !make_plan(p, {row->isa, row->schedule, true}, &plan).ok())
                    continue;
                AnyKernel::problem = p;
                AnyKernel::rows[0] = *row;
                const selvage_shape shape = shape_of(p);
                Region output = plan.output_region();
                ASSERT_EQ(runs_of_rows(shape, outermost(p, &output).size, .1f),
                          dense_run(shape, .1f))
                    << name(*row) << " " << text(p);
                ++kernels;
            }
        }
    EXPECT_GT(kernels, 60);
}

/// What is refused for all rows is refused in the same words for each of them, and writes nothing.
TEST(Specialised, SlicesAreHeldToTheStridesOfTheWhole) {
    constexpr std::int64_t far = std::int64_t(1) << 58;
    const std::vector<float> input = count_up(1, 2 * 4 * 5 * 8);
    const auto expect_refused = [&](const std::string &problem, std::int64_t selvage_shape::*stride,
                                    std::int64_t value, const std::string &reason) {
        selvage_shape shape = describe(problem, "any");
        const bool nhwc = AnyKernel::problem.layout == selvage::Layout::nhwc;
        // As the dense tensors have them, but for one.
        shape.input_stride_c = shape.output_stride_c = nhwc ? 1 : 40;
        shape.input_stride_w = shape.output_stride_w = nhwc ? 8 : 1;
        shape.input_stride_h = shape.output_stride_h = nhwc ? 40 : 5;
        shape.input_stride_d = shape.output_stride_d = nhwc ? 160 : 20;
        shape.input_stride_n = shape.output_stride_n = 320;
        shape.*stride = value;
        const std::int64_t rows = AnyKernel::problem.rank == 3 ? 2 : 4;
        for (shape.rows = rows; shape.first_row + shape.rows <= rows;) {
            std::vector<float> memory(3 * input.size(), -1);
            selvage_status status;
            EXPECT_EQ(Specialised<AnyKernel>::run(&shape, input.data(), nullptr,
                                                  memory.data() + input.size(), nullptr, nullptr, 0,
                                                  &status),
                      SELVAGE_INVALID_ARGUMENT)
                << problem << ", row " << shape.first_row << " of " << shape.rows;
            EXPECT_NE(std::string(status.text).find(reason), std::string::npos) << status.text;
            EXPECT_EQ(std::count(memory.begin(), memory.end(), -1), int(memory.size()));
            shape.first_row += shape.rows == 1;
            shape.rows = 1;
        }
    };
    const std::string rows = "pad2d c=8 in=4x5", planes = "pad3d c=8 in=2x4x5";
    for (const std::string layout : {" layout=nhwc", " layout=nchw"}) {
        expect_refused(rows + layout, &selvage_shape::output_stride_h, -32,
                       "output has a stride of -32 elements");
        expect_refused(rows + layout, &selvage_shape::output_stride_h, 1, "output overlaps itself");
        expect_refused(rows + layout, &selvage_shape::output_stride_h, far,
                       "output has a stride of 288230376151711744 elements");
        expect_refused(rows + layout, &selvage_shape::input_stride_h, -40,
                       "input has a stride of -40 elements");
        expect_refused(rows + layout, &selvage_shape::input_stride_h, far,
                       "input has a stride of 288230376151711744 elements");
        expect_refused(planes + layout, &selvage_shape::output_stride_d, -160,
                       "output has a stride of -160 elements");
        expect_refused(planes + layout, &selvage_shape::output_stride_d, 1,
                       "output overlaps itself");
    }
}

/// The stride of an axis of one element is never taken, so it may be any number.
TEST(Specialised, StridesOfSingleElementsDoNotCount) {
    selvage_shape shape = describe("conv_transpose2d c=1 k=1 in=1x2 kernel=1 stride=2",
                                   schedule_of("conv", "direct_", "_c16"));
    const std::vector<float> expected = dense_run(shape);
    for (const std::int64_t stride : {INT64_MIN, INT64_MAX}) {
        shape.input_stride_h = shape.output_stride_h = stride;
        shape.input_stride_w = shape.output_stride_w = 1;
        EXPECT_EQ(dense_run(shape), expected);
    }
}

TEST(Specialised, FieldsThatTheOperatorDoesNotHaveAreIgnored) {
    const auto expect_ignored = [](const char *problem,
                                   std::initializer_list<const char *> fields) {
        selvage_shape shape = describe(problem, "any");
        const std::vector<float> expected = dense_run(shape);
        const std::pair<const char *, std::vector<std::int64_t *>> all[] = {
            {"planes", {&shape.depth, &shape.front, &shape.back, &shape.phase_z}},
            {"rows", {&shape.height, &shape.top, &shape.bottom, &shape.phase_y}},
            {"pads", {&shape.top, &shape.left, &shape.bottom, &shape.right}},
            {"phases", {&shape.phase_y, &shape.phase_x}},
            {"output paddings",
             {&shape.output_padding_z, &shape.output_padding_y, &shape.output_padding_x}}};
        for (const char *name : fields)
            for (const auto &[each, members] : all)
                if (each == std::string(name))
                    for (std::int64_t *member : members)
                        *member = -5;
        EXPECT_EQ(dense_run(shape), expected) << problem;
    };
    expect_ignored("pad2d in=4x5 pads=1,2,3,4", {"planes", "phases", "output paddings"});
    expect_ignored("stride_sample2d in=4x5 stride=2 phase=1", {"planes", "pads"});
    expect_ignored("max_pool1d in=5 kernel=2 pads=1", {"planes", "rows", "output paddings"});
    expect_ignored("avg_pool2d in=4x5 adaptive=2x3", {"planes", "pads", "phases"});
}

/// The images of each call of a kernel.
std::vector<std::int64_t> images_of_calls;
int (*kernel_function)(void **);
int count_images(void **arguments) {
    images_of_calls.push_back(static_cast<halide_buffer_t *>(arguments[1])->dim[4].extent);
    return kernel_function(arguments);
}

/// Images that lie so far apart that 32 bits cannot count their bytes are computed in several
/// calls, and their indices count on.
TEST(Specialised, BatchesBeyondTwoGigabytes) {
    constexpr std::int64_t images = 5, apart = std::int64_t(1) << 28; // 1 GiB
    selvage_shape shape = describe("max_pool1d n=5 c=1 in=3 kernel=3 indices=tensor", "reference");
    shape.input_stride_n = apart;
    shape.input_stride_w = shape.input_stride_c = 1;
    kernel_function = AnyKernel::rows[0].function;
    AnyKernel::rows[0].function = count_images;
    images_of_calls.clear();
    const std::size_t bytes = std::size_t((images - 1) * apart + 3) * sizeof(float);
    void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    float *const input = static_cast<float *>(memory);
    for (std::int64_t i = 0; i < images; ++i)
        input[i * apart + i % 3] = float(i + 1);
    float output[images];
    std::int64_t indices[images];
    alignas(64) std::byte scratch[1024];
    selvage_status status;
    EXPECT_EQ(Specialised<AnyKernel>::run(&shape, input, nullptr, output, indices, scratch,
                                          sizeof scratch, &status),
              SELVAGE_OK)
        << status.text;
    munmap(memory, bytes);
    EXPECT_EQ(images_of_calls, (std::vector<std::int64_t>{2, 2, 1})); // 1 GiB and a little each
    for (std::int64_t i = 0; i < images; ++i) {
        EXPECT_EQ(output[i], float(i + 1));
        EXPECT_EQ(indices[i], 3 * i + i % 3);
    }
}

// Stack.

int do_nothing(void **) { return 0; }
int fail(void **) { return -3; }

TEST(Specialised, KernelsThatFailAreInternalErrors) {
    selvage_shape shape = describe("pad1d c=1 in=3 pads=1", "any");
    AnyKernel::rows[0].function = fail;
    const float input[3] = {};
    float output[5];
    alignas(64) std::byte scratch[1024];
    selvage_status status;
    EXPECT_EQ(Specialised<AnyKernel>::run(&shape, input, nullptr, output, nullptr, scratch,
                                          sizeof scratch, &status),
              SELVAGE_INTERNAL);
    EXPECT_STREQ(status.text, "any: the kernel any returned -3");
}

std::vector<std::uint64_t> painted(64 * 1024 / 8);
ucontext_t back, there;
const std::function<void()> *painted_call;

void call_on_painted_stack() { (*painted_call)(); }

/// Bytes of stack that a call touches.
std::size_t stack_of(const std::function<void()> &call) {
    constexpr std::uint64_t paint = 0x5e1fa9e5e1fa9e00;
    std::fill(painted.begin(), painted.end(), paint);
    painted_call = &call;
    getcontext(&there);
    there.uc_stack.ss_sp = painted.data();
    there.uc_stack.ss_size = painted.size() * 8;
    there.uc_link = &back;
    makecontext(&there, call_on_painted_stack, 0);
    swapcontext(&back, &there);
    const auto first = std::find_if(painted.begin(), painted.end(),
                                    [](std::uint64_t word) { return word != paint; });
    return std::size_t(painted.end() - first) * 8;
}

TEST(Specialised, StackIsBounded) {
    for (const char *problem :
         {"max_pool2d n=2 c=8 in=9x9 kernel=3 pads=1 indices=plane border=reflect",
          "conv_transpose3d n=2 c=8 k=8 in=5x5x5 kernel=3 stride=2",
          "conv2d n=2 c=8 k=8 in=9x9 kernel=3 border=reflect"}) {
        const bool conv = parse(problem).op != Op::max_pool;
        const selvage_shape shape =
            describe(problem, conv ? schedule_of("conv", "direct_", "_c16") : "taps_1");
        AnyKernel::rows[0].function = do_nothing;
        using Any = Specialised<AnyKernel>;
        const std::vector<float> input(1 << 16), weights(1 << 16);
        std::vector<float> output(1 << 16);
        std::vector<std::int64_t> indices(1 << 16);
        const GuardedMemory scratch(1 << 20), packed(Any::packed_bytes());
        selvage_code code = SELVAGE_INTERNAL;
        selvage_status status;
        const auto measure = [&](const char *what, const std::function<void()> &call) {
            const std::size_t bytes = stack_of(call);
            EXPECT_EQ(code, SELVAGE_OK) << what << " " << status.text;
            std::printf("%5zu bytes of stack: %s, %s\n", bytes, what, problem);
            EXPECT_LE(bytes, selvage::wrapper_stack_bytes) << what;
        };
        std::size_t bytes;
        selvage_extent extent;
        if (conv)
            measure("pack", [&] {
                code =
                    Any::pack(weights.data(), SELVAGE_OIHW, nullptr, packed.begin<char>(), &status);
            });
        measure("run", [&] {
            code = Any::run(&shape, input.data(), packed.begin<char>(), output.data(),
                            indices.data(), scratch.begin<char>(), 1 << 20, &status);
        });
        measure("scratch_bytes", [&] { code = Any::scratch_bytes(&shape, &bytes, &status); });
        measure("output", [&] { code = Any::output(&shape, &extent, &status); });
        measure("force_isa", [&] { code = Any::force_isa(nullptr, &status); });
    }
}

} // namespace
