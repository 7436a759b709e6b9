#include "png_filter/picture.h"

#include <csetjmp>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include <png.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace demos {
namespace {

constexpr std::int64_t most_pixels = (std::int64_t{1} << 27) - 1;

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// libpng's state while one file is read or written. libpng reports a fault by longjmp(), which
/// runs no destructor; so calls go through attempt(), and all that must be freed lives outside it.
class Png {
public:
    enum class Mode { read, write };

    explicit Png(Mode mode) : mode_(mode) {
        png = mode == Mode::read
                  ? png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)
                  : png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        info = png != nullptr ? png_create_info_struct(png) : nullptr;
        if (info == nullptr) {
            destroy();
            throw std::bad_alloc();
        }
    }
    ~Png() { destroy(); }
    Png(const Png &) = delete;
    Png &operator=(const Png &) = delete;

    /// Calls `body`; false where libpng jumped out of it. `body` owns nothing.
    template <class Body> bool attempt(const Body &body) {
        if (setjmp(png_jmpbuf(png)) != 0)
            return false;
        body();
        return true;
    }

    const char *message() const { return message_; }

    png_structp png = nullptr;
    png_infop info = nullptr;

private:
    [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
        Png &self = *static_cast<Png *>(png_get_error_ptr(png));
        std::snprintf(self.message_, sizeof self.message_, "%s", text);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}

    void destroy() {
        if (mode_ == Mode::read)
            png_destroy_read_struct(&png, &info, nullptr);
        else
            png_destroy_write_struct(&png, &info);
    }

    Mode mode_;
    char message_[128] = "";
};

std::vector<png_bytep> rows_of(std::vector<png_byte> &bytes, std::int64_t height) {
    std::vector<png_bytep> rows(static_cast<std::size_t>(height));
    for (std::size_t y = 0; y < rows.size(); ++y)
        rows[y] = bytes.data() + y * (bytes.size() / rows.size());
    return rows;
}

/// Removes a file unless it was moved to its final place.
struct Unfinished {
    fs::path path;
    ~Unfinished() {
        std::error_code ignored;
        if (!path.empty())
            fs::remove(path, ignored);
    }
};

} // namespace

Picture read_png(const fs::path &path) {
    const auto broken = [&](const std::string &why) {
        return BadInput(path.string() + " is not a complete PNG picture: " + why);
    };
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        throw BadInput("there is no file " + path.string());
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file)
        throw BadInput("cannot open " + path.string());

    Png reader(Png::Mode::read);
    if (!reader.attempt([&] {
            png_init_io(reader.png, file.get());
            png_read_info(reader.png, reader.info);
            png_set_expand(reader.png); // palettes, tRNS, and 1, 2 and 4 bits
            png_set_interlace_handling(reader.png);
            png_read_update_info(reader.png, reader.info);
        }))
        throw broken(reader.message());

    Picture picture;
    picture.height = png_get_image_height(reader.png, reader.info);
    picture.width = png_get_image_width(reader.png, reader.info);
    picture.channels = png_get_channels(reader.png, reader.info);
    picture.depth = png_get_bit_depth(reader.png, reader.info);
    if (picture.height > most_pixels / picture.width)
        throw BadInput(path.string() + " is too large: " + std::to_string(picture.width) + " x " +
                       std::to_string(picture.height) + " pixels are more than " +
                       std::to_string(most_pixels));

    std::vector<png_byte> bytes(picture.count() * (picture.depth / 8));
    std::vector<png_bytep> rows = rows_of(bytes, picture.height);
    if (!reader.attempt([&] {
            png_read_image(reader.png, rows.data());
            png_read_end(reader.png, nullptr); // a file cut short after its pixels is cut short
        }))
        throw broken(reader.message());

    picture.samples.resize(picture.count());
    for (std::size_t i = 0; i < picture.samples.size(); ++i)
        picture.samples[i] = static_cast<float>(
            picture.depth == 16 ? bytes[2 * i] << 8 | bytes[2 * i + 1] : bytes[i]);
    return picture;
}

void write_png(const fs::path &path, const Picture &picture) {
    const auto failed = [&](const std::string &why) {
        return std::runtime_error("cannot write " + path.string() + ": " + why);
    };
    std::error_code error;
    // Through a link, so that the link stays one.
    const fs::path target = fs::is_regular_file(path, error) ? fs::canonical(path) : path;
    if (fs::exists(target, error) && !fs::is_regular_file(target, error))
        throw failed("it is not a file");

    std::vector<png_byte> bytes(picture.count() * (picture.depth / 8));
    for (std::size_t i = 0; i < picture.samples.size(); ++i) {
        const auto sample = static_cast<unsigned>(picture.samples[i]);
        if (picture.depth == 16) {
            bytes[2 * i] = static_cast<png_byte>(sample >> 8);
            bytes[2 * i + 1] = static_cast<png_byte>(sample & 255);
        } else {
            bytes[i] = static_cast<png_byte>(sample);
        }
    }
    std::vector<png_bytep> rows = rows_of(bytes, picture.height);
    const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};

    fs::path part = target;
    part += "." + std::to_string(getpid()) + ".part";
    File file(std::fopen(part.c_str(), "wbx"));
    if (!file)
        throw failed("cannot create a file beside it");
    Unfinished unfinished{part};

    Png writer(Png::Mode::write);
    if (!writer.attempt([&] {
            png_init_io(writer.png, file.get());
            png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(picture.width),
                         static_cast<png_uint_32>(picture.height), picture.depth,
                         colours[picture.channels - 1], PNG_INTERLACE_NONE,
                         PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
            png_write_info(writer.png, writer.info);
            png_write_image(writer.png, rows.data());
            png_write_end(writer.png, nullptr);
        }))
        throw failed(writer.message());
    if (std::fclose(file.release()) != 0)
        throw failed("closing it failed");
    fs::rename(part, target, error);
    if (error)
        throw failed(error.message());
    unfinished.path.clear();
}

} // namespace demos
