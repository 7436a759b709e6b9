#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "picture.h"

namespace demos {

class Libpng;

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Reads a PNG of any colour type, depth and interlacing row by row. Samples of 1, 2 and 4 bits are
/// scaled to 8 bits, a palette becomes RGB, and a transparent colour (tRNS) becomes an alpha
/// channel. Gamma, colour profile and other notes in the file are not kept.
///
/// All members throw BadInput where the file is missing, broken or cut short.
class PngReader {
public:
    /// Reads the header. An interlaced picture has no row complete before nearly all of the file is
    /// read, so it is read and held as a whole; above 2^27 - 1 pixels that is refused.
    explicit PngReader(const std::filesystem::path &path);
    ~PngReader();
    PngReader(const PngReader &) = delete;
    PngReader &operator=(const PngReader &) = delete;

    const Shape &shape() const { return shape_; }
    bool interlaced() const { return interlaced_; }

    /// The number of the row that read() gives next.
    std::int64_t next() const { return next_; }

    /// Reads the next row into row[0 .. row_samples() - 1], or passes it over where `row` is null.
    void read(Sample *row);

    /// Goes back to the first row.
    void rewind();

    /// Reads whatever is left of the file, so that a file cut short anywhere is found out.
    void finish();

private:
    void open();
    [[noreturn]] void fail_broken() const;

    std::filesystem::path path_;
    File file_;
    std::unique_ptr<Libpng> libpng_;
    Shape shape_;
    bool interlaced_ = false;
    std::int64_t next_ = 0;
    std::vector<unsigned char> bytes_; ///< one row, or all of an interlaced picture
};

/// Writes a PNG row by row, without interlacing. The file appears complete when finish() returns,
/// or not at all: until then whatever was at `path` stays as it was, so `path` may also be where
/// the picture comes from.
///
/// All members throw std::runtime_error where the file cannot be written.
class PngWriter {
public:
    PngWriter(const std::filesystem::path &path, const Shape &shape);
    ~PngWriter();
    PngWriter(const PngWriter &) = delete;
    PngWriter &operator=(const PngWriter &) = delete;

    /// Writes the next row, row_samples() long.
    void write(const Sample *row);

    /// To be called after the last row.
    void finish();

private:
    [[noreturn]] void fail(const std::string &why) const;

    /// Removes the file that is written unless it was moved to its place.
    struct Part {
        std::filesystem::path path;
        ~Part();
    };

    std::filesystem::path path_;
    std::filesystem::path target_; ///< `path_` behind its links
    Part part_;
    File file_;
    std::unique_ptr<Libpng> libpng_;
    Shape shape_;
    std::vector<unsigned char> bytes_;
};

/// Reads a whole picture. Throws like PngReader, and BadInput above 2^27 - 1 pixels.
Picture read_png(const std::filesystem::path &path);

/// Writes a whole picture. Throws like PngWriter.
void write_png(const std::filesystem::path &path, const Picture &picture);

} // namespace demos
