#pragma once

#include <string>
#include <vector>

#include "png_filter/picture.h"

namespace demos {

/// A picture of a contact sheet with what stands below it. Captions and headings are in small
/// letters, digits and " =,.-+:()/"; anything else is left blank.
struct Panel {
    std::string caption;
    Picture picture; ///< as viewable() makes them
};

/// A line of panels with what stands above it; without panels a heading alone.
struct Strip {
    std::string heading;
    std::vector<Panel> panels;
};

/// All strips below each other, columns aligned.
Picture sheet(const std::vector<Strip> &strips);

/// The picture as 8-bit RGB, over white where it is transparent.
Picture viewable(const Picture &picture);

/// Every pixel as a square of factor x factor.
Picture enlarged(const Picture &picture, std::int64_t factor);

/// The part of a picture from (top, left) on.
Picture cut(const Picture &picture, std::int64_t top, std::int64_t left, std::int64_t height,
            std::int64_t width);

/// Two pictures of the same height, with a gap between them.
Picture beside(const Picture &left, const Picture &right);

/// Twice a - b, around middle grey, of two pictures of the same shape: grey where they agree.
Picture difference(const Picture &a, const Picture &b);

} // namespace demos
