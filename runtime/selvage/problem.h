#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "selvage/status.h"
#include "selvage/window.h"

namespace selvage {

enum class Op { conv2d, depthwise2d, max_pool2d, avg_pool2d };

/// What is applied to each output after the bias. All of them keep NaN.
enum class Activation { none, relu, relu6, clamp };

/// How weights are ordered in memory, outermost axis first: O outputs, I inputs of a group,
/// H rows, W columns. For depthwise2d I is 1.
enum class WeightOrder { oihw, hwio };

/// One operator on one shape: everything that decides the values, nothing that decides the speed.
///
/// The fields follow the problem text, whose grammar parse_problem() documents. Sizes are counted
/// in elements. A Problem is a plain value; check() tells whether it is meaningful.
struct Problem {
    Op op = Op::conv2d;
    std::int64_t n = 1; ///< images
    std::int64_t c = 1; ///< input channels
    std::int64_t k = 1; ///< output channels; pools have k == c, depthwise2d a multiple of c
    std::int64_t g = 1; ///< groups of conv2d; 1 for the other operators
    Axis y;             ///< rows: size, kernel, stride, dilation, begin (top), end (bottom), phase
    Axis x;             ///< columns: ... begin (left), end (right), phase
    float value = 0;    ///< what conv2d and depthwise2d read outside the input
    bool bias = false;  ///< conv2d and depthwise2d only
    Activation act = Activation::none;
    float act_low = -std::numeric_limits<float>::infinity(); ///< of Activation::clamp
    float act_high = std::numeric_limits<float>::infinity(); ///< of Activation::clamp
    bool include_pad = false; ///< avg_pool2d: pads count in the divisor
    bool ceil = false;        ///< pools: round the output size up
};

bool is_pool(Op op);

/// The spelling of an operator in problem texts, for example "conv2d".
const char *name(Op op);

/// Reads a problem text such as
///   conv2d n=1 c=64 k=128 in=56x56 kernel=3x3 stride=2 pads=0,0,1,1 bias=1 act=relu6
/// that is, an operator and fields NAME=VALUE in any order, with blanks between them. One number
/// stands for all axes. `in` (height x width) and `kernel` are needed, all other fields have
/// defaults:
///   n=1 c=1, k: 1 for conv2d and c for the others, g=1 (conv2d only), stride=1 dilation=1
///   pads=0 (top, left, bottom, right), or same=NAME (see `conventions` in window.h) in its place
///   phase=0 (y, x), border=constant type=f32 layout=nhwc (nothing else yet)
///   value=0 bias=0 act=none, or relu, relu6, clamp:LOW:HIGH (conv2d and depthwise2d only)
///   include_pad=0 ceil=0 (pools only; a max pool has no use for the first)
/// On failure *problem is unchanged and the text names the field, its value and what is allowed;
/// what check() refuses is refused with the same status. Allocates; safe from any thread.
Status parse_problem(std::string_view text, Problem *problem);

/// The complete, canonical text of a problem: every field that the operator uses, in the order
/// above. parse_problem() gives back an equal problem if check() accepts it.
std::string text(const Problem &problem);

/// Whether the problem is meaningful: counts of at least 1 (n: 0), groups that divide the channels,
/// windows that window() accepts along both axes and of which the crops leave some input, nothing
/// that the operator does not have. `outputs == 0` along an axis, and n == 0, are meaningful and
/// give empty results. Where the dense input, output or weights exceed 2^31 - 1 bytes, the code is
/// `overflow`.
Status check(const Problem &problem);

/// Whether both problems have the same canonical text; fields that their operator or activation
/// does not use make no difference.
bool operator==(const Problem &a, const Problem &b);

} // namespace selvage
