#include "filter.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace demos {
namespace {

/// What the tensors of a strip take; rows that neighbouring strips share come on top.
constexpr std::int64_t strip_bytes = std::int64_t{1} << 24;

struct Definition {
    const char *name;
    selvage::Op op;
    /// Linear filters have one kernel; with two, the result is the length of the vector they give.
    std::array<Kernel (*)(std::int64_t size), 2> kernels = {};
    /// Has a middle pixel, which it compares with the others: sizes are odd, alpha stays as it is.
    bool compares = false;
};

constexpr std::array<Definition, 9> definitions = {{
    {"gaussian", selvage::Op::depthwise, {gaussian}},
    {"box", selvage::Op::avg_pool},
    {"sharpen", selvage::Op::depthwise, {sharpen}, true},
    {"sobel", selvage::Op::depthwise, {sobel_y, sobel_x}, true},
    {"emboss", selvage::Op::depthwise, {emboss}, true},
    {"dilate", selvage::Op::max_pool},
    {"erode", selvage::Op::max_pool},
    {"downscale", selvage::Op::avg_pool},
    {"subsample", selvage::Op::depthwise, {middle}},
}};
constexpr Definition own_kernel = {"kernel", selvage::Op::depthwise};

const Definition &definition(const std::string &name) {
    if (name.empty())
        return own_kernel;
    for (const Definition &each : definitions)
        if (each.name == name)
            return each;
    throw BadInput("there is no filter " + name);
}

bool is_linear(const Definition &filter) { return filter.op == selvage::Op::depthwise; }

/// How many numbers a filter computes for each sample.
std::int64_t results(const Definition &filter) { return filter.kernels[1] != nullptr ? 2 : 1; }

/// The weights of a linear filter in the library's order: for each kernel those of all channels of
/// the picture. Empty for other filters.
std::vector<float> weights(const Definition &filter, const Settings &settings, const Shape &shape) {
    std::vector<Kernel> kernels;
    for (const auto make : filter.kernels)
        if (make != nullptr)
            kernels.push_back(make(settings.size));
    if (settings.filter.empty())
        kernels.push_back(settings.kernel);

    std::vector<float> all;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
            std::vector<float> taps = kernels[i].taps;
            if (filter.compares && shape.has_alpha() && channel == shape.channels - 1)
                taps = i == 0 ? middle(settings.size).taps : std::vector<float>(taps.size());
            all.insert(all.end(), taps.begin(), taps.end());
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

std::string pair(std::int64_t a, const char *between, std::int64_t b) {
    return std::to_string(a) + between + std::to_string(b);
}

/// What a filter has to say about its settings.
void check(const Definition &filter, const Settings &settings) {
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
}

/// The axes of a picture and a window, as a problem of the smallest tensor that has them.
selvage::Problem geometry(const Settings &settings, const Shape &picture) {
    const bool own = settings.filter.empty();
    const std::int64_t height = own ? settings.kernel.height : settings.size;
    const std::int64_t width = own ? settings.kernel.width : settings.size;
    std::string pads = settings.pads;
    if (settings.anchor) {
        const auto [y, x] = *settings.anchor;
        if (y < 0 || y >= height || x < 0 || x >= width)
            throw BadInput("the anchor " + pair(y, ",", x) + " is none of the " +
                           pair(height, " x ", width) + " taps, which count from 0,0");
        pads = "pads=" + pair(y, ",", x) + "," + pair(height - 1 - y, ",", width - 1 - x);
    }
    selvage::Problem problem;
    require(selvage::parse_problem(
        "max_pool2d in=" + pair(picture.height, "x", picture.width) +
            " kernel=" + pair(height, "x", width) + " stride=" + std::to_string(settings.stride) +
            " phase=" + settings.phase + " " + pads + " border=" + settings.border + " type=u8",
        &problem));
    return problem;
}

/// What the library is to compute, but for the axes. 8 bits stay 8 bits where it has kernels for
/// them.
selvage::Problem operation(const Definition &filter, const Settings &settings, const Shape &shape) {
    selvage::Problem problem;
    problem.op = filter.op;
    problem.c = problem.k = shape.channels * results(filter);
    problem.include_pad = filter.op == selvage::Op::avg_pool;
    if (is_linear(filter))
        problem.value = settings.value;
    const bool value_is_byte =
        problem.value >= 0 && problem.value <= 255 && problem.value == std::floor(problem.value);
    if (shape.depth == 8 && is_linear(filter) && results(filter) == 1 && value_is_byte)
        problem.op = selvage::Op::filter;
    if (problem.op == selvage::Op::filter ||
        (shape.depth == 8 && filter.op == selvage::Op::max_pool))
        problem.type = selvage::Type::u8;
    return problem;
}

/// The whole number nearest to a result, within the range of samples. Between 2^23 and 2^24 floats
/// are whole, so the sum is rounded there, halves to even; a call of std::nearbyint() takes longer
/// than the filters.
Sample rounded(float value, int peak) {
    const float sample = std::min(std::max(0.0F, value), static_cast<float>(peak)); // NaN: 0
    return static_cast<Sample>(sample + 0x1p23F - 0x1p23F);
}
Sample rounded(std::uint8_t value, int) { return value; }

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
A kernel of your own is a text file: a row on each line, numbers separated by blanks or commas, # and
what follows ignored. It is applied as it is, neither flipped nor scaled to a sum of 1.
Borders, for a row of pixels abcd:
  constant   vvv|abcd|vvv, the --value, on the scale of the samples (0..255, or 0..65535 for 16
             bits), in alpha too. dilate and erode look at the picture only, and where a window sees
             nothing of it they give 0 and the largest value
  reflect    dcb|abcd|cba
  symmetric  cba|abcd|dcb
  replicate  aaa|abcd|ddd
  circular   bcd|abcd|abc
Negative pads crop, and the border repeats what is left.
Samples are filtered as they are stored: not linearised, colours not multiplied with alpha. Alpha is
filtered like a colour, except that sharpen, sobel and emboss keep it. Results are rounded to the
nearest number, halves to the even one, and saturated. Channels and depth are kept, but palettes
become RGB, 1, 2 and 4 bits become 8, and a transparent colour becomes an alpha channel. Gamma and
colour profiles are dropped.
Pictures are read, filtered and written in strips of rows, so that memory does not grow with their
height. Interlaced ones are held as a whole, and a circular border above reads the file twice.)";
}

Filter::Filter(const Settings &settings, const Shape &input) : input_(input) {
    const Definition &filter = definition(settings.filter);
    check(filter, settings);
    const selvage::Problem whole = geometry(settings, input);
    window_y_ = selvage::window(whole.y).window;
    window_x_ = selvage::window(whole.x).window;
    output_ = {window_y_.outputs, window_x_.outputs, input.channels, input.depth};
    const std::string size = pair(output_.width, " x ", output_.height) + " pixels";
    if (output_.count() == 0)
        throw BadInput("the result is empty: " + size);
    if (std::max(output_.height, output_.width) > longest_side)
        throw BadInput("the result is too large: " + size + ", and a side has at most " +
                       std::to_string(longest_side));

    selvage::Problem problem = operation(filter, settings, input);
    const bool bytes = problem.type == selvage::Type::u8;
    problem.x = whole.x;
    problem.y.kernel = whole.y.kernel;
    problem.y.stride = whole.y.stride;
    const std::int64_t row_bytes = (input.width * problem.y.stride + output_.width) * problem.c *
                                   static_cast<std::int64_t>(bytes ? 1 : sizeof(float));
    strip_rows_ = std::clamp<std::int64_t>(
        settings.strip > 0 ? settings.strip : strip_bytes / row_bytes, 1, output_.height);
    problem.y.size = (strip_rows_ - 1) * problem.y.stride + problem.y.kernel;
    require(selvage::check(problem)); // before weights are made, which may be too many

    // A minimum is the complement of a maximum of complements. An average over a border of zeros,
    // taken of samples less the border's value, is one over a border of that value.
    copies_ = results(filter);
    complement_ = settings.filter == "erode";
    shift_ = filter.op == selvage::Op::avg_pool ? settings.value : 0;
    outside_ = problem.value;
    if (filter.op == selvage::Op::max_pool)
        outside_ = bytes ? 0 : -std::numeric_limits<float>::infinity();

    selvage::Options options;
    options.adjacent_pixels = true;
    const std::vector<float> taps = weights(filter, settings, input);
    require(selvage::make_layer(problem, options, taps.empty() ? nullptr : taps.data(),
                                selvage::WeightOrder::oihw, nullptr, &layer_));
    const auto resize = [&](auto &tensors) {
        tensors.input.resize(static_cast<std::size_t>(problem.y.size * input.width * problem.c));
        tensors.output.resize(static_cast<std::size_t>(strip_rows_ * output_.width * problem.c));
    };
    if (bytes)
        resize(bytes_);
    else
        resize(floats_);
}

std::int64_t Filter::rows(std::int64_t strip) const {
    return std::min(strip_rows_, output_.height - strip * strip_rows_);
}

/// For each row of a strip's input, the row of the picture that stands there, or -1 for the
/// border's value. Rows between the windows of a stride stand for themselves: nothing reads them.
std::vector<std::int64_t> Filter::sources(std::int64_t strip) const {
    const std::int64_t first = strip * strip_rows_ * window_y_.stride - window_y_.before;
    const std::int64_t count = (rows(strip) - 1) * window_y_.stride + window_y_.kernel;
    std::vector<std::int64_t> all;
    for (std::int64_t position = first; position < first + count; ++position) {
        const std::int64_t source = window_y_.at(position);
        all.push_back(source < 0 ? -1 : window_y_.origin + source);
    }
    return all;
}

std::vector<std::int64_t> Filter::reads(std::int64_t strip) const {
    std::vector<std::int64_t> all = sources(strip);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.front() < 0)
        all.erase(all.begin());
    return all;
}

double Filter::run(std::int64_t strip, const RowOf &row, Sample *output) {
    return layer_.plan().problem().type == selvage::Type::u8 ? run(bytes_, strip, row, output)
                                                             : run(floats_, strip, row, output);
}

template <class T>
double Filter::run(Tensors<T> &tensors, std::int64_t strip, const RowOf &row, Sample *output) {
    // Samples that lie next to each other in the tensor: a pixel's, or without copies a row's.
    const auto copies = static_cast<std::size_t>(copies_);
    const auto adjacent = [&](const Shape &shape) {
        return copies == 1 ? shape.row_samples() : static_cast<std::size_t>(shape.channels);
    };
    const int peak = input_.peak();
    const bool complement = complement_;
    const T shift = static_cast<T>(shift_);

    T *to = tensors.input.data();
    for (std::int64_t y : sources(strip)) {
        T *const end = to + input_.row_samples() * copies;
        if (y < 0) {
            std::fill(to, end, static_cast<T>(outside_));
            to = end;
            continue;
        }
        const std::size_t count = adjacent(input_);
        for (const Sample *from = row(y); to < end; from += count)
            for (std::size_t copy = 0; copy < copies; ++copy, to += count)
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = static_cast<T>((complement ? peak - from[i] : from[i]) - shift);
    }

    const auto start = std::chrono::steady_clock::now();
    require(layer_.run<T>(tensors.input.data(), tensors.output.data()));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    const std::size_t count = adjacent(output_);
    const T *from = tensors.output.data();
    const std::size_t alpha = output_.has_alpha() ? count - 1 : count;
    const auto result = [&](std::size_t i) {
        if (copies == 1 || i == alpha)
            return rounded(static_cast<T>(from[i] + shift), peak);
        const auto down = static_cast<float>(from[i]), across = static_cast<float>(from[i + count]);
        return rounded(std::sqrt(down * down + across * across), peak);
    };
    Sample *const end = output + static_cast<std::size_t>(rows(strip)) * output_.row_samples();
    for (; output < end; output += count, from += count * copies)
        for (std::size_t i = 0; i < count; ++i)
            output[i] = static_cast<Sample>(complement ? peak - result(i) : result(i));
    return time.count();
}

Filtered filtered(Filter &filter, const Picture &picture) {
    Filtered result{blank(filter.output())};
    for (std::int64_t strip = 0; strip < filter.strips(); ++strip)
        result.milliseconds += filter.run(
            strip, [&](std::int64_t y) { return picture.row(y); },
            result.picture.row(strip * filter.strip_rows()));
    return result;
}

} // namespace demos
