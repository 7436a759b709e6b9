#include "files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

#include "commands.h"

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file || std::filesystem::is_directory(path))
        throw BadInput(path + ": cannot be read: " + std::strerror(errno));
    return bytes;
}

void write_file(const std::string &path, const std::string &bytes) {
    const std::string written = path + "." + std::to_string(getpid()) + ".tmp";
    std::ofstream file(written, std::ios::binary);
    if (!file)
        throw BadInput(path + ": cannot be written: " + std::strerror(errno));
    file << bytes;
    file.close();
    std::error_code error;
    if (file)
        std::filesystem::rename(written, path, error);
    if (!file || error) {
        std::filesystem::remove(written, error);
        throw std::runtime_error(path + ": could not be written completely");
    }
}

TemporaryFolder::TemporaryFolder(const std::string &parent) : path_(parent + "/selvage-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr)
        throw std::runtime_error(parent + ": no temporary folder: " + std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}
