#pragma once

#include "schedules/stages.h"

namespace selvage {

/// What the window operators read: depthwise convolution and the pools, which treat each channel on
/// its own.
struct WindowInputs {
    Halide::Func input; ///< (c, x, y, n)
    Halide::Expr width, height;
    Halide::Expr kernel_x, kernel_y;
    Halide::Expr left, top; ///< `before` of the columns and rows, see Window in window.h
    Halide::Expr stride_x, stride_y;
    Halide::Expr dilation_x, dilation_y;
    /// How taps outside the input are kept from counting. `read`: they read the border's value.
    /// `skip`: they are left out, which is the same where the value is neutral (0 for sums, -inf
    /// for maxima). `skip_rows`: rows are left out, columns read the value. `none`: no window reads
    /// outside the input, and nothing tests for it. `flat`: rows are left out where the value is
    /// neutral, columns read it; see below.
    enum class Border { read, skip, skip_rows, none, flat } border;
    /// Of `flat`, which is for horizontal stride 1 on pixels without gaps. There a row is one line
    /// of numbers, k counts them (x is 0), and the tap to the right is `channels` further on, so
    /// that vectors of `lanes` numbers need not end at a pixel. Tables of one entry per channel
    /// repeat themselves up to channels + lanes.
    Halide::Expr channels;
    int lanes;
};

/// out(k, x, y, n) = activation(bias(k) + sum of in(k / multiplier, ...) * weights(k, kx, ky))
WindowStages depthwise2d(const WindowInputs &in, const Halide::Func &weights,
                         const Halide::Func &bias, const Halide::Expr &multiplier,
                         const Halide::Expr &value, const Halide::Expr &low,
                         const Halide::Expr &high);

/// The largest tap inside the input, or NaN if there is one; -inf where no tap is inside.
WindowStages max_pool2d(const WindowInputs &in);

/// The sum of the taps inside the input over counted_x(x) * counted_y(y), the number of taps that
/// count (Window::counted in window.h); 0 where none counts. With Border::flat counted_x(k).
WindowStages avg_pool2d(const WindowInputs &in, const Halide::Func &counted_x,
                        const Halide::Func &counted_y);

} // namespace selvage
