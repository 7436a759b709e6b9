#pragma once

#include <string>
#include <vector>

/// Runs a program, found in the PATH unless it is a path, with these arguments and no shell.
/// Returns what it wrote to both of its outputs. Throws std::runtime_error with the program's name
/// where it cannot be started or fails; then the text ends with what it wrote.
std::string run_program(const std::string &program, const std::vector<std::string> &arguments);
