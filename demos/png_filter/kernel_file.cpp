#include <charconv>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

#include "kernels.h"
#include "picture.h"

namespace demos {
namespace {

constexpr std::string_view separators = " \t\r,";

/// Appends the numbers of a line to *taps; true where it holds nothing else.
bool read_numbers(std::string_view line, std::vector<float> *taps) {
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
        if (line.empty())
            return true;
        const std::string_view word = line.substr(0, line.find_first_of(separators));
        float tap = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tap);
        if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(tap))
            return false;
        taps->push_back(tap);
        line.remove_prefix(word.size());
    }
}

} // namespace

Kernel read_kernel(const std::filesystem::path &path) {
    std::ifstream file(path);
    if (!file)
        throw BadInput("cannot open the kernel " + path.string());
    Kernel kernel;
    std::string line;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
        const auto refuse = [&](const std::string &why) {
            throw BadInput("line " + std::to_string(number) + " of the kernel " + path.string() +
                           " " + why);
        };
        const std::size_t before = kernel.taps.size();
        if (!read_numbers(std::string_view(line).substr(0, line.find('#')), &kernel.taps))
            refuse("is not a row of finite numbers");
        const auto width = static_cast<std::int64_t>(kernel.taps.size() - before);
        if (width == 0)
            continue;
        if (kernel.height > 0 && width != kernel.width)
            refuse("has " + std::to_string(width) + " numbers where the rows above have " +
                   std::to_string(kernel.width));
        kernel.width = width;
        ++kernel.height;
    }
    if (kernel.height == 0)
        throw BadInput("there are no numbers in the kernel " + path.string());
    return kernel;
}

} // namespace demos
