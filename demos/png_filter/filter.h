#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <selvage/layer.h>
#include <selvage/window.h>

#include "kernels.h"
#include "picture.h"

namespace demos {

/// What is asked of a filter; the fields are the flags of png_filter.
struct Settings {
    std::string filter;           ///< one of filter_names(), or empty: `kernel` is applied
    Kernel kernel;                ///< only without a `filter`
    std::int64_t size = 3;        ///< rows and columns of the window of a `filter`
    std::int64_t stride = 1;      ///< input pixels from one output pixel to the next, both ways
    std::string phase = "0,0";    ///< "y,x", each below the stride
    std::string pads = "same=tf"; ///< "same=NAME" or "pads=T,L,B,R", as in problem texts
    /// The tap (y, x) that lies on the pixel, in place of `pads`.
    std::optional<std::pair<std::int64_t, std::int64_t>> anchor;
    std::string border = "constant"; ///< a mode, or "y,x" with one for each axis
    float value = 0;                 ///< of a constant border, on the scale of the samples
    std::int64_t strip = 0;          ///< output rows of a strip; 0: as many as 16 MB hold
};

std::vector<std::string> filter_names();

/// The definition of every filter in words, for help texts.
const char *filter_notes();

/// A filter made ready for pictures of one shape. It works on strips: so many rows of the output,
/// from the top down, the last strip with what remains.
///
/// A strip's input is gathered row by row, those of the border above and below the picture included
/// (rows of the picture once more, or of its value). So to the library each strip is a picture
/// without borders above and below: one plan serves all strips, and since each output is computed
/// from the same numbers in the same way, results do not depend on where strips begin.
class Filter {
public:
    /// Throws BadInput, with one line of text, where the settings make no sense for the shape.
    Filter(const Settings &settings, const Shape &input);

    const Shape &output() const { return output_; }
    std::int64_t strips() const { return (output_.height + strip_rows_ - 1) / strip_rows_; }
    /// Output rows of every strip but the last.
    std::int64_t strip_rows() const { return strip_rows_; }
    /// Output rows of one strip.
    std::int64_t rows(std::int64_t strip) const;

    /// Which rows and columns of the picture are read.
    const selvage::Window &window_y() const { return window_y_; }
    const selvage::Window &window_x() const { return window_x_; }

    /// The library's name of the kernel that is called.
    const std::string &kernel() const { return layer_.plan().kernel(); }

    /// The rows of the picture that a strip reads, ascending, each once.
    std::vector<std::int64_t> reads(std::int64_t strip) const;

    /// The samples of a row of the picture that reads() named.
    using RowOf = std::function<const Sample *(std::int64_t y)>;

    /// Computes a strip into `output`, rows(strip) rows of the output. Results are rounded to the
    /// nearest number (halves to the even one) and saturated. Returns the milliseconds that the
    /// kernel took; gathering and rounding are not in it.
    double run(std::int64_t strip, const RowOf &row, Sample *output);

private:
    /// The dense tensors that the kernel reads and writes.
    template <class T> struct Tensors { std::vector<T> input, output; };

    std::vector<std::int64_t> sources(std::int64_t strip) const;
    template <class T>
    double run(Tensors<T> &tensors, std::int64_t strip, const RowOf &row, Sample *output);

    Shape input_, output_;
    selvage::Window window_y_, window_x_;
    std::int64_t strip_rows_ = 0;
    std::int64_t copies_ = 1; ///< tensor channels for one of the picture; 2: a gradient's sides
    bool complement_ = false; ///< the library sees peak - sample
    float shift_ = 0;         ///< the library sees sample - shift
    float outside_ = 0;       ///< what the library is to see above and below the picture
    selvage::Layer layer_;
    Tensors<std::uint8_t> bytes_;
    Tensors<float> floats_;
};

/// A filtered picture and the milliseconds that the kernel took.
struct Filtered {
    Picture picture;
    double milliseconds = 0;
};

/// Filters a whole picture of the filter's shape.
Filtered filtered(Filter &filter, const Picture &picture);

} // namespace demos
