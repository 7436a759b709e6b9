#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace demos {

/// What the user gave cannot be used: a program ends with exit code 2. The text is one line.
/// Any other exception of the demos is a failure of the machine (a full disk): exit code 1.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A picture in memory: rows from the top, the channels of a pixel adjacent. Samples are the
/// numbers of the file, whole and in 0..peak(): nothing is linearised, colours are not multiplied
/// with alpha.
struct Picture {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 1; ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
    int depth = 8;             ///< bits of a sample, 8 or 16
    std::vector<float> samples;

    bool has_alpha() const { return channels % 2 == 0; }
    float peak() const { return depth == 16 ? 65535.0F : 255.0F; }
    std::size_t count() const { return static_cast<std::size_t>(height * width * channels); }
    float &at(std::int64_t y, std::int64_t x, std::int64_t channel) {
        return samples[static_cast<std::size_t>((y * width + x) * channels + channel)];
    }
    float at(std::int64_t y, std::int64_t x, std::int64_t channel) const {
        return samples[static_cast<std::size_t>((y * width + x) * channels + channel)];
    }
};

/// Reads a PNG of any colour type, depth and interlacing. Samples of 1, 2 and 4 bits are scaled to
/// 8 bits, a palette becomes RGB, and a transparent colour (tRNS) becomes an alpha channel. Gamma,
/// colour profile and other notes in the file are not kept.
/// Throws BadInput where the file is missing, broken, cut short, or above 2^27 - 1 pixels: the most
/// that kernels address with four channels.
Picture read_png(const std::filesystem::path &path);

/// Writes a picture, without interlacing. The file appears complete or not at all: until then
/// whatever was at `path` stays as it was, so `path` may also be where the picture came from.
/// Throws std::runtime_error where it cannot be written.
void write_png(const std::filesystem::path &path, const Picture &picture);

} // namespace demos
