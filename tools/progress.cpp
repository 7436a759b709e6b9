#include "progress.h"

#include <cmath>
#include <cstdio>
#include <iostream>

#include <unistd.h>

#include <turns.h>

namespace {

std::string minutes(double seconds) {
    char text[32];
    const long whole = std::lround(seconds);
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
    return text;
}

} // namespace

Progress::Progress(std::size_t parts)
    : parts_(parts), begin_(bench::now()), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::begin(const std::string &part) {
    ++begun_;
    part_ = part;
    if (terminal_)
        tell("");
    else
        note(place() + part_);
}

void Progress::tell(const std::string &state) {
    if (!terminal_)
        return;
    // A line that is broken in two could not be taken back; every terminal has 80 columns.
    constexpr std::size_t columns = 79;
    const std::string line = place() + state + (state.empty() ? "" : ": ") + part_;
    std::cerr << "\r\033[K" << line.substr(0, columns) << std::flush;
}

void Progress::note(const std::string &line) {
    clear();
    std::cerr << line << "\n";
}

/// "[3/40] 5:20 to go, ": as long as the parts before took on average, for each that is left.
std::string Progress::place() const {
    std::string text = "[" + std::to_string(begun_) + "/" + std::to_string(parts_) + "] ";
    if (const std::size_t done = begun_ - 1; done > 0)
        text +=
            minutes((bench::now() - begin_) / double(done) * double(parts_ - done)) + " to go, ";
    return text;
}

void Progress::clear() const {
    if (terminal_)
        std::cerr << "\r\033[K" << std::flush;
}
