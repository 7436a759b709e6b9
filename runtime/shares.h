#pragma once

#include <cstdint>
#include <vector>

#include "selvage/region.h"

namespace selvage {

/// A rectangle of an output for some of its images.
struct Piece {
    Range images;
    Region output;
};

/// Cuts an output of some images, none of them empty, into at most `threads` shares, each of one to
/// three pieces. They are equally large but for one line across an axis (a plane, row or column),
/// or but for one image where there are 2^20 images and more.
std::vector<std::vector<Piece>> shares(std::int64_t images, const Region &output,
                                       Range Region::*axis, int threads);

} // namespace selvage
