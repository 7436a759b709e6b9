#pragma once

#include <cstdint>

#include "selvage/tensor.h"

/// The type of a problem's elements, as the argument of a generic function.
template <class Call> auto with_type(selvage::Type type, Call call) {
    switch (type) {
    case selvage::Type::u8: return call(std::uint8_t());
    case selvage::Type::i8: return call(std::int8_t());
    case selvage::Type::f32: break;
    }
    return call(float());
}

/// The view of a type.
template <class T, class From> selvage::Tensor<T> as(const selvage::Tensor<From> &v) {
    return {static_cast<T *>(v.data),
            v.n,
            v.h,
            v.w,
            v.c,
            v.stride_n,
            v.stride_h,
            v.stride_w,
            v.d,
            v.stride_d,
            v.stride_c};
}
