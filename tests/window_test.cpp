// The window rules: hand-worked values, and properties against a slow enumeration that lays out the
// padded axis element by element.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/window.h"

#include "oracle.h"
#include "random_problems.h"

using selvage::Axis;
using selvage::Code;
using selvage::Mode;
using selvage::Pads;
using selvage::symmetric;
using selvage::Window;
using selvage::window;
using selvage::WindowError;
using selvage::WindowResult;
using selvage::with;
namespace convention = selvage::convention;

namespace selvage {

bool operator==(const Pads &a, const Pads &b) { return a.begin == b.begin && a.end == b.end; }

void PrintTo(const Pads &pads, std::ostream *out) { *out << pads.begin << "," << pads.end; }

} // namespace selvage

namespace {

using Numbers = std::vector<std::int64_t>;

std::string describe(const Axis &a, bool ceil) {
    const auto str = [](std::int64_t value) { return std::to_string(value); };
    return "size " + str(a.size) + " kernel " + str(a.kernel) + " stride " + str(a.stride) +
           " dilation " + str(a.dilation) + " pads " + str(a.begin) + "," + str(a.end) + " phase " +
           str(a.phase) + " mode " + str(std::int64_t(a.mode)) + " adaptive " + str(a.adaptive) +
           " output_padding " + str(a.output_padding) + (ceil ? " ceil" : "");
}

/// The window of an axis that is expected to have one.
Window good(const Axis &axis, bool ceil = false) {
    const WindowResult result = window(axis, ceil);
    EXPECT_TRUE(result.ok()) << status(axis, result).text();
    return result.window;
}

/// What the windows of x see, correlated with w; the border is 0.
Numbers correlate(const Numbers &x, const Numbers &w, Axis axis) {
    axis.size = std::int64_t(x.size());
    axis.kernel = std::int64_t(w.size());
    const Window window = good(axis);
    Numbers y(window.outputs);
    for (std::int64_t i = 0; i < window.outputs; ++i)
        for (std::int64_t t = 0; t < window.kernel; ++t) {
            const std::int64_t at = window.stride * i + window.dilation * t - window.before;
            if (at >= 0 && at < window.size)
                y[i] += x[window.origin + at] * w[t];
        }
    return y;
}

Axis axis_of(std::int64_t size, std::int64_t kernel, std::int64_t stride = 1,
             std::int64_t dilation = 1) {
    return {size, kernel, stride, dilation};
}

const Numbers one_to_six = {1, 2, 3, 4, 5, 6};

// Everything is usable in constant expressions.
constexpr Axis constant_axis = with({224, 3, 2}, convention::tf({224, 3, 2}));
constexpr WindowResult constant_window = window(constant_axis);
static_assert(constant_window.ok() && constant_window.window.outputs == 112);
static_assert(constant_window.window.before == 0 && constant_window.window.after() == 1);
static_assert(constant_window.window.unused() == 0 && constant_window.window.extent() == 3);
static_assert(symmetric(2).begin == 2 && symmetric(2).end == 2);
static_assert(selvage::find_convention("keep")->pads({5, 3, 2}).end == 3);
static_assert(selvage::find_convention("same") == nullptr);
static_assert(!window({1, 0}).ok() && window({1, 0}).error == WindowError::kernel);

// Conventions, by hand: size, kernel, stride, dilation.

TEST(Conventions, valid_pads_nothing) { EXPECT_EQ(convention::valid({5, 4}), Pads()); }

TEST(Conventions, centred_leans_to_the_begin) {
    EXPECT_EQ(convention::centred({9, 3}), (Pads{1, 1}));
    EXPECT_EQ(convention::centred({9, 4}), (Pads{2, 1}));
    EXPECT_EQ(convention::centred({9, 2, 5}), (Pads{1, 0}));
    EXPECT_EQ(convention::centred({9, 2, 1, 3}), (Pads{2, 1}));
}

TEST(Conventions, tf_pads_least_and_leans_to_the_end) {
    EXPECT_EQ(convention::tf({224, 3, 2}), (Pads{0, 1}));
    EXPECT_EQ(convention::tf({225, 3, 2}), (Pads{1, 1}));
    EXPECT_EQ(convention::tf({224, 7, 2}), (Pads{2, 3}));
    EXPECT_EQ(convention::tf({10, 1, 3}), (Pads{0, 0})); // kernel < stride: no negative pad
    EXPECT_EQ(convention::tf({10, 3, 2, 4}), (Pads{3, 4}));
}

TEST(Conventions, onnx_upper_is_tf_and_lower_swaps) {
    EXPECT_EQ(convention::onnx_upper({224, 7, 2}), (Pads{2, 3}));
    EXPECT_EQ(convention::onnx_lower({224, 7, 2}), (Pads{3, 2}));
    EXPECT_EQ(convention::onnx_lower({10, 1, 3}), (Pads{0, 0}));
}

TEST(Conventions, torch_ignores_the_stride) {
    EXPECT_EQ(convention::torch({6, 4}), (Pads{1, 2}));
    EXPECT_EQ(convention::torch({224, 3, 2}), (Pads{1, 1}));
    EXPECT_EQ(convention::torch({6, 2, 1, 3}), (Pads{1, 2}));
}

TEST(Conventions, scipy_leans_to_the_begin_and_correlate2d_to_the_end) {
    EXPECT_EQ(convention::scipy({7, 4}), (Pads{2, 1}));
    EXPECT_EQ(convention::scipy_correlate2d({7, 4}), (Pads{1, 2}));
    EXPECT_EQ(convention::scipy({7, 5}), (Pads{2, 2}));
    EXPECT_EQ(convention::scipy_correlate2d({7, 5}), (Pads{2, 2}));
}

TEST(Conventions, causal_pads_the_begin_alone) {
    EXPECT_EQ(convention::causal({9, 3}), (Pads{2, 0}));
    EXPECT_EQ(convention::causal({9, 3, 1, 2}), (Pads{4, 0}));
    EXPECT_EQ(convention::causal({9, 15, 6}), (Pads{14, 0}));
}

TEST(Conventions, keep_keeps_the_length_at_any_stride) {
    EXPECT_EQ(convention::keep({6, 3, 1}), (Pads{1, 1}));
    EXPECT_EQ(convention::keep({6, 3, 2}), (Pads{3, 4})); // 5*2 + 3 - 6 = 7
    EXPECT_EQ(good(with({6, 3, 2}, {3, 4})).outputs, 6);
    EXPECT_EQ(convention::keep({1, 1, 9}), (Pads{0, 0}));
    EXPECT_EQ(convention::keep({0, 1, 4}), (Pads{0, 0}));
}

TEST(Conventions, phase_and_pads_do_not_change_them) {
    for (const selvage::Convention &each : selvage::conventions)
        EXPECT_EQ(each.pads({11, 4, 3, 2, 5, 7, 2}), each.pads({11, 4, 3, 2})) << each.name;
}

TEST(Conventions, are_found_by_name) {
    EXPECT_EQ(selvage::convention_names(), "valid, torch, tf, onnx-upper, onnx-lower, scipy, "
                                           "scipy-correlate2d, causal, keep");
    for (const selvage::Convention &each : selvage::conventions)
        EXPECT_EQ(selvage::find_convention(each.name), &each);
    EXPECT_EQ(selvage::find_convention("SAME"), nullptr);
    EXPECT_EQ(selvage::find_convention(""), nullptr);
}

TEST(Conventions, leave_a_wrong_axis_to_window) {
    for (const Axis &axis : {Axis{-1, 3}, Axis{4, 0}, Axis{4, 3, 0}, Axis{4, 3, 1, 0},
                             Axis{INT64_MAX, 3}, Axis{4, INT64_MAX, 1, INT64_MAX}})
        for (const selvage::Convention &each : selvage::conventions) {
            EXPECT_EQ(each.pads(axis), Pads()) << each.name;
            EXPECT_FALSE(window(with(axis, each.pads(axis))).ok()) << each.name;
        }
    // Here only the pads get too large.
    const Axis wide = {selvage::largest, 1, selvage::largest};
    EXPECT_EQ(window(with(wide, convention::keep(wide))).error, WindowError::overflow);
}

// Cases from bug reports: `same`, phases and anchors.

TEST(Window, PC_001_torch_same_even_kernel) {
    EXPECT_EQ(convention::torch({6, 4}), (Pads{1, 2}));
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100, 1000}, {6, 4, 1, 1, 1, 2}),
              (Numbers{3210, 4321, 5432, 6543, 654, 65}));
    EXPECT_EQ(correlate(one_to_six, {1, 10}, with({6, 2, 1, 3}, convention::torch({6, 2, 1, 3}))),
              (Numbers{30, 41, 52, 63, 4, 5}));
}

TEST(Window, PC_002_same_pool_even_kernel) {
    for (auto pads : {convention::tf, convention::onnx_upper, convention::torch}) {
        EXPECT_EQ(pads({3, 2}), (Pads{0, 1}));
        EXPECT_EQ(good(with({16, 2}, pads({16, 2}))).outputs, 16);
    }
}

TEST(Window, PC_004_onnx_same_upper_lower) {
    const Axis axis = {6, 3, 2};
    EXPECT_EQ(convention::onnx_upper(axis), (Pads{0, 1}));
    EXPECT_EQ(convention::onnx_lower(axis), (Pads{1, 0}));
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100}, with(axis, {0, 1})), (Numbers{321, 543, 65}));
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100}, with(axis, {1, 0})), (Numbers{210, 432, 654}));
    EXPECT_EQ(convention::onnx_lower({6, 4}), (Pads{2, 1}));
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100, 1000}, with({}, {2, 1})),
              (Numbers{2100, 3210, 4321, 5432, 6543, 654}));
}

TEST(Window, PC_005_same_integer_division) {
    EXPECT_EQ(convention::onnx_upper({2, 3, 2}), (Pads{0, 1}));
    EXPECT_EQ(convention::onnx_lower({2, 3, 2}), (Pads{1, 0}));
    EXPECT_EQ(good({2, 3, 2, 1, 0, 1}).outputs, 1);
}

TEST(Window, PC_007_same_dilated_conv) {
    EXPECT_EQ(convention::onnx_upper({22, 3, 1, 2}), symmetric(2));
    EXPECT_EQ(good({22, 3, 1, 2, 2, 2}).outputs, 22);
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100}, {6, 3, 1, 2, 2, 2}),
              (Numbers{310, 420, 531, 642, 53, 64}));
}

TEST(Window, PC_008_same_dilated_pool) {
    EXPECT_EQ(good({7, 3, 1, 2}).outputs, 3);
    EXPECT_EQ(convention::onnx_upper({6, 3, 1, 2}), symmetric(2));
    EXPECT_EQ(good({6, 3, 1, 2, 2, 2}).outputs, 6);
}

TEST(Window, PC_010_same_avg_nonsquare) {
    EXPECT_EQ(convention::tf({3, 2, 2}), (Pads{0, 1}));
    EXPECT_EQ(convention::tf({5, 2, 2}), (Pads{0, 1}));
    EXPECT_EQ(good({3, 2, 2, 1, 0, 1}).outputs, 2);
    EXPECT_EQ(good({5, 2, 2, 1, 0, 1}).outputs, 3);
}

TEST(Window, PC_011_same_stride_of_wrong_axis) {
    EXPECT_EQ(convention::tf({7, 3, 2}), symmetric(1));
    EXPECT_EQ(convention::tf({9, 3, 3}), symmetric(0));
    EXPECT_EQ(good({7, 3, 2, 1, 1, 1}).outputs, 4);
    EXPECT_EQ(good({9, 3, 3}).outputs, 3);
}

TEST(Window, PC_013_same_ignores_ceil) {
    for (auto [size, kernel, stride, outputs] :
         {std::array{5, 1, 2, 3}, {7, 2, 3, 3}, {10, 1, 3, 4}, {6, 3, 2, 3}}) {
        const Axis axis = axis_of(size, kernel, stride);
        for (bool ceil : {false, true})
            EXPECT_EQ(good(with(axis, convention::onnx_upper(axis)), ceil).outputs, outputs);
    }
}

TEST(Window, PC_014_scipy_same_centre) {
    EXPECT_EQ(convention::scipy({7, 4}), (Pads{2, 1}));
    // True convolution with [2, 4, -1, 1] is correlation with the flipped kernel.
    EXPECT_EQ(correlate({-1, 2, 3, -2, 0, 1, 2}, {1, -1, 4, 2}, with({}, {2, 1})),
              (Numbers{0, 15, 5, -9, 7, 6, 7}));
}

TEST(Window, PC_016_causal_with_stride) {
    const Numbers w = {1, 10, 100, 1000, 10000};
    Axis axis = {6, 5, 2};
    axis = with(axis, convention::causal(axis));
    EXPECT_EQ(correlate(one_to_six, w, axis), (Numbers{10000, 32100, 54321}));
    axis.phase = 1; // the other alignment in use
    EXPECT_EQ(correlate(one_to_six, w, axis), (Numbers{21000, 43210, 65432}));
    EXPECT_EQ(correlate(one_to_six, w, with({6, 5, 2}, {3, 1})), (Numbers{21000, 43210, 65432}));
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100}, {6, 3, 1, 2, 4, 0}),
              (Numbers{100, 200, 310, 420, 531, 642}));
}

TEST(Window, PC_017_guard_same_is_not_same_size) {
    for (auto [size, outputs] : {std::pair(7, 4), std::pair(5, 3)}) {
        const Axis axis = axis_of(size, 3, 2);
        EXPECT_EQ(convention::onnx_upper(axis), symmetric(1));
        EXPECT_EQ(good(with(axis, symmetric(1))).outputs, outputs);
    }
}

TEST(Window, PC_019_phase_by_crop) {
    const Numbers w = {1, 10, 100};
    EXPECT_EQ(correlate(one_to_six, w, {6, 3, 2, 1, 0, 1}), (Numbers{321, 543, 65}));
    EXPECT_EQ(correlate(one_to_six, w, {6, 3, 2, 1, 2, 2}), (Numbers{100, 321, 543, 65}));
    EXPECT_EQ(correlate(one_to_six, w, {6, 3, 2, 1, 1, 1, 1}), (Numbers{321, 543, 65}));
    EXPECT_EQ(correlate(one_to_six, w, {6, 3, 2, 1, 1, 1, 0}), (Numbers{210, 432, 654}));
}

TEST(Window, PC_020_phase_of_tiles) {
    const Numbers x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, w = {1, 10, 100};
    const Axis axis = {0, 3, 2, 1, 0, 1};
    EXPECT_EQ(correlate(x, w, axis), (Numbers{321, 543, 765, 987, 1209, 131}));
    // The tile from 7 on has phase (-7) mod 2 = 1.
    const Numbers tile(x.begin() + 7, x.end());
    EXPECT_EQ(correlate(tile, w, {0, 3, 2, 1, 0, 1, 1}), (Numbers{1209, 131}));
    EXPECT_EQ(correlate(tile, w, {0, 3, 2, 1, 0, 1, 0}), (Numbers{1098, 1320}));
}

// Sizes with different pads per side.

TEST(Window, PC_022_conv3d_end_pad_lost) {
    EXPECT_EQ(correlate({1, 2, 3, 4}, {1, 1}, with({}, {0, 1})), (Numbers{3, 5, 7, 4}));
}

TEST(Window, PC_023_begin_pads_used_for_both) {
    EXPECT_EQ(correlate({1, 2, 3, 4, 5}, {1, 10, 100, 1000}, with({}, {1, 2})),
              (Numbers{3210, 4321, 5432, 543, 54}));
    EXPECT_EQ(good({9, 7, 3, 1, 0, 3}, true).outputs, 3);
}

TEST(Window, PC_025_four_different_sides) {
    EXPECT_EQ(good({3, 2, 1, 1, 1, 0}).outputs, 3);
    EXPECT_EQ(good({4, 3, 1, 1, 2, 3}).outputs, 7);
}

TEST(Window, PC_028_pool3d_one_axis_pad) {
    EXPECT_EQ(good({5, 2, 1, 1, 1, 1}).outputs, 6);
    EXPECT_EQ(good({5, 2, 1, 1, 0, 1}).outputs, 5);
    EXPECT_EQ(good({5, 2, 1, 1, 1, 0}).outputs, 5);
}

TEST(Window, PC_029_pool_window_1xk_with_pads) {
    const Window rows = good({4, 1, 1, 1, 1, 1}); // whole rows of padding are results
    EXPECT_EQ(rows.outputs, 6);
    EXPECT_EQ(rows.after(), 1);
    EXPECT_EQ(good({4, 2}).outputs, 3);
}

TEST(Window, PC_031_import_refuses_asymmetric) {
    EXPECT_EQ(good({4, 3, 1, 1, 1, 0}).outputs, 3);
    EXPECT_EQ(good({4, 3, 1, 1, 0, 2}).outputs, 4);
}

TEST(Window, PC_032_padding_pair_taken_as_mode) {
    EXPECT_EQ(good(with({8, 7}, symmetric(3))).outputs, 8);
}

TEST(Window, PC_034_pads_order_efficientnet) {
    const Window window = good({224, 3, 2, 1, 0, 1});
    EXPECT_EQ(window.outputs, 112);
    EXPECT_EQ(window.before, 0);
    EXPECT_EQ(window.after(), 1);
}

// Sizes rounded up.

TEST(Window, PC_035_ceil_last_window_in_pad) {
    EXPECT_EQ(good({5, 2, 2, 1, 1, 1}, true).outputs, 3); // 4 would start in the end pad
}

TEST(Window, PC_037_ceil_stride_above_kernel) {
    EXPECT_EQ(good({8, 3, 4}, true).outputs, 2); // starts 0, 4; not 8
    EXPECT_EQ(good({10, 3, 4}, true).outputs, 3);
}

TEST(Window, PC_038_ceil_3d_mixed) {
    EXPECT_EQ(good({3, 3, 3, 1, 1, 1}, true).outputs, 2);
    EXPECT_EQ(good({6, 3, 3, 1, 1, 1}, true).outputs, 3);
    EXPECT_EQ(good({5, 3, 3, 1, 1, 1}, true).outputs, 2);
}

TEST(Window, PC_040_ceil_empty_window_policy) {
    EXPECT_EQ(good({5, 3, 3, 1, 1, 1}, true).outputs, 2);
}

TEST(Window, PC_041_ceil_average_nan) {
    EXPECT_EQ(good({8, 3, 3}, true).outputs, 3);
    EXPECT_EQ(good({8, 3, 4}, true).outputs, 2);
}

TEST(Window, PC_043_ceil_flag_ignored) {
    EXPECT_EQ(good({56, 3, 2}, true).outputs, 28);
    EXPECT_EQ(good({56, 3, 2}, false).outputs, 27);
    EXPECT_EQ(good({112, 3, 2, 1, 1, 1}, false).outputs, 56);
    EXPECT_EQ(good({112, 3, 2, 1, 1, 1}, true).outputs, 57);
}

TEST(Window, PC_044_ceil_by_padding_both_sides) {
    const Window window = good({6, 3, 2}, true);
    EXPECT_EQ(window.outputs, 3);
    EXPECT_EQ(window.before, 0);
    EXPECT_EQ(window.after(), 1);
    EXPECT_EQ(good({64, 3, 2, 1, 1, 1}, true).outputs, 33);
    EXPECT_EQ(good({64, 3, 2, 1, 1, 1}, false).outputs, 32);
}

TEST(Window, PC_049_avg_ceil_overhang_counted) {
    const Window overhang = good({3, 2, 2}, true); // the second window reads 2 and the overhang
    EXPECT_EQ(overhang.outputs, 2);
    EXPECT_EQ(overhang.after(), 1);
    EXPECT_EQ(overhang.counted_end, 3);
    EXPECT_EQ(good({3, 2, 2, 1, 0, 1}).counted_end, 4);
}

// Degenerate shapes.

TEST(Window, PC_158_stride_or_kernel_zero) {
    EXPECT_EQ(window({5, 3, 0}).error, WindowError::stride);
    EXPECT_EQ(window({5, 0, 1}).error, WindowError::kernel);
    EXPECT_EQ(window({5, 3, -1}).error, WindowError::stride);
}

TEST(Window, PC_160_floor_versus_truncation) {
    EXPECT_EQ(window({3, 6, 2}).error, WindowError::outputs);
    EXPECT_EQ(good({2, 3, 2}).outputs, 0);
    EXPECT_EQ(good({2, 3, 2}).after(), 0);
    EXPECT_EQ(good({2, 3, 2}).unused(), 2);
}

TEST(Window, PC_161_same_kernel_above_input) {
    EXPECT_EQ(convention::tf({3, 5}), symmetric(2));
    EXPECT_EQ(correlate({1, 2, 3}, {1, 1, 1, 1, 1}, with({}, symmetric(2))), (Numbers{6, 6, 6}));
}

TEST(Window, crops_come_first) {
    const Window window = good({10, 3, 2, 1, -2, 1});
    EXPECT_EQ(window.origin, 2);
    EXPECT_EQ(window.size, 8);
    EXPECT_EQ(window.before, 0);
    EXPECT_EQ(window.outputs, 4);
    EXPECT_EQ(correlate(one_to_six, {1, 10, 100}, with({}, {-1, -2})), (Numbers{432}));
    // With ceil the window reaches past the crop and sees the border, not the cropped elements.
    const Window ceil = good({6, 2, 2, 1, -1, -2}, true);
    EXPECT_EQ(ceil.outputs, 2);
    EXPECT_EQ(ceil.after(), 1);
    EXPECT_EQ(ceil.unused(), 2);
    EXPECT_EQ(good({4, 1, 1, 1, -1, -3}).outputs, 0);
}

TEST(Window, unused_looks_at_every_window) {
    // Windows read 0 and 3, or 4 and 7: past both lie 5, and 7 is the end pad.
    EXPECT_EQ(good({6, 2, 4, 3, 0, 2}).unused(), 1);
    // The last window starts in the end pad; those before read the input's end.
    EXPECT_EQ(good({3, 2, 1, 1, 0, 4}).unused(), 0);
    EXPECT_EQ(good({7, 3, 2}).unused(), 0);
    EXPECT_EQ(good({8, 3, 2}).unused(), 1);
    EXPECT_EQ(good({3, 1, 9, 1, 5, 0}).unused(), 3); // only padding is read
}

// Modes, by hand: what the first output of a window over everything reads.

Numbers read_all(std::int64_t size, Pads pads, Mode mode) {
    Axis axis = with(axis_of(size, size + pads.begin + pads.end), pads);
    axis.mode = mode;
    const Window window = good(axis);
    Numbers elements;
    for (std::int64_t t = 0; t < window.kernel; ++t)
        elements.push_back(window.source(0, t));
    return elements;
}

TEST(Modes, go_on_outside_the_input) {
    EXPECT_EQ(read_all(4, {3, 2}, Mode::constant), (Numbers{-1, -1, -1, 0, 1, 2, 3, -1, -1}));
    EXPECT_EQ(read_all(4, {3, 2}, Mode::reflect), (Numbers{3, 2, 1, 0, 1, 2, 3, 2, 1}));
    EXPECT_EQ(read_all(4, {3, 2}, Mode::symmetric), (Numbers{2, 1, 0, 0, 1, 2, 3, 3, 2}));
    EXPECT_EQ(read_all(4, {3, 2}, Mode::replicate), (Numbers{0, 0, 0, 0, 1, 2, 3, 3, 3}));
    EXPECT_EQ(read_all(4, {3, 2}, Mode::circular), (Numbers{1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST(Modes, PC_070_circular_one_side_zero) {
    EXPECT_EQ(read_all(5, {4, 0}, Mode::circular), (Numbers{1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

TEST(Modes, PC_073_reflect_bounces_where_a_pad_is_longer_than_the_input) {
    EXPECT_EQ(read_all(2, {2, 0}, Mode::reflect), (Numbers{0, 1, 0, 1}));
    EXPECT_EQ(read_all(2, {3, 3}, Mode::reflect), (Numbers{1, 0, 1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(read_all(2, {5, 1}, Mode::symmetric), (Numbers{0, 0, 1, 1, 0, 0, 1, 1}));
    EXPECT_EQ(read_all(2, {3, 3}, Mode::circular), (Numbers{1, 0, 1, 0, 1, 0, 1, 0}));
    for (Mode mode : {Mode::reflect, Mode::symmetric, Mode::replicate, Mode::circular})
        EXPECT_EQ(read_all(1, {2, 3}, mode), Numbers(6, 0));
}

TEST(Modes, PC_074_reflect_with_crop) {
    // The border repeats what the crop leaves: of 0..3 with pads -2, 3 the elements 2 and 3.
    Axis axis = {4, 5, 1, 1, -2, 3};
    axis.mode = Mode::reflect;
    const Window window = good(axis);
    EXPECT_EQ(window.origin, 2);
    Numbers elements;
    for (std::int64_t t = 0; t < 5; ++t)
        elements.push_back(window.origin + window.source(0, t));
    EXPECT_EQ(elements, (Numbers{2, 3, 2, 3, 2}));
}

TEST(Modes, every_tap_counts_where_the_input_goes_on) {
    Axis axis = {6, 3, 2, 1, 1, 0};
    EXPECT_EQ(good(axis, true).counted(0, false), 2);
    EXPECT_EQ(good(axis, true).counted(3, true), 1);
    axis.mode = Mode::reflect;
    for (std::int64_t i : {0, 1, 2, 3})
        EXPECT_EQ(good(axis, true).counted(i, false), 3);
}

// Adaptive pools.

TEST(Adaptive, shares_out_the_axis) {
    Axis axis = {7};
    axis.adaptive = 3; // 0..2, 2..4, 4..6
    const Window window = good(axis);
    EXPECT_EQ(window.outputs, 3);
    EXPECT_EQ(window.unused(), 0);
    for (std::int64_t i : {0, 1, 2}) {
        EXPECT_EQ(window.counted(i, false), 3);
        EXPECT_EQ(window.source(i, 0), 2 * i);
        EXPECT_EQ(window.source(i, 2), 2 * i + 2);
    }
    axis.adaptive = 5; // 0..1, 1..2, 2..4, 4..5, 5..6
    EXPECT_EQ(good(axis).kernel, 3);
    EXPECT_EQ(good(axis).counted(0, true), 2);
    EXPECT_EQ(good(axis).source(0, 2), -1);
    EXPECT_EQ(good(axis).source(2, 2), 4);
    axis.adaptive = 1;
    EXPECT_EQ(good(axis).counted(0, false), 7);
    axis.adaptive = 14;
    EXPECT_EQ(good(axis).source(13, 0), 6);
    axis.adaptive = -1;
    EXPECT_EQ(window.outputs, 3);
    EXPECT_EQ(selvage::window(axis).error, WindowError::adaptive);
}

// Transposed convolution. The sizes of whole problems are in transposed_test.cpp.

using selvage::transposed;

TEST(Transposed, PC_091_convt_same_size) {
    for (auto [size, kernel, stride, outputs] :
         {std::array{5, 3, 2, 10}, {32, 3, 1, 32}, {512, 4, 2, 1024}, {3, 2, 3, 9}})
        for (const char *name : {"tf", "onnx-upper", "onnx-lower"}) {
            const Axis axis = axis_of(size, kernel, stride);
            const Pads pads = selvage::transposed_pads(axis, selvage::find_convention(name)->pads);
            const auto result = transposed(with(axis, pads));
            ASSERT_TRUE(result.ok()) << name;
            EXPECT_EQ(result.transposed.outputs, outputs) << name;
        }
}

TEST(Transposed, PC_097_convt_dilation_in_size) {
    EXPECT_EQ(transposed({4, 3, 2, 2}).transposed.outputs, 11);
}

TEST(Transposed, PC_100_convt_explicit_pad_meaning) {
    EXPECT_EQ(transposed({128, 4, 4}).transposed.outputs, 512);
}

TEST(Transposed, PC_157_im2col_blow_up) {
    EXPECT_EQ(transposed({5158, 4096, 1024}).transposed.outputs, 5284864);
}

TEST(Transposed, output_shape_crops_on_one_side_more) {
    // The result of 3 elements with kernel 3 and stride 2 is 7 long.
    EXPECT_EQ(selvage::transposed_pads_for({3, 3, 2}, 6, false), (Pads{1, 0}));
    EXPECT_EQ(selvage::transposed_pads_for({3, 3, 2}, 6, true), (Pads{0, 1}));
    EXPECT_EQ(selvage::transposed_pads_for({3, 3, 2}, 4, false), (Pads{2, 1}));
    for (bool end_first : {false, true}) // what is missing is zeros at the end
        EXPECT_EQ(selvage::transposed_pads_for({3, 3, 2}, 8, end_first), (Pads{0, -1}));
}

// Constant expressions, in which nothing may overflow.
constexpr Axis with_extra(std::int64_t extra) {
    Axis axis = {3, 3};
    axis.output_padding = extra;
    return axis;
}
static_assert(selvage::transposed_pads_for(with_extra(INT64_MAX), 3, false).begin == 0);
static_assert(selvage::transposed_pads_for(with_extra(INT64_MIN), 3, false).begin == 0);
static_assert(!transposed(with(Axis{0, 1, selvage::largest},
                               selvage::transposed_pads_for({0, 1, selvage::largest}, INT64_MAX,
                                                            false)))
                   .ok());
static_assert(selvage::transposed_pads_for({3, 3}, INT64_MIN, false).begin > selvage::largest);

TEST(Transposed, refuses) {
    EXPECT_EQ(transposed({4, 0}).error, WindowError::kernel);
    EXPECT_EQ(transposed({4, 3, 2, 1, 0, 0, 2}).error, WindowError::phase);
    EXPECT_EQ(transposed({4, 3, 1, 1, 3, 4}).error, WindowError::result);
    EXPECT_EQ(transposed({0, 1, 3}).error, WindowError::outputs); // an empty input
    EXPECT_TRUE(transposed({0, 3, 3}).ok());
    EXPECT_TRUE(transposed({4, 3, 1, 1, 3, 3}).ok()); // no outputs
    Axis axis = {4, 3};
    for (std::int64_t extra : {std::int64_t(-1), selvage::largest + 1, INT64_MAX, INT64_MIN}) {
        axis.output_padding = extra;
        EXPECT_EQ(transposed(axis).error, WindowError::extra);
    }
    EXPECT_EQ(transposed({selvage::largest, 1, 2}).error, WindowError::overflow);
    EXPECT_EQ(transposed({selvage::largest, 1, selvage::largest, 1, INT64_MIN}).error,
              WindowError::overflow);
}

// Refusals say which rule and which values.

TEST(Window, refuses_with_code_and_text) {
    struct Reject {
        Axis axis;
        Code code;
        const char *text;
    };
    const Axis wide = {selvage::largest, 1};
    for (const Reject &reject : {
             Reject{{-1, 3}, Code::invalid_argument, "size -1 is less than 0"},
             Reject{{5, 0}, Code::invalid_argument, "kernel 0 is less than 1"},
             Reject{{5, 3, 0}, Code::invalid_argument, "stride 0 is less than 1"},
             Reject{{5, 3, 1, -2}, Code::invalid_argument, "dilation -2 is less than 1"},
             Reject{{5, 3, 2, 1, 0, 0, 2},
                    Code::invalid_argument,
                    "phase 2 is not in 0..1 (stride 2)"},
             Reject{{5, 3, 2, 1, 0, 0, -1},
                    Code::invalid_argument,
                    "phase -1 is not in 0..1 (stride 2)"},
             Reject{{4, 1, 1, 1, -2, -3},
                    Code::invalid_argument,
                    "pads -2,-3 crop more than the size 4"},
             Reject{{3, 6, 2},
                    Code::invalid_argument,
                    "size 3 with pads 0,0 and phase 0 is too short for kernel 6 with dilation 1 at "
                    "stride 2: the number of outputs would be negative"},
             Reject{{5, INT64_MAX, 2, INT64_MAX, 1, -1},
                    Code::overflow,
                    "size 5, kernel 9223372036854775807, stride 2, dilation 9223372036854775807, "
                    "pads 1,-1: a value, the extent of the window or the padded size exceeds "
                    "2147483647"},
         }) {
        const WindowResult result = window(reject.axis);
        EXPECT_FALSE(result.ok());
        EXPECT_EQ(status(reject.axis, result).code(), reject.code);
        EXPECT_EQ(status(reject.axis, result).text(), reject.text);
    }
    for (const Axis &axis :
         {Axis{INT64_MAX, 3}, Axis{5, 3, INT64_MAX}, Axis{5, 65536, 1, 65536}, with(wide, {1, 0}),
          with(wide, {0, 1}), Axis{5, 3, 1, 1, INT64_MIN, 0}, Axis{5, 3, 1, 1, 0, INT64_MAX}})
        EXPECT_EQ(window(axis).error, WindowError::overflow) << describe(axis, false);
    EXPECT_TRUE(window(wide).ok());
    // Rounded up, the last window would reach beyond what 32 bits address.
    EXPECT_TRUE(window({selvage::largest, 2, 2}).ok());
    EXPECT_EQ(window({selvage::largest, 2, 2}, true).error, WindowError::overflow);
}

// Properties, against an enumeration that shares nothing with the header.

/// The axis laid out element by element: the input's index, or nothing where it is padded.
using Line = std::vector<std::optional<std::int64_t>>;

struct Enumerated {
    bool possible = false;
    std::int64_t line = 0;                                       ///< elements of the line
    std::vector<std::vector<std::int64_t>> taps;                 ///< places on the line, per window
    std::vector<std::vector<std::optional<std::int64_t>>> reads; ///< what lies there
};

Enumerated enumerate(const Axis &axis, bool ceil) {
    std::int64_t first = 0, last = axis.size; // what the crops leave
    for (std::int64_t i = axis.begin; i < 0; ++i)
        ++first;
    for (std::int64_t i = axis.end; i < 0; ++i)
        --last;
    Enumerated result;
    if (first > last)
        return result;
    Line line;
    for (std::int64_t i = 0; i < axis.begin; ++i)
        line.push_back(std::nullopt);
    const auto input_end = std::int64_t(line.size()) + last - first;
    for (std::int64_t i = first; i < last; ++i)
        line.push_back(i);
    for (std::int64_t i = 0; i < axis.end; ++i)
        line.push_back(std::nullopt);
    result.line = std::int64_t(line.size());

    // A window exists if it fits; rounding up adds one where the windows leave a rest of the line.
    const auto fits = [&](std::int64_t start) {
        const std::int64_t last_tap = start + (axis.kernel - 1) * axis.dilation;
        return last_tap < result.line || (ceil && last_tap - axis.stride + 1 < result.line);
    };
    result.possible = fits(axis.phase - axis.stride); // one output less than none is impossible
    std::vector<std::int64_t> starts;
    for (std::int64_t start = axis.phase; fits(start); start += axis.stride)
        starts.push_back(start);
    if (ceil && !starts.empty() && starts.back() >= input_end)
        starts.pop_back();
    for (std::int64_t start : starts) {
        result.taps.emplace_back();
        result.reads.emplace_back();
        for (std::int64_t t = 0; t < axis.kernel; ++t) {
            const std::int64_t at = start + t * axis.dilation;
            result.taps.back().push_back(at);
            result.reads.back().push_back(at < result.line ? line[at] : std::nullopt);
        }
    }
    return result;
}

std::vector<std::vector<std::optional<std::int64_t>>> reads(const Window &window) {
    std::vector<std::vector<std::optional<std::int64_t>>> result(window.outputs);
    for (std::int64_t i = 0; i < window.outputs; ++i)
        for (std::int64_t t = 0; t < window.kernel; ++t) {
            const std::int64_t at = window.stride * i + window.dilation * t - window.before;
            if (at >= 0 && at < window.size)
                result[i].push_back(window.origin + at);
            else
                result[i].push_back(std::nullopt);
        }
    return result;
}

Axis random_axis(Random &random) {
    Axis axis;
    axis.size = random.one_in(10) ? random.between(0, 2) : random.between(1, 24);
    axis.kernel = random.between(1, 7);
    axis.stride = random.between(1, 6);
    axis.dilation = random.one_in(2) ? 1 : random.between(2, 5);
    axis.begin = random.one_in(6) ? -random.between(1, 6) : random.between(0, 12);
    axis.end = random.one_in(6) ? -random.between(1, 6) : random.between(0, 12);
    axis.phase = random.one_in(2) ? 0 : random.between(0, int(axis.stride) - 1);
    return axis;
}

class WindowProperties : public testing::Test {
protected:
    static constexpr int trials = 20000;

    WindowProperties() {
        const char *given = std::getenv("SELVAGE_SEED");
        seed_ = given ? std::strtoull(given, nullptr, 10) : 20240229;
    }

    void TearDown() override {
        if (HasFailure())
            std::printf("repro: SELVAGE_SEED=%llu window_test --gtest_filter=WindowProperties.*\n",
                        static_cast<unsigned long long>(seed_));
    }

    /// Calls hold(random, axis, ceil) for random axes until one fails.
    template <class Hold> void for_random_axes(Hold hold) {
        Random random(seed_);
        for (int trial = 0; trial < trials && !HasFailure(); ++trial) {
            const Axis axis = random_axis(random);
            const bool ceil = random.one_in(3);
            SCOPED_TRACE(describe(axis, ceil));
            hold(axis, ceil);
        }
    }

private:
    unsigned long long seed_;
};

TEST_F(WindowProperties, agree_with_an_enumeration) {
    int possible = 0;
    for_random_axes([&](const Axis &axis, bool ceil) {
        const Enumerated slow = enumerate(axis, ceil);
        const WindowResult fast = window(axis, ceil);
        ASSERT_EQ(fast.ok(), slow.possible);
        if (!slow.possible)
            return;
        ++possible;
        const Window &window = fast.window;
        ASSERT_EQ(window.outputs, std::int64_t(slow.reads.size()));
        EXPECT_EQ(reads(window), slow.reads);

        std::int64_t after = 0, unused = axis.size;
        const std::int64_t input_end = slow.line - (axis.end > 0 ? axis.end : 0);
        for (std::size_t i = 0; i < slow.reads.size(); ++i)
            for (std::size_t t = 0; t < slow.reads[i].size(); ++t) {
                after = std::max(after, slow.taps[i][t] + 1 - input_end);
                if (slow.reads[i][t])
                    unused = std::min(unused, axis.size - 1 - *slow.reads[i][t]);
                const std::int64_t at = window.stride * std::int64_t(i) +
                                        window.dilation * std::int64_t(t) - window.before;
                EXPECT_EQ(at < window.counted_end, slow.taps[i][t] < slow.line);
            }
        EXPECT_EQ(window.after(), after);
        EXPECT_EQ(window.unused(), unused);
    });
    EXPECT_GT(possible, trials / 2);
}

oracle::Axis oracle_axis(const Axis &a) {
    return {int(a.size),     int(a.kernel),
            int(a.stride),   int(a.dilation),
            int(a.begin),    int(a.end),
            int(a.phase),    oracle::Mode(int(a.mode)), // both are declared in the same order
            int(a.adaptive), int(a.output_padding)};
}

/// The axis in some mode, or with adaptive windows, and of which the crops leave something.
Axis of_any_kind(Axis axis, std::uint64_t seed) {
    Random random(seed);
    axis.size += 12;
    axis.mode = random.pick(
        {Mode::constant, Mode::reflect, Mode::symmetric, Mode::replicate, Mode::circular});
    if (random.one_in(6)) {
        const std::int64_t size = random.between(1, 20);
        axis = {};
        axis.size = size;
        axis.adaptive = random.between(1, 25);
    }
    if (random.one_in(4)) // shorter than pads and kernel
        axis.size = 1 + std::max<std::int64_t>(0, -axis.begin) +
                    std::max<std::int64_t>(0, -axis.end) + random.between(0, 3);
    return axis;
}

/// What the taps of all outputs read of the uncropped input.
std::vector<std::vector<int>> sources(const Window &window) {
    std::vector<std::vector<int>> result(window.outputs);
    for (std::int64_t i = 0; i < window.outputs; ++i)
        for (std::int64_t t = 0; t < window.kernel; ++t) {
            const std::int64_t source = window.source(i, t);
            if (source >= window.size)
                ADD_FAILURE() << "output " << i << " tap " << t << " reads " << source;
            result[i].push_back(source < 0 ? -1 : int(window.origin + source));
        }
    return result;
}

/// What the oracle says; short adaptive windows are filled up to `kernel` taps.
std::vector<std::vector<int>> oracle_sources(const Axis &axis, bool ceil, std::int64_t kernel) {
    std::vector<std::vector<int>> result = oracle::reads(oracle_axis(axis), ceil);
    for (std::vector<int> &window : result)
        window.resize(kernel, -1);
    return result;
}

TEST_F(WindowProperties, sources_agree_with_a_really_padded_axis) {
    std::uint64_t seed = 0;
    for_random_axes([&](const Axis &plain, bool ceil) {
        const Axis axis = of_any_kind(plain, ++seed);
        const WindowResult result = window(axis, ceil);
        if (!result.ok())
            return;
        SCOPED_TRACE(describe(axis, ceil));
        EXPECT_EQ(sources(result.window), oracle_sources(axis, ceil, result.window.kernel));
    });
}

TEST_F(WindowProperties, outputs_inside_are_those_that_read_no_border) {
    for_random_axes([&](const Axis &axis, bool ceil) {
        const WindowResult result = window(axis, ceil);
        if (!result.ok())
            return;
        const Window &w = result.window;
        const Window::Outputs inside = w.inside();
        ASSERT_LE(0, inside.first);
        ASSERT_LE(inside.first, inside.end);
        ASSERT_LE(inside.end, w.outputs);
        for (std::int64_t i = 0; i < w.outputs; ++i)
            EXPECT_EQ(inside.first <= i && i < inside.end,
                      w.stride * i >= w.before && w.stride * i + w.reach() - w.before < w.size)
                << i;
    });
}

TEST_F(WindowProperties, slices_read_and_count_what_the_whole_does) {
    std::uint64_t seed = 0;
    for_random_axes([&](const Axis &plain, bool ceil) {
        const Axis axis = of_any_kind(plain, ++seed);
        const WindowResult result = window(axis, ceil);
        if (!result.ok() || result.window.outputs == 0)
            return;
        SCOPED_TRACE(describe(axis, ceil));
        Random random(seed);
        Window slice = result.window;
        std::int64_t first = 0;
        for (int depth : {1, 2}) { // a slice of a slice too
            const std::int64_t output = random.between(0, int(slice.outputs) - 1);
            const std::int64_t count = random.between(1, int(slice.outputs - output));
            first += output;
            slice = slice.slice(output, count);
            ASSERT_EQ(slice.outputs, count) << depth;
            ASSERT_GE(slice.origin, result.window.origin) << depth;
            ASSERT_LE(slice.origin + slice.size, result.window.origin + result.window.size);
            ASSERT_GE(slice.size, 1) << depth;
            const auto all = sources(result.window);
            EXPECT_EQ(sources(slice), (std::vector<std::vector<int>>(all.begin() + first,
                                                                     all.begin() + first + count)))
                << depth;
            for (std::int64_t i = 0; i < count; ++i)
                for (bool include_pad : {false, true})
                    EXPECT_EQ(slice.counted(i, include_pad),
                              result.window.counted(first + i, include_pad));
        }
    });
}

TEST_F(WindowProperties, transposed_phases_gather_what_is_scattered) {
    std::uint64_t seed = 0;
    for_random_axes([&](Axis axis, bool) {
        Random random(++seed);
        axis.output_padding = random.between(0, 4);
        const auto result = transposed(axis);
        if (!result.ok())
            return;
        SCOPED_TRACE(describe(axis, false));
        // One input element and one tap after the other.
        std::vector<std::pair<std::int64_t, std::int64_t>> pairs; // element, tap
        std::vector<decltype(pairs)> scattered(result.transposed.outputs);
        for (std::int64_t i = 0; i < axis.size; ++i)
            for (std::int64_t t = 0; t < axis.kernel; ++t) {
                const std::int64_t at =
                    axis.stride * i + axis.dilation * t - axis.begin + axis.phase;
                if (at >= 0 && at < result.transposed.outputs)
                    scattered[at].push_back({i, t});
            }
        std::int64_t first = 0;
        selvage::Transposed part = result.transposed;
        if (part.outputs > 0 && random.one_in(2)) {
            first = random.between(0, int(part.outputs) - 1);
            part = part.slice(first, random.between(1, int(part.outputs - first)));
        }
        std::vector<decltype(pairs)> gathered(part.outputs);
        for (std::int64_t phase = 0; phase < part.phases(); ++phase) {
            const selvage::Transposed::Phase conv = part.phase(phase);
            ASSERT_LE(phase + part.stride * (conv.window.outputs - 1), part.outputs - 1);
            for (std::int64_t j = 0; j < conv.window.outputs; ++j)
                for (std::int64_t m = 0; m < conv.window.kernel; ++m)
                    if (const std::int64_t i = conv.window.source(j, m); i >= 0) {
                        ASSERT_LT(m, conv.taps);
                        gathered[phase + part.stride * j].push_back(
                            {i, conv.first_tap - m * conv.tap_step});
                    }
        }
        for (std::int64_t o = 0; o < part.outputs; ++o) {
            std::sort(gathered[o].begin(), gathered[o].end());
            EXPECT_EQ(gathered[o], scattered[first + o]) << "output " << o;
        }
    });
}

TEST_F(WindowProperties, a_phase_samples_the_stride_1_result) {
    for_random_axes([&](const Axis &axis, bool) {
        Axis dense_axis = axis;
        dense_axis.stride = 1;
        dense_axis.phase = 0;
        const WindowResult dense = window(dense_axis), strided = window(axis);
        if (!dense.ok() || !strided.ok())
            return;
        const auto all = reads(dense.window);
        std::vector<std::vector<std::optional<std::int64_t>>> sampled;
        for (std::size_t at = axis.phase; at < all.size(); at += axis.stride)
            sampled.push_back(all[at]);
        EXPECT_EQ(reads(strided.window), sampled);
    });
}

TEST_F(WindowProperties, conventions_give_the_outputs_they_promise) {
    for_random_axes([&](Axis axis, bool) {
        axis.phase = 0;
        const std::int64_t sampled = (axis.size + axis.stride - 1) / axis.stride;
        for (auto pads : {convention::centred, convention::tf, convention::onnx_upper,
                          convention::onnx_lower, convention::torch, convention::scipy,
                          convention::scipy_correlate2d, convention::causal})
            EXPECT_EQ(good(with(axis, pads(axis))).outputs, sampled);
        EXPECT_EQ(good(with(axis, convention::keep(axis))).outputs, axis.size);
    });
}

TEST_F(WindowProperties, tf_pads_no_more_than_it_must) {
    for_random_axes([&](Axis axis, bool) {
        axis.phase = 0;
        const Pads pads = convention::tf(axis);
        const Window window = good(with(axis, pads));
        EXPECT_LE(pads.begin, pads.end);
        EXPECT_LE(pads.end, pads.begin + 1);
        EXPECT_GE(pads.begin, 0);
        if (window.outputs > 0) {
            EXPECT_EQ(window.after(), pads.end);
        }
    });
}

TEST_F(WindowProperties, causal_windows_end_at_their_output) {
    for_random_axes([&](Axis axis, bool) {
        axis.phase = 0;
        const Window window = good(with(axis, convention::causal(axis)));
        for (std::int64_t i = 0; i < window.outputs; ++i)
            EXPECT_EQ(window.stride * i + window.dilation * (window.kernel - 1) - window.before,
                      axis.stride * i);
    });
}

} // namespace
