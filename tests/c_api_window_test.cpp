// The window calculator of the C API: hand-worked values, and window.h's.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/selvage.h"
#include "selvage/window.h"

#include "c_api_trial.h"

namespace {

/// The window as begin, end, before, after, outputs, unused, kernel.
std::vector<std::int64_t> window_of(const selvage_axis &axis) {
    selvage_window w = {};
    EXPECT_OK(selvage_axis_window(&axis, &w, status));
    return {w.begin, w.end, w.before, w.after, w.outputs, w.unused, w.kernel};
}

/// All elements that the windows read, one window after the other.
std::vector<std::int64_t> sources(const selvage_axis &axis) {
    selvage_window w = {};
    EXPECT_OK(selvage_axis_window(&axis, &w, status));
    std::vector<std::int64_t> elements;
    for (std::int64_t i = 0; i < w.outputs; ++i)
        for (std::int64_t t = 0; t < w.kernel; ++t)
            EXPECT_OK(selvage_axis_source(&axis, i, t, &elements.emplace_back(-7), status));
    return elements;
}

/// Both functions refuse the axis, and leave their results alone.
void refuse(const selvage_axis &axis, selvage_code code, const std::string &text) {
    selvage_window window = {1, 2, 3, 4, 5, 6, 7};
    EXPECT_FAILS(code, text, selvage_axis_window(&axis, &window, status));
    EXPECT_EQ(window.begin, 1);
    EXPECT_EQ(window.kernel, 7);
    if (axis.transposed)
        return;
    std::int64_t element = -7;
    EXPECT_FAILS(code, text, selvage_axis_source(&axis, 0, 0, &element, status));
    EXPECT_EQ(element, -7);
}

using Numbers = std::vector<std::int64_t>;

} // namespace

TEST(CApiWindow, HandWorked) {
    // begin, end, before, after, outputs, unused, kernel
    selvage_axis axis = axis_of(224, 3, 2);
    EXPECT_EQ(window_of(axis), Numbers({0, 0, 0, 0, 111, 1, 3}));
    axis.same = "tf";
    EXPECT_EQ(window_of(axis), Numbers({0, 1, 0, 1, 112, 0, 3}));
    axis.same = "torch";
    EXPECT_EQ(window_of(axis), Numbers({1, 1, 1, 0, 112, 0, 3}));
    axis.same = "";
    EXPECT_EQ(window_of(axis), Numbers({0, 0, 0, 0, 111, 1, 3}));

    axis = axis_of(6, 3, 2); // windows 012, 234, 45.
    axis.begin = axis.end = 1;
    axis.phase = 1;
    EXPECT_EQ(window_of(axis), Numbers({1, 1, 0, 1, 3, 0, 3}));
    EXPECT_EQ(sources(axis), Numbers({0, 1, 2, 2, 3, 4, 4, 5, -1}));

    axis = axis_of(12, 2, 2); // crops 3 at the end: 012345678, windows 01 23 45 67
    axis.end = -3;
    EXPECT_EQ(window_of(axis), Numbers({0, -3, 0, 0, 4, 4, 2}));
    axis.begin = -2; // 2..8: windows 23 45 67
    EXPECT_EQ(window_of(axis), Numbers({-2, -3, -2, 0, 3, 4, 2}));
    EXPECT_EQ(sources(axis), Numbers({2, 3, 4, 5, 6, 7}));

    axis = axis_of(5, 3, 1); // crops to 234, then pads
    axis.begin = -2;
    axis.end = 2;
    EXPECT_EQ(window_of(axis), Numbers({-2, 2, -2, 2, 3, 0, 3}));
    EXPECT_EQ(sources(axis), Numbers({2, 3, 4, 3, 4, -1, 4, -1, -1}));
    axis.border = "reflect";
    EXPECT_EQ(sources(axis), Numbers({2, 3, 4, 3, 4, 3, 4, 3, 2}));

    axis = axis_of(6, 3, 2); // 012 234 and, rounded up, 45.
    axis.ceil = 1;
    EXPECT_EQ(window_of(axis), Numbers({0, 0, 0, 1, 3, 0, 3}));

    axis = axis_of(7, 5, 3, 2); // taps two apart, 9 elements long
    axis.begin = 1;
    axis.end = 4; // -1 1 3 5 7, 2 4 6 8 10
    EXPECT_EQ(window_of(axis), Numbers({1, 4, 1, 4, 2, 0, 5}));
    EXPECT_EQ(sources(axis), Numbers({-1, 1, 3, 5, -1, 2, 4, 6, -1, -1}));
}

TEST(CApiWindow, Borders) {
    selvage_axis axis = axis_of(4, 10, 1);
    axis.begin = axis.end = 3;
    const std::vector<std::pair<const char *, Numbers>> rows = {
        {nullptr, {-1, -1, -1, 0, 1, 2, 3, -1, -1, -1}},
        {"", {-1, -1, -1, 0, 1, 2, 3, -1, -1, -1}},
        {"constant", {-1, -1, -1, 0, 1, 2, 3, -1, -1, -1}},
        {"reflect", {3, 2, 1, 0, 1, 2, 3, 2, 1, 0}},
        {"symmetric", {2, 1, 0, 0, 1, 2, 3, 3, 2, 1}},
        {"replicate", {0, 0, 0, 0, 1, 2, 3, 3, 3, 3}},
        {"circular", {1, 2, 3, 0, 1, 2, 3, 0, 1, 2}}};
    for (const auto &[border, elements] : rows) {
        axis.border = border;
        EXPECT_EQ(sources(axis), elements) << (border != nullptr ? border : "null");
    }
    axis.border = "wrap";
    refuse(axis, SELVAGE_INVALID_ARGUMENT,
           "border wrap: must be one of constant, reflect, symmetric, replicate, circular");
}

TEST(CApiWindow, EveryConvention) {
    for (const selvage::Convention &each : selvage::conventions)
        for (std::int64_t kernel = 1; kernel < 6; ++kernel)
            for (std::int64_t stride = 1; stride < 4; ++stride)
                for (std::int64_t dilation = 1; dilation < 3; ++dilation) {
                    const std::string name(each.name);
                    selvage_axis axis = axis_of(11, kernel, stride, dilation);
                    axis.same = name.c_str();
                    const selvage::Axis right = {11, kernel, stride, dilation};
                    const selvage::Pads pads = each.pads(right);
                    const selvage::Window w = window(with(right, pads)).window;
                    EXPECT_EQ(window_of(axis), Numbers({pads.begin, pads.end, w.before, w.after(),
                                                        w.outputs, w.unused(), kernel}))
                        << name;
                    axis.transposed = 1;
                    const selvage::Pads crops = transposed_pads(right, each.pads);
                    const selvage::Transposed t = transposed(with(right, crops)).transposed;
                    EXPECT_EQ(window_of(axis),
                              Numbers({crops.begin, crops.end, t.before, 0, t.outputs, 0, kernel}))
                        << name;
                }
    selvage_axis axis = axis_of(11, 3, 1);
    axis.same = "lower";
    refuse(axis, SELVAGE_INVALID_ARGUMENT,
           "same lower: must be one of " + selvage::convention_names());
}

TEST(CApiWindow, SoManyOutputs) {
    selvage_axis axis = axis_of(5, 1, 1); // the numbers of docs/borders.md
    axis.outputs = 8;
    EXPECT_EQ(window_of(axis), Numbers({1, 2, 1, 2, 8, 0, 1}));
    axis.outputs = 2; // 5 - 3: one is cropped from the begin, two from the end
    EXPECT_EQ(window_of(axis), Numbers({-1, -2, -1, 0, 2, 2, 1}));

    axis = axis_of(3, 3, 2); // 7 in full
    axis.transposed = 1;
    EXPECT_EQ(window_of(axis), Numbers({0, 0, 0, 0, 7, 0, 3}));
    axis.outputs = 6;
    EXPECT_EQ(window_of(axis), Numbers({1, 0, 1, 0, 6, 0, 3}));
    axis.same = "onnx-upper";
    EXPECT_EQ(window_of(axis), Numbers({0, 1, 0, 0, 6, 0, 3}));
    axis.same = nullptr;
    axis.outputs = 0;
    axis.output_padding = 1;
    axis.begin = 2;
    EXPECT_EQ(window_of(axis), Numbers({2, 0, 2, 0, 6, 0, 3}));
}

TEST(CApiWindow, Adaptive) {
    selvage_axis axis = {};
    axis.size = 7;
    axis.adaptive = 3; // 0..2, 2..4, 4..6
    axis.transposed = axis.ceil = 1;
    axis.same = "nonsense"; // no other field counts
    EXPECT_EQ(window_of(axis), Numbers({0, 0, 0, 0, 3, 0, 3}));
    EXPECT_EQ(sources(axis), Numbers({0, 1, 2, 2, 3, 4, 4, 5, 6}));
    axis.adaptive = 4; // 0..1, 1..3, 3..5, 5..6
    EXPECT_EQ(sources(axis), Numbers({0, 1, -1, 1, 2, 3, 3, 4, 5, 5, 6, -1}));
    axis.transposed = 0;
    for (std::int64_t value : {std::int64_t(-1), selvage::largest + 1}) {
        axis.adaptive = value;
        refuse(axis, SELVAGE_INVALID_ARGUMENT,
               "adaptive " + std::to_string(value) + " is not in 0..2147483647");
    }
}

TEST(CApiWindow, Refusals) {
    const auto changed = [](selvage_axis axis, std::int64_t selvage_axis::*field,
                            std::int64_t value) {
        axis.*field = value;
        return axis;
    };
    const selvage_axis axis = axis_of(8, 3, 1);
    selvage_axis transposed = axis;
    transposed.transposed = 1;
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max(),
                           least = std::numeric_limits<std::int64_t>::min();
    refuse({}, invalid, "kernel 0 is less than 1");
    refuse(changed(axis, &selvage_axis::size, -1), invalid, "size -1 is less than 0");
    refuse(changed(axis, &selvage_axis::kernel, 0), invalid, "kernel 0 is less than 1");
    refuse(changed(axis, &selvage_axis::stride, 0), invalid, "stride 0 is less than 1");
    refuse(changed(axis, &selvage_axis::dilation, 0), invalid, "dilation 0 is less than 1");
    refuse(changed(axis, &selvage_axis::phase, 1), invalid, "phase 1 is not in 0..0 (stride 1)");
    refuse(changed(axis, &selvage_axis::end, -9), invalid, "pads 0,-9 crop more than the size 8");
    refuse(changed(axis, &selvage_axis::kernel, 10), invalid,
           "size 8 with pads 0,0 and phase 0 is too short for kernel 10 with dilation 1 at stride "
           "1: the number of outputs would be negative");
    for (std::int64_t value : {huge, least})
        refuse(changed(axis, &selvage_axis::begin, value), SELVAGE_OVERFLOW,
               "size 8, kernel 3, stride 1, dilation 1, pads " + std::to_string(value) +
                   ",0: a value, the extent of the window or the padded size exceeds 2147483647");
    refuse(changed(axis, &selvage_axis::output_padding, 1), invalid,
           "output_padding 1 is for transposed convolutions");
    for (std::int64_t value : {std::int64_t(-1), huge, least})
        refuse(changed(axis, &selvage_axis::outputs, value), invalid,
               "outputs " + std::to_string(value) + " is not in 0..2147483647");
    selvage_axis outputs = changed(axis, &selvage_axis::outputs, 4);
    refuse(changed(outputs, &selvage_axis::stride, 2), invalid,
           "outputs 4: needs stride 1 and no same, unless transposed");
    outputs.same = "tf";
    refuse(outputs, invalid, "outputs 4: needs stride 1 and no same, unless transposed");

    for (std::int64_t extra : {std::int64_t(-1), selvage::largest + 1, huge, least})
        for (std::int64_t value : {0, 4})
            refuse(changed(changed(transposed, &selvage_axis::output_padding, extra),
                           &selvage_axis::outputs, value),
                   invalid, "output_padding " + std::to_string(extra) + " is not in 0..2147483647");
    refuse(changed(transposed, &selvage_axis::end, 11), invalid,
           "pads 0,11 crop more than the 10 outputs");
    selvage_axis causal = changed(transposed, &selvage_axis::outputs, 5);
    causal.same = "causal";
    refuse(causal, invalid, "outputs 5: takes same onnx-upper or onnx-lower, no other");
    selvage_axis two_lines = axis;
    two_lines.border = "x\ny\t\x7f\x1b";
    refuse(two_lines, invalid,
           "border x?y???: must be one of constant, reflect, symmetric, replicate, circular");
    const std::string neither =
        "a transposed convolution has neither ceil nor a border other than constant";
    selvage_axis rounded = transposed, reflected = transposed;
    rounded.ceil = 1;
    reflected.border = "reflect";
    refuse(rounded, invalid, neither);
    refuse(reflected, invalid, neither);

    std::int64_t element = -7;
    EXPECT_FAILS(invalid, "selvage_axis_source: not for transposed convolutions",
                 selvage_axis_source(&transposed, 0, 0, &element, status));
    for (const auto &[output, tap] : {std::pair{-1, 0}, {6, 0}, {0, -1}, {0, 3}})
        EXPECT_FAILS(invalid,
                     "selvage_axis_source: output " + std::to_string(output) + " and tap " +
                         std::to_string(tap) + " are not in 0..5 and 0..2",
                     selvage_axis_source(&axis, output, tap, &element, status));
    EXPECT_EQ(element, -7);
}
