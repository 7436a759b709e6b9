#pragma once

#include <cstdint>
#include <limits>

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
    Op op = Op::conv;   ///< what is computed
    int rank = 2;       ///< axes besides images and channels, 1 to 3
    std::int64_t n = 1; ///< images
    std::int64_t c = 1; ///< input channels
    /// Output channels: a multiple of c for depthwise, any number for conv and conv_transpose, c
    /// for the others.
    std::int64_t k = 1;
    std::int64_t g = 1;           ///< groups of conv and conv_transpose; 1 for the other operators
    Axis z;                       ///< planes; begin is front, end is back. Axis() below rank 3
    Axis y;                       ///< rows; begin is top, end is bottom. Axis() below rank 2
    Axis x;                       ///< columns; begin is left, end is right
    float value = 0;              ///< what conv, depthwise, filter and pad read outside the input
    Type type = Type::f32;        ///< of input and output
    Layout layout = Layout::nhwc; ///< of input and output
    bool bias = false;            ///< conv, depthwise, conv_transpose
    Activation act = Activation::none;                       ///< conv, depthwise, conv_transpose
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
constexpr bool is_pool(Op op) {
    return op == Op::max_pool || op == Op::avg_pool || op == Op::lp_pool;
}

/// Whether the operator has weights: conv, depthwise, conv_transpose, filter.
constexpr bool has_weights(Op op) {
    return op == Op::conv || op == Op::depthwise || op == Op::conv_transpose || op == Op::filter;
}

} // namespace selvage
