#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace demos {

/// What the user gave cannot be used: a program ends with exit code 2. The text is one line.
/// Any other exception of the demos is a failure of the machine (a full disk): exit code 1.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A number of a picture as its file has it, in 0..Shape::peak(): nothing is linearised, colours
/// are not multiplied with alpha.
using Sample = std::uint16_t;

/// Rows or columns of a picture; libpng takes no more.
constexpr std::int64_t longest_side = 1000000;

struct Shape {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 1; ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
    int depth = 8;             ///< bits of a sample, 8 or 16

    bool has_alpha() const { return channels % 2 == 0; }
    int peak() const { return depth == 16 ? 65535 : 255; }
    std::size_t row_samples() const { return static_cast<std::size_t>(width * channels); }
    std::size_t count() const { return static_cast<std::size_t>(height) * row_samples(); }
};

/// A picture in memory: rows from the top, the channels of a pixel adjacent.
struct Picture : Shape {
    std::vector<Sample> samples;

    Sample &at(std::int64_t y, std::int64_t x, std::int64_t channel) {
        return samples[static_cast<std::size_t>((y * width + x) * channels + channel)];
    }
    Sample at(std::int64_t y, std::int64_t x, std::int64_t channel) const {
        return samples[static_cast<std::size_t>((y * width + x) * channels + channel)];
    }
    Sample *row(std::int64_t y) { return &at(y, 0, 0); }
    const Sample *row(std::int64_t y) const { return samples.data() + y * width * channels; }
};

/// A black picture.
inline Picture blank(const Shape &shape) { return {shape, std::vector<Sample>(shape.count())}; }

} // namespace demos
