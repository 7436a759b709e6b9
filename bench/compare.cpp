// Two problems against each other: which is faster, and by how much.
#include <fmt/core.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "program.h"
#include "subject.h"
#include "turns.h"

namespace bench {
namespace {

struct Arguments {
    std::string first, second, isa;
    int turns = 40;
    double slice = 0.002;
};

void run(const Arguments &arguments) {
    Subject first(problem(arguments.first), arguments.isa),
        second(problem(arguments.second), arguments.isa);
    const auto seconds =
        take_turns({[&] { first.run(); }, [&] { second.run(); }}, arguments.turns, arguments.slice);
    const std::vector<double> times = ratios(seconds[0], seconds[1]);
    for (const auto &[subject, each] :
         {std::pair(&first, &seconds[0]), std::pair(&second, &seconds[1])}) {
        fmt::print("{:10.4f} ms  {:45} {}\n", median(*each) * 1e3, subject->plan().kernel(),
                   text(subject->plan().problem()));
    }
    fmt::print("time of the first over the second: {:.3f} (quartiles {:.3f} and {:.3f})\n",
               median(times), quantile(times, 0.25), quantile(times, 0.75));
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Arguments arguments;
    CLI::App app("Compares the time of two problems, given as problem texts, one thread.");
    app.add_option("first", arguments.first, "Problem text")->required();
    app.add_option("second", arguments.second, "Problem text")->required();
    app.add_option("--isa", arguments.isa, "measure the kernels of this instruction set")
        ->check(CLI::IsMember(selvage::available_isas()));
    app.add_option("--turns", arguments.turns, "turns of each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--slice", arguments.slice, "seconds that each gets in a turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    return bench::run_program(app, argc, argv, [&] { bench::run(arguments); });
}
