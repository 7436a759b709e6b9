#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace demos {

/// The taps of a linear filter, row by row from the top. A result is the sum of tap times sample
/// over the window: correlation, the kernel is not flipped.
struct Kernel {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::vector<float> taps;
};

/// A normal distribution of standard deviation 0.3*((size-1)/2-1)+0.8, of sum 1.
Kernel gaussian(std::int64_t size);

/// The pixel in the middle of the window, untouched. For odd sizes, like all that follow.
Kernel middle(std::int64_t size);

/// Twice the pixel less its gaussian blur.
Kernel sharpen(std::int64_t size);

/// The pixel plus a slope that is lit from the top left.
Kernel emboss(std::int64_t size);

/// The two sides of a gradient, down and across: differences one way, binomial smoothing the other.
Kernel sobel_y(std::int64_t size);
Kernel sobel_x(std::int64_t size);

/// Reads a kernel from a text: one row on each line, numbers separated by blanks or commas, what
/// follows a # ignored and empty lines too; numpy.savetxt writes such files.
/// Throws BadInput, with the line, where that is not a rectangle of finite numbers.
Kernel read_kernel(const std::filesystem::path &path);

} // namespace demos
