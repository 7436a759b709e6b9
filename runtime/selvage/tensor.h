#pragma once

#include <cstdint>

namespace selvage {

/// The type of a tensor's numbers.
enum class Type { f32, u8, i8 };

/// The order of a dense tensor's axes in memory, outermost first. Images are NHWC or NCHW; one axis
/// less gives NWC or NCW, one more NDHWC or NCDHW.
enum class Layout { nhwc, nchw };

/// A view of a tensor over memory that the caller owns: n images of d planes, h rows, w columns and
/// c channels. The strides are counted in elements and free, except that neighbours lie next to
/// each other along the innermost axis of the problem's layout: stride_c is 1 for NHWC, stride_w is
/// 1 for NCHW. A view never owns or frees its memory.
///
/// A view into a larger tensor, such as one with a non-zero origin, is its first element and the
/// strides of the larger one.
template <class T> struct Tensor {
    T *data = nullptr;         ///< the first element
    std::int64_t n = 0;        ///< images
    std::int64_t h = 0;        ///< rows
    std::int64_t w = 0;        ///< columns
    std::int64_t c = 0;        ///< channels
    std::int64_t stride_n = 0; ///< from one image to the next
    std::int64_t stride_h = 0; ///< from one row to the next
    std::int64_t stride_w = 0; ///< from one column to the next
    std::int64_t d = 1;        ///< planes of a volume
    std::int64_t stride_d = 0; ///< from one plane to the next
    std::int64_t stride_c = 1; ///< from one channel to the next
};

/// A dense view of n volumes of d planes, h rows, w columns and c channels, without gaps.
template <class T>
constexpr Tensor<T> dense(T *data, std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w,
                          std::int64_t c, Layout layout) {
    if (layout == Layout::nhwc)
        return {data, n, h, w, c, d * h * w * c, w * c, c, d, h * w * c, 1};
    return {data, n, h, w, c, d * h * w * c, w, 1, d, h * w, d * h * w};
}

/// A dense NHWC view of images.
template <class T>
constexpr Tensor<T> dense(T *data, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
    return dense(data, n, 1, h, w, c, Layout::nhwc);
}

} // namespace selvage
