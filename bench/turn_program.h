#pragma once

#include <functional>
#include <string>

#include "program.h"
#include "selvage/plan.h"

namespace bench {

/// What the programs take that compare layers turn by turn.
struct TurnArguments {
    std::string layer_file = BENCH_LAYERS;
    std::string filter, isa, json;
    int turns = 40;
    double slice = 2e-3; ///< seconds
};

/// A program with these arguments; see run_program() for the exit code.
inline int run_turn_program(const std::string &description, int argc, char **argv,
                            const std::function<void(const TurnArguments &)> &body) {
    TurnArguments arguments;
    CLI::App app(description);
    app.add_option("--layer-file", arguments.layer_file, "list of layers")
        ->check(CLI::ExistingFile)
        ->capture_default_str();
    app.add_option("--filter", arguments.filter, "regular expression on the layer names");
    app.add_option("--isa", arguments.isa, "measure the kernels of this instruction set")
        ->check(CLI::IsMember(selvage::available_isas()));
    app.add_option("--turns", arguments.turns, "turns per layer")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--slice", arguments.slice, "seconds that each side gets in a turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--json", arguments.json, "write the results to this file too");
    return run_program(app, argc, argv, [&] { body(arguments); });
}

} // namespace bench
