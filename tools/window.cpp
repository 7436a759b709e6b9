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
    std::string size, kernel, stride, dilation, phase, pads, same;
    std::string adaptive, to, output_padding, output_shape;
    bool transposed = false;
    bool ceil = false;
    bool json = false;
};

/// What is asked along one axis.
struct Request : selvage::Axis {
    std::int64_t outputs = 0; ///< asked for by --to or --output-shape
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
std::vector<Request> requests(const Arguments &arguments) {
    struct Option {
        std::string name;
        const std::string &text; ///< empty where it is not given
        std::int64_t Request::*member;
        Numbers values = {};
    };
    Option options[] = {
        {"--size", arguments.size, &Request::size},
        {"--kernel", arguments.kernel, &Request::kernel},
        {"--stride", arguments.stride, &Request::stride},
        {"--dilation", arguments.dilation, &Request::dilation},
        {"--phase", arguments.phase, &Request::phase},
        {"--adaptive", arguments.adaptive, &Request::adaptive},
        {"--to", arguments.to, &Request::outputs},
        {"--output-padding", arguments.output_padding, &Request::output_padding},
        {"--output-shape", arguments.output_shape, &Request::outputs},
    };
    Numbers pads = {0};
    if (!arguments.pads.empty())
        pads = numbers("--pads", arguments.pads);

    std::size_t rank = pads.size() / 2;
    for (Option &option : options)
        if (!option.text.empty()) {
            option.values = numbers(option.name, option.text);
            rank = std::max(rank, option.values.size());
        }
    std::vector<Request> result(rank);
    for (const Option &option : options) {
        if (option.values.size() > 1 && option.values.size() != rank)
            throw BadInput(option.name + " has " + std::to_string(option.values.size()) +
                           " values for " + std::to_string(rank) + " axes");
        for (std::size_t i = 0; i < rank && !option.values.empty(); ++i)
            result[i].*option.member = option.values[option.values.size() == 1 ? 0 : i];
    }
    if (pads.size() == 1)
        pads.resize(2 * rank, pads[0]);
    if (pads.size() != 2 * rank)
        throw BadInput("--pads has " + std::to_string(pads.size()) + " values for " +
                       std::to_string(rank) + " axes; give one, or all begins and then all ends");
    for (std::size_t i = 0; i < rank; ++i) {
        result[i].begin = pads[i];
        result[i].end = pads[rank + i];
    }
    return result;
}

std::string join(const Numbers &numbers, char separator) {
    std::string text;
    for (std::int64_t number : numbers)
        text.append(text.empty() ? 0 : 1, separator).append(std::to_string(number));
    return text;
}

/// The convention of the pads; null where they are given otherwise.
const selvage::Convention *convention(const Arguments &arguments) {
    static constexpr selvage::Convention centred = {"centred", selvage::convention::centred};
    if (arguments.same.empty()) {
        const bool phase_alone = arguments.pads.empty() && arguments.output_shape.empty();
        return phase_alone && !arguments.phase.empty() ? &centred : nullptr;
    }
    const selvage::Convention *found = selvage::find_convention(arguments.same);
    if (!found)
        throw BadInput("--same " + arguments.same + ": must be one of " +
                       selvage::convention_names());
    return found;
}

/// The axis with the pads that the options come to.
selvage::Axis padded(const Arguments &arguments, const Request &asked) {
    const bool outputs = !arguments.to.empty() || !arguments.output_shape.empty();
    selvage::Axis axis = asked;
    char text[selvage::longest_line];
    selvage::Line line(text, sizeof text);
    if (resolve_pads(&axis, arguments.transposed, convention(arguments),
                     outputs ? &asked.outputs : nullptr, line) != selvage::Code::ok)
        throw BadInput(text);
    return axis;
}

/// A line of the answer: one number for each axis.
struct Line {
    std::string name;
    Numbers numbers;
    char separator = ',';
};

/// What is told of windows, one axis after the other.
std::vector<Line> windows(const Arguments &arguments, const std::vector<selvage::Axis> &axes) {
    Line before{"before", {}}, after{"after", {}}, outputs{"outputs", {}, 'x'},
        unused{"unused", {}}, kernel{"kernel", {}, 'x'};
    for (const selvage::Axis &axis : axes) {
        const selvage::WindowResult result = window(axis, arguments.ceil);
        if (const selvage::Status status = selvage::status(axis, result); !status.ok())
            throw BadInput(status.text());
        // Positions of the whole input, so that a crop of 2 shows as before -2.
        before.numbers.push_back(result.window.before - result.window.origin);
        after.numbers.push_back(result.window.after());
        outputs.numbers.push_back(result.window.outputs);
        unused.numbers.push_back(result.window.unused());
        kernel.numbers.push_back(result.window.kernel);
    }
    if (!arguments.adaptive.empty())
        return {before, after, outputs, unused, kernel};
    return {before, after, outputs, unused};
}

/// The same of transposed convolutions.
std::vector<Line> transposed_windows(const std::vector<selvage::Axis> &axes) {
    Line before{"before", {}}, outputs{"outputs", {}, 'x'};
    for (const selvage::Axis &axis : axes) {
        const selvage::TransposedResult result = transposed(axis);
        if (const selvage::Status status = selvage::status(axis, {{}, result.error}); !status.ok())
            throw BadInput(status.text());
        before.numbers.push_back(result.transposed.before);
        outputs.numbers.push_back(result.transposed.outputs);
    }
    return {before, outputs};
}

void print(const Arguments &arguments) {
    if (arguments.kernel.empty() && arguments.adaptive.empty() && arguments.to.empty())
        throw BadInput("--kernel is required");
    std::vector<selvage::Axis> axes;
    for (const Request &each : requests(arguments)) {
        if (!arguments.adaptive.empty() && each.adaptive < 1)
            throw BadInput("--adaptive " + std::to_string(each.adaptive) + " is less than 1");
        axes.push_back(padded(arguments, each));
    }
    Line pads{"pads", {}};
    for (std::int64_t selvage::Axis::*side : {&selvage::Axis::begin, &selvage::Axis::end})
        for (const selvage::Axis &axis : axes)
            pads.numbers.push_back(axis.*side);
    std::vector<Line> lines =
        arguments.transposed ? transposed_windows(axes) : windows(arguments, axes);

    if (arguments.json) {
        nlohmann::ordered_json object;
        if (arguments.transposed)
            object[pads.name] = pads.numbers;
        for (const Line &line : lines)
            object[line.name] = line.numbers;
        std::cout << object << "\n";
        return;
    }
    lines.insert(lines.begin(), pads);
    for (const Line &line : lines)
        std::cout << line.name << std::string(9 - line.name.size(), ' ')
                  << join(line.numbers, line.separator) << "\n";
}

} // namespace

void add_window(CLI::App &program) {
    CLI::App *command = program.add_subcommand(
        "window", "Tell the pads, outputs and leftovers of a convolution or pooling window.");
    command->footer(
        "One number stands for all axes; write HxW or DxHxW for more than one.\n"
        "pads     as declared, or as the other options give them: all begins, then all ends\n"
        "before   where the first window starts: this many elements before the input; of a\n"
        "         transposed convolution, where the output starts: so far into the full result\n"
        "after    padding that is really read past the end\n"
        "outputs  number of windows\n"
        "unused   elements at the end of the input that no window reads\n"
        "kernel   taps of the longest window, told with --adaptive\n"
        "Of a transposed convolution, pads, before and outputs are told.");
    const auto arguments = std::make_shared<Arguments>();
    const auto add = [&](const char *name, std::string *value, const std::string &help) {
        return command->add_option(name, *value, help)->check([](const std::string &given) {
            return given.empty() ? std::string("a value is missing") : std::string();
        });
    };
    add("--size", &arguments->size, "Elements of the input")->required();
    CLI::Option *kernel = add("--kernel", &arguments->kernel, "Taps of the window");
    CLI::Option *stride = add("--stride", &arguments->stride, "Elements between outputs (1)");
    CLI::Option *dilation = add("--dilation", &arguments->dilation, "Elements between taps (1)");
    CLI::Option *pads =
        add("--pads", &arguments->pads,
            "Begins, then ends: B,E or TOP,LEFT,BOTTOM,RIGHT or FRONT,TOP,LEFT,BACK,BOTTOM,RIGHT; "
            "negative pads crop (0)");
    CLI::Option *same =
        add("--same", &arguments->same, "Convention: " + selvage::convention_names())
            ->excludes(pads);
    CLI::Option *phase = add("--phase", &arguments->phase,
                             "Which of the stride's samplings, P or Y,X (0); without pads or "
                             "convention the windows are centred");
    CLI::Option *ceil =
        command->add_flag("--ceil", arguments->ceil, "Round the number of outputs up");
    CLI::Option *transposed =
        command
            ->add_flag("--transposed", arguments->transposed,
                       "A transposed convolution, whose pads crop the full result")
            ->excludes(ceil);
    add("--output-padding", &arguments->output_padding,
        "Transposed: outputs beyond those that the pads leave (0)")
        ->needs(transposed);
    add("--output-shape", &arguments->output_shape,
        "Transposed: outputs that the pads have to leave; of an odd number to crop, the larger "
        "half goes to the begin, or to the end with --same onnx-upper")
        ->needs(transposed)
        ->excludes(pads);
    CLI::Option *adaptive = add("--adaptive", &arguments->adaptive,
                                "An adaptive pool with so many outputs; 1 is a global pool");
    CLI::Option *to = add("--to", &arguments->to,
                          "Pads that give so many outputs, the input centred; kernel and stride 1");
    for (CLI::Option *whole : {adaptive, to})
        for (CLI::Option *part : {kernel, stride, dilation, pads, same, phase, ceil, transposed})
            whole->excludes(part);
    to->excludes(adaptive);
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments] { print(*arguments); });
}
