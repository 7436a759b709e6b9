#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <selvage/layer.h>

#include "png_filter/picture.h"

namespace demos {

/// What is asked of a filter; the fields are the flags of png_filter.
struct Settings {
    std::string filter;             ///< one of filter_names()
    std::int64_t size = 3;          ///< rows and columns of the window
    std::int64_t stride = 1;        ///< input pixels from one output pixel to the next, both ways
    std::string phase = "0,0";      ///< "y,x", each below the stride
    std::string border = "same=tf"; ///< "same=NAME" or "pads=T,L,B,R", as in problem texts
    float value = 0;                ///< what lies outside the picture, on the scale of its samples
};

std::vector<std::string> filter_names();

/// The definition of every filter in words, for help texts.
const char *filter_notes();

/// A filtered picture and the time that the kernel took; reading and rounding are not in it.
struct Filtered {
    Picture picture;
    double milliseconds = 0;
};

/// A filter made ready for pictures of one shape and depth: a plan of the library with its packed
/// weights and its scratch memory.
class Filter {
public:
    /// Throws BadInput, with one line of text, where the settings make no sense for `like`.
    Filter(const Settings &settings, const Picture &like);

    /// Filters a picture of the shape given before. Results are rounded to the nearest number
    /// (halves up) and saturated.
    Filtered operator()(const Picture &picture);

    const selvage::Plan &plan() const { return layer_.plan(); }

private:
    /// The library sees sign*(sample) - shift, and what it returns is turned back in the same way.
    float sign_ = 1;
    float shift_ = 0;
    std::int64_t kernels_ = 1; ///< results of each channel; two are the sides of a gradient
    selvage::Layer layer_;
};

} // namespace demos
