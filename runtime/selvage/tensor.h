#pragma once

#include <cstdint>

namespace selvage {

/// A view of an image tensor over memory that the caller owns. The channels of a pixel are
/// adjacent (NHWC); the strides of the other axes are free and counted in elements. A view
/// never owns or frees its memory.
template <class T> struct Tensor {
    T *data = nullptr;
    std::int64_t n = 0; ///< images
    std::int64_t h = 0; ///< rows
    std::int64_t w = 0; ///< columns
    std::int64_t c = 0; ///< channels
    std::int64_t stride_n = 0;
    std::int64_t stride_h = 0;
    std::int64_t stride_w = 0;
};

/// A dense NHWC view: n images of h rows, w columns and c channels, without gaps.
template <class T>
constexpr Tensor<T> dense(T *data, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
    return {data, n, h, w, c, h * w * c, w * c, c};
}

} // namespace selvage
