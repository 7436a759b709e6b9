#include <algorithm>
#include <iostream>
#include <string>

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
    program.require_subcommand(1);
    add_window(program);
    add_apply(program);
    try {
        program.parse(argc, argv);
        return 0;
    } catch (const CLI::ParseError &error) {
        // A call for help arrives here as well.
        return error.get_exit_code() == 0 ? program.exit(error) : fail(2, error.what());
    } catch (const BadInput &error) {
        return fail(2, error.what());
    } catch (const std::exception &error) {
        return fail(1, error.what());
    }
}
