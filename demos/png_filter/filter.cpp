#include "png_filter/filter.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <new>

namespace demos {
namespace {

/// The taps of one size x size kernel, row by row.
using Kernel = std::vector<float>;

template <class Tap> Kernel kernel(std::int64_t size, Tap tap) {
    Kernel taps;
    for (std::int64_t y = 0; y < size; ++y)
        for (std::int64_t x = 0; x < size; ++x)
            taps.push_back(static_cast<float>(tap(y, x)));
    return taps;
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
    return kernel(static_cast<std::int64_t>(rows.size()), [&](std::int64_t y, std::int64_t x) {
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

Kernel gaussian(std::int64_t size) { return product(gaussian_line(size), gaussian_line(size)); }

/// The pixel in the middle of the window, untouched. For odd sizes.
Kernel middle(std::int64_t size) {
    return kernel(size, [&](std::int64_t y, std::int64_t x) {
        return y == size / 2 && x == size / 2 ? 1 : 0;
    });
}

Kernel sharpen(std::int64_t size) {
    const Kernel blur = gaussian(size), pixel = middle(size);
    return kernel(size, [&](std::int64_t y, std::int64_t x) {
        const auto i = static_cast<std::size_t>(y * size + x);
        return 2 * pixel[i] - blur[i];
    });
}

Kernel emboss(std::int64_t size) {
    const auto ramp = [&](std::int64_t y, std::int64_t x) {
        return static_cast<double>(y + x - (size - 1));
    };
    double positive = 0;
    for (float tap : kernel(size, ramp))
        positive += std::max(tap, 0.0F);
    return kernel(size, [&](std::int64_t y, std::int64_t x) {
        return 4 * ramp(y, x) / positive + (y == size / 2 && x == size / 2 ? 1 : 0);
    });
}

Kernel sobel_y(std::int64_t size) {
    return product(binomial_line(size, -1), binomial_line(size, 1));
}

Kernel sobel_x(std::int64_t size) {
    return product(binomial_line(size, 1), binomial_line(size, -1));
}

/// A filter of one or two kernels; with two, the result is the length of the vector they give.
struct Linear {
    Kernel (*first)(std::int64_t size);
    Kernel (*second)(std::int64_t size) = nullptr;
};

struct Definition {
    const char *name;
    selvage::Op op;
    Linear linear = {nullptr};
    /// Has a middle pixel, which it compares with the others: sizes are odd, alpha stays as it is.
    bool compares = false;
};

constexpr std::array<Definition, 9> definitions = {{
    {"gaussian", selvage::Op::depthwise2d, {gaussian}},
    {"box", selvage::Op::avg_pool2d},
    {"sharpen", selvage::Op::depthwise2d, {sharpen}, true},
    {"sobel", selvage::Op::depthwise2d, {sobel_y, sobel_x}, true},
    {"emboss", selvage::Op::depthwise2d, {emboss}, true},
    {"dilate", selvage::Op::max_pool2d},
    {"erode", selvage::Op::max_pool2d},
    {"downscale", selvage::Op::avg_pool2d},
    {"subsample", selvage::Op::depthwise2d, {middle}},
}};

const Definition &definition(const std::string &name) {
    for (const Definition &each : definitions)
        if (each.name == name)
            return each;
    throw BadInput("there is no filter " + name);
}

std::int64_t kernels_of(const Definition &filter) {
    return filter.linear.second != nullptr ? 2 : 1;
}

/// Channels of the tensor that stands for a picture: its own, once for each kernel.
std::int64_t tensor_channels(const Definition &filter, const Picture &like) {
    return like.channels * kernels_of(filter);
}

/// Weights of all channels of the tensor, in the library's order.
std::vector<float> weights(const Definition &filter, const Picture &like, std::int64_t size) {
    std::vector<float> all;
    const auto add = [&](const Kernel &taps) { all.insert(all.end(), taps.begin(), taps.end()); };
    for (std::int64_t pass = 0; pass < kernels_of(filter); ++pass)
        for (std::int64_t channel = 0; channel < like.channels; ++channel) {
            const bool alpha = like.has_alpha() && channel == like.channels - 1;
            if (!alpha || !filter.compares)
                add((pass == 0 ? filter.linear.first : filter.linear.second)(size));
            else
                add(pass == 0 ? middle(size) : Kernel(static_cast<std::size_t>(size * size), 0));
        }
    return all;
}

void require(const selvage::Status &status) {
    if (status.ok())
        return;
    switch (status.code()) {
    case selvage::Code::invalid_argument:
    case selvage::Code::overflow:
    case selvage::Code::unsupported: throw BadInput(status.text());
    default: throw std::runtime_error(status.text());
    }
}

selvage::Problem problem(const Settings &settings, const Definition &filter, const Picture &like) {
    const std::string channels = std::to_string(tensor_channels(filter, like));
    const std::string size = std::to_string(settings.size);
    std::string text = std::string(selvage::name(filter.op)) + " c=" + channels + " k=" + channels +
                       " in=" + std::to_string(like.height) + "x" + std::to_string(like.width) +
                       " kernel=" + size + "x" + size +
                       " stride=" + std::to_string(settings.stride) + " phase=" + settings.phase +
                       " " + settings.border;
    if (filter.op == selvage::Op::avg_pool2d)
        text += " include_pad=1";
    selvage::Problem problem;
    require(selvage::parse_problem(text, &problem));
    if (filter.op == selvage::Op::depthwise2d)
        problem.value = settings.value;
    return problem;
}

} // namespace

std::vector<std::string> filter_names() {
    std::vector<std::string> names;
    for (const Definition &each : definitions)
        names.emplace_back(each.name);
    return names;
}

const char *filter_notes() {
    return R"(Filters of a window of K x K pixels (correlation: kernels are not flipped):
  gaussian   weights of a normal distribution, sigma 0.3*((K-1)/2-1)+0.8, sum 1
  box        the average
  sharpen    twice the pixel less its gaussian blur; K odd
  sobel      length of the gradient; a step from a to b gives |a-b|. Smoothing by the binomials
             (1 2 1), differences by (-1 0 1), longer ones for larger K; K odd
  emboss     the pixel plus a slope that is lit from the top left; at K = 3 it is
             -2 -1 0 / -1 1 1 / 0 1 2; K odd
  dilate     the largest value
  erode      the smallest value
  downscale  the average, at a stride of K unless --stride is given
  subsample  one pixel, K = 1: which one of every S x S is the phase
Borders: --value lies outside the picture, in alpha too, on the scale of the samples (0..255, or
0..65535 for 16 bits). dilate and erode look at the picture only, and where a window sees nothing of
it they give 0 and the largest value. Negative pads crop.
Samples are filtered as they are stored: not linearised, colours not multiplied with alpha. Alpha is
filtered like a colour, except that sharpen, sobel and emboss keep it. Results are rounded to the
nearest number and saturated. Channels and depth are kept, but palettes become RGB, 1, 2 and 4 bits
become 8, and a transparent colour becomes an alpha channel. Gamma and colour profiles are dropped.)";
}

Filter::Filter(const Settings &settings, const Picture &like) {
    const Definition &filter = definition(settings.filter);
    const auto refuse = [&](const std::string &why) {
        throw BadInput(settings.filter + " " + why + ", not " + std::to_string(settings.size));
    };
    if (filter.compares && (settings.size < 3 || settings.size % 2 == 0))
        refuse("compares pixels with the middle of the window and takes an odd size from 3");
    if (settings.filter == "subsample" && settings.size != 1)
        refuse("takes single pixels and has size 1");
    // Averages are taken of samples less this value; up to 2^20 a float keeps 1/16 of a step.
    if (!(std::abs(settings.value) <= 1 << 20))
        throw BadInput("the border value is not within -1048576..1048576");

    selvage::Options options;
    options.adjacent_pixels = true;
    std::vector<float> taps;
    if (filter.op == selvage::Op::depthwise2d)
        taps = weights(filter, like, settings.size);
    require(selvage::make_layer(problem(settings, filter, like), options,
                                taps.empty() ? nullptr : taps.data(), selvage::WeightOrder::oihw,
                                nullptr, &layer_));
    if (plan().window_y().outputs == 0 || plan().window_x().outputs == 0)
        throw BadInput("the result is empty: " + std::to_string(plan().window_x().outputs) + " x " +
                       std::to_string(plan().window_y().outputs) + " pixels");

    // A minimum is a maximum of negated samples. An average over a border of zeros, taken of
    // samples less the border's value, is one over a border of that value.
    if (settings.filter == "erode")
        sign_ = -1;
    if (filter.op == selvage::Op::avg_pool2d)
        shift_ = settings.value;

    kernels_ = kernels_of(filter);
}

Filtered Filter::operator()(const Picture &picture) {
    const auto channels = static_cast<std::size_t>(picture.channels);
    const std::size_t wide = channels * static_cast<std::size_t>(kernels_);

    std::vector<float> input(picture.count() / channels * wide);
    for (std::size_t pixel = 0; pixel < input.size() / wide; ++pixel)
        for (std::size_t i = 0; i < wide; ++i)
            input[pixel * wide + i] =
                sign_ * picture.samples[pixel * channels + i % channels] - shift_;

    Filtered result;
    Picture &out = result.picture;
    out.height = plan().window_y().outputs;
    out.width = plan().window_x().outputs;
    out.channels = picture.channels;
    out.depth = picture.depth;
    out.samples.resize(out.count());
    std::vector<float> output(out.count() / channels * wide);

    const auto start = std::chrono::steady_clock::now();
    require(layer_.run(input.data(), output.data()));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    result.milliseconds = time.count();

    for (std::size_t pixel = 0; pixel < output.size() / wide; ++pixel)
        for (std::size_t i = 0; i < channels; ++i) {
            const float *value = &output[pixel * wide + i];
            const float filtered =
                kernels_ == 2 ? std::hypot(value[0], value[channels]) : sign_ * (*value + shift_);
            out.samples[pixel * channels + i] = std::round(std::clamp(filtered, 0.0F, out.peak()));
        }
    return result;
}

} // namespace demos
