#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <selvage/version.h>

#include "commands.h"

namespace {

int fail(int code, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cerr << "selvage: " << text << "\n";
    return code;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App program("Convolution and pooling with exact borders.", "selvage");
    program.set_version_flag("--version", "selvage " SELVAGE_VERSION);
    program.require_subcommand(1);
    add_window(program);
    add_apply(program);
    add_kernel(program);
    add_tune(program);
    try {
        program.parse(argc, argv);
        std::cout.flush();
        return std::cout ? 0 : fail(1, "could not write to the standard output");
    } catch (const CLI::ParseError &error) {
        // A call for help arrives here as well.
        if (error.get_exit_code() == 0)
            return program.exit(error);
        // A misspelt word is told before what is missing because of it.
        const std::vector<std::string> unknown = program.remaining(true);
        return fail(2, unknown.empty() ? error.what()
                                       : "'" + unknown[0] + "' is not known here; see --help");
    } catch (const BadInput &error) {
        return fail(2, error.what());
    } catch (const std::exception &error) {
        return fail(1, error.what());
    }
}
