#pragma once

#include <cstdint>

namespace selvage {

/// The elements begin .. begin + size - 1 of an axis.
struct Range {
    std::int64_t begin = 0; ///< the first element
    std::int64_t size = 1;  ///< how many there are
};

/// Whether both are the same elements.
constexpr bool operator==(const Range &a, const Range &b) {
    return a.begin == b.begin && a.size == b.size;
}

/// A rectangle of an image or volume: planes, rows and columns. It covers all images and channels.
struct Region {
    Range z; ///< planes
    Range y; ///< rows
    Range x; ///< columns
};

/// Whether both are the same rectangle.
constexpr bool operator==(const Region &a, const Region &b) {
    return a.z == b.z && a.y == b.y && a.x == b.x;
}

} // namespace selvage
