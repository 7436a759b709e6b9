#include "png_file.h"

#include <climits>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include <png.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace demos {

/// libpng's state while one file is read or written. libpng reports a fault by longjmp(), which
/// runs no destructor; so calls go through attempt(), and all that must be freed lives outside it.
class Libpng {
public:
    enum class Mode { read, write };

    explicit Libpng(Mode mode) : mode_(mode) {
        png = mode == Mode::read
                  ? png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)
                  : png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        info = png != nullptr ? png_create_info_struct(png) : nullptr;
        if (info == nullptr) {
            destroy();
            throw std::bad_alloc();
        }
    }
    ~Libpng() { destroy(); }
    Libpng(const Libpng &) = delete;
    Libpng &operator=(const Libpng &) = delete;

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
        Libpng &self = *static_cast<Libpng *>(png_get_error_ptr(png));
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

namespace {

constexpr std::int64_t most_pixels_held = (std::int64_t{1} << 27) - 1;

/// Of zlib. Packing is what takes longest here, and its default, 6, takes three times as long as 3
/// for photographs a tenth smaller.
constexpr int compression_level = 3;

std::size_t row_bytes(const Shape &shape) { return shape.row_samples() * (shape.depth / 8); }

void require_room(const fs::path &path, const Shape &shape) {
    if (shape.height > most_pixels_held / shape.width)
        throw BadInput(path.string() + " is too large to be held as a whole: " +
                       std::to_string(shape.width) + " x " + std::to_string(shape.height) +
                       " pixels are more than " + std::to_string(most_pixels_held));
}

} // namespace

PngReader::PngReader(const fs::path &path) : path_(path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        throw BadInput("there is no file " + path.string());
    open();
}

PngReader::~PngReader() = default;

void PngReader::open() {
    file_.reset(std::fopen(path_.c_str(), "rb"));
    if (!file_)
        throw BadInput("cannot open " + path_.string());
    libpng_ = std::make_unique<Libpng>(Libpng::Mode::read);
    const png_structp png = libpng_->png;
    const png_infop info = libpng_->info;
    if (!libpng_->attempt([&] {
            png_init_io(png, file_.get());
            png_read_info(png, info);
            png_set_expand(png); // palettes, tRNS, and 1, 2 and 4 bits
            png_set_interlace_handling(png);
            png_read_update_info(png, info);
        }))
        fail_broken();
    shape_.height = png_get_image_height(png, info);
    shape_.width = png_get_image_width(png, info);
    shape_.channels = png_get_channels(png, info);
    shape_.depth = png_get_bit_depth(png, info);
    interlaced_ = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    next_ = 0;
    bytes_.resize(row_bytes(shape_));
    if (!interlaced_)
        return;

    require_room(path_, shape_);
    const auto height = static_cast<std::size_t>(shape_.height);
    bytes_.resize(height * row_bytes(shape_));
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y)
        rows[y] = bytes_.data() + y * row_bytes(shape_);
    if (!libpng_->attempt([&] {
            png_read_image(png, rows.data());
            png_read_end(png, nullptr);
        }))
        fail_broken();
}

void PngReader::fail_broken() const {
    throw BadInput(path_.string() + " is not a complete PNG picture: " + libpng_->message());
}

void PngReader::read(Sample *row) {
    const unsigned char *bytes = bytes_.data();
    if (interlaced_)
        bytes += static_cast<std::size_t>(next_) * row_bytes(shape_);
    else if (!libpng_->attempt([&] { png_read_row(libpng_->png, bytes_.data(), nullptr); }))
        fail_broken();
    ++next_;
    if (row == nullptr)
        return;
    for (std::size_t i = 0; i < shape_.row_samples(); ++i)
        row[i] = static_cast<Sample>(shape_.depth == 16 ? bytes[2 * i] << 8 | bytes[2 * i + 1]
                                                        : bytes[i]);
}

void PngReader::rewind() {
    if (interlaced_)
        next_ = 0;
    else
        open();
}

void PngReader::finish() {
    if (interlaced_)
        return; // read to its end already
    while (next_ < shape_.height)
        read(nullptr);
    if (!libpng_->attempt([&] { png_read_end(libpng_->png, nullptr); }))
        fail_broken();
}

namespace {

char unfinished[PATH_MAX]; // the file that a signal must not leave behind

/// Only calls that are safe in a handler; then the signal does what it always does.
extern "C" void remove_unfinished(int signal) {
    unlink(unfinished);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void remove_on_signals(const std::string &path) {
    if (path.size() >= sizeof unfinished)
        return;
    std::memcpy(unfinished, path.c_str(), path.size() + 1);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, path.empty() ? SIG_DFL : remove_unfinished);
}

} // namespace

PngWriter::PngWriter(const fs::path &path, const Shape &shape)
    : path_(path), target_(path), shape_(shape), bytes_(row_bytes(shape)) {
    std::error_code error;
    if (fs::is_regular_file(path, error))
        target_ = fs::canonical(path); // through a link, so that the link stays one
    else if (fs::exists(path, error))
        fail("it is not a file");
    fs::path part = target_;
    part += "." + std::to_string(getpid()) + ".part";
    file_.reset(std::fopen(part.c_str(), "wbx"));
    if (!file_)
        fail("cannot create a file beside it");
    part_.path = part;
    remove_on_signals(part);

    const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};
    libpng_ = std::make_unique<Libpng>(Libpng::Mode::write);
    if (!libpng_->attempt([&] {
            png_init_io(libpng_->png, file_.get());
            png_set_IHDR(libpng_->png, libpng_->info, static_cast<png_uint_32>(shape.width),
                         static_cast<png_uint_32>(shape.height), shape.depth,
                         colours[shape.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                         PNG_FILTER_TYPE_BASE);
            png_set_compression_level(libpng_->png, compression_level);
            png_write_info(libpng_->png, libpng_->info);
        }))
        fail(libpng_->message());
}

PngWriter::~PngWriter() = default;

PngWriter::Part::~Part() {
    std::error_code ignored;
    if (!path.empty())
        fs::remove(path, ignored);
    remove_on_signals("");
}

void PngWriter::fail(const std::string &why) const {
    throw std::runtime_error("cannot write " + path_.string() + ": " + why);
}

void PngWriter::write(const Sample *row) {
    for (std::size_t i = 0; i < shape_.row_samples(); ++i) {
        if (shape_.depth == 16) {
            bytes_[2 * i] = static_cast<unsigned char>(row[i] >> 8);
            bytes_[2 * i + 1] = static_cast<unsigned char>(row[i] & 255);
        } else {
            bytes_[i] = static_cast<unsigned char>(row[i]);
        }
    }
    if (!libpng_->attempt([&] { png_write_row(libpng_->png, bytes_.data()); }))
        fail(libpng_->message());
}

void PngWriter::finish() {
    if (!libpng_->attempt([&] { png_write_end(libpng_->png, nullptr); }))
        fail(libpng_->message());
    if (std::fclose(file_.release()) != 0)
        fail("closing it failed");
    std::error_code error;
    fs::rename(part_.path, target_, error);
    if (error)
        fail(error.message());
    part_.path.clear();
}

Picture read_png(const fs::path &path) {
    PngReader reader(path);
    require_room(path, reader.shape());
    Picture picture = blank(reader.shape());
    for (std::int64_t y = 0; y < picture.height; ++y)
        reader.read(picture.row(y));
    reader.finish();
    return picture;
}

void write_png(const fs::path &path, const Picture &picture) {
    PngWriter writer(path, picture);
    for (std::int64_t y = 0; y < picture.height; ++y)
        writer.write(picture.row(y));
    writer.finish();
}

} // namespace demos
