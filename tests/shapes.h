#pragma once

#include <selvage/kernel.h>
#include <selvage/problem.h>
#include <selvage/tensor.h>

/// What specialised kernels are told in a selvage_shape, from what the library is told.

/// The sizes, pads, phases and output paddings of the problem.
inline selvage_shape shape_of(const selvage::Problem &p) {
    selvage_shape s = {};
    s.n = p.n;
    s.depth = p.z.size;
    s.height = p.y.size;
    s.width = p.x.size;
    s.front = p.z.begin;
    s.top = p.y.begin;
    s.left = p.x.begin;
    s.back = p.z.end;
    s.bottom = p.y.end;
    s.right = p.x.end;
    s.phase_z = p.z.phase;
    s.phase_y = p.y.phase;
    s.phase_x = p.x.phase;
    s.output_padding_z = p.z.output_padding;
    s.output_padding_y = p.y.output_padding;
    s.output_padding_x = p.x.output_padding;
    return s;
}

/// The same shape for views with these strides.
template <class In, class Out>
selvage_shape with_strides(selvage_shape s, const selvage::Tensor<In> &in,
                           const selvage::Tensor<Out> &out) {
    s.input_stride_n = in.stride_n;
    s.input_stride_d = in.stride_d;
    s.input_stride_h = in.stride_h;
    s.input_stride_w = in.stride_w;
    s.input_stride_c = in.stride_c;
    s.output_stride_n = out.stride_n;
    s.output_stride_d = out.stride_d;
    s.output_stride_h = out.stride_h;
    s.output_stride_w = out.stride_w;
    s.output_stride_c = out.stride_c;
    return s;
}
