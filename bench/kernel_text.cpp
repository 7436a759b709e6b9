#include "kernel_text.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <files.h>
#include <process.h>

namespace bench {
namespace {

/// The words of a kernel's line in the list that the build writes: the program, and its arguments.
std::vector<std::string> command_of(const std::string &kernel) {
    std::ifstream list(BENCH_KERNEL_COMMANDS);
    for (std::string line; std::getline(list, line);) {
        std::istringstream words(line);
        std::string name;
        if (words >> name && name == kernel) {
            std::vector<std::string> command;
            for (std::string word; words >> word;) {
                command.push_back(word);
            }
            return command;
        }
    }
    throw std::runtime_error("the build has no kernel " + kernel);
}

} // namespace

std::string kernel_text(const std::string &kernel, const std::string &form) {
    std::vector<std::string> command = command_of(kernel);
    const std::string program = std::string(BENCH_GENERATORS) + "/" + command.front();
    command.erase(command.begin());
    const TemporaryFolder folder(std::filesystem::temp_directory_path());
    command.insert(command.end(), {"-e", form == "asm" ? "assembly" : "stmt", "-o", folder.path()});
    run_program(program, command);
    for (const auto &file : std::filesystem::directory_iterator(folder.path())) {
        return read_file(file.path()); // the only one
    }
    throw std::runtime_error(program + " wrote no " + form);
}

} // namespace bench
