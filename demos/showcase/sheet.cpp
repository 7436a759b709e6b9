#include "showcase/sheet.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace demos {
namespace {

using Colour = std::array<Sample, 3>;
constexpr Colour background = {32, 34, 40};
constexpr Colour bright = {255, 214, 120};
constexpr Colour plain = {216, 218, 222};

constexpr std::int64_t gap = 20;
constexpr std::int64_t dot = 2; ///< pixels of the sheet for one of a letter
constexpr std::int64_t letter_width = 6 * dot;
constexpr std::int64_t letter_height = 9 * dot;

/// A letter of 5 x 9 dots: rows from the top, the highest of five bits at the left. Two rows lie
/// below the line that letters stand on.
struct Letter {
    char character;
    std::array<unsigned char, 9> rows;
};

constexpr Letter letters[] = {
    {'a', {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}},
    {'b', {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e}},
    {'c', {0x00, 0x00, 0x0f, 0x10, 0x10, 0x10, 0x0f}},
    {'d', {0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f}},
    {'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
    {'f', {0x06, 0x08, 0x1e, 0x08, 0x08, 0x08, 0x08}},
    {'g', {0x00, 0x00, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e}},
    {'h', {0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11}},
    {'i', {0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e}},
    {'j', {0x02, 0x00, 0x06, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c}},
    {'k', {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12}},
    {'l', {0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'m', {0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15}},
    {'n', {0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x11}},
    {'o', {0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e}},
    {'p', {0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x1e, 0x10, 0x10}},
    {'q', {0x00, 0x00, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x01}},
    {'r', {0x00, 0x00, 0x16, 0x18, 0x10, 0x10, 0x10}},
    {'s', {0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e}},
    {'t', {0x08, 0x08, 0x1e, 0x08, 0x08, 0x09, 0x06}},
    {'u', {0x00, 0x00, 0x11, 0x11, 0x11, 0x11, 0x0f}},
    {'v', {0x00, 0x00, 0x11, 0x11, 0x0a, 0x0a, 0x04}},
    {'w', {0x00, 0x00, 0x11, 0x15, 0x15, 0x15, 0x0a}},
    {'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
    {'y', {0x00, 0x00, 0x11, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e}},
    {'z', {0x00, 0x00, 0x1f, 0x02, 0x04, 0x08, 0x1f}},
    {'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
    {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}},
    {'3', {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e}},
    {'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
    {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    {'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
    {'7', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
    {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
    {'=', {0x00, 0x00, 0x1f, 0x00, 0x1f, 0x00, 0x00}},
    {',', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x04, 0x08}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
    {'-', {0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00}},
    {'+', {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}},
    {':', {0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00}},
    {'(', {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02}},
    {')', {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08}},
    {'/', {0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10}},
};

Picture rgb(std::int64_t height, std::int64_t width) { return blank({height, width, 3, 8}); }

Picture background_of(std::int64_t height, std::int64_t width) {
    Picture picture = rgb(height, width);
    for (std::size_t i = 0; i < picture.samples.size(); ++i)
        picture.samples[i] = background[i % 3];
    return picture;
}

void fill(Picture &onto, std::int64_t top, std::int64_t left, std::int64_t size, Colour colour) {
    for (std::int64_t y = top; y < top + size; ++y)
        for (std::int64_t x = left; x < left + size; ++x)
            for (std::int64_t channel = 0; channel < 3; ++channel)
                onto.at(y, x, channel) = colour[static_cast<std::size_t>(channel)];
}

void write(Picture &onto, std::int64_t top, std::int64_t left, const std::string &text,
           Colour colour) {
    for (char character : text) {
        for (const Letter &letter : letters)
            if (letter.character == character)
                for (std::int64_t y = 0; y < 9; ++y)
                    for (std::int64_t x = 0; x < 5; ++x)
                        if ((letter.rows[static_cast<std::size_t>(y)] >> (4 - x) & 1) != 0)
                            fill(onto, top + y * dot, left + x * dot, dot, colour);
        left += letter_width;
    }
}

void place(Picture &onto, std::int64_t top, std::int64_t left, const Picture &picture) {
    for (std::int64_t y = 0; y < picture.height; ++y)
        for (std::int64_t x = 0; x < picture.width; ++x)
            for (std::int64_t channel = 0; channel < 3; ++channel)
                onto.at(top + y, left + x, channel) = picture.at(y, x, channel);
}

std::int64_t width_of(const std::string &text) {
    return static_cast<std::int64_t>(text.size()) * letter_width;
}

std::int64_t height_of(const Strip &strip) {
    std::int64_t height = 0;
    for (const Panel &panel : strip.panels)
        height = std::max(height, panel.picture.height + gap / 2 + letter_height + gap);
    return height + (strip.heading.empty() ? 0 : letter_height + gap);
}

} // namespace

Picture sheet(const std::vector<Strip> &strips) {
    std::int64_t column = 0, width = 0, height = gap;
    for (const Strip &strip : strips)
        for (const Panel &panel : strip.panels)
            column =
                std::max({column, panel.picture.width + gap, width_of(panel.caption) + 2 * gap});
    for (const Strip &strip : strips) {
        width = std::max({width, static_cast<std::int64_t>(strip.panels.size()) * column,
                          width_of(strip.heading) + gap});
        height += height_of(strip);
    }

    Picture all = background_of(height, width + gap);
    std::int64_t top = gap;
    for (const Strip &strip : strips) {
        write(all, top, gap, strip.heading, bright);
        const std::int64_t below = strip.heading.empty() ? top : top + letter_height + gap;
        std::int64_t left = gap;
        for (const Panel &panel : strip.panels) {
            place(all, below, left, panel.picture);
            write(all, below + panel.picture.height + gap / 2, left, panel.caption, plain);
            left += column;
        }
        top += height_of(strip);
    }
    return all;
}

Picture viewable(const Picture &picture) {
    Picture result = rgb(picture.height, picture.width);
    const std::int64_t colours = picture.channels < 3 ? 1 : 3;
    for (std::int64_t y = 0; y < picture.height; ++y)
        for (std::int64_t x = 0; x < picture.width; ++x)
            for (std::int64_t channel = 0; channel < 3; ++channel) {
                const double peak = picture.peak();
                const double colour = picture.at(y, x, channel % colours) / peak;
                const double alpha = picture.has_alpha() ? picture.at(y, x, colours) / peak : 1;
                result.at(y, x, channel) =
                    static_cast<Sample>(std::lround(255 * (colour * alpha + 1 - alpha)));
            }
    return result;
}

Picture enlarged(const Picture &picture, std::int64_t factor) {
    Picture large = rgb(picture.height * factor, picture.width * factor);
    for (std::int64_t y = 0; y < large.height; ++y)
        for (std::int64_t x = 0; x < large.width; ++x)
            for (std::int64_t channel = 0; channel < 3; ++channel)
                large.at(y, x, channel) = picture.at(y / factor, x / factor, channel);
    return large;
}

Picture cut(const Picture &picture, std::int64_t top, std::int64_t left, std::int64_t height,
            std::int64_t width) {
    Picture part = rgb(height, width);
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            for (std::int64_t channel = 0; channel < 3; ++channel)
                part.at(y, x, channel) = picture.at(top + y, left + x, channel);
    return part;
}

Picture beside(const Picture &left, const Picture &right) {
    Picture both = background_of(left.height, left.width + gap / 2 + right.width);
    place(both, 0, 0, left);
    place(both, 0, left.width + gap / 2, right);
    return both;
}

Picture difference(const Picture &a, const Picture &b) {
    Picture result = a;
    for (std::size_t i = 0; i < result.samples.size(); ++i)
        result.samples[i] =
            static_cast<Sample>(std::clamp(128 + 2 * (a.samples[i] - b.samples[i]), 0, 255));
    return result;
}

} // namespace demos
