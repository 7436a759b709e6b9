#pragma once

#include <string>

/// The bytes of a file. Throws BadInput with the path where it cannot be read.
std::string read_file(const std::string &path);

/// Writes a file, which appears complete or not at all: what stood there is replaced at the very
/// end. Throws BadInput where it cannot be created, std::runtime_error where it cannot be written.
void write_file(const std::string &path, const std::string &bytes);

/// A new folder for the time of its life, in another one. Throws std::runtime_error where that
/// cannot be written.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string &parent);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;

    const std::string &path() const { return path_; }

private:
    std::string path_;
};
