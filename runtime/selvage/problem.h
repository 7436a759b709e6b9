#pragma once

#include <string>
#include <string_view>

#include "selvage/core/problem.h"
#include "selvage/export.h"
#include "selvage/status.h"

namespace selvage {

/// The spelling in problem texts, for example "conv2d".
SELVAGE_API std::string name(Op op, int rank);

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
///   output_padding=0 (conv_transpose); output_shape=HxW in place of the pads, with
///     same=onnx-upper or onnx-lower beside it, see transposed_pads_for()
///   adaptive=HxW (pools) in place of kernel, stride, dilation, pads, phase and border; adaptive=1
///     is a global pool
///   to=HxW (pad) in place of the pads: so many outputs, the input centred, an odd place at the end
///   type=f32 (or u8, i8: max_pool, stride_sample, pad; filter has u8 only) layout=nhwc (or nchw)
///   bias=0 act=none, or relu, relu6, clamp:LOW:HIGH (conv, depthwise, conv_transpose)
///   include_pad=0 (avg_pool) ceil=0 (pools) p=2 (lp_pool) weights=f32, or fixed:SHIFT (filter)
///   indices=none, or plane, tensor; order=row, or column; nan=keep, or skip (max_pool)
/// On failure *problem is unchanged and the text names the field, its value and what is allowed;
/// what check() refuses is refused with the same status. Allocates; safe from any thread.
SELVAGE_API Status parse_problem(std::string_view text, Problem *problem);

/// The complete, canonical text of a problem: every field that the operator uses, in the order
/// above. parse_problem() gives back an equal problem if check() accepts it.
SELVAGE_API std::string text(const Problem &problem);

/// Whether the problem is meaningful: counts of at least 1 (n: 0), groups that divide the channels,
/// windows that window() or transposed() accepts along all axes and of which the crops leave some
/// input, nothing that the operator does not have. `outputs == 0` along an axis, and n == 0, are
/// meaningful and give empty results. Where one image of the dense input or output, or the weights,
/// exceed 2^31 - 1 bytes, the code is `overflow`.
SELVAGE_API Status check(const Problem &problem);

/// Whether both problems have the same canonical text; fields that their operator or activation
/// does not use make no difference.
SELVAGE_API bool operator==(const Problem &a, const Problem &b);

} // namespace selvage
