#pragma once

#include <cstdint>
#include <limits>
#include <vector>

/// What the operators mean, as plain loops over a really padded copy of the input.
///
/// The oracle judges the library, so it includes nothing of it: it has a problem of its own, does
/// its own cropping and padding, and counts its windows by placing them one after the other. Sums
/// are kept in double, which is exact for the integer-valued data of the tests. Numbers of every
/// type are handed over as floats, which hold all bytes exactly. There are always three axes; those
/// that a problem does not have are 1 long.
namespace oracle {

enum class Op {
    conv,
    depthwise,
    conv_transpose,
    max_pool,
    avg_pool,
    lp_pool,
    filter,
    stride_sample,
    pad,
};

/// What lies outside the input; that of NumPy's `pad` (constant, reflect, symmetric, edge, wrap).
enum class Mode { constant, reflect, symmetric, replicate, circular };

struct Axis {
    int size = 1, kernel = 1, stride = 1, dilation = 1;
    int begin = 0, end = 0; ///< pads; a negative one crops. Of conv_transpose: crops of the result
    int phase = 0;          ///< how far into the padded input the first window starts
    Mode mode = Mode::constant;
    int adaptive = 0;       ///< windows that share the axis out among them; 0: none
    int output_padding = 0; ///< conv_transpose: elements after the last of the result
};

struct Problem {
    Op op = Op::conv;
    int n = 1, c = 1, k = 1, groups = 1;
    Axis z, y, x;
    double border = 0; ///< what conv, depthwise, filter and pad find in constant padding
    double low = -std::numeric_limits<double>::infinity(); ///< outputs are clamped to low..high
    double high = std::numeric_limits<double>::infinity();
    double lowest = -std::numeric_limits<double>::infinity(); ///< a maximum of nothing
    bool include_pad = false; ///< avg_pool divides by the padding too
    bool ceil = false;        ///< a last window may hang over the end of the padded input
    double p = 2;             ///< lp_pool: the norm
    bool fixed = false;       ///< filter: integer weights, the sum is divided by 2^shift
    int shift = 0;
    bool skip_nan = false;     ///< max_pool: NaN is passed over, as are pads
    bool tensor_index = false; ///< max_pool: indices count through the whole tensor, not the plane
    bool column_index = false; ///< max_pool: indices count along z first, not along x
};

struct Result {
    int d = 0, h = 0, w = 0;
    std::vector<float> values;
    std::vector<std::int64_t> indices; ///< max_pool: of the winners, -1 where there is none
};

/// For each window of an axis the elements of the input that its taps read, -1 for the border's
/// value. Not for conv_transpose.
std::vector<std::vector<int>> reads(const Axis &axis, bool ceil);

/// The dense NDHWC output for a dense NDHWC input. Weights are k x c/groups x taps, of
/// conv_transpose c x k/groups x taps, of depthwise and filter k x taps; taps are depth x rows x
/// columns. Weights and bias are empty where the operator has none; an empty bias adds nothing.
Result compute(const Problem &problem, const std::vector<float> &input,
               const std::vector<float> &weights, const std::vector<float> &bias);

} // namespace oracle
