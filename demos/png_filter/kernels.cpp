#include "kernels.h"

#include <algorithm>
#include <cmath>

namespace demos {
namespace {

template <class Tap> Kernel square(std::int64_t size, Tap tap) {
    Kernel kernel{size, size, {}};
    for (std::int64_t y = 0; y < size; ++y)
        for (std::int64_t x = 0; x < size; ++x)
            kernel.taps.push_back(static_cast<float>(tap(y, x)));
    return kernel;
}

/// One line of taps, whose positive ones add up to 1.
using Line = std::vector<double>;

Line normalised(Line line) {
    double sum = 0;
    for (double tap : line)
        sum += std::max(tap, 0.0);
    for (double &tap : line)
        tap /= sum;
    return line;
}

Kernel product(const Line &rows, const Line &columns) {
    return square(static_cast<std::int64_t>(rows.size()), [&](std::int64_t y, std::int64_t x) {
        return rows[static_cast<std::size_t>(y)] * columns[static_cast<std::size_t>(x)];
    });
}

Line gaussian_line(std::int64_t size) {
    const double middle = static_cast<double>(size - 1) / 2;
    const double sigma = 0.3 * (middle - 1) + 0.8;
    Line line;
    for (std::int64_t t = 0; t < size; ++t) {
        const double distance = (static_cast<double>(t) - middle) / sigma;
        line.push_back(std::exp(-distance * distance / 2));
    }
    return normalised(line);
}

/// {1} convolved with {1, 1} until `size` taps are there, the last time with {last, 1}. With
/// last = 1 that is a row of Pascal's triangle, with last = -1 the difference of smoothed
/// neighbours. Halved at each step, so that long lines do not overflow.
Line binomial_line(std::int64_t size, double last) {
    Line line = {1};
    while (static_cast<std::int64_t>(line.size()) < size) {
        const bool is_last = static_cast<std::int64_t>(line.size()) + 1 == size;
        Line longer(line.size() + 1, 0);
        for (std::size_t t = 0; t < line.size(); ++t) {
            longer[t] += line[t] / 2 * (is_last ? last : 1);
            longer[t + 1] += line[t] / 2;
        }
        line = longer;
    }
    return normalised(line);
}

} // namespace

Kernel gaussian(std::int64_t size) { return product(gaussian_line(size), gaussian_line(size)); }

Kernel middle(std::int64_t size) {
    return square(size, [&](std::int64_t y, std::int64_t x) {
        return y == size / 2 && x == size / 2 ? 1 : 0;
    });
}

Kernel sharpen(std::int64_t size) {
    const Kernel blur = gaussian(size), pixel = middle(size);
    return square(size, [&](std::int64_t y, std::int64_t x) {
        const auto i = static_cast<std::size_t>(y * size + x);
        return 2 * pixel.taps[i] - blur.taps[i];
    });
}

Kernel emboss(std::int64_t size) {
    const auto ramp = [&](std::int64_t y, std::int64_t x) {
        return static_cast<double>(y + x - (size - 1));
    };
    double positive = 0;
    for (float tap : square(size, ramp).taps)
        positive += std::max(tap, 0.0F);
    return square(size, [&](std::int64_t y, std::int64_t x) {
        return 4 * ramp(y, x) / positive + (y == size / 2 && x == size / 2 ? 1 : 0);
    });
}

Kernel sobel_y(std::int64_t size) {
    return product(binomial_line(size, -1), binomial_line(size, 1));
}

Kernel sobel_x(std::int64_t size) {
    return product(binomial_line(size, 1), binomial_line(size, -1));
}

} // namespace demos
