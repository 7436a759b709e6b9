// Every way to call the C API wrongly: a status, and nothing else happens.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/layer.h"
#include "selvage/plan.h"
#include "selvage/problem.h"
#include "selvage/selvage.h"
#include "selvage/thread_pool.h"

#include "c_api_trial.h"

// This program's operator new fails when it is told to.
namespace {
thread_local long allocations_left = -1; // -1: any number
void *allocate(std::size_t bytes, std::size_t alignment) {
    if (allocations_left == 0)
        return nullptr;
    if (allocations_left > 0)
        --allocations_left;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, std::max(rounded, alignment));
}
void *allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    if (void *memory = allocate(bytes, alignment))
        return memory;
    throw std::bad_alloc();
}
} // namespace

void *operator new(std::size_t bytes) { return allocate_or_throw(bytes, alignof(max_align_t)); }
void *operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, std::size_t(alignment));
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
    return allocate(bytes, alignof(max_align_t));
}
void *operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    return allocate(bytes, std::size_t(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST(CApiErrors, EachNullIsRefused) {
    const PlanHandle plan = plan_of(conv);
    const LayerHandle layer = layer_of(conv, conv_w);
    const Memory packed(selvage_plan_packed_bytes(plan.get())),
        scratch(selvage_plan_scratch_bytes(plan.get()));
    const selvage_region all = selvage_plan_output_region(plan.get());
    std::vector<float> y(conv_y.size(), -1);
    const std::int16_t fixed[6] = {};
    const selvage_tensor in = selvage_plan_input(plan.get(), conv_x.data()),
                         out = selvage_plan_output(plan.get(), y.data());
    selvage_plan *made = nullptr;
    selvage_layer *made_layer = nullptr;
    selvage_part part = {};
    selvage_decline decline = {};
    selvage_window window = {};
    std::int64_t element = 0;
    char text[SELVAGE_TEXT_BYTES] = "";
    const selvage_axis axis = axis_of(8, 3, 1);
    const selvage_plan *p = plan.get();
    const float *w = conv_w.data();
    const auto run = [&](const selvage_plan *plan, const selvage_tensor *in, const void *packed,
                         const selvage_tensor *out, void *scratch_data, selvage_status *status) {
        return selvage_plan_run(plan, in, packed, out, nullptr, scratch_data, scratch.bytes(),
                                nullptr, status);
    };
    selvage_tensor no_input = in, no_output = out;
    no_input.data = no_output.data = nullptr;

    EXPECT_FAILS(invalid, "selvage_canonical: problem is null",
                 selvage_canonical(nullptr, text, sizeof(text), status));
    EXPECT_FAILS(invalid, "selvage_canonical: canonical is null",
                 selvage_canonical(conv, nullptr, 999, status));
    EXPECT_FAILS(invalid, "selvage_plan_create: problem is null",
                 selvage_plan_create(nullptr, nullptr, &made, status));
    EXPECT_FAILS(invalid, "selvage_plan_create: plan is null",
                 selvage_plan_create(conv, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_tile: plan is null",
                 selvage_plan_tile(nullptr, &all, &made, status));
    EXPECT_FAILS(invalid, "selvage_plan_tile: output is null",
                 selvage_plan_tile(p, nullptr, &made, status));
    EXPECT_FAILS(invalid, "selvage_plan_tile: tile is null",
                 selvage_plan_tile(p, &all, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_part: plan is null",
                 selvage_plan_part(nullptr, 0, &part, status));
    EXPECT_FAILS(invalid, "selvage_plan_part: part is null",
                 selvage_plan_part(p, 0, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_decline: plan is null",
                 selvage_plan_decline(nullptr, 0, &decline, status));
    EXPECT_FAILS(invalid, "selvage_plan_decline: decline is null",
                 selvage_plan_decline(p, 0, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_pack: plan is null",
                 selvage_plan_pack(nullptr, w, SELVAGE_OIHW, nullptr, packed.data(), status));
    EXPECT_FAILS(invalid, "pack: weights is null",
                 selvage_plan_pack(p, nullptr, SELVAGE_OIHW, nullptr, packed.data(), status));
    EXPECT_FAILS(invalid, "pack: packed is null",
                 selvage_plan_pack(p, w, SELVAGE_OIHW, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_pack_fixed: plan is null",
                 selvage_plan_pack_fixed(nullptr, fixed, SELVAGE_OIHW, packed.data(), status));
    EXPECT_FAILS(invalid, "pack: weights is null",
                 selvage_plan_pack_fixed(p, nullptr, SELVAGE_OIHW, packed.data(), status));
    EXPECT_FAILS(invalid, "pack: packed is null",
                 selvage_plan_pack_fixed(p, fixed, SELVAGE_OIHW, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_plan_run: plan is null",
                 run(nullptr, &in, packed.data(), &out, scratch.data(), status));
    EXPECT_FAILS(invalid, "selvage_plan_run: input is null",
                 run(p, nullptr, packed.data(), &out, scratch.data(), status));
    EXPECT_FAILS(invalid, "selvage_plan_run: output is null",
                 run(p, &in, packed.data(), nullptr, scratch.data(), status));
    EXPECT_FAILS(invalid, "run: input is null",
                 run(p, &no_input, packed.data(), &out, scratch.data(), status));
    EXPECT_FAILS(invalid, "run: output is null",
                 run(p, &in, packed.data(), &no_output, scratch.data(), status));
    EXPECT_FAILS(invalid, "run: packed is null",
                 run(p, &in, nullptr, &out, scratch.data(), status));
    EXPECT_FAILS(invalid, "run: scratch is null",
                 run(p, &in, packed.data(), &out, nullptr, status));
    EXPECT_FAILS(
        invalid, "selvage_layer_create: problem is null",
        selvage_layer_create(nullptr, nullptr, w, SELVAGE_OIHW, nullptr, &made_layer, status));
    EXPECT_FAILS(
        invalid, "pack: weights is null",
        selvage_layer_create(conv, nullptr, nullptr, SELVAGE_OIHW, nullptr, &made_layer, status));
    EXPECT_FAILS(invalid, "selvage_layer_create: layer is null",
                 selvage_layer_create(conv, nullptr, w, SELVAGE_OIHW, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_layer_run: layer is null",
                 selvage_layer_run(nullptr, conv_x.data(), y.data(), nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "run: input is null",
                 selvage_layer_run(layer.get(), nullptr, y.data(), nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "run: output is null",
                 selvage_layer_run(layer.get(), conv_x.data(), nullptr, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_layer_run_views: layer is null",
                 selvage_layer_run_views(nullptr, &in, &out, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_layer_run_views: input is null",
                 selvage_layer_run_views(layer.get(), nullptr, &out, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_layer_run_views: output is null",
                 selvage_layer_run_views(layer.get(), &in, nullptr, nullptr, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_axis_window: axis is null",
                 selvage_axis_window(nullptr, &window, status));
    EXPECT_FAILS(invalid, "selvage_axis_window: window is null",
                 selvage_axis_window(&axis, nullptr, status));
    EXPECT_FAILS(invalid, "selvage_axis_source: axis is null",
                 selvage_axis_source(nullptr, 0, 0, &element, status));
    EXPECT_FAILS(invalid, "selvage_axis_source: element is null",
                 selvage_axis_source(&axis, 0, 0, nullptr, status));
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(made_layer, nullptr);
    EXPECT_EQ(part.kernel, nullptr);
    EXPECT_EQ(decline.kernel, nullptr);
    EXPECT_EQ(text[0], '\0');
    EXPECT_EQ(y, std::vector<float>(conv_y.size(), -1));

    // What cannot fail takes null for an empty plan.
    EXPECT_STREQ(selvage_plan_problem(nullptr), "");
    EXPECT_STREQ(selvage_plan_kernel(nullptr), "");
    EXPECT_EQ(selvage_plan_part_count(nullptr), 0u);
    EXPECT_EQ(selvage_plan_decline_count(nullptr), 0u);
    EXPECT_EQ(selvage_plan_packed_bytes(nullptr), 0u);
    EXPECT_EQ(selvage_plan_scratch_bytes(nullptr), 0u);
    EXPECT_TRUE(same(selvage_plan_input_region(nullptr), {{0, 0}, {0, 0}, {0, 0}}));
    EXPECT_TRUE(same(selvage_plan_output_region(nullptr), {{0, 0}, {0, 0}, {0, 0}}));
    const std::array<std::int64_t, 10> no_numbers = {};
    EXPECT_EQ(numbers(selvage_plan_input(nullptr, y.data())), no_numbers);
    EXPECT_EQ(numbers(selvage_plan_output(nullptr, y.data())), no_numbers);
    EXPECT_EQ(numbers(selvage_plan_indices(nullptr, &element)), no_numbers);
    EXPECT_EQ(selvage_layer_plan(nullptr), nullptr);
    selvage_plan_free(nullptr);
    selvage_layer_free(nullptr);
}

TEST(CApiErrors, StatusesOfTheLibraryPassThrough) {
    selvage_plan *plan = nullptr;
    selvage_layer *layer = nullptr;
    char canonical[SELVAGE_TEXT_BYTES];
    for (const char *problem :
         {"", "conv4d in=3 kernel=3", "conv2d in=3 kernel=0", "conv2d in=4294967296x2 kernel=3",
          "conv2d c=64 in=32768x32768 kernel=1", "max_pool2d in=3x3 kernel=5"}) {
        selvage::Problem parsed;
        const selvage::Status right = selvage::parse_problem(problem, &parsed);
        ASSERT_FALSE(right.ok()) << problem;
        const auto code = selvage_code(right.code());
        EXPECT_FAILS(code, right.text(), selvage_plan_create(problem, nullptr, &plan, status));
        EXPECT_FAILS(
            code, right.text(),
            selvage_layer_create(problem, nullptr, nullptr, SELVAGE_OIHW, nullptr, &layer, status));
        EXPECT_FAILS(code, right.text(),
                     selvage_canonical(problem, canonical, sizeof(canonical), status));
    }
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(layer, nullptr);

    const auto wish = [&](const char *isa, const char *schedule, int threads) {
        const selvage_options options = {sizeof(options), isa,     schedule, 0, threads,
                                         nullptr,         nullptr, nullptr,  0, 0};
        selvage::Options right;
        right.isa = isa;
        right.schedule = schedule;
        right.threads = threads;
        selvage::Plan made;
        const selvage::Status refused = make_plan(parse(conv), right, &made);
        ASSERT_FALSE(refused.ok());
        EXPECT_FAILS(selvage_code(refused.code()), refused.text(),
                     selvage_plan_create(conv, &options, &plan, status));
        EXPECT_FAILS(selvage_code(refused.code()), refused.text(),
                     selvage_layer_create(conv, &options, conv_w.data(), SELVAGE_OIHW, nullptr,
                                          &layer, status));
    };
    wish("mmx", "", 1);
    wish("", "quickest", 1);
    wish("", "", -1);
    wish("", "", std::numeric_limits<int>::max());

    // A layer's own rules.
    EXPECT_FAILS(invalid, "layer: max_pool2d has no weights",
                 selvage_layer_create("max_pool2d in=3x3 kernel=2", nullptr, conv_w.data(),
                                      SELVAGE_OIHW, nullptr, &layer, status));
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(layer, nullptr);
}

TEST(CApiErrors, PlansRefuseWhatDoesNotFit) {
    const PlanHandle plan = plan_of(conv);
    const Memory packed(selvage_plan_packed_bytes(plan.get()));
    const Memory scratch(selvage_plan_scratch_bytes(plan.get()));
    ASSERT_GT(scratch.bytes(), 0u);
    std::vector<float> y(conv_y.size(), -1);
    selvage_tensor in = selvage_plan_input(plan.get(), conv_x.data()),
                   out = selvage_plan_output(plan.get(), y.data());
    EXPECT_OK(
        selvage_plan_pack(plan.get(), conv_w.data(), SELVAGE_OIHW, nullptr, packed.data(), status));
    const auto refused = [&](selvage_code code, const std::string &text, const selvage_tensor &in,
                             const selvage_tensor &out, const selvage_tensor *indices,
                             std::size_t bytes) {
        EXPECT_FAILS(code, text,
                     selvage_plan_run(plan.get(), &in, packed.data(), &out, indices, scratch.data(),
                                      bytes, nullptr, status));
    };
    refused(SELVAGE_TOO_SMALL,
            "run: scratch has " + std::to_string(scratch.bytes() - 1) + " bytes, the plan needs " +
                std::to_string(scratch.bytes()),
            in, out, nullptr, scratch.bytes() - 1);
    selvage_tensor wrong = in;
    wrong.w = 5;
    refused(SELVAGE_INVALID_ARGUMENT,
            "run: input is 1x3x5x1, the problem needs 1x3x4x1 (images, planes if there are "
            "several, rows, columns, channels)",
            wrong, out, nullptr, scratch.bytes());
    for (int type : {4, 9, -1}) { // no such types
        wrong = in;
        wrong.type = selvage_type(type);
        selvage_tensor wrong_out = out;
        wrong_out.type = selvage_type(type);
        refused(SELVAGE_INVALID_ARGUMENT,
                "run: input has type " + std::to_string(type) +
                    ", which is none of SELVAGE_F32 (0), SELVAGE_U8 (1), SELVAGE_I8 (2)",
                wrong, wrong_out, nullptr, scratch.bytes());
    }
    selvage_tensor bytes_in = in, bytes_out = out;
    bytes_in.type = SELVAGE_I8;
    refused(SELVAGE_INVALID_ARGUMENT, "run: input has type 2, output has type 0 (selvage_type)",
            bytes_in, out, nullptr, scratch.bytes());
    bytes_out.type = SELVAGE_I8;
    refused(SELVAGE_INVALID_ARGUMENT,
            "run: the views' type of number differs from " + text(parse(conv)), bytes_in, bytes_out,
            nullptr, scratch.bytes());
    bytes_in.type = bytes_out.type = SELVAGE_I64;
    refused(SELVAGE_INVALID_ARGUMENT,
            "run: input has type 3, which is none of SELVAGE_F32 (0), SELVAGE_U8 (1), SELVAGE_I8 "
            "(2)",
            bytes_in, bytes_out, nullptr, scratch.bytes());
    const selvage_parallel no_function = {};
    EXPECT_FAILS(invalid, "run: parallel has no function",
                 selvage_plan_run(plan.get(), &in, packed.data(), &out, nullptr, scratch.data(),
                                  scratch.bytes(), &no_function, status));
    std::vector<std::int64_t> where(y.size(), -7);
    selvage_tensor indices = selvage_plan_indices(plan.get(), where.data());
    refused(SELVAGE_INVALID_ARGUMENT, "run: indices is given, but the problem has none", in, out,
            &indices, scratch.bytes());
    indices.type = SELVAGE_F32;
    refused(SELVAGE_INVALID_ARGUMENT, "run: indices has type 0, not SELVAGE_I64 (3)", in, out,
            &indices, scratch.bytes());
    EXPECT_EQ(y, std::vector<float>(conv_y.size(), -1));

    for (int order : {2, -1}) {
        const std::string text = "pack: order is " + std::to_string(order) +
                                 ", neither SELVAGE_OIHW (0) nor SELVAGE_HWIO (1)";
        const std::int16_t fixed[6] = {};
        selvage_layer *layer = nullptr;
        EXPECT_FAILS(invalid, text,
                     selvage_plan_pack(plan.get(), conv_w.data(), selvage_weight_order(order),
                                       nullptr, packed.data(), status));
        EXPECT_FAILS(invalid, text,
                     selvage_plan_pack_fixed(plan.get(), fixed, selvage_weight_order(order),
                                             packed.data(), status));
        EXPECT_FAILS(invalid, text,
                     selvage_layer_create(conv, nullptr, conv_w.data(), selvage_weight_order(order),
                                          nullptr, &layer, status));
        EXPECT_EQ(layer, nullptr);
    }
    EXPECT_FAILS(invalid, "pack: bias is given, but the problem has bias=0",
                 selvage_plan_pack(plan.get(), conv_w.data(), SELVAGE_OIHW, conv_w.data(),
                                   packed.data(), status));

    selvage_plan *tile = nullptr;
    const selvage_region beyond = {{0, 1}, {1, 3}, {0, 7}};
    EXPECT_FAILS(
        invalid,
        "tile: 0+1 1+3 0+7 is not within 0+1 0+3 0+7 (begin+size of planes, rows and columns)",
        selvage_plan_tile(plan.get(), &beyond, &tile, status));
    EXPECT_EQ(tile, nullptr);

    selvage_part part = {};
    selvage_decline decline = {};
    EXPECT_FAILS(invalid, "selvage_plan_part: index 1 is not below the count 1",
                 selvage_plan_part(plan.get(), 1, &part, status));
    const std::string count = std::to_string(selvage_plan_decline_count(plan.get()));
    EXPECT_FAILS(
        invalid, "selvage_plan_decline: index " + count + " is not below the count " + count,
        selvage_plan_decline(plan.get(), selvage_plan_decline_count(plan.get()), &decline, status));
    EXPECT_EQ(part.kernel, nullptr);
    EXPECT_EQ(decline.kernel, nullptr);
}

TEST(CApiErrors, LayersRefuseMissingIndices) {
    const LayerHandle layer = layer_of("max_pool1d in=4 kernel=2 indices=plane");
    const float x[4] = {};
    float y[3] = {-1, -1, -1};
    EXPECT_FAILS(invalid, "run: indices is null, but the problem has indices",
                 selvage_layer_run(layer.get(), x, y, nullptr, nullptr, status));
    EXPECT_EQ(y[0], -1);
}

TEST(CApiErrors, OptionsOfAnotherSizeAreNotRead) {
    selvage_plan *plan = nullptr;
    selvage_layer *layer = nullptr;
    const auto *const nowhere = reinterpret_cast<const char *>(1);
    for (std::size_t size : {std::size_t(0), sizeof(selvage_options) - 1,
                             sizeof(selvage_options) + 8, std::size_t(-1)}) {
        const selvage_options options = {size,    nowhere, nowhere, 0, 0,
                                         nullptr, nullptr, nullptr, 0, 0};
        const std::string text = "options: struct_size is " + std::to_string(size) +
                                 ", this library's selvage_options has " +
                                 std::to_string(sizeof(selvage_options)) + " bytes";
        EXPECT_FAILS(invalid, text, selvage_plan_create(conv, &options, &plan, status));
        EXPECT_FAILS(invalid, text,
                     selvage_layer_create(conv, &options, conv_w.data(), SELVAGE_OIHW, nullptr,
                                          &layer, status));
    }
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(layer, nullptr);
}

TEST(CApiErrors, LongTextsAreCutBetweenCharacters) {
    selvage_plan *plan = nullptr;
    // Characters of 1 to 4 bytes, moved along byte by byte.
    for (const std::string character : {"x", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\xa7\xb5"})
        for (std::size_t shift = 0; shift < 4; ++shift) {
            std::string word(shift, 'a');
            for (int i = 0; i < 600; ++i)
                word += character;
            const std::string head = "'" + std::string(shift, 'a');
            selvage_status status = dirty();
            ASSERT_EQ(selvage_plan_create(("conv2d " + word).c_str(), nullptr, &plan, &status),
                      SELVAGE_INVALID_ARGUMENT);
            const std::string text = status.text;
            const std::size_t whole = (sizeof(status.text) - 1 - head.size()) / character.size();
            ASSERT_EQ(text.size(), head.size() + whole * character.size());
            EXPECT_EQ(text, ("'" + word).substr(0, text.size()));
        }
    // A text that just fits is whole.
    for (std::size_t length : {498, 499, 500}) {
        const std::string tail = "' is not of the form NAME=VALUE";
        const std::string word(length - 1 - tail.size(), 'x'), all = "'" + word + tail;
        selvage_status status = dirty();
        ASSERT_EQ(selvage_plan_create(("conv2d " + word).c_str(), nullptr, &plan, &status),
                  SELVAGE_INVALID_ARGUMENT);
        EXPECT_EQ(status.text, all.substr(0, 499));
    }
}

TEST(CApiErrors, OtherBytesAreCutLikeTheseAtMostThree) {
    selvage_plan *plan = nullptr;
    selvage_status status = dirty();
    // No UTF-8: nothing but continuations.
    ASSERT_EQ(selvage_plan_create(("conv2d " + std::string(900, '\xbf')).c_str(), nullptr, &plan,
                                  &status),
              SELVAGE_INVALID_ARGUMENT);
    EXPECT_EQ(status.text, "'" + std::string(495, '\xbf'));
}

TEST(CApiErrors, TextsAreOneLine) {
    const selvage_options options = {sizeof(options), "x\ny",  nullptr, 0, 0,
                                     nullptr,         nullptr, nullptr, 0, 0};
    selvage_plan *plan = nullptr;
    selvage_status status = dirty();
    EXPECT_EQ(selvage_plan_create(conv, &options, &plan, &status), SELVAGE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(status.text).substr(0, 8), "isa=x?y:");
    char text[9];
    selvage::Line(text, sizeof text).add("$ %", "x\n\x7f\xc3\xbc", 123456);
    EXPECT_STREQ(text, "x??\xc3\xbc 12");
}

TEST(CApiErrors, OutOfMemoryIsAStatus) {
    // Of one kernel, so that not every kernel's text is an allocation.
    const selvage_options options = {sizeof(options), nullptr, "reference", 0, 0,
                                     nullptr,         nullptr, nullptr,     0, 0};
    const PlanHandle whole = plan_of(conv, &options);
    const selvage_region top = {{0, 1}, {0, 2}, {0, 7}};
    selvage_plan *plan = nullptr;
    selvage_layer *layer = nullptr;
    char text[SELVAGE_TEXT_BYTES];
    selvage_window window;
    selvage_axis unknown = axis_of(8, 3, 1);
    unknown.same = "a convention whose name is too long for a short string";
    struct Row {
        const char *name;
        selvage_code last; ///< once there is memory enough
        std::function<selvage_code(selvage_status *)> call;
    };
    const Row rows[] = {
        {"canonical", SELVAGE_OK,
         [&](selvage_status *s) { return selvage_canonical(conv, text, sizeof(text), s); }},
        {"plan", SELVAGE_OK,
         [&](selvage_status *s) { return selvage_plan_create(conv, &options, &plan, s); }},
        {"tile", SELVAGE_OK,
         [&](selvage_status *s) { return selvage_plan_tile(whole.get(), &top, &plan, s); }},
        {"layer", SELVAGE_OK,
         [&](selvage_status *s) {
             return selvage_layer_create(conv, &options, conv_w.data(), SELVAGE_OIHW, nullptr,
                                         &layer, s);
         }},
        {"axis", SELVAGE_INVALID_ARGUMENT,
         [&](selvage_status *s) { return selvage_axis_window(&unknown, &window, s); }},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(row.name);
        long failures = 0;
        for (selvage_code code = SELVAGE_TOO_SMALL; code == SELVAGE_TOO_SMALL; ++failures) {
            selvage_status status = dirty();
            allocations_left = failures;
            code = row.call(&status);
            allocations_left = -1;
            if (code == SELVAGE_TOO_SMALL) {
                EXPECT_STREQ(status.text, "out of memory");
                EXPECT_EQ(plan, nullptr);
                EXPECT_EQ(layer, nullptr);
            } else {
                EXPECT_EQ(code, row.last) << status.text;
            }
        }
        EXPECT_GT(failures, 1);
        selvage_plan_free(plan);
        selvage_layer_free(layer);
        plan = nullptr;
        layer = nullptr;
    }
    allocations_left = 0;
    const char *none = selvage_isa(0);
    allocations_left = -1;
    EXPECT_EQ(none, nullptr);
}

// The functions of C++, behind no guard.
TEST(CppErrors, OutOfMemoryIsAStatus) {
    using selvage::Code;
    using selvage::Status;
    selvage::Options reference, two_threads;
    reference.schedule = "reference";
    two_threads.threads = 2;
    selvage::Problem problem, pool, parsed;
    ASSERT_TRUE(selvage::parse_problem(conv, &problem).ok());
    ASSERT_TRUE(selvage::parse_problem("max_pool1d in=400 kernel=1", &pool).ok());
    selvage::Problem large = problem;
    large.c = large.k = selvage::largest;
    selvage::Plan plan;
    ASSERT_TRUE(selvage::make_plan(problem, reference, &plan).ok());
    constexpr auto oihw = selvage::WeightOrder::oihw;
    selvage::Layer layer, shared;
    ASSERT_TRUE(selvage::make_layer(pool, two_threads, nullptr, oihw, nullptr, &shared).ok());
    const std::vector<float> x(400);
    std::vector<float> y(400);
    const selvage::Parallel idle = {[](void *, void (*)(void *, int), void *, int) {}, nullptr};
    alignas(64) char packed[64];
    const std::int16_t whole[1] = {};
    struct Row {
        const char *name;
        Code last;
        std::function<Status()> call;
    };
    const Row rows[] = {
        {"parse_problem", Code::ok, [&] { return selvage::parse_problem(conv, &parsed); }},
        {"no problem", Code::invalid_argument,
         [&] { return selvage::parse_problem("conv2d in=4 kernel=9", &parsed); }},
        {"check", Code::overflow, [&] { return selvage::check(large); }},
        {"make_plan", Code::ok, [&] { return selvage::make_plan(problem, reference, &plan); }},
        {"make_layer", Code::ok,
         [&] {
             return selvage::make_layer(problem, reference, conv_w.data(), oihw, nullptr, &layer);
         }},
        {"no layer", Code::invalid_argument,
         [&] {
             return selvage::make_layer(pool, reference, conv_w.data(), oihw, nullptr, &layer);
         }},
        {"make_layer of a text", Code::ok,
         [&] {
             return selvage::make_layer(conv, reference, conv_w.data(), oihw, nullptr, &layer);
         }},
        {"pack", Code::invalid_argument, [&] { return plan.pack(nullptr, oihw, nullptr, packed); }},
        {"pack whole weights", Code::invalid_argument,
         [&] { return plan.pack(whole, oihw, packed); }},
        {"run", Code::internal, [&] { return shared.run(x.data(), y.data(), nullptr, &idle); }},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(row.name);
        Status status(Code::too_small, "");
        long failures = 0;
        for (; status.code() == Code::too_small; ++failures) {
            allocations_left = failures;
            try {
                status = row.call();
            } catch (...) {
                allocations_left = -1;
                FAIL() << "an exception at allocation " << failures;
            }
            allocations_left = -1;
            if (status.code() == Code::too_small) {
                EXPECT_EQ(status.text(), "out of memory");
            }
        }
        EXPECT_EQ(status.code(), row.last) << status.text();
        EXPECT_GT(failures, 1);
    }
}

TEST(CppErrors, PoolsWithoutMemoryHaveNoWorkers) {
    allocations_left = 0;
    const selvage::ThreadPool pool(4);
    allocations_left = -1;
    EXPECT_EQ(pool.threads(), 1);
}

TEST(CApiErrors, RunsAllocateNothing) {
    const LayerHandle layer = layer_of(conv, conv_w);
    std::vector<float> y(conv_y.size(), -1);
    selvage_status status = dirty();
    allocations_left = 0;
    const selvage_code code =
        selvage_layer_run(layer.get(), conv_x.data(), y.data(), nullptr, nullptr, &status);
    allocations_left = -1;
    EXPECT_EQ(code, SELVAGE_OK) << status.text;
    EXPECT_EQ(y, conv_y);
}
