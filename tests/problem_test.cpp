// Problem texts: what they read as, what they print, and what they refuse.

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "selvage/problem.h"

#include "random_problems.h"

using selvage::Activation;
using selvage::Code;
using selvage::Op;
using selvage::Problem;
using selvage::Status;

namespace selvage {

void PrintTo(const Problem &problem, std::ostream *out) { *out << text(problem); }

} // namespace selvage

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Problem parse(const std::string &text) {
    Problem problem;
    const Status status = selvage::parse_problem(text, &problem);
    EXPECT_TRUE(status.ok()) << text << ": " << status.text();
    return problem;
}

std::string canonical(const std::string &text) { return selvage::text(parse(text)); }

/// A refusal must name its rule, and must not touch the result.
void expect_refused(const std::string &text, Code code, const std::string &reason) {
    Problem problem = parse("avg_pool2d c=7 in=9 kernel=2");
    const Status status = selvage::parse_problem(text, &problem);
    EXPECT_EQ(name(status.code()), std::string(name(code))) << text;
    EXPECT_EQ(status.text(), reason) << text;
    EXPECT_EQ(problem, parse("avg_pool2d c=7 in=9 kernel=2")) << text;
}

TEST(ProblemText, canonical_texts_stay_as_they_are) {
    for (const char *text :
         {"conv2d n=1 c=64 k=128 g=1 in=56x56 kernel=3x3 stride=2x2 dilation=1x1 pads=0,0,1,1 "
          "phase=0,0 border=constant value=0 type=f32 layout=nhwc bias=1 act=relu6",
          "conv3d n=1 c=6 k=4 g=2 in=5x6x7 kernel=1x2x3 stride=4x5x6 dilation=7x8x9 "
          "pads=60,61,62,63,64,65 phase=3,4,5 border=reflect,constant,circular value=2 type=f32 "
          "layout=nchw bias=0 act=none",
          "depthwise2d n=2 c=3 k=6 in=5x6 kernel=1x2 stride=3x4 dilation=5x6 pads=7,8,9,10 "
          "phase=2,3 border=constant value=-1.5 type=f32 layout=nhwc bias=0 act=clamp:-inf:0.1",
          "conv_transpose1d n=1 c=3 k=6 g=3 in=5 kernel=2 stride=3 dilation=1 pads=-7,8 phase=2 "
          "output_padding=2 border=constant type=f32 layout=nhwc bias=1 act=relu",
          "max_pool2d n=0 c=3 in=5x6 kernel=2x3 stride=1x1 dilation=1x1 pads=-1,0,-2,3 phase=0,0 "
          "border=symmetric type=u8 layout=nhwc ceil=1 indices=tensor order=column "
          "nan=keep",
          "max_pool1d n=1 c=3 in=5 kernel=2 stride=1 dilation=1 pads=0,0 phase=0 border=constant "
          "type=f32 layout=nhwc ceil=0 indices=none order=row nan=skip",
          "avg_pool2d n=1 c=3 in=5x6 kernel=2x3 stride=1x1 dilation=1x1 pads=0,0,0,0 phase=0,0 "
          "border=constant type=f32 layout=nhwc include_pad=1 ceil=0",
          "avg_pool3d n=1 c=3 in=5x6x7 adaptive=2x3x4 type=f32 layout=nhwc include_pad=0 ceil=0",
          "lp_pool1d n=1 c=3 in=5 kernel=2 stride=1 dilation=1 pads=1,0 phase=0 border=constant "
          "type=f32 layout=nchw ceil=0 p=1.5",
          "filter2d n=1 c=3 in=5x6 kernel=3x3 stride=1x1 dilation=1x1 pads=1,1,1,1 phase=0,0 "
          "border=replicate value=0 type=u8 layout=nhwc weights=fixed:8",
          "stride_sample2d n=1 c=3 in=5x6 stride=2x3 phase=1,2 type=i8 layout=nhwc",
          "pad3d n=1 c=3 in=5x6x7 pads=1,2,3,-1,-2,-3 border=circular,reflect,reflect value=7 "
          "type=i8 layout=nhwc"})
        EXPECT_EQ(canonical(text), text);
}

TEST(ProblemText, every_field_has_its_place) {
    const Problem p =
        parse("conv2d n=2 c=12 k=18 g=6 in=31x32 kernel=3x4 stride=5x6 dilation=2x3 pads=1,2,3,4 "
              "phase=4,5 value=2.5 bias=1 act=clamp:-1:7");
    EXPECT_EQ(p.op, Op::conv);
    EXPECT_EQ(p.rank, 2);
    EXPECT_EQ(p.n, 2);
    EXPECT_EQ(p.c, 12);
    EXPECT_EQ(p.k, 18);
    EXPECT_EQ(p.g, 6);
    EXPECT_EQ(p.y.size, 31);
    EXPECT_EQ(p.x.size, 32);
    EXPECT_EQ(p.y.kernel, 3);
    EXPECT_EQ(p.x.kernel, 4);
    EXPECT_EQ(p.y.stride, 5);
    EXPECT_EQ(p.x.stride, 6);
    EXPECT_EQ(p.y.dilation, 2);
    EXPECT_EQ(p.x.dilation, 3);
    EXPECT_EQ(p.y.begin, 1); // top, left, bottom, right
    EXPECT_EQ(p.x.begin, 2);
    EXPECT_EQ(p.y.end, 3);
    EXPECT_EQ(p.x.end, 4);
    EXPECT_EQ(p.y.phase, 4);
    EXPECT_EQ(p.x.phase, 5);
    EXPECT_EQ(p.value, 2.5f);
    EXPECT_TRUE(p.bias);
    EXPECT_EQ(p.act, Activation::clamp);
    EXPECT_EQ(p.act_low, -1);
    EXPECT_EQ(p.act_high, 7);
}

TEST(ProblemText, what_is_left_out_takes_its_default) {
    EXPECT_EQ(canonical("conv2d in=4 kernel=3"),
              "conv2d n=1 c=1 k=1 g=1 in=4x4 kernel=3x3 stride=1x1 dilation=1x1 pads=0,0,0,0 "
              "phase=0,0 border=constant value=0 type=f32 layout=nhwc bias=0 act=none");
    EXPECT_EQ(canonical("depthwise2d c=5 in=4 kernel=3"),
              "depthwise2d n=1 c=5 k=5 in=4x4 kernel=3x3 stride=1x1 dilation=1x1 pads=0,0,0,0 "
              "phase=0,0 border=constant value=0 type=f32 layout=nhwc bias=0 act=none");
    EXPECT_EQ(canonical("avg_pool2d c=5 in=4 kernel=3"),
              "avg_pool2d n=1 c=5 in=4x4 kernel=3x3 stride=1x1 dilation=1x1 pads=0,0,0,0 "
              "phase=0,0 border=constant type=f32 layout=nhwc include_pad=0 ceil=0");
    EXPECT_EQ(canonical("max_pool1d in=4 kernel=3"),
              "max_pool1d n=1 c=1 in=4 kernel=3 stride=1 dilation=1 pads=0,0 phase=0 "
              "border=constant type=f32 layout=nhwc ceil=0 indices=none order=row nan=keep");
    EXPECT_EQ(canonical("lp_pool1d in=4 kernel=3"),
              "lp_pool1d n=1 c=1 in=4 kernel=3 stride=1 dilation=1 pads=0,0 phase=0 "
              "border=constant type=f32 layout=nhwc ceil=0 p=2");
    EXPECT_EQ(canonical("conv_transpose1d c=2 in=4 kernel=3"),
              "conv_transpose1d n=1 c=2 k=1 g=1 in=4 kernel=3 stride=1 dilation=1 pads=0,0 phase=0 "
              "output_padding=0 border=constant type=f32 layout=nhwc bias=0 act=none");
    EXPECT_EQ(canonical("filter1d in=4 kernel=3"),
              "filter1d n=1 c=1 in=4 kernel=3 stride=1 dilation=1 pads=0,0 phase=0 "
              "border=constant value=0 type=u8 layout=nhwc weights=f32");
    EXPECT_EQ(canonical("pad1d in=4"),
              "pad1d n=1 c=1 in=4 pads=0,0 border=constant value=0 type=f32 layout=nhwc");
    EXPECT_EQ(canonical("stride_sample1d in=4"),
              "stride_sample1d n=1 c=1 in=4 stride=1 phase=0 type=f32 layout=nhwc");
    for (const char *op : {"max_pool2d", "filter2d", "depthwise2d", "pad2d"})
        EXPECT_EQ(parse(op + std::string(op[0] == 'p' ? " c=5 in=4" : " c=5 in=4 kernel=3")).k, 5);
}

TEST(ProblemText, one_number_stands_for_all_axes) {
    EXPECT_EQ(parse("conv2d in=9 kernel=3 stride=2 dilation=2 pads=4 phase=1"),
              parse("conv2d in=9x9 kernel=3x3 stride=2x2 dilation=2x2 pads=4,4,4,4 phase=1,1"));
    EXPECT_EQ(parse("max_pool3d in=9 kernel=3 border=reflect pads=1"),
              parse("max_pool3d in=9x9x9 kernel=3x3x3 border=reflect,reflect,reflect "
                    "pads=1,1,1,1,1,1"));
    EXPECT_EQ(parse("conv_transpose3d in=3 kernel=3 stride=2 output_padding=1"),
              parse("conv_transpose3d in=3 kernel=3 stride=2 output_padding=1,1,1"));
    EXPECT_EQ(parse("avg_pool3d in=3 adaptive=2"), parse("avg_pool3d in=3x3x3 adaptive=2x2x2"));
}

TEST(ProblemText, order_and_blanks_do_not_matter) {
    EXPECT_EQ(parse(" \tconv2d\n act=relu kernel=3   in=9 k=4 c=2 "),
              parse("conv2d c=2 k=4 in=9 kernel=3 act=relu"));
}

TEST(ProblemText, same_stands_for_pads) {
    EXPECT_EQ(parse("conv2d same=tf in=7x9 kernel=3 stride=2x3"), // wherever it stands
              parse("conv2d in=7x9 kernel=3 stride=2x3 pads=1,0,1,0"));
    EXPECT_EQ(parse("conv2d in=6x7 kernel=4 same=onnx-lower phase=0"),
              parse("conv2d in=6x7 kernel=4 pads=2,2,1,1"));
    EXPECT_EQ(parse("conv2d in=6x7 kernel=4 stride=2 same=torch phase=1,0"),
              parse("conv2d in=6x7 kernel=4 stride=2 pads=1,1,2,2 phase=1,0"));
    EXPECT_EQ(parse("conv2d in=6 kernel=4x5 same=causal"),
              parse("conv2d in=6 kernel=4x5 pads=3,4,0,0"));
    EXPECT_EQ(parse("avg_pool3d in=7x9x10 kernel=3 stride=2x3x2 same=tf"),
              parse("avg_pool3d in=7x9x10 kernel=3 stride=2x3x2 pads=1,0,0,1,0,1"));
}

TEST(ProblemText, depth_comes_first) {
    const Problem p = parse("conv3d in=4x5x6 kernel=1x2x3 pads=1,2,3,4,5,6 phase=0 "
                            "border=reflect,symmetric,circular");
    EXPECT_EQ(p.rank, 3);
    EXPECT_EQ(p.z.size, 4);
    EXPECT_EQ(p.z.kernel, 1);
    EXPECT_EQ(p.x.kernel, 3);
    EXPECT_EQ(p.z.begin, 1); // front, top, left, back, bottom, right
    EXPECT_EQ(p.y.begin, 2);
    EXPECT_EQ(p.x.begin, 3);
    EXPECT_EQ(p.z.end, 4);
    EXPECT_EQ(p.y.end, 5);
    EXPECT_EQ(p.x.end, 6);
    EXPECT_EQ(p.z.mode, selvage::Mode::reflect);
    EXPECT_EQ(p.y.mode, selvage::Mode::symmetric);
    EXPECT_EQ(p.x.mode, selvage::Mode::circular);
    const Problem line = parse("conv1d in=7 kernel=3 pads=1,2");
    EXPECT_EQ(line.rank, 1);
    EXPECT_EQ(line.y.size, 1);
    EXPECT_EQ(line.x.begin, 1);
    EXPECT_EQ(line.x.end, 2);
}

TEST(ProblemText, sizes_stand_for_pads) {
    EXPECT_EQ(parse("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6"),
              parse("conv_transpose1d in=3 kernel=3 stride=2 pads=1,0"));
    EXPECT_EQ(parse("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6 same=onnx-upper"),
              parse("conv_transpose1d in=3 kernel=3 stride=2 pads=0,1"));
    EXPECT_EQ(parse("conv_transpose2d output_shape=9x4 in=3x3 kernel=3 stride=2 output_padding=1"),
              parse("conv_transpose2d in=3x3 kernel=3 stride=2 output_padding=1 pads=0,2,-1,2"));
    EXPECT_EQ(parse("conv_transpose2d in=5x4 kernel=3 stride=2 same=tf"),
              parse("conv_transpose2d in=5x4 kernel=3 stride=2 pads=0,0,1,1"));
    EXPECT_EQ(parse("pad2d in=3x5 to=6x5"), parse("pad2d in=3x5 pads=1,0,2,0"));
    EXPECT_EQ(parse("pad1d in=5 to=3"), parse("pad1d in=5 pads=-1,-1"));
}

TEST(ProblemText, floats_come_back_to_the_bit) {
    for (float value :
         {0.0f, -0.0f, 0.1f, 1 / 3.0f, 1e-45f, 3.4028235e38f, infinity, -infinity, std::nanf("")}) {
        Problem p = parse("conv2d in=4 kernel=3");
        p.value = value;
        const Problem back = parse(text(p));
        EXPECT_EQ(back, p) << text(p);
        EXPECT_EQ(std::isnan(back.value), std::isnan(value));
        if (!std::isnan(value)) {
            EXPECT_EQ(back.value, value);
        }
        EXPECT_EQ(std::signbit(back.value), std::signbit(value));
    }
}

TEST(ProblemText, equality_ignores_what_an_operator_does_not_use) {
    Problem a = parse("conv2d in=4 kernel=3 act=relu"), b = a;
    b.act_low = 3; // relu has no bounds
    EXPECT_EQ(a, b);
    b.bias = true;
    EXPECT_FALSE(a == b);
    EXPECT_FALSE(parse("avg_pool2d in=4 kernel=3 include_pad=1") ==
                 parse("avg_pool2d in=4 kernel=3"));
    EXPECT_FALSE(parse("conv2d in=4 kernel=1") == parse("conv3d in=4 kernel=1"));
}

TEST(ProblemText, random_problems_come_back) {
    const char *given = std::getenv("SELVAGE_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20240229;
    for (Op op : {Op::conv, Op::depthwise, Op::conv_transpose, Op::max_pool, Op::avg_pool,
                  Op::lp_pool, Op::filter, Op::stride_sample, Op::pad})
        for (std::uint64_t i = 0; i < 1000; ++i) {
            const Problem problem = random_problem(op, seed + i);
            const std::string repro = "repro: SELVAGE_SEED=" + std::to_string(seed + i) +
                                      " problem_test --gtest_filter=*random_problems_come_back";
            ASSERT_TRUE(check(problem).ok()) << check(problem).text() << "\n" << repro;
            Problem back;
            const Status status = selvage::parse_problem(text(problem), &back);
            ASSERT_TRUE(status.ok()) << status.text() << "\n" << repro;
            ASSERT_EQ(text(back), text(problem)) << repro;
            // Not only the texts are equal.
            ASSERT_EQ(back.op, problem.op) << repro;
            for (auto count : {&Problem::n, &Problem::c, &Problem::k, &Problem::g})
                ASSERT_EQ(back.*count, problem.*count) << repro;
            ASSERT_EQ(back.rank, problem.rank) << repro;
            ASSERT_EQ(back.value, problem.value) << repro;
            ASSERT_EQ(back.keep_nan, problem.keep_nan) << repro;
            ASSERT_EQ(back.shift, problem.shift) << repro;
            ASSERT_EQ(back.p, problem.p) << repro;
            using selvage::Axis;
            for (auto axis : {&Problem::z, &Problem::y, &Problem::x}) {
                ASSERT_EQ((back.*axis).mode, (problem.*axis).mode) << repro;
                for (auto value :
                     {&Axis::size, &Axis::kernel, &Axis::stride, &Axis::dilation, &Axis::begin,
                      &Axis::end, &Axis::phase, &Axis::adaptive, &Axis::output_padding})
                    ASSERT_EQ(back.*axis.*value, problem.*axis.*value) << repro;
            }
        }
}

TEST(ProblemText, refuses_words_that_are_no_fields) {
    const std::string words = "a problem begins with an operator, one of conv, depthwise, "
                              "conv_transpose, max_pool, avg_pool, lp_pool, filter, stride_sample, "
                              "pad, with its rank, 1d, 2d or 3d; not '";
    for (const char *word : {"", "conv", "conv4d", "conv2", "Conv2d", "conv2d2d"})
        expect_refused(std::string(word) + (*word ? " in=4 kernel=3" : ""), Code::invalid_argument,
                       words + word + "'");
    expect_refused("conv2d in=4 kernel", Code::invalid_argument,
                   "'kernel' is not of the form NAME=VALUE");
    expect_refused("conv2d in=4 kernel=3 pad=1", Code::invalid_argument,
                   "pad=1: conv2d has no such field; it has n, c, k, g, in, kernel, stride, "
                   "dilation, pads, same, phase, border, value, type, layout, bias, act");
    expect_refused("max_pool2d in=4 kernel=3 value=1", Code::invalid_argument,
                   "value=1: max_pool2d has no such field; it has n, c, k, in, adaptive, kernel, "
                   "stride, dilation, pads, same, phase, border, type, layout, ceil, indices, "
                   "order, nan");
    expect_refused("pad2d in=4 kernel=3", Code::invalid_argument,
                   "kernel=3: pad2d has no such field; it has n, c, k, in, pads, same, to, border, "
                   "value, type, layout");
    for (const char *text :
         {"stride_sample2d in=4 pads=1", "stride_sample2d in=4 border=reflect",
          "conv2d in=4 kernel=3 adaptive=1", "conv2d in=4 kernel=3 output_shape=2",
          "conv_transpose2d in=4 kernel=3 to=2", "lp_pool2d in=4 kernel=3 include_pad=1",
          "avg_pool2d in=4 kernel=3 indices=plane", "max_pool2d in=4 kernel=3 p=2",
          "depthwise2d in=4 kernel=3 g=1", "filter2d in=4 kernel=3 bias=1",
          "conv_transpose2d in=4 kernel=3 value=1"}) {
        Problem problem;
        const Status status = selvage::parse_problem(text, &problem);
        EXPECT_EQ(status.code(), Code::invalid_argument) << text;
        EXPECT_NE(status.text().find("has no such field"), std::string::npos) << status.text();
    }
    expect_refused("conv2d in=4 kernel=3 in=5", Code::invalid_argument, "in=5: in is given twice");
    expect_refused("conv2d in=4 kernel=3 same=tf same=tf", Code::invalid_argument,
                   "same=tf: same is given twice");
    expect_refused("conv2d in=4 kernel=3 pads=1 same=tf", Code::invalid_argument,
                   "same=tf and pads are both given");
    expect_refused("conv2d kernel=3", Code::invalid_argument, "in is missing");
    expect_refused("conv2d in=3", Code::invalid_argument, "kernel is missing");
    expect_refused("avg_pool2d in=9 adaptive=3 kernel=3", Code::invalid_argument,
                   "adaptive and kernel are both given");
    expect_refused("avg_pool2d in=9 adaptive=3 same=tf", Code::invalid_argument,
                   "same=tf and adaptive are both given");
    expect_refused("pad1d in=3 to=5 same=causal", Code::invalid_argument,
                   "to=5: outputs 5: needs stride 1 and no same, unless transposed");
    expect_refused("conv_transpose1d in=3 kernel=3 stride=2 output_shape=5 same=causal",
                   Code::invalid_argument,
                   "output_shape=5: outputs 5: takes same onnx-upper or onnx-lower, no other");
    EXPECT_EQ(parse("conv_transpose1d in=3 kernel=3 stride=2 output_shape=6 same=onnx-lower"),
              parse("conv_transpose1d in=3 kernel=3 stride=2 pads=1,0"));
    expect_refused("conv_transpose1d in=3 kernel=3 output_padding=3000000000",
                   Code::invalid_argument,
                   "columns: output_padding 3000000000 is not in 0..2147483647");
    expect_refused("avg_pool1d in=3 adaptive=9223372036854775807", Code::invalid_argument,
                   "columns: adaptive 9223372036854775807 is not in 0..2147483647");
    expect_refused("conv2d \x1b[2J\v", Code::invalid_argument,
                   "'?[2J?' is not of the form NAME=VALUE");
    expect_refused("pad1d in=3 to=6 pads=1", Code::invalid_argument, "to and pads are both given");
    expect_refused("conv_transpose1d in=3 kernel=3 output_shape=6 pads=1", Code::invalid_argument,
                   "output_shape and pads are both given");
}

TEST(ProblemText, refuses_values_of_the_wrong_form) {
    const std::string whole = ": must be a whole number of 64 bits";
    for (const char *field :
         {"n=", "n=x", "n=1.5", "c=1e3", "k=0x10", "g=+1", "n=1,2", "c=99999999999999999999"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       field + whole);
    for (const char *field :
         {"stride=", "stride=2x", "stride=x2", "stride=2x2x2", "stride=2,2", "stride=2X2"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       std::string(field) +
                           ": must be a whole number or [DEPTHx]HEIGHTxWIDTH, one for each axis");
    for (const char *field :
         {"pads=1,2", "pads=1,2,3", "pads=1,2,3,4,5", "pads=1x2x3x4", "pads=1,,2,3", "pads=1,2,3,"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       std::string(field) +
                           ": must be a whole number or [FRONT,]TOP,LEFT,[BACK,]BOTTOM,RIGHT, two "
                           "for each axis");
    expect_refused("conv2d in=4 kernel=3 phase=1x1", Code::invalid_argument,
                   "phase=1x1: must be a whole number or [Z,]Y,X, one for each axis");
    expect_refused("conv2d in=4 kernel=3 value=zero", Code::invalid_argument,
                   "value=zero: must be a number");
    for (const char *field : {"bias=2", "bias=", "bias=true"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       std::string(field) + ": must be 0 or 1");
    for (const char *field : {"act=", "act=gelu", "act=relu:1", "act=clamp",
                              "act=clamp:", "act=clamp:1", "act=clamp:1:2:3", "act=clamp::2"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       std::string(field) + ": must be none, relu, relu6 or clamp:LOW:HIGH");
    expect_refused("conv2d in=4 kernel=3 same=SAME", Code::invalid_argument,
                   "same=SAME: must be one of valid, torch, tf, onnx-upper, onnx-lower, scipy, "
                   "scipy-correlate2d, causal, keep");
}

TEST(ProblemText, refuses_names_that_are_none) {
    const std::string mode = ": must be constant, reflect, symmetric, replicate or circular, or "
                             "one of these for each axis";
    for (const char *field :
         {"border=", "border=mirror", "border=reflect,", "border=reflect,reflect,reflect"})
        expect_refused(std::string("conv2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       field + mode);
    for (const selvage::NamedMode &each : selvage::modes)
        EXPECT_NE(mode.find(each.name), mode.npos) << each.name;
    expect_refused("conv2d in=4 kernel=3 type=f16", Code::invalid_argument,
                   "type=f16: must be f32, u8 or i8");
    expect_refused("conv2d in=4 kernel=3 layout=ncwh", Code::invalid_argument,
                   "layout=ncwh: must be nhwc or nchw");
    expect_refused("max_pool2d in=4 kernel=3 indices=yes", Code::invalid_argument,
                   "indices=yes: must be none, plane or tensor");
    expect_refused("max_pool2d in=4 kernel=3 order=y", Code::invalid_argument,
                   "order=y: must be row or column");
    expect_refused("max_pool2d in=4 kernel=3 nan=0", Code::invalid_argument,
                   "nan=0: must be keep or skip");
    for (const char *field : {"weights=", "weights=i16", "weights=fixed", "weights=fixed:-1"})
        expect_refused(std::string("filter2d in=4 kernel=3 ") + field, Code::invalid_argument,
                       std::string(field) + ": must be f32, or fixed:SHIFT with SHIFT at least 0");
}

TEST(Check, tells_what_is_not_computed) {
    expect_refused("conv2d in=4 kernel=3 type=i8", Code::unsupported,
                   "type=i8: conv2d computes f32 only");
    expect_refused("avg_pool2d in=4 kernel=3 type=u8", Code::unsupported,
                   "type=u8: avg_pool2d computes f32 only");
    for (const char *field : {"type=u8", "indices=plane"})
        expect_refused("max_pool2d in=4 kernel=3 nan=skip " + std::string(field), Code::unsupported,
                       "nan=skip is for type=f32 without indices");
    expect_refused("filter2d in=4 kernel=3 type=f32", Code::unsupported,
                   "type=f32: filter2d computes u8 only");
    expect_refused("conv_transpose2d in=4 kernel=3 border=reflect", Code::unsupported,
                   "border=reflect: pads of conv_transpose crop its output, there is no border to "
                   "read");
}

TEST(Check, refuses_values_that_a_type_has_not) {
    for (const char *value : {"256", "-1", "0.5", "nan"})
        expect_refused("pad1d in=4 type=u8 value=" + std::string(value), Code::invalid_argument,
                       "value=" + std::string(value) +
                           " is not a whole number in 0..255, as type=u8 needs");
    expect_refused("pad1d in=4 type=i8 value=128", Code::invalid_argument,
                   "value=128 is not a whole number in -128..127, as type=i8 needs");
    for (const char *p : {"0.5", "-1", "inf", "nan"})
        expect_refused("lp_pool1d in=4 kernel=2 p=" + std::string(p), Code::invalid_argument,
                       "p=" + std::string(p) + " is not a finite number of at least 1");
    expect_refused("filter1d in=4 kernel=2 weights=fixed:25", Code::invalid_argument,
                   "weights=fixed:25: SHIFT is at most 24");
    expect_refused("avg_pool1d in=4 adaptive=0", Code::invalid_argument,
                   "adaptive=0 is less than 1");
}

TEST(Check, refuses_meaningless_counts) {
    expect_refused("conv2d n=-1 in=4 kernel=3", Code::invalid_argument, "n=-1 is less than 0");
    expect_refused("conv2d c=0 in=4 kernel=3", Code::invalid_argument, "c=0 is less than 1");
    expect_refused("conv2d k=-2 in=4 kernel=3", Code::invalid_argument, "k=-2 is less than 1");
    expect_refused("conv2d g=0 in=4 kernel=3", Code::invalid_argument, "g=0 is less than 1");
    expect_refused("depthwise2d c=4 k=6 in=4 kernel=3", Code::invalid_argument,
                   "k=6 of depthwise2d is not a multiple of c=4");
    expect_refused("max_pool2d c=4 k=8 in=4 kernel=3", Code::invalid_argument,
                   "k=8 of max_pool2d differs from c=4");
    expect_refused("pad3d c=4 k=8 in=4", Code::invalid_argument, "k=8 of pad3d differs from c=4");
    expect_refused("conv2d in=4 kernel=3 act=clamp:2:1", Code::invalid_argument,
                   "act=clamp:2:1 needs LOW <= HIGH");
    expect_refused("conv2d in=4 kernel=3 act=clamp:nan:1", Code::invalid_argument,
                   "act=clamp:nan:1 needs LOW <= HIGH");
}

TEST(Check, PC_163_group_divisibility) {
    expect_refused("conv2d c=32 k=6 g=3 in=4 kernel=3", Code::invalid_argument,
                   "g=3 does not divide both c=32 and k=6");
    expect_refused("conv2d c=6 k=32 g=3 in=4 kernel=3", Code::invalid_argument,
                   "g=3 does not divide both c=6 and k=32");
    expect_refused("conv_transpose2d c=32 k=6 g=3 in=4 kernel=3", Code::invalid_argument,
                   "g=3 does not divide both c=32 and k=6");
}

TEST(Check, refuses_windows_and_names_the_axis) {
    expect_refused("conv2d in=4 kernel=0x3", Code::invalid_argument,
                   "rows: kernel 0 is less than 1");
    expect_refused("conv2d in=4 kernel=3 stride=1x0", Code::invalid_argument,
                   "columns: stride 0 is less than 1");
    expect_refused("conv2d in=4 kernel=3 stride=2x3 phase=0,3", Code::invalid_argument,
                   "columns: phase 3 is not in 0..2 (stride 3)");
    expect_refused("conv2d in=4x2 kernel=1 pads=0,-1,0,-2", Code::invalid_argument,
                   "columns: pads -1,-2 crop more than the size 2");
    expect_refused("conv2d in=3x4 kernel=1 pads=-1,0,-2,0", Code::invalid_argument,
                   "rows: size 3 with pads -1,-2 leaves no input");
    expect_refused("conv2d in=0x4 kernel=1 pads=3", Code::invalid_argument,
                   "rows: size 0 with pads 3,3 leaves no input");
    expect_refused("conv3d in=4x5x6 kernel=1x2x3 stride=0x1x1", Code::invalid_argument,
                   "planes: stride 0 is less than 1");
    expect_refused("pad1d in=5 pads=-1,-4", Code::invalid_argument,
                   "columns: size 5 with pads -1,-4 leaves no input");
    expect_refused("conv_transpose1d in=5 kernel=3 pads=4,4", Code::invalid_argument,
                   "columns: pads 4,4 crop more than the 7 outputs");
    expect_refused("conv_transpose1d in=5 kernel=3 output_padding=-1", Code::invalid_argument,
                   "columns: output_padding -1 is not in 0..2147483647");
    expect_refused("conv2d in=4 kernel=3000000000", Code::overflow,
                   "rows: size 4, kernel 3000000000, stride 1, dilation 1, pads 0,0: a value, the "
                   "extent of the window or the padded size exceeds 2147483647");
}

TEST(Check, PC_160_floor_versus_truncation) {
    expect_refused("conv2d in=3 kernel=6 stride=2", Code::invalid_argument,
                   "rows: size 3 with pads 0,0 and phase 0 is too short for kernel 6 with dilation "
                   "1 at stride 2: the number of outputs would be negative");
    EXPECT_TRUE(check(parse("conv2d in=2 kernel=3 stride=2")).ok()); // an empty result
    EXPECT_TRUE(check(parse("conv2d n=0 in=2 kernel=2")).ok());
}

TEST(Check, PC_155_halide_2gb) {
    // 2^31 - 4 bytes are the most that fit; one float more do not.
    EXPECT_TRUE(check(parse("max_pool2d in=1x536870911 kernel=1")).ok());
    expect_refused("max_pool2d in=1x536870912 kernel=1", Code::overflow,
                   "an image of the input of 1x1x536870912x1 numbers of 4 bytes exceeds 2147483647 "
                   "bytes, the most "
                   "that kernels address");
    expect_refused("conv2d k=1024 in=1024 kernel=1", Code::overflow,
                   "an image of the output of 1x1024x1024x1024 numbers of 4 bytes exceeds "
                   "2147483647 bytes, the "
                   "most that kernels address");
    expect_refused("max_pool2d n=0 c=9223372036854775807 in=4 kernel=1", Code::overflow,
                   "an image of the input of 1x4x4x9223372036854775807 numbers of 4 bytes exceeds "
                   "2147483647 bytes, "
                   "the most that kernels address");
}

TEST(Check, PC_154_table_size_wraps) {
    // 65536 * 65536 is 0 in 32 bits; 2^31 * 2^31 * 4 is 0 in 64.
    expect_refused("conv2d in=1 kernel=65536 pads=32768", Code::overflow,
                   "weights of 1x1x1x65536x65536 numbers of 4 bytes exceeds 2147483647 bytes, the "
                   "most that kernels address");
    expect_refused(
        "max_pool2d n=2147483648 c=2147483648 in=4 kernel=1", Code::overflow,
        "an image of the input of 1x4x4x2147483648 numbers of 4 bytes exceeds 2147483647 "
        "bytes, the most that kernels address");
}

TEST(Check, refuses_fields_of_other_operators) {
    Problem pool = parse("max_pool2d c=4 in=4 kernel=3");
    pool.bias = true;
    EXPECT_EQ(check(pool).text(), "max_pool2d has neither bias nor act");
    Problem conv = parse("conv2d in=4 kernel=3");
    conv.ceil = true;
    EXPECT_EQ(check(conv).text(), "conv2d has no ceil");
    conv = parse("conv2d in=4 kernel=3");
    conv.z.size = 2;
    EXPECT_EQ(check(conv).text(), "conv2d has no planes, but their axis says something");
    conv.z.size = 1;
    conv.y.output_padding = 1;
    EXPECT_EQ(check(conv).text(), "conv2d has no output_padding");
    conv.rank = 4;
    EXPECT_EQ(check(conv).text(), "rank 4 is not 1, 2 or 3");
    Problem pool3 = parse("avg_pool3d in=4 adaptive=2");
    pool3.y.adaptive = 0;
    EXPECT_EQ(check(pool3).text(), "adaptive is for all axes of a pool or for none");
    Problem depthwise = parse("depthwise2d c=4 in=4 kernel=3");
    depthwise.g = 4;
    EXPECT_EQ(check(depthwise).text(), "depthwise2d has no groups, but g=4");
}

} // namespace
