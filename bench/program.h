#pragma once

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>

namespace bench {

/// Parses the command line, then calls `body`, and returns the exit code: 0, 2 for bad arguments
/// and where `body` throws std::invalid_argument, 1 where it throws another std::exception.
/// Failures give one line on stderr.
inline int run_program(CLI::App &app, int argc, char **argv, const std::function<void()> &body) {
    app.failure_message(
        [](const CLI::App *, const CLI::Error &error) { return std::string(error.what()) + '\n'; });
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2; // the exception of --help is 0
    }
    try {
        body();
    } catch (const std::regex_error &error) { // only arguments hold regular expressions
        std::fprintf(stderr, "%s: not a regular expression: %s\n", argv[0], error.what());
        return 2;
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}

} // namespace bench
