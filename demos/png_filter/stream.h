#pragma once

#include <cstdint>
#include <functional>

#include "filter.h"
#include "png_file.h"

namespace demos {

/// Filters a picture from one file into another, strip by strip. Rows are held from the first strip
/// that reads them to the last, and the file is gone back to where a row is wanted that was passed:
/// once for a circular border above, which begins with the picture's last rows.
/// `progress` is told how many rows of the output are written.
void filter_png(PngReader &in, Filter &filter, PngWriter &out,
                const std::function<void(std::int64_t rows)> &progress);

} // namespace demos
