#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "selvage/status.h"
#include "selvage/tensor.h"
#include "selvage/window.h"

namespace selvage {

/// The operators. A problem text spells them with the rank: conv2d, max_pool1d, pad3d.
enum class Op {
    conv,           ///< convolution (correlation: kernels are not flipped)
    depthwise,      ///< convolution of each channel on its own
    conv_transpose, ///< the adjoint of a convolution
    max_pool,
    avg_pool,
    lp_pool,       ///< (sum of |v|^p)^(1/p)
    filter,        ///< depthwise convolution of 8-bit images
    stride_sample, ///< every stride-th element, from `phase` on
    pad,           ///< the input with its border
};

/// What is applied to each output after the bias. All of them keep NaN.
enum class Activation { none, relu, relu6, clamp };

/// Whether a max pool also tells where each maximum lies, see Problem::indices.
enum class Indices { none, plane, tensor };

/// In which order indices count the elements of a plane (or volume).
enum class IndexOrder {
    row,    ///< (z*height + y)*width + x
    column, ///< (x*height + y)*depth + z
};

/// How weights are ordered in memory, outermost axis first: O outputs, I inputs of a group, taps
/// (planes, rows, columns). For depthwise and filter I is 1. For conv_transpose, `oihw` is the
/// order of PyTorch and ONNX, c x k/g x taps, and `hwio` is taps x c x k/g.
enum class WeightOrder { oihw, hwio };

/// One operator on one shape: everything that decides the values, nothing that decides the speed.
///
/// The fields follow the problem text, whose grammar parse_problem() documents. Sizes are counted
/// in elements. A Problem is a plain value; check() tells whether it is meaningful.
struct Problem {
    Op op = Op::conv;
    int rank = 2;       ///< axes besides images and channels, 1 to 3
    std::int64_t n = 1; ///< images
    std::int64_t c = 1; ///< input channels
    /// Output channels: a multiple of c for depthwise, any number for conv and conv_transpose, c
    /// for the others.
    std::int64_t k = 1;
    std::int64_t g = 1; ///< groups of conv and conv_transpose; 1 for the other operators
    Axis z;             ///< planes; begin is front, end is back. Axis() below rank 3
    Axis y;             ///< rows; begin is top, end is bottom. Axis() below rank 2
    Axis x;             ///< columns; begin is left, end is right
    float value = 0;    ///< what conv, depthwise, filter and pad read outside the input
    Type type = Type::f32;
    Layout layout = Layout::nhwc;
    bool bias = false; ///< conv, depthwise, conv_transpose
    Activation act = Activation::none;
    float act_low = -std::numeric_limits<float>::infinity(); ///< of Activation::clamp
    float act_high = std::numeric_limits<float>::infinity(); ///< of Activation::clamp
    bool include_pad = false; ///< avg_pool: pads count in the divisor
    bool ceil = false;        ///< pools: round the output size up
    float p = 2;              ///< lp_pool: the exponent, at least 1
    /// max_pool: what run() writes besides the maxima. `plane` counts within the image and channel
    /// (PyTorch), `tensor` adds (image*c + channel) * elements of a plane (ONNX), always in the
    /// uncropped input and whatever its layout.
    Indices indices = Indices::none;
    IndexOrder order = IndexOrder::row; ///< of indices; ONNX `storage_order`
    /// max_pool: NaN in a window makes its maximum NaN (PyTorch, TensorFlow); else NaN is passed
    /// over, which is faster.
    bool keep_nan = true;
    /// filter: -1 for weights in f32, or s >= 0 for whole weights of 16 bits in units of 2^-s.
    int shift = -1;
};

/// The pools: max_pool, avg_pool, lp_pool.
bool is_pool(Op op);

/// Whether the operator has weights: conv, depthwise, conv_transpose, filter.
bool has_weights(Op op);

/// The spelling in problem texts, for example "conv2d".
std::string name(Op op, int rank);

/// Reads a problem text such as
///   conv2d n=1 c=64 k=128 in=56x56 kernel=3x3 stride=2 pads=0,0,1,1 bias=1 act=relu6
/// that is, an operator and fields NAME=VALUE in any order, with blanks between them. One number
/// stands for all axes; several are in the order depth, height, width, as many as the operator has.
/// `in` and, where the operator has it, `kernel` are needed, all other fields have defaults:
///   n=1 c=1, k: 1 for conv and conv_transpose and c for the others, g=1 (conv, conv_transpose)
///   stride=1 dilation=1 pads=0 (front, top, left, back, bottom, right), or in place of the pads
///     same=NAME (see `conventions` in window.h)
///   phase=0 (z, y, x), border=constant (or reflect, symmetric, replicate, circular; one for all
///     axes or one for each, as in border=circular,constant), value=0
///   output_padding=0 (conv_transpose); output_shape=HxW in place of the pads, see
///     transposed_pads_for()
///   adaptive=HxW (pools) in place of kernel, stride, dilation, pads, phase and border; adaptive=1
///     is a global pool
///   to=HxW (pad) in place of the pads: so many outputs, the input centred, an odd place at the end
///   type=f32 (or u8, i8: max_pool, stride_sample, pad; filter has u8 only) layout=nhwc (or nchw)
///   bias=0 act=none, or relu, relu6, clamp:LOW:HIGH (conv, depthwise, conv_transpose)
///   include_pad=0 (avg_pool) ceil=0 (pools) p=2 (lp_pool) weights=f32, or fixed:SHIFT (filter)
///   indices=none, or plane, tensor; order=row, or column; nan=keep, or skip (max_pool)
/// On failure *problem is unchanged and the text names the field, its value and what is allowed;
/// what check() refuses is refused with the same status. Allocates; safe from any thread.
Status parse_problem(std::string_view text, Problem *problem);

/// The complete, canonical text of a problem: every field that the operator uses, in the order
/// above. parse_problem() gives back an equal problem if check() accepts it.
std::string text(const Problem &problem);

/// Whether the problem is meaningful: counts of at least 1 (n: 0), groups that divide the channels,
/// windows that window() or transposed() accepts along all axes and of which the crops leave some
/// input, nothing that the operator does not have. `outputs == 0` along an axis, and n == 0, are
/// meaningful and give empty results. Where one image of the dense input or output, or the weights,
/// exceed 2^31 - 1 bytes, the code is `overflow`.
Status check(const Problem &problem);

/// Whether both problems have the same canonical text; fields that their operator or activation
/// does not use make no difference.
bool operator==(const Problem &a, const Problem &b);

} // namespace selvage
