// The program png_filter from outside: files that libpng wrote go in, files come out and are
// compared with loops over a picture that was really padded. Includes nothing of what it judges.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <png.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

// --- Pictures as libpng stores them

struct Image {
    int width = 0, height = 0;
    int colour = PNG_COLOR_TYPE_GRAY;
    int depth = 8;
    std::vector<int> samples = {}; // palette pictures: indices
    bool interlaced = false;
    std::vector<png_color> palette = {};
    std::vector<png_byte> palette_alpha = {};
    std::vector<int> transparent = {}; // the transparent grey or colour

    int channels() const {
        switch (colour) {
        case PNG_COLOR_TYPE_GRAY_ALPHA: return 2;
        case PNG_COLOR_TYPE_RGB: return 3;
        case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
        default: return 1;
        }
    }
    int peak() const { return (1 << depth) - 1; }
    int at(int y, int x, int channel) const {
        return samples[static_cast<std::size_t>((y * width + x) * channels() + channel)];
    }
};

/// Samples that differ from pixel to pixel and use the whole range.
Image patterned(int width, int height, int colour, int depth) {
    Image image;
    image.width = width;
    image.height = height;
    image.colour = colour;
    image.depth = depth;
    const int count = width * height * image.channels();
    for (int i = 0; i < count; ++i)
        image.samples.push_back((i * 7919 + i * i * 31) % 104729 % (image.peak() + 1));
    image.samples.front() = image.peak();
    image.samples.back() = 0;
    return image;
}

void write(const fs::path &path, const Image &image) {
    FILE *file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
                 static_cast<png_uint_32>(image.height), image.depth, image.colour,
                 image.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (!image.palette.empty())
        png_set_PLTE(png, info, image.palette.data(), static_cast<int>(image.palette.size()));
    if (!image.palette_alpha.empty())
        png_set_tRNS(png, info, image.palette_alpha.data(),
                     static_cast<int>(image.palette_alpha.size()), nullptr);
    if (!image.transparent.empty()) {
        png_color_16 colour = {};
        colour.gray = static_cast<png_uint_16>(image.transparent.front());
        if (image.transparent.size() == 3) {
            colour.red = static_cast<png_uint_16>(image.transparent[0]);
            colour.green = static_cast<png_uint_16>(image.transparent[1]);
            colour.blue = static_cast<png_uint_16>(image.transparent[2]);
        }
        png_set_tRNS(png, info, nullptr, 0, &colour);
    }
    png_write_info(png, info);
    png_set_packing(png);
    std::vector<png_byte> bytes;
    for (int sample : image.samples) {
        if (image.depth == 16)
            bytes.push_back(static_cast<png_byte>(sample / 256));
        bytes.push_back(static_cast<png_byte>(sample % 256));
    }
    std::vector<png_bytep> rows;
    for (int y = 0; y < image.height; ++y)
        rows.push_back(bytes.data() + bytes.size() / static_cast<std::size_t>(image.height) *
                                          static_cast<std::size_t>(y));
    png_write_image(png, rows.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
}

Image read(const fs::path &path) {
    Image image;
    FILE *file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        ADD_FAILURE() << "no file " << path;
        return image;
    }
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
    image.width = static_cast<int>(png_get_image_width(png, info));
    image.height = static_cast<int>(png_get_image_height(png, info));
    image.colour = png_get_color_type(png, info);
    image.depth = png_get_bit_depth(png, info);
    EXPECT_EQ(png_get_channels(png, info), image.channels()) << "a palette came out";
    EXPECT_EQ(image.depth % 8, 0);
    png_bytepp rows = png_get_rows(png, info);
    for (int y = 0; y < image.height; ++y)
        for (int i = 0; i < image.width * image.channels(); ++i)
            image.samples.push_back(image.depth == 16 ? rows[y][2 * i] * 256 + rows[y][2 * i + 1]
                                                      : rows[y][i]);
    png_destroy_read_struct(&png, &info, nullptr);
    std::fclose(file);
    return image;
}

std::string content(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// --- The programs

struct Outcome {
    int code = -1;
    std::string out, err;
};

/// A folder of its own for each test.
class Demos : public ::testing::Test {
protected:
    Demos() {
        std::string name = ::testing::TempDir() + "selvage_demos_XXXXXX";
        folder = mkdtemp(name.data());
        in = folder / "in.png";
        out = folder / "out.png";
    }
    ~Demos() override { fs::remove_all(folder); }

    /// Runs a program in the folder; the arguments are shell words.
    Outcome run(const std::string &program, const std::string &arguments) const {
        const fs::path out_text = folder / "stdout", err_text = folder / "stderr";
        const std::string command = "cd '" + folder.string() + "' && '" + program + "' " +
                                    arguments + " >stdout 2>stderr </dev/null";
        const int status = std::system(command.c_str());
        Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out_text),
                        content(err_text)};
        fs::remove(out_text);
        fs::remove(err_text);
        return outcome;
    }

    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }

    fs::path folder, in, out;
};

class PngFilter : public Demos {
protected:
    Outcome run(const std::string &arguments) const { return Demos::run(PNG_FILTER, arguments); }

    Image filtered(const Image &image, const std::string &flags) const {
        write(in, image);
        const Outcome outcome = run("in.png out.png " + flags);
        EXPECT_EQ(outcome.code, 0) << flags;
        EXPECT_EQ(outcome.out, "") << flags;
        EXPECT_EQ(outcome.err, image.interlaced ? "png_filter: in.png is interlaced and held in "
                                                  "memory as a whole\n"
                                                : "")
            << flags;
        return read(out);
    }

    /// Bad input: exit code 2, one line that holds `text`, and no trace in the folder.
    void refuses(const std::string &flags, const std::string &text) const {
        std::ofstream(out) << "precious";
        const std::ptrdiff_t before = files();
        const Outcome outcome = run("in.png out.png " + flags);
        EXPECT_EQ(outcome.code, 2) << flags << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "") << flags;
        EXPECT_EQ(outcome.err.rfind("png_filter: ", 0), 0U) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_NE(outcome.err.find(text), std::string::npos) << flags << "\n" << outcome.err;
        EXPECT_EQ(content(out), "precious") << flags;
        EXPECT_EQ(files(), before) << flags;
    }
};

constexpr char identity[] = "--filter subsample";

// --- Files

TEST_F(PngFilter, KeepsEveryColourTypeAndDepth) {
    const std::vector<std::pair<int, std::vector<int>>> types = {
        {PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
        {PNG_COLOR_TYPE_RGB, {8, 16}},
        {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}},
    };
    for (const auto &[colour, depths] : types)
        for (int depth : depths)
            for (bool interlaced : {false, true}) {
                SCOPED_TRACE(testing::Message() << "colour type " << colour << ", " << depth
                                                << " bits, interlaced " << interlaced);
                Image image = patterned(13, 11, colour, depth);
                image.interlaced = interlaced;
                const Image result = filtered(image, identity);
                EXPECT_EQ(result.colour, colour);
                EXPECT_EQ(result.depth, std::max(depth, 8));
                EXPECT_EQ(result.width, 13);
                EXPECT_EQ(result.height, 11);
                for (int &sample : image.samples)
                    sample = sample * (result.peak() / image.peak());
                EXPECT_EQ(result.samples, image.samples);
            }
}

TEST_F(PngFilter, PalettesBecomeColours) {
    for (int depth : {1, 2, 4, 8})
        for (bool interlaced : {false, true})
            for (bool alpha : {false, true}) {
                SCOPED_TRACE(testing::Message() << depth << " bits, interlaced " << interlaced
                                                << ", transparent " << alpha);
                Image image = patterned(13, 11, PNG_COLOR_TYPE_PALETTE, depth);
                image.interlaced = interlaced;
                for (int i = 0; i <= image.peak(); ++i)
                    image.palette.push_back({static_cast<png_byte>(i * 37 + 1),
                                             static_cast<png_byte>(255 - i * 11),
                                             static_cast<png_byte>(i * 101)});
                if (alpha)
                    image.palette_alpha = {40, 200}; // the other entries are opaque
                std::vector<int> expected;
                for (int index : image.samples) {
                    const png_color &colour = image.palette[static_cast<std::size_t>(index)];
                    expected.insert(expected.end(), {colour.red, colour.green, colour.blue});
                    if (alpha)
                        expected.push_back(index == 0 ? 40 : index == 1 ? 200 : 255);
                }
                const Image result = filtered(image, identity);
                EXPECT_EQ(result.colour, alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB);
                EXPECT_EQ(result.depth, 8);
                EXPECT_EQ(result.samples, expected);
            }
}

TEST_F(PngFilter, TransparentColoursBecomeAlpha) {
    for (int depth : {2, 8, 16})
        for (int colour : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB}) {
            if (colour == PNG_COLOR_TYPE_RGB && depth < 8)
                continue; // no such PNG
            SCOPED_TRACE(testing::Message()
                         << "colour type " << colour << ", " << depth << " bits");
            Image image = patterned(5, 4, colour, depth);
            const int channels = image.channels();
            const auto pixel = [&](int i) {
                return std::vector<int>(image.samples.begin() + i * channels,
                                        image.samples.begin() + (i + 1) * channels);
            };
            image.transparent = pixel(7);
            const Image result = filtered(image, identity);
            EXPECT_EQ(result.colour, colour | PNG_COLOR_MASK_ALPHA);
            std::vector<int> expected;
            for (int i = 0; i < 20; ++i) {
                for (int sample : pixel(i))
                    expected.push_back(sample * (result.peak() / image.peak()));
                expected.push_back(pixel(i) == image.transparent ? 0 : result.peak());
            }
            EXPECT_EQ(result.samples, expected);
        }
}

TEST_F(PngFilter, RefusesFilesCutShortAnywhere) {
    for (bool interlaced : {false, true}) {
        Image image = patterned(6, 5, PNG_COLOR_TYPE_RGB, 8);
        image.interlaced = interlaced;
        write(in, image);
        const std::string whole = content(in);
        for (std::size_t length = 0; length < whole.size(); length += 1 + length % 3) {
            SCOPED_TRACE(testing::Message() << "the first " << length << " of " << whole.size()
                                            << " bytes, interlaced " << interlaced);
            std::ofstream(in, std::ios::binary) << whole.substr(0, length);
            refuses(identity, "is not a complete PNG picture");
        }
    }
}

TEST_F(PngFilter, RefusesBrokenFiles) {
    write(in, patterned(6, 5, PNG_COLOR_TYPE_RGB, 8));
    const std::string whole = content(in);
    // In the signature, the header, and the pixels.
    for (std::size_t position : {std::size_t{1}, std::size_t{18}, whole.find("IDAT") + 20}) {
        std::string broken = whole;
        broken[position] = static_cast<char>(broken[position] ^ 0x10);
        std::ofstream(in, std::ios::binary) << broken;
        SCOPED_TRACE(testing::Message() << "byte " << position);
        refuses(identity, "is not a complete PNG picture");
    }
    std::ofstream(in) << "P5 2 2 255 abcd";
    refuses(identity, "is not a complete PNG picture");
    fs::remove(in);
    refuses(identity, "there is no file");
    fs::create_directory(in);
    refuses(identity, "there is no file");
}

TEST_F(PngFilter, RefusesToHoldHugePictures) {
    // A header alone, with its check sum, is enough.
    Image image = patterned(1, 1, PNG_COLOR_TYPE_RGB, 8);
    image.interlaced = true;
    write(in, image);
    std::string whole = content(in);
    const auto put = [&](std::size_t position, std::uint32_t value) {
        for (int byte = 0; byte < 4; ++byte)
            whole[position + static_cast<std::size_t>(byte)] =
                static_cast<char>(value >> (24 - 8 * byte));
    };
    put(16, 30000);
    put(20, 30000);
    std::uint32_t crc = 0xffffffff; // as the PNG specification defines it
    for (std::size_t i = 12; i < 29; ++i) {
        crc ^= static_cast<unsigned char>(whole[i]);
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    put(29, ~crc);
    std::ofstream(in, std::ios::binary) << whole;
    refuses(identity, "too large to be held as a whole: 30000 x 30000 pixels are more");
}

TEST_F(PngFilter, ReplacesItsInputAndFollowsLinks) {
    const Image image = patterned(6, 4, PNG_COLOR_TYPE_RGB, 8);
    write(in, image);
    EXPECT_EQ(run("in.png in.png --filter subsample --stride 2").code, 0);
    EXPECT_EQ(read(in).width, 3);
    fs::create_symlink(in, out);
    filtered(image, identity);
    EXPECT_TRUE(fs::is_symlink(out));
    EXPECT_EQ(read(in).samples, image.samples);
}

TEST_F(PngFilter, SaysWhereItCannotWrite) {
    write(in, patterned(6, 4, PNG_COLOR_TYPE_GRAY, 8));
    for (const std::string target : {"missing/out.png", "."}) {
        const Outcome outcome = run("in.png " + target + " " + identity);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.err.find("cannot write " + target), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(files(), 1);
}

// --- Values

struct Case {
    int height = 3, width = 3; // of the window
    int stride = 1;
    int phase_y = 0, phase_x = 0;
    int top = 0, left = 0, bottom = 0, right = 0;
    double value = 0;
    std::string border_y = "constant", border_x = "constant";

    std::string flags() const {
        std::ostringstream text;
        text << " --stride " << stride << " --phase " << phase_y << ',' << phase_x << " --pads "
             << top << ',' << left << ',' << bottom << ',' << right;
        if (border_y != "constant" || border_x != "constant")
            text << " --border " << border_y << ',' << border_x;
        return text.str();
    }
};

/// The place of `size` where a walk from place 0 to `position` ends, or -1 where it leaves them
/// for good.
int walk(int position, int size, const std::string &border) {
    if (border == "constant")
        return position < 0 || position >= size ? -1 : position;
    int place = 0, direction = position < 0 ? -1 : 1;
    for (int step = 0; step < std::abs(position); ++step) {
        const bool at_end = direction > 0 ? place == size - 1 : place == 0;
        if (!at_end)
            place += direction;
        else if (border == "circular")
            place = direction > 0 ? 0 : size - 1;
        else if (border == "replicate")
            continue;
        else {
            direction = -direction;
            if (border == "reflect" && size > 1)
                place += direction;
        }
    }
    return place;
}

/// One channel of a picture, really cropped and then really padded.
struct Plane {
    int height, width;
    std::vector<double> samples;
    double at(int y, int x) const { return samples[static_cast<std::size_t>(y * width + x)]; }
};

Plane padded(const Image &image, int channel, const Case &c, double border) {
    const int top = std::max(0, -c.top), left = std::max(0, -c.left);
    const int height = image.height - top - std::max(0, -c.bottom);
    const int width = image.width - left - std::max(0, -c.right);
    Plane plane{image.height + c.top + c.bottom, image.width + c.left + c.right, {}};
    for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) {
            const int from_y = walk(y - std::max(0, c.top), height, c.border_y);
            const int from_x = walk(x - std::max(0, c.left), width, c.border_x);
            plane.samples.push_back(
                from_y < 0 || from_x < 0 ? border : image.at(top + from_y, left + from_x, channel));
        }
    return plane;
}

/// What a filter makes of the window whose first pixel is (y, x).
using Rule = std::function<double(const Plane &, int y, int x)>;

/// Holds one channel of a result to a rule: it is the whole number nearest to the exact value,
/// unless that lies so close to a half that the rounding of a float sum may carry it across. A sum
/// of `taps` products is off by less than taps + 2 epsilons of what its magnitudes add up to;
/// `gain` is the sum of the weights' magnitudes. The length of a gradient takes one rounding more.
void expect(const Image &result, const Image &image, int channel, const Case &c, double border,
            const Rule &rule, int taps, double gain) {
    const Plane plane = padded(image, channel, c, border);
    const int height = (plane.height - c.phase_y - c.height) / c.stride + 1;
    const int width = (plane.width - c.phase_x - c.width) / c.stride + 1;
    ASSERT_EQ(result.height, height);
    ASSERT_EQ(result.width, width);
    ASSERT_EQ(result.colour, image.colour);
    ASSERT_EQ(result.depth, image.depth);
    const double ulp = std::numeric_limits<float>::epsilon();
    const double slack = (taps + 3) * ulp * gain * image.peak();
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
            const double exact = rule(plane, c.stride * i + c.phase_y, c.stride * j + c.phase_x);
            const double kept = std::clamp(exact, 0.0, static_cast<double>(image.peak()));
            EXPECT_LE(std::abs(result.at(i, j, channel) - kept), 0.5 + slack)
                << "at " << i << ',' << j << " of channel " << channel << ": "
                << result.at(i, j, channel) << " for " << exact;
        }
}

Rule correlation(const std::vector<double> &rows, const std::vector<double> &columns) {
    return [=](const Plane &plane, int y, int x) {
        double sum = 0;
        for (std::size_t a = 0; a < rows.size(); ++a)
            for (std::size_t b = 0; b < columns.size(); ++b)
                sum += rows[a] * columns[b] *
                       plane.at(y + static_cast<int>(a), x + static_cast<int>(b));
        return sum;
    };
}

std::vector<double> bell(int size, double sigma) {
    std::vector<double> line;
    double sum = 0;
    for (int t = 0; t < size; ++t) {
        line.push_back(std::exp(-std::pow((t - (size - 1) / 2.0) / sigma, 2) / 2));
        sum += line.back();
    }
    for (double &tap : line)
        tap /= sum;
    return line;
}

Rule average(int size) {
    const std::vector<double> line(static_cast<std::size_t>(size), 1.0 / size);
    return correlation(line, line);
}

Rule middle(int size) {
    return [=](const Plane &plane, int y, int x) { return plane.at(y + size / 2, x + size / 2); };
}

Rule extreme(int size, double sign) {
    return [=](const Plane &plane, int y, int x) {
        double best = -std::numeric_limits<double>::infinity();
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b)
                best = std::max(best, sign * plane.at(y + a, x + b));
        return sign * best;
    };
}

Rule gradient(const std::vector<double> &smooth, const std::vector<double> &difference) {
    const Rule down = correlation(difference, smooth), across = correlation(smooth, difference);
    return [=](const Plane &plane, int y, int x) {
        return std::sqrt(std::pow(down(plane, y, x), 2) + std::pow(across(plane, y, x), 2));
    };
}

/// The slopes of emboss by hand: a tap is the sum of its row and column, less its middle.
Rule relief(int size, double scale) {
    return [=](const Plane &plane, int y, int x) {
        double sum = plane.at(y + size / 2, x + size / 2);
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b)
                sum += scale * (a - size / 2 + b - size / 2) * plane.at(y + a, x + b);
        return sum;
    };
}

struct FilterCase {
    std::string filter;
    int size;
    Rule rule;
    double gain; // the sum of the magnitudes of its weights
    bool keeps_alpha = false;
    double border = 0; // of filters that ignore the border: what cannot win
};

std::vector<FilterCase> filter_cases() {
    const double inf = std::numeric_limits<double>::infinity();
    const auto sharper = [](int size, double sigma) {
        const Rule blur = correlation(bell(size, sigma), bell(size, sigma));
        const Rule pixel = middle(size);
        return [=](const Plane &plane, int y, int x) {
            return 2 * pixel(plane, y, x) - blur(plane, y, x);
        };
    };
    return {
        {"gaussian", 2, correlation(bell(2, 0.65), bell(2, 0.65)), 1},
        {"gaussian", 3, correlation(bell(3, 0.8), bell(3, 0.8)), 1},
        {"gaussian", 5, correlation(bell(5, 1.1), bell(5, 1.1)), 1},
        {"box", 1, average(1), 1},
        {"box", 3, average(3), 1},
        {"box", 4, average(4), 1},
        {"sharpen", 3, sharper(3, 0.8), 3, true},
        {"sharpen", 5, sharper(5, 1.1), 3, true},
        {"sobel", 3, gradient({.25, .5, .25}, {-1, 0, 1}), 4, true},
        {"sobel", 5,
         gradient({1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.},
                  {-1 / 3., -2 / 3., 0, 2 / 3., 1 / 3.}),
         4, true},
        {"emboss", 3, relief(3, 1), 9, true},
        {"emboss", 5, relief(5, 0.2), 9, true},
        {"dilate", 3, extreme(3, 1), 1, false, -inf},
        {"dilate", 4, extreme(4, 1), 1, false, -inf},
        {"erode", 3, extreme(3, -1), 1, false, inf},
        {"erode", 4, extreme(4, -1), 1, false, inf},
        {"downscale", 2, average(2), 1},
        {"downscale", 3, average(3), 1},
        {"subsample", 1, middle(1), 1},
    };
}

std::vector<Image> images() {
    return {
        patterned(9, 7, PNG_COLOR_TYPE_RGB, 8),
        patterned(8, 9, PNG_COLOR_TYPE_RGB_ALPHA, 8),
        patterned(7, 6, PNG_COLOR_TYPE_GRAY, 16),
        patterned(6, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 16),
    };
}

/// The borders of `c` may be mixed: a filter that ignores a constant border sees all others.
class Values : public PngFilter {
protected:
    void hold(const FilterCase &filter, const Image &image, Case c) const {
        c.height = c.width = filter.size;
        const bool ignores_value = filter.border != 0;
        std::string flags =
            "--filter " + filter.filter + " --size " + std::to_string(filter.size) + c.flags();
        if (!ignores_value && (c.border_y == "constant" || c.border_x == "constant"))
            flags += " --value " + std::to_string(static_cast<int>(c.value));
        SCOPED_TRACE(testing::Message()
                     << image.width << " x " << image.height << ", colour type " << image.colour
                     << ", " << image.depth << " bits: " << flags);
        const Image result = filtered(image, flags);
        for (int channel = 0; channel < image.channels(); ++channel) {
            const bool alpha =
                (image.colour & PNG_COLOR_MASK_ALPHA) != 0 && channel == image.channels() - 1;
            const Rule rule = alpha && filter.keeps_alpha ? middle(filter.size) : filter.rule;
            ASSERT_NO_FATAL_FAILURE(expect(result, image, channel, c,
                                           ignores_value ? filter.border : c.value, rule,
                                           filter.size * filter.size, filter.gain));
        }
    }
};

TEST_F(Values, OfEveryFilter) {
    const std::vector<Case> shapes = {
        {0, 0, 1, 0, 0, 1, 2, 3, 4, 100}, // four distinct sides
        {0, 0, 2, 1, 0, 3, 0, 2, 1, 77},  // a phase below
        {0, 0, 3, 1, 2, 6, 5, 4, 7, 20},  // pads beyond the kernel: windows of nothing but border
        {0, 0, 2, 0, 1, -1, 2, 1, -1, 9}, // crops
        {0, 0, 1, 0, 0, 2, 1, 1, 3, -40}, // a value that 8 bits do not have
    };
    for (const FilterCase &filter : filter_cases())
        for (const Image &image : images())
            for (const Case &c : shapes)
                hold(filter, image, c);
}

TEST_F(Values, OfEveryBorder) {
    const std::vector<Case> shapes = {
        {0, 0, 1, 0, 0, 1, 2, 3, 4, 100},
        {0, 0, 2, 1, 0, 3, 0, 2, 1, 77},
        {0, 0, 3, 1, 2, 20, 15, 31, 17, 20}, // the picture repeated several times
        {0, 0, 2, 0, 1, -1, 2, 1, -1, 9},    // what is left after crops is repeated
    };
    const std::vector<std::pair<std::string, std::string>> borders = {
        {"reflect", "reflect"},   {"symmetric", "symmetric"}, {"replicate", "replicate"},
        {"circular", "circular"}, {"constant", "circular"},   {"circular", "reflect"},
        {"reflect", "constant"},  {"symmetric", "replicate"}, {"replicate", "symmetric"},
    };
    const std::vector<std::pair<std::string, int>> some = {
        {"gaussian", 5}, {"box", 3},   {"sharpen", 3},   {"sobel", 3},    {"emboss", 3},
        {"dilate", 4},   {"erode", 3}, {"downscale", 2}, {"subsample", 1}};
    for (const FilterCase &filter : filter_cases())
        if (std::find(some.begin(), some.end(), std::pair(filter.filter, filter.size)) !=
            some.end())
            for (const Image &image : images())
                for (Case c : shapes)
                    for (const auto &[border_y, border_x] : borders) {
                        c.border_y = border_y;
                        c.border_x = border_x;
                        hold(filter, image, c);
                    }
}

// --- Strips

TEST_F(PngFilter, StripsMeetWithoutSeams) {
    const std::vector<std::string> filters = {
        "--filter gaussian --size 5",
        "--filter box --size 4 --stride 2 --phase 1,0 --pads 3,0,2,1",
        "--filter sobel --pads 0,1,5,2",
        "--filter dilate --pads 12,1,9,2", // strips of nothing but border
        "--filter erode --stride 3 --size 2 --pads 2,1,0,3",
        "--filter subsample --stride 2 --phase 1,1 --pads -2,0,-3,0",
    };
    for (Image image : {patterned(11, 13, PNG_COLOR_TYPE_RGB, 8),
                        patterned(5, 16, PNG_COLOR_TYPE_GRAY_ALPHA, 16)})
        for (bool interlaced : {false, true})
            for (const std::string &filter : filters)
                for (const std::string border :
                     {"constant", "reflect", "symmetric", "replicate", "circular"}) {
                    image.interlaced = interlaced;
                    const std::string flags = filter + " --border " + border;
                    const Image whole = filtered(image, flags + " --strip 1000");
                    for (int rows : {1, 2, 3, 5}) {
                        SCOPED_TRACE(flags + " in strips of " + std::to_string(rows));
                        const Image result =
                            filtered(image, flags + " --strip " + std::to_string(rows));
                        ASSERT_EQ(result.height, whole.height);
                        EXPECT_EQ(result.samples, whole.samples);
                    }
                }
}

/// A sample of a picture too large for a vector of numbers.
int large_sample(int y, int i) { return (i * 7 + y * 13 + i / 640 * (y / 480)) % 256; }

TEST_F(PngFilter, MemoryDoesNotHoldThePicture) {
    constexpr int width = 6000, height = 4000, samples = 3 * width;
    FILE *file = std::fopen(in.c_str(), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_set_compression_level(png, 1);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_write_info(png, info);
    std::vector<png_byte> row(samples);
    for (int y = 0; y < height; ++y) {
        for (int i = 0; i < samples; ++i)
            row[static_cast<std::size_t>(i)] = static_cast<png_byte>(large_sample(y, i));
        png_write_row(png, row.data());
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);

    // Every pixel moves down by two and left by one; those that leave come in at the other side.
    std::ofstream(folder / "kernel.txt") << "0 0 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n";
    // All memory that the process maps, its own code included, in units of 1024 bytes.
    constexpr int limit = samples * height / 1024;
    const Outcome outcome =
        Demos::run("sh", "-c 'ulimit -v " + std::to_string(limit) +
                             " && exec \"" PNG_FILTER
                             "\" in.png out.png --kernel kernel.txt --border circular'");
    ASSERT_EQ(outcome.code, 0) << outcome.err;

    file = std::fopen(out.c_str(), "rb");
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_info(png, info);
    ASSERT_EQ(png_get_rowbytes(png, info), static_cast<std::size_t>(samples));
    ASSERT_EQ(png_get_image_height(png, info), static_cast<png_uint_32>(height));
    int wrong = 0;
    for (int y = 0; y < height; ++y) {
        png_read_row(png, row.data(), nullptr);
        for (int i = 0; i < samples; ++i)
            wrong += row[static_cast<std::size_t>(i)] !=
                     large_sample((y + height - 2) % height, (i + 3) % samples);
    }
    EXPECT_EQ(wrong, 0);
    png_destroy_read_struct(&png, &info, nullptr);
    std::fclose(file);
}

TEST_F(PngFilter, ProgressWhereAskedFor) {
    write(in, patterned(5, 40, PNG_COLOR_TYPE_GRAY, 8));
    const Outcome outcome = run("in.png out.png --filter box --strip 10 --progress");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "");
    for (const char *percent : {"  0%", " 25%", " 50%", " 75%", "100%"})
        EXPECT_NE(outcome.err.find(percent), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), std::string::npos) << "it stays on one line";
    EXPECT_EQ(outcome.err.back(), '\r') << "and leaves it";
}

// --- Kernels of one's own

/// Every tap on its own.
Rule correlation(int width, const std::vector<double> &taps) {
    return [=](const Plane &plane, int y, int x) {
        double sum = 0;
        for (std::size_t i = 0; i < taps.size(); ++i)
            sum += taps[i] *
                   plane.at(y + static_cast<int>(i) / width, x + static_cast<int>(i) % width);
        return sum;
    };
}

class OwnKernel : public PngFilter {
protected:
    void write_kernel(const std::string &text) const { std::ofstream(folder / "k.txt") << text; }
};

TEST_F(OwnKernel, Values) {
    write_kernel("# two rows, three columns\n"
                 "1,-2\t 0.5\r\n"
                 "\n"
                 "  0.25 3e0, -1   # and a note\n");
    const Rule rule = correlation(3, {1, -2, .5, .25, 3, -1});
    const std::vector<std::pair<std::string, std::string>> borders = {
        {"constant", "constant"}, {"reflect", "reflect"}, {"circular", "symmetric"}};
    for (const Image &image : images())
        for (Case c : {Case{2, 3, 1, 0, 0, 1, 2, 3, 4, 100}, Case{2, 3, 2, 1, 0, 3, 0, 2, 1, 77}})
            for (const auto &[border_y, border_x] : borders) {
                c.border_y = border_y;
                c.border_x = border_x;
                std::string flags = "--kernel k.txt" + c.flags();
                if (border_y == "constant")
                    flags += " --value " + std::to_string(static_cast<int>(c.value));
                SCOPED_TRACE(flags);
                const Image result = filtered(image, flags);
                for (int channel = 0; channel < image.channels(); ++channel)
                    ASSERT_NO_FATAL_FAILURE(
                        expect(result, image, channel, c, c.value, rule, 6, 7.75));
            }
}

TEST_F(OwnKernel, SumsOfWholeNumbersAreExact) {
    write_kernel("0 1 0\n2 -3 4\n0 -5 6\n");
    const Image image = {3, 3, PNG_COLOR_TYPE_GRAY, 8, {9, 10, 9, 20, 5, 7, 9, 1, 3}};
    // 10 + 40 - 15 + 28 - 5 + 18
    EXPECT_EQ(filtered(image, "--kernel k.txt --same valid").samples, std::vector<int>{76});
    write_kernel("0.5");
    // Halves go to the even number.
    EXPECT_EQ(filtered(image, "--kernel k.txt").samples,
              (std::vector<int>{4, 5, 4, 10, 2, 4, 4, 0, 2}));
}

TEST_F(OwnKernel, AnchorIsTheTapOnThePixel) {
    const Image image = patterned(7, 6, PNG_COLOR_TYPE_RGB, 8);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 4; ++x) {
            // All taps are 0 but the anchor: the picture as it was.
            std::string text;
            for (int i = 0; i < 12; ++i)
                text += std::string(i == y * 4 + x ? "1" : "0") + (i % 4 == 3 ? "\n" : " ");
            write_kernel(text);
            const std::string anchor = std::to_string(y) + "," + std::to_string(x);
            SCOPED_TRACE(anchor);
            const Image result = filtered(image, "--kernel k.txt --value 9 --anchor " + anchor);
            ASSERT_EQ(result.width, 7);
            EXPECT_EQ(result.samples, image.samples);
        }
    EXPECT_EQ(filtered(image, "--filter box --size 4 --anchor 3,1").samples,
              filtered(image, "--filter box --size 4 --pads 3,1,0,2").samples);
}

TEST_F(OwnKernel, RefusesWhatIsNoKernel) {
    write(in, patterned(6, 4, PNG_COLOR_TYPE_RGB, 8));
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "no numbers in the kernel k.txt"},
        {"# 1 2 3\n", "no numbers"},
        {"1 2\n3\n", "line 2 of the kernel k.txt has 1 numbers where the rows above have 2"},
        {"1 2\n\n3 4 5\n", "line 3"},
        {"1 x\n", "line 1 of the kernel k.txt is not a row of finite numbers"},
        {"1 2\n3 4.5.6\n", "line 2"},
        {"1 nan\n", "line 1"},
        {"1\n1e99\n", "line 2"},
    };
    for (const auto &[kernel, text] : wrong) {
        write_kernel(kernel);
        refuses("--kernel k.txt", text);
    }
    refuses("--kernel missing.txt", "cannot open the kernel missing.txt");
    write_kernel("1 2 3\n4 5 6\n");
    refuses("--kernel k.txt --anchor 2,0", "the anchor 2,0 is none of the 2 x 3 taps");
    refuses("--kernel k.txt --anchor 0,-1", "the anchor 0,-1");
    refuses("--kernel k.txt --anchor 1", "--anchor");
    refuses("--kernel k.txt --anchor 1,1 --same tf", "--anchor");
    refuses("--kernel k.txt --anchor 1,1 --pads 1", "--anchor");
    refuses("--kernel k.txt --size 3", "--size");
    refuses("--kernel k.txt --filter box", "--kernel");
}

// --- Roundings, conventions, defaults

TEST_F(PngFilter, RoundsToNearestAndSaturates) {
    Image image{4, 2, PNG_COLOR_TYPE_GRAY, 8, {1, 2, 0, 0, 1, 2, 0, 1}};
    EXPECT_EQ(filtered(image, "--filter downscale").samples, (std::vector<int>{2, 0})); // 1.5, 0.25
    image.samples = {2, 3, 0, 1, 2, 3, 1, 1};
    EXPECT_EQ(filtered(image, "--filter downscale").samples, (std::vector<int>{2, 1})); // 2.5, 0.75
    // The embossed middle pixel is itself plus 2*br + b + r - t - l - 2*tl.
    image = {3, 3, PNG_COLOR_TYPE_GRAY, 8, {0, 0, 0, 0, 100, 60, 0, 50, 40}};
    EXPECT_EQ(filtered(image, "--filter emboss --same valid").samples,
              std::vector<int>{255}); // 290
    std::reverse(image.samples.begin(), image.samples.end());
    EXPECT_EQ(filtered(image, "--filter emboss --same valid").samples, std::vector<int>{0}); // -90
    image.depth = 16;
    std::reverse(image.samples.begin(), image.samples.end());
    EXPECT_EQ(filtered(image, "--filter emboss --same valid").samples, std::vector<int>{290});
}

TEST_F(PngFilter, ConventionsArePadsByHand) {
    // Height 6 and width 7, kernel 4, stride 2.
    const std::vector<std::pair<std::string, std::string>> conventions = {
        {"valid", "0,0,0,0"},      {"tf", "1,1,1,2"},     {"onnx-upper", "1,1,1,2"},
        {"onnx-lower", "1,2,1,1"}, {"torch", "1,1,2,2"},  {"scipy-correlate2d", "1,1,2,2"},
        {"scipy", "2,2,1,1"},      {"causal", "3,3,0,0"}, {"keep", "4,4,4,5"},
    };
    const Image image = patterned(7, 6, PNG_COLOR_TYPE_RGB, 8);
    for (const std::string phase : {"0,0", "1,0", "0,1"})
        for (const auto &[name, pads] : conventions) {
            SCOPED_TRACE(name + " at phase " + phase);
            const std::string flags =
                "--filter box --size 4 --stride 2 --value 255 --phase " + phase;
            const Image by_name = filtered(image, flags + " --same " + name);
            const Image by_hand = filtered(image, flags + " --pads " + pads);
            EXPECT_EQ(by_name.width, by_hand.width);
            EXPECT_EQ(by_name.samples, by_hand.samples);
        }
}

TEST_F(PngFilter, SubsamplePicksEveryPhase) {
    const Image image = patterned(7, 6, PNG_COLOR_TYPE_RGB, 16);
    for (int phase_y = 0; phase_y < 2; ++phase_y)
        for (int phase_x = 0; phase_x < 2; ++phase_x) {
            const Image result =
                filtered(image, "--filter subsample --stride 2 --phase " + std::to_string(phase_y) +
                                    "," + std::to_string(phase_x));
            ASSERT_EQ(result.height, 3);
            ASSERT_EQ(result.width, 4 - phase_x);
            for (int y = 0; y < result.height; ++y)
                for (int x = 0; x < result.width; ++x)
                    for (int channel = 0; channel < 3; ++channel)
                        EXPECT_EQ(result.at(y, x, channel),
                                  image.at(2 * y + phase_y, 2 * x + phase_x, channel));
        }
}

TEST_F(PngFilter, Defaults) {
    const Image image = patterned(8, 6, PNG_COLOR_TYPE_RGB, 8);
    const std::vector<std::pair<std::string, std::string>> same = {
        {"--filter box", "--filter box --size 3 --stride 1 --phase 0,0 --same tf --value 0"},
        {"--filter subsample", "--filter subsample --size 1 --stride 1"},
        {"--filter downscale", "--filter downscale --size 2 --stride 2"},
        {"--filter downscale --size 3", "--filter downscale --size 3 --stride 3"},
        {"--filter downscale --stride 3", "--filter downscale --size 3 --stride 3"},
        {"--filter downscale --size 3 --stride 1", "--filter box"},
        {"--filter box --phase 0", "--filter box --phase 0,0"},
        {"--filter box --pads 2", "--filter box --pads 2,2,2,2"},
        {"--filter box", "--filter box --anchor 1,1 --border constant"},
        {"--filter box --border circular", "--filter box --border circular,circular"},
    };
    for (const auto &[brief, full] : same) {
        const Image a = filtered(image, brief), b = filtered(image, full);
        EXPECT_EQ(a.width, b.width) << brief;
        EXPECT_EQ(a.samples, b.samples) << brief;
    }
}

// --- Command lines

TEST_F(PngFilter, RefusesBadFlags) {
    write(in, patterned(6, 4, PNG_COLOR_TYPE_RGB, 8));
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "--filter or --kernel is required"},
        {"--filter blur", "--filter"},
        {"--filter box --sise 3", "--sise"},
        {"--filter box --size three", "--size"},
        {"--filter box --size 0", "0"},
        {"--filter box --size -3", "-3"},
        {"--filter box --stride 0", "stride"},
        {"--filter box --phase 1,0", "phase 1"},
        {"--filter box --stride 2 --phase 0,2", "phase 2"},
        {"--filter box --phase 0,0,0", "phase"},
        {"--filter box --phase x", "phase"},
        {"--filter box --phase '0,0 ceil=1'", "--phase"},
        {"--filter box --pads 1,2,3", "pads"},
        {"--filter box --pads 1,2,3,x", "pads"},
        {"--filter box --pads ''", "--pads"},
        {"--filter box --pads -3,0,-3,0", "crop"},
        {"--filter box --size 8 --same valid", "outputs"},
        {"--filter box --size 5 --same valid", "the result is empty: 2 x 0 pixels"},
        {"--filter box --pads 1000000,0,0,0", "the result is too large: 4 x 1000002 pixels"},
        {"--filter gaussian --size 1000000", "exceed"},
        {"--filter box --same lasagne", "lasagne"},
        {"--filter box --same tf --pads 1,1,1,1", "--same"},
        {"--filter box --value much", "--value"},
        {"--filter box --value nan", "1048576"},
        {"--filter sharpen --size 4", "sharpen compares pixels"},
        {"--filter sobel --size 1", "sobel compares pixels"},
        {"--filter emboss --size -1", "emboss compares pixels"},
        {"--filter subsample --size 3", "size 1, not 3"},
        {"--filter dilate --value 7", "dilate does not look at the border"},
        {"--filter box --border mirror", "mirror"},
        {"--filter box --border reflect,constant,circular", "border"},
        {"--filter box --border 'reflect ceil=1'", "--border"},
        {"--filter box --border reflect,circular --value 7", "no side has a constant border"},
        {"--filter box --strip 0", "--strip"},
        {"--filter box third.png", "third.png"},
    };
    for (const auto &[flags, text] : wrong)
        refuses(flags, text);
    const Outcome nothing = run("");
    EXPECT_EQ(nothing.code, 2);
    EXPECT_NE(nothing.err.find("IN.png is required"), std::string::npos) << nothing.err;
}

TEST_F(PngFilter, HelpNamesFiltersAndUnits) {
    const Outcome help = run("--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const char *text : {"gaussian", "subsample", "T,L,B,R", "0..65535", "not linearised",
                             "Alpha is", "symmetric", "text file"})
        EXPECT_NE(help.out.find(text), std::string::npos) << text;
}

// --- demo

TEST_F(Demos, ShowsAllFiltersOnItsOwnPicture) {
    const Outcome outcome = run(DEMO, "--out results");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    for (const char *text : {"results/zone_plate.png", "results/contact_sheet.png",
                             "results/filters.png", "results/timings.txt"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << outcome.out;

    const fs::path results = folder / "results";
    const std::string table = content(results / "timings.txt");
    EXPECT_NE(outcome.out.find(table), std::string::npos) << table;
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 10) << table;
    for (const std::string filter : {"gaussian", "box", "sharpen", "sobel", "emboss", "dilate",
                                     "erode", "downscale", "subsample"}) {
        EXPECT_NE(table.find("\n" + filter), std::string::npos) << table;
        const Image image = read(results / (filter + ".png"));
        EXPECT_EQ(image.width, filter == "downscale" || filter == "subsample" ? 128 : 256);
    }
    // Everything that is drawn must be there: four panels beside each other, seven strips of them.
    const Image sheet = read(results / "contact_sheet.png");
    EXPECT_GT(sheet.width, 4 * 256);
    EXPECT_GT(sheet.height, 6 * 256);
    const Image filters = read(results / "filters.png"); // ten pictures and five borders
    EXPECT_GT(filters.width, 5 * 256);
    EXPECT_GT(filters.height, 3 * 256);
}

TEST_F(Demos, ShowsLargeAndSmallPictures) {
    write(folder / "large.png", patterned(530, 301, PNG_COLOR_TYPE_GRAY_ALPHA, 16));
    write(folder / "small.png", patterned(4, 5, PNG_COLOR_TYPE_GRAY, 1));
    for (const std::string name : {"large", "small"}) {
        const Outcome outcome = run(DEMO, "--out " + name + " " + name + ".png");
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_GT(read(folder / name / "contact_sheet.png").width, 4 * 160);
    }
}

TEST_F(Demos, RefusesBadPictures) {
    std::ofstream(in) << "no picture";
    write(folder / "narrow.png", patterned(1030, 17, PNG_COLOR_TYPE_GRAY, 8));
    for (const std::string name : {"in.png", "missing.png", "narrow.png"}) {
        const Outcome outcome = run(DEMO, "--out results " + name);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err.rfind("demo: ", 0), 0U) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_FALSE(fs::exists(folder / "results"));
    }
}

} // namespace
