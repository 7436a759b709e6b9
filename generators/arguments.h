#pragma once

#include <vector>

#include <Halide.h>

/// How the arguments of kernels lie in memory. All coordinates begin at 0.
namespace selvage {

/// A view that a caller owns; dimension `dense` has stride 1, none if it is -1.
template <class Buffer> void view_layout(Buffer &&buffer, int dense) {
    for (int d = 0; d < buffer.dimensions(); ++d) {
        buffer.dim(d).set_min(0);
        buffer.dim(d).set_stride(d == dense ? Halide::Expr(1) : Halide::Expr());
    }
}

/// Dense, aligned as Plan::pack() writes it; an extent that is not 0 is fixed.
template <class Buffer> void packed_layout(Buffer &buffer, const std::vector<int> &extents) {
    Halide::Expr stride = 1;
    for (int d = 0; d < buffer.dimensions(); ++d) {
        buffer.dim(d).set_min(0).set_stride(stride);
        if (extents[d] != 0)
            buffer.dim(d).set_extent(extents[d]);
        stride = stride * buffer.dim(d).extent();
    }
    buffer.set_host_alignment(64);
}

/// A number that a kernel is made for, or else the run-time argument. It only tells the compiler
/// what the argument will be, so no value depends on it.
inline Halide::Expr fixed_or(int fixed, const Halide::Expr &argument) {
    return fixed != 0 ? Halide::Expr(fixed) : argument;
}

/// The same for the extent of a dimension.
template <class Dimension> void fix_extent(Dimension dimension, int fixed) {
    if (fixed != 0)
        dimension.set_extent(fixed);
}

/// Parameters of every generator: numbers that the kernel is made for, 0 where they are arguments.
struct FixedNumbers {
    Halide::GeneratorParam<int> kernel_x{"fixed_kernel_x", 0}, kernel_y{"fixed_kernel_y", 0},
        kernel_z{"fixed_kernel_z", 0};
    Halide::GeneratorParam<int> stride_x{"fixed_stride_x", 0}, stride_y{"fixed_stride_y", 0};
    Halide::GeneratorParam<int> dilation_x{"fixed_dilation_x", 0},
        dilation_y{"fixed_dilation_y", 0};
    /// Of the input, the output: of conv those of one group. Of lines, channels that follow each
    /// other.
    Halide::GeneratorParam<int> channels{"fixed_channels", 0}, outputs{"fixed_outputs", 0};
    Halide::GeneratorParam<int> groups{"fixed_groups", 0}; ///< of conv

    /// Puts them in the place of the arguments of ConvInputs or WindowInputs.
    template <class Inputs> void fix(Inputs &in) const {
        in.kernel_x = fixed_or(kernel_x, in.kernel_x);
        in.kernel_y = fixed_or(kernel_y, in.kernel_y);
        in.kernel_z = fixed_or(kernel_z, in.kernel_z);
        in.stride_x = fixed_or(stride_x, in.stride_x);
        in.stride_y = fixed_or(stride_y, in.stride_y);
        in.dilation_x = fixed_or(dilation_x, in.dilation_x);
        in.dilation_y = fixed_or(dilation_y, in.dilation_y);
    }
};

} // namespace selvage
