#include "npy.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unistd.h>

#include "commands.h"

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// What NumPy calls a type, and how its files do.
struct Element {
    std::string_view name, descr;
};
template <class T> constexpr Element element = {};
template <> constexpr Element element<float> = {"float32", "<f4"};
template <> constexpr Element element<std::uint8_t> = {"uint8", "|u1"};
template <> constexpr Element element<std::int8_t> = {"int8", "|i1"};
template <> constexpr Element element<std::int16_t> = {"int16", "<i2"};
template <> constexpr Element element<std::int64_t> = {"int64", "<i8"};

/// Reads the header of an array, a Python dictionary such as
/// {'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 8, 3), }
/// with its three keys in any order.
class HeaderReader {
public:
    HeaderReader(std::string path, std::string_view rest) : path_(std::move(path)), rest_(rest) {}

    /// The shape of an array of these elements.
    std::vector<std::int64_t> shape(const Element &element) {
        const std::string descr_text = "'" + std::string(element.descr) + "'";
        bool descr = false, order = false, shape = false;
        std::vector<std::int64_t> result;
        expect("{");
        while (!take("}")) {
            if (take("'descr'")) {
                expect(":");
                descr = true;
                if (!take(descr_text))
                    fail("its elements are not " + std::string(element.name) + " (" + descr_text +
                         ")");
            } else if (take("'fortran_order'")) {
                expect(":");
                order = true;
                if (!take("False"))
                    fail("it is not in C order (fortran_order is not False)");
            } else {
                expect("'shape'");
                expect(":");
                shape = true;
                result = tuple();
            }
            if (!take(",")) {
                expect("}");
                break;
            }
        }
        if (!descr || !order || !shape)
            fail("its header lacks one of descr, fortran_order and shape");
        return result;
    }

private:
    [[noreturn]] void fail(const std::string &reason) const {
        throw BadInput(path_ + ": " + reason);
    }

    bool take(std::string_view token) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
        if (rest_.substr(0, token.size()) != token)
            return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    void expect(std::string_view token) {
        if (!take(token))
            fail("its header has no " + std::string(token) + " where one belongs");
    }

    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> numbers;
        expect("(");
        while (!take(")")) {
            take(""); // the blanks before the number
            std::int64_t number = -1;
            const auto [stop, error] =
                std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
            if (error != std::errc() || number < 0)
                fail("its shape is not a tuple of whole numbers");
            rest_.remove_prefix(stop - rest_.data());
            numbers.push_back(number);
            if (!take(",")) {
                expect(")");
                break;
            }
        }
        return numbers;
    }

    std::string path_;
    std::string_view rest_;
};

} // namespace

std::string shape_text(const std::vector<std::int64_t> &shape) {
    std::string text = "(";
    for (std::int64_t size : shape)
        text.append(text.size() == 1 ? "" : ", ").append(std::to_string(size));
    return text + (shape.size() == 1 ? ",)" : ")");
}

template <class T> NpyArray<T> read_npy(const std::string &path) {
    const auto fail = [&](const std::string &reason) { throw BadInput(path + ": " + reason); };
    // Asked before it is opened, since opening a pipe would wait for its other end.
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        fail("is not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        fail(std::string("cannot be read: ") + std::strerror(errno));

    const auto bytes = [&](std::size_t count) {
        std::string text(count, '\0');
        if (!file.read(text.data(), count))
            fail("the file ends in its header");
        return text;
    };
    if (bytes(magic.size()) != magic)
        fail("is not a .npy file");
    const std::string version = bytes(2);
    if (version[0] != 1 && version[0] != 2)
        fail("is of .npy version " + std::to_string(version[0]) + ", not 1 or 2");
    std::uint32_t length = 0;
    const std::string little_endian = bytes(version[0] == 1 ? 2 : 4);
    std::memcpy(&length, little_endian.data(), little_endian.size());
    // NumPy itself refuses headers longer than 10000 bytes.
    if (length > 10000)
        fail("has a header of " + std::to_string(length) + " bytes, more than 10000");
    const std::string header = bytes(length);

    NpyArray<T> array;
    array.shape = HeaderReader(path, header).shape(element<T>);
    const std::uintmax_t begin = file.tellg();
    const std::uintmax_t size = std::filesystem::file_size(path);
    // Sizes in bytes; division keeps a product of absurd sizes from wrapping.
    std::uintmax_t wanted = sizeof(T);
    for (std::int64_t extent : array.shape) {
        if (extent != 0 && wanted > UINTMAX_MAX / extent)
            fail("shape " + shape_text(array.shape) + " is too large");
        wanted *= extent;
    }
    if (size - begin != wanted)
        fail("shape " + shape_text(array.shape) + " takes " + std::to_string(wanted) +
             " bytes, the file holds " + std::to_string(size - begin));
    array.data.resize(wanted / sizeof(T));
    if (!file.read(reinterpret_cast<char *>(array.data.data()), wanted))
        fail("cannot be read to its end");
    return array;
}

template <class T> void write_npy(const std::string &path, const NpyArray<T> &array) {
    std::string header = "{'descr': '" + std::string(element<T>.descr) +
                         "', 'fortran_order': False, 'shape': " + shape_text(array.shape) + ", }";
    // The data begins at a multiple of 64 bytes, the header ends in a new line.
    const std::size_t before = magic.size() + 4;
    header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
    header += '\n';
    const char length[] = {static_cast<char>(header.size() % 256),
                           static_cast<char>(header.size() / 256)};

    namespace fs = std::filesystem;
    std::error_code ignored;
    // A link stays a link, and a device or a pipe is written, not replaced.
    const fs::path target = fs::exists(path, ignored) ? fs::canonical(path) : fs::path(path);
    const bool replace = !fs::exists(target, ignored) || fs::is_regular_file(target, ignored);
    const fs::path written =
        replace ? fs::path(target.string() + "." + std::to_string(getpid()) + ".tmp") : target;

    std::ofstream file(written, std::ios::binary);
    if (!file)
        throw BadInput(path + ": cannot be written: " + std::strerror(errno));
    file << magic << '\x01' << '\0';
    file.write(length, sizeof length) << header;
    file.write(reinterpret_cast<const char *>(array.data.data()), array.data.size() * sizeof(T));
    file.close();
    std::error_code error;
    if (file && replace)
        fs::rename(written, target, error);
    if (!file || error) {
        if (replace)
            fs::remove(written, ignored);
        throw std::runtime_error(path + ": could not be written completely");
    }
}

template NpyArray<float> read_npy(const std::string &);
template NpyArray<std::uint8_t> read_npy(const std::string &);
template NpyArray<std::int8_t> read_npy(const std::string &);
template NpyArray<std::int16_t> read_npy(const std::string &);
template void write_npy(const std::string &, const NpyArray<float> &);
template void write_npy(const std::string &, const NpyArray<std::uint8_t> &);
template void write_npy(const std::string &, const NpyArray<std::int8_t> &);
template void write_npy(const std::string &, const NpyArray<std::int64_t> &);
