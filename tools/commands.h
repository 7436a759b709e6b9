#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// A fault of what the user gave: one line for stderr, and exit code 2.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "a, b, c", for texts that tell what is allowed.
inline std::string joined(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &each : words)
        text.append(text.empty() ? "" : ", ").append(each);
    return text;
}

// The subcommands. Each adds itself to the program and does its work while the command line is
// parsed; it throws BadInput, or another std::exception for faults that are not the user's.
void add_window(CLI::App &program);
void add_apply(CLI::App &program);
void add_kernel(CLI::App &program);
void add_tune(CLI::App &program);
