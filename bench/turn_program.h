#pragma once

#include <fstream>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "program.h"
#include "selvage/plan.h"

namespace bench {

/// What the programs take that compare layers turn by turn.
struct TurnArguments {
    std::string filter, isa, json;
    int turns = 40;
    double slice = 2e-3; ///< seconds
};

/// Writes the results to the file of --json, if there is one.
inline void write_json(const TurnArguments &arguments, const nlohmann::json &results) {
    if (!arguments.json.empty()) {
        std::ofstream(arguments.json) << results.dump(1) << '\n';
    }
}

/// A program with these arguments, and those that `add_options` adds; see run_program() for the
/// exit code.
inline int run_turn_program(const std::string &description, int argc, char **argv,
                            const std::function<void(const TurnArguments &)> &body,
                            const std::function<void(CLI::App &)> &add_options = {}) {
    TurnArguments arguments;
    CLI::App app(description);
    app.add_option("--filter", arguments.filter, "regular expression on the names");
    app.add_option("--isa", arguments.isa, "measure the kernels of this instruction set")
        ->check(CLI::IsMember(selvage::available_isas()));
    app.add_option("--turns", arguments.turns, "turns per line of the table")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--slice", arguments.slice, "seconds that each side gets in a turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--json", arguments.json, "write the results to this file too");
    if (add_options) {
        add_options(app);
    }
    return run_program(app, argc, argv, [&] { body(arguments); });
}

} // namespace bench
