// The C API: each function against the C++ interface or hand-worked values.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/kernels.h"
#include "selvage/plan.h"
#include "selvage/problem.h"
#include "selvage/selvage.h"
#include "selvage/thread_pool.h"
#include "selvage/version.h"

#include "c_api_trial.h"

namespace {

using selvage::Plan;

/// One problem for each kind of answer: parts, pools without weights, indices, layouts, bytes,
/// volumes, nothing to compute.
const char *const problems[] = {
    conv,
    "conv1d c=16 k=32 in=40 kernel=5 same=causal bias=1 act=relu6",
    "conv3d n=2 c=3 k=4 in=4x5x6 kernel=3 pads=1,0,2,1,2,0 layout=nchw",
    "conv_transpose2d c=16 k=24 in=9x11 kernel=4 stride=2 pads=1,0,2,1",
    "max_pool2d n=3 c=20 in=32x33 kernel=3 stride=2 same=tf indices=plane",
    "max_pool2d c=72 in=30x31 kernel=3 pads=1 border=circular",
    "max_pool2d c=3 in=5x6 kernel=2 type=u8",
    "avg_pool2d c=17 in=7x9 adaptive=3x2",
    "filter2d c=3 in=9x8 kernel=3 pads=1 weights=fixed:8",
    "pad2d n=0 c=2 in=3x4 to=6x7",
};

} // namespace

TEST(CApiLibrary, VersionAndNames) {
    EXPECT_STREQ(selvage_version(), SELVAGE_VERSION);
    for (int code = -1; code < 9; ++code)
        EXPECT_STREQ(selvage_code_name(selvage_code(code)), name(selvage::Code(code))) << code;
    EXPECT_STREQ(selvage_code_name(SELVAGE_OK), "ok");
    EXPECT_STREQ(selvage_code_name(SELVAGE_INVALID_ARGUMENT), "invalid_argument");
    EXPECT_STREQ(selvage_code_name(SELVAGE_INTERNAL), "internal");
    EXPECT_STREQ(selvage_code_name(SELVAGE_DEVICE_FAILURE), "device");
    EXPECT_STREQ(selvage_code_name(selvage_code(7)), "unknown");
}

TEST(CApiLibrary, InstructionSets) {
    std::vector<std::string> all;
    for (std::size_t i = 0; selvage_isa(i) != nullptr; ++i)
        all.push_back(selvage_isa(i));
    EXPECT_EQ(all, selvage::available_isas());
    EXPECT_EQ(selvage_isa(all.size()), nullptr);
    EXPECT_EQ(selvage_isa(std::size_t(-1)), nullptr);
}

TEST(CApiLibrary, Kernels) {
    ASSERT_EQ(selvage_kernel_count(), selvage::kernel_row_count());
    selvage_kernel kernel = {};
    for (std::size_t i = 0; i < selvage_kernel_count(); ++i) {
        EXPECT_OK(selvage_kernel_at(i, &kernel, status));
        const selvage::KernelRow &row = selvage::kernel_rows()[i];
        EXPECT_EQ(kernel.op, row.op);
        EXPECT_EQ(kernel.schedule, row.schedule);
        EXPECT_EQ(kernel.isa, row.isa);
    }
    const selvage_kernel before = kernel;
    const std::string count = std::to_string(selvage_kernel_count());
    EXPECT_FAILS(invalid, "selvage_kernel_at: index " + count + " is not below the count " + count,
                 selvage_kernel_at(selvage_kernel_count(), &kernel, status));
    EXPECT_EQ(kernel.op, before.op);
    EXPECT_FAILS(invalid, "selvage_kernel_at: kernel is null",
                 selvage_kernel_at(0, nullptr, status));
}

TEST(CApiLibrary, CanonicalTexts) {
    for (const char *problem : problems) {
        const std::string right = text(parse(problem));
        ASSERT_LT(right.size(), SELVAGE_TEXT_BYTES);
        std::string canonical(right.size() + 2, '#');
        EXPECT_OK(selvage_canonical(problem, canonical.data(), right.size() + 1, status));
        EXPECT_EQ(canonical, right + '\0' + '#');

        canonical.assign(right.size() + 2, '#');
        EXPECT_FAILS(SELVAGE_TOO_SMALL,
                     "selvage_canonical: the text takes " + std::to_string(right.size() + 1) +
                         " bytes, not " + std::to_string(right.size()),
                     selvage_canonical(problem, canonical.data(), right.size(), status));
        EXPECT_EQ(canonical, std::string(right.size() + 2, '#'));
    }
}

TEST(CApiLibrary, TheLongestCanonicalTextFits) {
    selvage::Problem p;
    p.rank = 3;
    p.n = p.c = p.k = p.g = selvage::largest;
    for (selvage::Axis *axis : {&p.z, &p.y, &p.x}) {
        axis->size = axis->kernel = axis->stride = axis->dilation = selvage::largest;
        axis->begin = axis->end = -selvage::largest;
        axis->phase = axis->output_padding = selvage::largest;
    }
    p.z.mode = p.y.mode = selvage::Mode::symmetric; // the longest name; not all alike
    p.x.mode = selvage::Mode::replicate;
    p.value = p.act_low = p.act_high = p.p = -1.17549435e-38f;
    p.bias = p.include_pad = p.ceil = true;
    p.act = selvage::Activation::clamp;
    p.indices = selvage::Indices::tensor;
    p.order = selvage::IndexOrder::column;
    p.shift = 24;
    for (selvage::Op op : {selvage::Op::conv, selvage::Op::depthwise, selvage::Op::conv_transpose,
                           selvage::Op::max_pool, selvage::Op::avg_pool, selvage::Op::lp_pool,
                           selvage::Op::filter, selvage::Op::stride_sample, selvage::Op::pad}) {
        p.op = op;
        EXPECT_LT(text(p).size(), SELVAGE_TEXT_BYTES) << text(p);
    }
}

TEST(CApiPlan, AnswersAsTheCppPlan) {
    for (const char *problem : problems) {
        SCOPED_TRACE(problem);
        const selvage_options options = {sizeof(options), nullptr, nullptr, 0, 3,
                                         nullptr,         nullptr, nullptr, 0, 0};
        selvage::Options same_options;
        same_options.threads = 3;
        Plan plan;
        ASSERT_TRUE(make_plan(parse(problem), same_options, &plan).ok());
        const PlanHandle handle = plan_of(problem, &options);
        const selvage::Problem &p = plan.problem();
        EXPECT_EQ(selvage_plan_problem(handle.get()), text(p));
        EXPECT_EQ(selvage_plan_kernel(handle.get()), plan.kernel());
        EXPECT_EQ(selvage_plan_schedule(handle.get()), plan.schedule());
        EXPECT_EQ(selvage_plan_packed_bytes(handle.get()), plan.packed_bytes());
        EXPECT_EQ(selvage_plan_scratch_bytes(handle.get()), plan.scratch_bytes());
        EXPECT_TRUE(same(selvage_plan_input_region(handle.get()), plan.input_region()));
        EXPECT_TRUE(same(selvage_plan_output_region(handle.get()), plan.output_region()));

        const std::vector<selvage::PlannedPart> parts = plan.parts();
        ASSERT_EQ(selvage_plan_part_count(handle.get()), parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            selvage_part part = {};
            EXPECT_OK(selvage_plan_part(handle.get(), i, &part, status));
            EXPECT_EQ(part.kernel, parts[i].kernel);
            EXPECT_TRUE(same(part.output, parts[i].output));
            EXPECT_TRUE(same(part.images, parts[i].images));
            EXPECT_TRUE(same(part.channels, parts[i].channels));
            EXPECT_EQ(part.share, parts[i].share);
        }
        ASSERT_EQ(selvage_plan_decline_count(handle.get()), plan.declined().size());
        for (std::size_t i = 0; i < plan.declined().size(); ++i) {
            selvage_decline decline = {};
            EXPECT_OK(selvage_plan_decline(handle.get(), i, &decline, status));
            EXPECT_EQ(decline.kernel, plan.declined()[i].kernel);
            EXPECT_EQ(decline.reason, plan.declined()[i].reason);
        }
    }
}

TEST(CApiPlan, GivesDenseTensors) {
    const PlanHandle volume =
        plan_of("max_pool3d n=2 c=5 in=4x6x8 kernel=2x3x4 type=i8 indices=plane layout=nchw");
    const std::int8_t in[1] = {};
    std::int8_t out[1];
    std::int64_t index[1];
    const selvage_tensor input = selvage_plan_input(volume.get(), in),
                         output = selvage_plan_output(volume.get(), out),
                         indices = selvage_plan_indices(volume.get(), index);
    EXPECT_EQ(input.data, in);
    EXPECT_EQ(output.data, out);
    EXPECT_EQ(indices.data, index);
    EXPECT_EQ(input.type, SELVAGE_I8);
    EXPECT_EQ(output.type, SELVAGE_I8);
    EXPECT_EQ(indices.type, SELVAGE_I64);
    // 4x6x8 = 192 and 3x4x5 = 60 elements of a channel, 5 channels.
    const std::array<std::int64_t, 10> written = {2, 3, 4, 5, 5, 300, 20, 5, 1, 60};
    EXPECT_EQ(numbers(input), (std::array<std::int64_t, 10>{2, 4, 6, 8, 5, 960, 48, 8, 1, 192}));
    EXPECT_EQ(numbers(output), written);
    EXPECT_EQ(numbers(indices), written);

    const PlanHandle image = plan_of("conv2d c=3 k=7 in=4x5 kernel=2");
    EXPECT_EQ(numbers(selvage_plan_input(image.get(), nullptr)),
              (std::array<std::int64_t, 10>{1, 1, 4, 5, 3, 60, 60, 15, 3, 1}));
    EXPECT_EQ(numbers(selvage_plan_output(image.get(), nullptr)),
              (std::array<std::int64_t, 10>{1, 1, 3, 4, 7, 84, 84, 28, 7, 1}));
    EXPECT_EQ(selvage_plan_input(image.get(), nullptr).type, SELVAGE_F32);
    EXPECT_EQ(selvage_plan_output(image.get(), nullptr).data, nullptr);
}

TEST(CApiPlan, RunsViews) {
    // The 3x4 input inside rows of 6, the 3x7 output inside rows of 9, the rest sentinels.
    std::vector<float> x(3 * 6, 1e9f), y(3 * 9, -1);
    for (int row = 0; row < 3; ++row)
        std::copy_n(conv_x.begin() + 4 * row, 4, x.begin() + 6 * row);
    for (selvage_weight_order order : {SELVAGE_OIHW, SELVAGE_HWIO}) { // of one channel: the same
        const PlanHandle plan = plan_of(conv);
        const Memory packed(selvage_plan_packed_bytes(plan.get())),
            scratch(selvage_plan_scratch_bytes(plan.get()));
        EXPECT_OK(
            selvage_plan_pack(plan.get(), conv_w.data(), order, nullptr, packed.data(), status));
        selvage_tensor in = selvage_plan_input(plan.get(), x.data()),
                       out = selvage_plan_output(plan.get(), y.data());
        in.stride_h = 6;
        out.stride_h = 9;
        EXPECT_OK(selvage_plan_run(plan.get(), &in, packed.data(), &out, nullptr, scratch.data(),
                                   scratch.bytes(), nullptr, status));
        for (int row = 0; row < 3; ++row) {
            EXPECT_EQ(std::vector<float>(y.begin() + 9 * row, y.begin() + 9 * row + 7),
                      std::vector<float>(conv_y.begin() + 7 * row, conv_y.begin() + 7 * row + 7));
            EXPECT_EQ(y[9 * row + 7], -1);
            EXPECT_EQ(y[9 * row + 8], -1);
        }
    }
}

TEST(CApiPlan, WeightOrdersAndBias) {
    // One pixel, 2 channels to 3: out[k] = w[k][0]*1 + w[k][1]*10 + bias[k].
    const float x[] = {1, 10}, oihw[] = {1, 2, 3, 4, 5, 6}, bias[] = {100, 200, 300};
    const std::vector<float> of_oihw = {121, 243, 365}, of_hwio = {141, 252, 363};
    const PlanHandle plan = plan_of("conv2d c=2 k=3 in=1x1 kernel=1 bias=1");
    const Memory packed(selvage_plan_packed_bytes(plan.get())),
        scratch(selvage_plan_scratch_bytes(plan.get()));
    for (selvage_weight_order order : {SELVAGE_OIHW, SELVAGE_HWIO}) {
        std::vector<float> y(3, -1);
        const selvage_tensor in = selvage_plan_input(plan.get(), x),
                             out = selvage_plan_output(plan.get(), y.data());
        EXPECT_OK(selvage_plan_pack(plan.get(), oihw, order, bias, packed.data(), status));
        EXPECT_OK(selvage_plan_run(plan.get(), &in, packed.data(), &out, nullptr, scratch.data(),
                                   scratch.bytes(), nullptr, status));
        EXPECT_EQ(y, order == SELVAGE_OIHW ? of_oihw : of_hwio);
    }
}

TEST(CApiPlan, PacksWholeWeights) {
    // Weights 1/4, 1/2, 1/4 in units of 1/256.
    const std::uint8_t x[] = {8, 16, 40};
    const std::int16_t w[] = {64, 128, 64};
    const PlanHandle plan =
        plan_of("filter1d in=3 kernel=3 pads=1,1 border=replicate weights=fixed:8");
    const Memory packed(selvage_plan_packed_bytes(plan.get())),
        scratch(selvage_plan_scratch_bytes(plan.get()));
    std::uint8_t y[] = {0, 0, 0};
    EXPECT_OK(selvage_plan_pack_fixed(plan.get(), w, SELVAGE_OIHW, packed.data(), status));
    const selvage_tensor in = selvage_plan_input(plan.get(), x),
                         out = selvage_plan_output(plan.get(), y);
    EXPECT_OK(selvage_plan_run(plan.get(), &in, packed.data(), &out, nullptr, scratch.data(),
                               scratch.bytes(), nullptr, status));
    EXPECT_EQ(std::vector<int>(y, y + 3), std::vector<int>({10, 20, 34}));

    // Only a long kernel overflows 32 bits: 255 * 32767 * 258 taps.
    const PlanHandle long_one = plan_of("filter1d in=300 kernel=258 weights=fixed:8");
    const std::vector<std::int16_t> taps(258, 32767);
    const Memory more(selvage_plan_packed_bytes(long_one.get()));
    EXPECT_FAILS(
        SELVAGE_OVERFLOW,
        "pack: the weights of channel 0 add up to 8453886; sums of pixels would leave 32 bits",
        selvage_plan_pack_fixed(long_one.get(), taps.data(), SELVAGE_OIHW, more.data(), status));
}

TEST(CApiPlan, TilesMeetWithoutSeams) {
    const std::string problem = "conv2d c=2 k=3 in=11x13 kernel=3x4 stride=2x1 pads=1,2,3,4 "
                                "border=reflect,circular bias=1";
    const std::vector<float> x = count_up(1, 11 * 13 * 2), w = count_up(-30, 41), bias = {1, 2, 3};
    PlanHandle whole = plan_of(problem);
    const Memory packed(selvage_plan_packed_bytes(whole.get())),
        scratch(selvage_plan_scratch_bytes(whole.get()));
    EXPECT_OK(
        selvage_plan_pack(whole.get(), w.data(), SELVAGE_OIHW, bias.data(), packed.data(), status));
    const selvage_tensor shape = selvage_plan_output(whole.get(), nullptr);
    ASSERT_EQ(shape.h, 7);
    ASSERT_EQ(shape.w, 16);
    std::vector<float> y(std::size_t(shape.stride_n), -1), tiled = y;
    const selvage_tensor in = selvage_plan_input(whole.get(), x.data()),
                         out = selvage_plan_output(whole.get(), y.data());
    EXPECT_OK(selvage_plan_run(whole.get(), &in, packed.data(), &out, nullptr, scratch.data(),
                               scratch.bytes(), nullptr, status));

    std::vector<PlanHandle> tiles;
    for (const selvage_range rows : {selvage_range{0, 3}, selvage_range{3, 4}})
        for (const selvage_range columns : {selvage_range{0, 5}, selvage_range{5, 11}}) {
            const selvage_region region = {{0, 1}, rows, columns};
            selvage_plan *tile = nullptr;
            EXPECT_OK(selvage_plan_tile(whole.get(), &region, &tile, status));
            tiles.emplace_back(tile);
        }
    EXPECT_STREQ(selvage_plan_problem(tiles[3].get()), selvage_plan_problem(whole.get()));
    whole.reset(); // tiles live on
    for (const PlanHandle &tile : tiles) {
        const selvage_region read = selvage_plan_input_region(tile.get()),
                             written = selvage_plan_output_region(tile.get());
        selvage_tensor part = selvage_plan_input(tile.get(),
                                                 x.data() + (read.y.begin * 13 + read.x.begin) * 2),
                       result = selvage_plan_output(
                           tile.get(), tiled.data() + (written.y.begin * 16 + written.x.begin) * 3);
        part.stride_h = 13 * 2;
        result.stride_h = 16 * 3;
        const Memory own(selvage_plan_scratch_bytes(tile.get()));
        EXPECT_OK(selvage_plan_run(tile.get(), &part, packed.data(), &result, nullptr, own.data(),
                                   own.bytes(), nullptr, status));
    }
    EXPECT_EQ(tiled, y);
}

TEST(CApiPlan, OptionsReachThePlan) {
    for (std::size_t i = 0; selvage_isa(i) != nullptr; ++i) {
        const selvage_options options = {sizeof(options), selvage_isa(i), nullptr, 0, 0,
                                         nullptr,         nullptr,        nullptr, 0, 0};
        const std::string kernel = selvage_plan_kernel(plan_of(conv, &options).get());
        EXPECT_EQ(kernel.substr(kernel.rfind('/') + 1), selvage_isa(i));
    }
    const selvage_options fast = {sizeof(fast), nullptr, nullptr, 0, 0,
                                  nullptr,      "fast",  nullptr, 0, 0};
    const char *const layer = "conv2d c=64 k=64 in=56x56 kernel=3 pads=1";
    EXPECT_NE(std::string(selvage_plan_kernel(plan_of(layer, &fast).get())).find("/winograd_"),
              std::string::npos);
    for (const char *schedule : {"reference", schedule_of("conv", "direct_", "_c4")}) {
        const selvage_options options = {sizeof(options), nullptr, schedule, 0, 0,
                                         nullptr,         nullptr, nullptr,  0, 0};
        const std::string kernel = selvage_plan_kernel(plan_of(conv, &options).get());
        EXPECT_EQ(kernel.substr(0, kernel.rfind('/')), std::string("conv/") + schedule);
    }
    const std::string rgb = "max_pool2d c=3 in=32x32 kernel=3 pads=1";
    for (int adjacent : {0, 1, 2}) {
        selvage_options options = {sizeof(options), "",      nullptr, adjacent, 0,
                                   nullptr,         nullptr, nullptr, 0,        0};
        selvage::Options right;
        right.adjacent_pixels = adjacent != 0;
        Plan plan;
        ASSERT_TRUE(make_plan(parse(rgb), right, &plan).ok());
        EXPECT_EQ(selvage_plan_kernel(plan_of(rgb, &options).get()), plan.kernel());
    }
    const selvage_options nothing = {sizeof(nothing), nullptr, nullptr, 0, 0,
                                     nullptr,         nullptr, nullptr, 0, 0};
    EXPECT_STREQ(selvage_plan_kernel(plan_of(rgb, &nothing).get()),
                 selvage_plan_kernel(plan_of(rgb).get()));
}

TEST(CApiPlan, ThreadsGiveTheSameBits) {
    const std::string problem = "conv2d n=3 c=8 k=16 in=29x31 kernel=3 stride=2 pads=1,2,0,1";
    std::vector<float> x(3 * 29 * 31 * 8), w(16 * 8 * 9);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = float(i % 17) - 8;
    for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = float(i % 13) - 6;
    std::vector<float> right;
    for (int threads : {0, 1, 2, 5}) {
        const selvage_options options = {sizeof(options), nullptr, nullptr, 0, threads,
                                         nullptr,         nullptr, nullptr, 0, 0};
        const LayerHandle layer = layer_of(problem, w, SELVAGE_OIHW, &options);
        const selvage_tensor shape = selvage_plan_output(selvage_layer_plan(layer.get()), nullptr);
        selvage::ThreadPool pool(2);
        for (const selvage_parallel *each :
             {static_cast<const selvage_parallel *>(nullptr), &pool.parallel()}) {
            std::vector<float> y(std::size_t(shape.n * shape.stride_n), -1);
            EXPECT_OK(selvage_layer_run(layer.get(), x.data(), y.data(), nullptr, each, status));
            if (right.empty())
                right = y;
            EXPECT_EQ(y, right) << threads;
        }
    }
}

TEST(CApiLayer, RunsDenseMemoryManyTimes) {
    const LayerHandle layer = layer_of(conv, conv_w);
    EXPECT_STREQ(selvage_plan_kernel(selvage_layer_plan(layer.get())),
                 selvage_plan_kernel(plan_of(conv).get()));
    for (int call = 0; call < 3; ++call) {
        std::vector<float> y(conv_y.size(), -1);
        EXPECT_OK(
            selvage_layer_run(layer.get(), conv_x.data(), y.data(), nullptr, nullptr, status));
        EXPECT_EQ(y, conv_y);
    }
}

TEST(CApiLayer, IndicesAndViews) {
    // Two channels of four, planes 3 7 7 5 and 9 0 1 1 in NCHW.
    const float x[] = {3, 7, 7, 5, 9, 0, 1, 1};
    const LayerHandle layer =
        layer_of("max_pool1d c=2 in=4 kernel=2 stride=2 indices=tensor layout=nchw");
    const std::vector<float> right = {7, 7, 9, 1};
    const std::vector<std::int64_t> where = {1, 2, 4, 6};
    std::vector<float> y(4, -1);
    std::vector<std::int64_t> found(4, -7);
    EXPECT_OK(selvage_layer_run(layer.get(), x, y.data(), found.data(), nullptr, status));
    EXPECT_EQ(y, right);
    EXPECT_EQ(found, where);

    // Every view has a channel stride of its own.
    const selvage_plan *plan = selvage_layer_plan(layer.get());
    y.assign(5, -1);
    found.assign(7, -7);
    selvage_tensor in = selvage_plan_input(plan, x), out = selvage_plan_output(plan, y.data()),
                   indices = selvage_plan_indices(plan, found.data());
    out.stride_c = 3;
    indices.stride_c = 5;
    EXPECT_OK(selvage_layer_run_views(layer.get(), &in, &out, &indices, nullptr, status));
    EXPECT_EQ(y, std::vector<float>({7, 7, -1, 9, 1}));
    EXPECT_EQ(found, std::vector<std::int64_t>({1, 2, -7, -7, -7, 4, 6}));
}

TEST(CApiLayer, BytesAndEmptyResults) {
    const std::uint8_t bytes[] = {200, 0, 100};
    const LayerHandle reflect = layer_of("pad1d in=3 pads=1 border=reflect type=u8");
    std::uint8_t y[5] = {};
    EXPECT_OK(selvage_layer_run(reflect.get(), bytes, y, nullptr, nullptr, status));
    EXPECT_EQ(std::vector<int>(y, y + 5), std::vector<int>({0, 200, 0, 100, 0}));

    const std::int8_t numbers[] = {-5, -128, 3};
    const LayerHandle pool = layer_of("max_pool1d in=3 kernel=2 type=i8");
    std::int8_t maxima[2] = {};
    EXPECT_OK(selvage_layer_run(pool.get(), numbers, maxima, nullptr, nullptr, status));
    EXPECT_EQ(std::vector<int>(maxima, maxima + 2), std::vector<int>({-5, 3}));

    const LayerHandle none = layer_of("pad1d n=0 in=3 pads=1");
    EXPECT_OK(selvage_layer_run(none.get(), nullptr, nullptr, nullptr, nullptr, status));
}

TEST(CApiLayer, EachThreadHasItsOwn) {
    std::vector<std::thread> threads;
    std::array<std::vector<float>, 2> results;
    for (std::vector<float> &y : results)
        threads.emplace_back([&y] {
            for (int call = 0; call < 50; ++call) {
                const LayerHandle layer = layer_of(conv, conv_w);
                y.assign(conv_y.size(), -1);
                EXPECT_OK(selvage_layer_run(layer.get(), conv_x.data(), y.data(), nullptr, nullptr,
                                            status));
            }
        });
    for (std::thread &each : threads)
        each.join();
    EXPECT_EQ(results[0], conv_y);
    EXPECT_EQ(results[1], conv_y);
}

TEST(CApiPlan, ThreadsShareOne) {
    const PlanHandle plan = plan_of(conv);
    const Memory packed(selvage_plan_packed_bytes(plan.get()));
    EXPECT_OK(
        selvage_plan_pack(plan.get(), conv_w.data(), SELVAGE_OIHW, nullptr, packed.data(), status));
    std::vector<std::thread> threads;
    std::array<std::vector<float>, 2> results;
    for (std::vector<float> &y : results)
        threads.emplace_back([&] {
            const Memory scratch(selvage_plan_scratch_bytes(plan.get()));
            for (int call = 0; call < 50; ++call) {
                y.assign(conv_y.size(), -1);
                const selvage_tensor in = selvage_plan_input(plan.get(), conv_x.data()),
                                     out = selvage_plan_output(plan.get(), y.data());
                EXPECT_OK(selvage_plan_run(plan.get(), &in, packed.data(), &out, nullptr,
                                           scratch.data(), scratch.bytes(), nullptr, status));
            }
        });
    for (std::thread &each : threads)
        each.join();
    EXPECT_EQ(results[0], conv_y);
    EXPECT_EQ(results[1], conv_y);
}
