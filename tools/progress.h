#pragma once

#include <cstddef>
#include <string>

/// Tells on stderr how far a long work is: on a terminal in one line that changes, else in a line
/// for each of its parts.
class Progress {
public:
    explicit Progress(std::size_t parts);
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;

    /// The next part is at work.
    void begin(const std::string &part);
    /// What it is at, for terminals.
    void tell(const std::string &state);
    /// A line that stays.
    void note(const std::string &line);

private:
    std::string place() const;
    void clear() const;

    const std::size_t parts_;
    const double begin_; ///< seconds, as bench::now()
    const bool terminal_;
    std::size_t begun_ = 0;
    std::string part_;
};
