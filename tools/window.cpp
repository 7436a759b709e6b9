#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <selvage/window.h>

#include "commands.h"

namespace {

using Numbers = std::vector<std::int64_t>;

struct Arguments {
    std::string size, kernel, stride = "1", dilation = "1", phase, pads, same;
    bool ceil = false;
    bool json = false;
};

/// Whole numbers with `x` or `,` between them.
Numbers numbers(const std::string &option, std::string_view text) {
    Numbers result;
    for (std::string_view rest = text;;) {
        const std::string_view word = rest.substr(0, rest.find_first_of("x,"));
        std::int64_t number = 0;
        const char *const end = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data(), end, number);
        if (word.empty())
            throw BadInput(option + " '" + std::string(text) + "': a number is missing");
        if (error != std::errc() || stop != end)
            throw BadInput(option + " " + std::string(text) + ": '" + std::string(word) +
                           "' is not a whole number of 64 bits");
        result.push_back(number);
        if (word.size() == rest.size())
            return result;
        rest.remove_prefix(word.size() + 1);
    }
}

/// The axes, outermost first; how many there are follows from the longest option.
std::vector<selvage::Axis> axes(const Arguments &arguments) {
    struct Option {
        std::string name;
        std::int64_t selvage::Axis::*member;
        Numbers values;
    };
    std::vector<Option> options = {
        {"--size", &selvage::Axis::size, numbers("--size", arguments.size)},
        {"--kernel", &selvage::Axis::kernel, numbers("--kernel", arguments.kernel)},
        {"--stride", &selvage::Axis::stride, numbers("--stride", arguments.stride)},
        {"--dilation", &selvage::Axis::dilation, numbers("--dilation", arguments.dilation)},
    };
    if (!arguments.phase.empty())
        options.push_back({"--phase", &selvage::Axis::phase, numbers("--phase", arguments.phase)});
    Numbers pads = {0};
    if (!arguments.pads.empty())
        pads = numbers("--pads", arguments.pads);

    std::size_t rank = pads.size() / 2;
    for (const Option &option : options)
        rank = std::max(rank, option.values.size());
    std::vector<selvage::Axis> result(rank);
    for (const Option &option : options) {
        if (option.values.size() != 1 && option.values.size() != rank)
            throw BadInput(option.name + " has " + std::to_string(option.values.size()) +
                           " values for " + std::to_string(rank) + " axes");
        for (std::size_t i = 0; i < rank; ++i)
            result[i].*option.member = option.values[option.values.size() == 1 ? 0 : i];
    }
    if (pads.size() == 1)
        pads.resize(2 * rank, pads[0]);
    if (pads.size() != 2 * rank)
        throw BadInput("--pads has " + std::to_string(pads.size()) + " values for " +
                       std::to_string(rank) + " axes; give one, or all begins and then all ends");
    for (std::size_t i = 0; i < rank; ++i)
        result[i] = with(result[i], {pads[i], pads[rank + i]});
    return result;
}

std::string join(const Numbers &numbers, char separator) {
    std::string text;
    for (std::int64_t number : numbers)
        text.append(text.empty() ? 0 : 1, separator).append(std::to_string(number));
    return text;
}

void print(const Arguments &arguments) {
    const selvage::Convention *convention = nullptr;
    if (!arguments.same.empty()) {
        convention = selvage::find_convention(arguments.same);
        if (!convention)
            throw BadInput("--same " + arguments.same + ": must be one of " +
                           selvage::convention_names());
    }
    const bool centred = arguments.pads.empty() && !convention && !arguments.phase.empty();

    Numbers begins, ends, before, after, outputs, unused;
    for (selvage::Axis axis : axes(arguments)) {
        if (convention)
            axis = with(axis, convention->pads(axis));
        if (centred)
            axis = with(axis, selvage::convention::centred(axis));
        const selvage::WindowResult result = window(axis, arguments.ceil);
        if (const selvage::Status status = selvage::status(axis, result); !status.ok())
            throw BadInput(status.text());
        begins.push_back(axis.begin);
        ends.push_back(axis.end);
        // Positions of the whole input, so that a crop of 2 shows as before -2.
        before.push_back(result.window.before - result.window.origin);
        after.push_back(result.window.after());
        outputs.push_back(result.window.outputs);
        unused.push_back(result.window.unused());
    }

    if (arguments.json) {
        const nlohmann::ordered_json object = {
            {"before", before}, {"after", after}, {"outputs", outputs}, {"unused", unused}};
        std::cout << object << "\n";
        return;
    }
    std::cout << "pads     " << join(begins, ',') << "," << join(ends, ',') << "\n"
              << "before   " << join(before, ',') << "\n"
              << "after    " << join(after, ',') << "\n"
              << "outputs  " << join(outputs, 'x') << "\n"
              << "unused   " << join(unused, ',') << "\n";
}

} // namespace

void add_window(CLI::App &program) {
    CLI::App *command = program.add_subcommand(
        "window", "Tell the pads, outputs and leftovers of a convolution or pooling window.");
    command->footer(
        "One number stands for all axes; write HxW or DxHxW for more than one.\n"
        "pads     as declared or as the convention gives them: all begins, then all ends\n"
        "before   where the first window starts: this many elements before the input\n"
        "after    padding that is really read past the end\n"
        "outputs  number of windows\n"
        "unused   elements at the end of the input that no window reads");
    const auto arguments = std::make_shared<Arguments>();
    command->add_option("--size", arguments->size, "Elements of the input")->required();
    command->add_option("--kernel", arguments->kernel, "Taps of the window")->required();
    command->add_option("--stride", arguments->stride, "Elements between outputs (1)");
    command->add_option("--dilation", arguments->dilation, "Elements between taps (1)");
    CLI::Option *pads = command->add_option(
        "--pads", arguments->pads,
        "Begins, then ends: B,E or TOP,LEFT,BOTTOM,RIGHT or FRONT,TOP,LEFT,BACK,BOTTOM,RIGHT; "
        "negative pads crop (0)");
    command->add_option("--same", arguments->same, "Convention: " + selvage::convention_names())
        ->excludes(pads);
    command->add_option("--phase", arguments->phase,
                        "Which of the stride's samplings, P or Y,X (0); without pads or "
                        "convention the windows are centred");
    const auto not_empty = [](const std::string &value) {
        return value.empty() ? std::string("a value is missing") : std::string();
    };
    for (CLI::Option *option : command->get_options())
        option->check(not_empty);
    command->add_flag("--ceil", arguments->ceil, "Round the number of outputs up");
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments] { print(*arguments); });
}
