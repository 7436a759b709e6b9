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

/// A number that a row of the kernel table fixes, or else the run-time argument.
inline Halide::Expr fixed_or(int fixed, const Halide::Expr &argument) {
    return fixed != 0 ? Halide::Expr(fixed) : argument;
}

} // namespace selvage
