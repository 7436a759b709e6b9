#pragma once

#include <cstdint>
#include <vector>

#include "selvage/region.h"
#include "selvage/schedule.h"

namespace selvage {

/// A rectangle of an output for some of its images and channels.
struct Piece {
    Range images, channels;
    Region output;
};

/// Cuts an output, none of whose sizes is 0, into at most `threads` shares, each of one to three
/// pieces. They are equally large but for `unit` lines across an axis (planes, rows or columns) or
/// channels, of which pieces hold multiples, or but for one image where the split is by images or
/// there are 2^20 and more of them. The split is not automatic.
std::vector<std::vector<Piece>> shares(const Piece &whole, Split split, std::int64_t unit,
                                       int threads);

} // namespace selvage
