#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace demos {

/// A bar on stderr that fills, and goes when it is destroyed.
class Progress {
public:
    /// Of so many steps; without `show` nothing is written.
    Progress(std::int64_t steps, bool show) : steps_(steps), show_(show) { (*this)(0); }
    ~Progress() {
        if (show_)
            std::fprintf(stderr, "\r%*s\r", width + 7, "");
    }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /// So many steps are done.
    void operator()(std::int64_t done) {
        const int percent = static_cast<int>(100 * done / steps_);
        if (!show_ || percent == percent_)
            return;
        percent_ = percent;
        const std::string bar(static_cast<std::size_t>(width * percent / 100), '#');
        std::fprintf(stderr, "\r[%-*s] %3d%%", width, bar.c_str(), percent);
        std::fflush(stderr);
    }

private:
    static constexpr int width = 50;
    std::int64_t steps_;
    bool show_;
    int percent_ = -1;
};

} // namespace demos
