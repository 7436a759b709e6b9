#pragma once

#include <limits>
#include <vector>

/// What the operators mean, as plain loops over a really padded copy of the input.
///
/// The oracle judges the library, so it includes nothing of it: it has a problem of its own, does
/// its own cropping and padding, and counts its windows by placing them one after the other. Sums
/// are kept in double, which is exact for the integer-valued data of the tests.
namespace oracle {

enum class Op { conv, depthwise, max_pool, avg_pool };

struct Axis {
    int size = 1, kernel = 1, stride = 1, dilation = 1;
    int begin = 0, end = 0; ///< pads; a negative one crops
    int phase = 0;          ///< how far into the padded input the first window starts
};

struct Problem {
    Op op = Op::conv;
    int n = 1, c = 1, k = 1, groups = 1;
    Axis y, x;
    float border = 0; ///< what conv and depthwise find in the padding
    float low = -std::numeric_limits<float>::infinity(); ///< outputs are clamped to low..high
    float high = std::numeric_limits<float>::infinity();
    bool include_pad = false; ///< avg_pool divides by the padding too
    bool ceil = false;        ///< a last window may hang over the end of the padded input
};

/// How many windows fit along an axis.
int outputs(const Axis &axis, bool ceil);

/// The dense NHWC output for a dense NHWC input. Weights are OIHW (I is 1 for depthwise) and, like
/// the bias, empty for pools; an empty bias adds nothing.
std::vector<float> compute(const Problem &problem, const std::vector<float> &input,
                           const std::vector<float> &weights, const std::vector<float> &bias);

} // namespace oracle
