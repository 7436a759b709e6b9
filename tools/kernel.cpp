#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <selvage/core/engine.h>

#include "commands.h"
#include "files.h"
#include "kernel_choice.h"
#include "kernel_object.h"
#include "kernel_schedules.h"
#include "kernel_targets.h"
#include "kernel_weights.h"
#include "kernel_wrapper.h"
#include "object_file.h"
#include "taken_names.h"

namespace {

namespace fs = std::filesystem;
using selvage::Problem;

struct Arguments {
    std::string name, problem, same, target = "host", schedule = "auto";
    std::vector<std::string> isas;
    WeightFiles weights = {"", "", "oihw"};
    KernelPrograms programs;
    std::string folder;
    bool check = false, json = false, verbose = false;
};

void check_name(const std::string &name) {
    if (!std::regex_match(name, std::regex("[A-Za-z_][A-Za-z0-9_]*")))
        throw BadInput("the name '" + name +
                       "' must be an identifier of C: letters, digits and _, no digit first");
    if (is_taken_name(name))
        throw BadInput("the name '" + name +
                       "' is taken: a word of C or C++, or a name or header of their libraries");
}

/// The problem, with the pads of the convention where one is given.
Problem read_problem(const Arguments &arguments) {
    std::string text = arguments.problem;
    for (const char *const pads : {"same=", "output_shape=", "to="})
        if ((" " + text).find(std::string(" ") + pads) != text.npos)
            throw BadInput(std::string(pads) +
                           " in the problem fixes the pads of this size; --same NAME is a "
                           "convention for every size");
    if (!arguments.same.empty())
        text += " same=" + arguments.same;
    Problem problem;
    if (selvage::Status status = selvage::parse_problem(text, &problem); !status.ok())
        throw BadInput(status.text());
    return problem;
}

/// Whether the files that constant weights need are given, and can be packed.
void check_weights(const Arguments &arguments, const Problem &p) {
    const WeightFiles &files = arguments.weights;
    if (!files.weights.empty() && !has_weights(p.op))
        throw BadInput(name(p.op, p.rank) + " takes no weights, --weights");
    if (files.weights.empty() && !files.bias.empty())
        throw BadInput("--bias needs --weights");
    if (!files.weights.empty() && p.bias == files.bias.empty())
        throw BadInput(p.bias ? "the problem has bias=1: --weights needs --bias"
                              : "the problem has no bias=1: --bias is not used");
}

void explain(const ChosenRow &choice) {
    std::cerr << "kernel   " << name(*choice.row) << "\n";
    if (any(choice.cut)) {
        const selvage::Schedule schedule = {choice.row->schedule, choice.row->isa, choice.cut};
        std::cerr << "schedule " << text(schedule) << "\n";
    }
    for (const selvage::Decline &decline : choice.declined)
        std::cerr << "declined " << decline.kernel << ": " << decline.reason << "\n";
}

/// What was made, beside the files.
struct Made {
    const ChosenRow &choice;
    std::int64_t loaded_bytes, stack_bytes;
    bool cached;
};

void explain(const SpecialisedKernel &kernel, const Made &made) {
    std::cerr << (made.cached ? "cached " : "generated ") << kernel.name << "_"
              << made.choice.row->isa << ".o\n"
              << "size     " << made.loaded_bytes << " bytes, " << made.stack_bytes
              << " of stack\n";
}

nlohmann::ordered_json to_json(const SpecialisedKernel &kernel, const std::vector<Made> &all) {
    nlohmann::ordered_json result = {{"name", kernel.name},
                                     {"problem", text(kernel.problem)},
                                     {"packed_bytes", kernel.packed_bytes},
                                     {"stack_bytes", kernel.stack_bytes},
                                     {"kernels", nlohmann::ordered_json::array()}};
    for (const Made &each : all)
        result["kernels"].push_back({{"kernel", name(*each.choice.row)},
                                     {"object", kernel.name + "_" + each.choice.row->isa + ".o"},
                                     {"bytes", each.loaded_bytes},
                                     {"stack_bytes", each.stack_bytes},
                                     {"cached", each.cached}});
    return result;
}

/// A kernel before it is made: what can be wrong with it comes before what takes time.
struct Chosen {
    SpecialisedKernel kernel;
    std::vector<ChosenRow> rows;
    std::vector<std::string> weights; ///< packed, for each row; none that are constant: empty
};

Chosen choose(const Arguments &arguments) {
    check_name(arguments.name);
    Chosen result = {{arguments.name, read_problem(arguments), arguments.same, {}}, {}, {}};
    SpecialisedKernel &kernel = result.kernel;
    check_weights(arguments, kernel.problem);
    kernel.has_constant_weights = !arguments.weights.weights.empty();
    for (const std::string &isa : isas_of(architecture_of(arguments.target), arguments.isas)) {
        const std::string schedule = schedule_for(arguments.schedule, kernel.problem, isa);
        result.rows.push_back(choose_row(kernel.problem, isa, schedule));
        const selvage::KernelRow &row = *result.rows.back().row;
        kernel.rows.push_back(&row);
        kernel.cuts.push_back(result.rows.back().cut);
        kernel.packed_bytes =
            std::max(kernel.packed_bytes, packed_bytes(kernel.name, row, kernel.problem));
        if (kernel.has_constant_weights)
            result.weights.push_back(
                packed_weights(kernel.name, row, kernel.problem, arguments.weights));
    }
    return result;
}

void make_files(const Arguments &arguments, Chosen chosen) {
    SpecialisedKernel &kernel = chosen.kernel;
    std::error_code error;
    fs::create_directories(arguments.folder, error);
    if (error)
        throw BadInput(arguments.folder + ": cannot be made: " + error.message());
    KernelPrograms programs = programs_for(architecture_of(arguments.target));
    programs.cache = arguments.programs.cache;
    if (!arguments.programs.generators.empty())
        programs.generators = arguments.programs.generators;
    if (!arguments.programs.objcopy.empty())
        programs.objcopy = arguments.programs.objcopy;
    const std::string base = arguments.folder + "/" + kernel.name;
    std::vector<Made> made;
    for (const ChosenRow &each : chosen.rows) {
        const KernelObject object =
            make_kernel_object(kernel.name, *each.row, kernel.problem, programs);
        const std::string of_isa = base + "_" + each.row->isa;
        write_file(of_isa + ".o", object.bytes);
        if (kernel.has_constant_weights)
            write_file(of_isa + ".weights", chosen.weights[made.size()]);
        made.push_back({each, loaded_bytes(object.bytes), object.stack_bytes, object.cached});
        kernel.stack_bytes = std::max(
            kernel.stack_bytes, object.stack_bytes + std::int64_t(selvage::wrapper_stack_bytes));
        if (arguments.verbose)
            explain(kernel, made.back());
    }
    write_file(base + ".h", header_text(kernel));
    write_file(base + ".cpp", source_text(kernel));
    if (arguments.json)
        std::cout << to_json(kernel, made).dump(2) << "\n";
}

void run(const Arguments &arguments) {
    if (arguments.folder.empty() && !arguments.check)
        throw BadInput("-o is needed: the folder to write to");
    const Chosen chosen = choose(arguments);
    if (arguments.verbose)
        for (const ChosenRow &each : chosen.rows)
            explain(each);
    if (!arguments.check)
        make_files(arguments, chosen);
}

} // namespace

void add_kernel(CLI::App &program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App *const command = program.add_subcommand(
        "kernel", "Make a kernel for one problem: header, wrapper, objects.");
    command->add_option("name", arguments->name, "Name of its C functions, an identifier")
        ->required();
    command
        ->add_option(
            "problem", arguments->problem,
            "Problem text; n and in are the size to choose a schedule for, all sizes, pads "
            "and phases remain arguments")
        ->required();
    command->add_option("--same", arguments->same,
                        "Convention of the pads that NAME_shape() fills in, in place of pads=");
    command->add_option("--target", arguments->target, "host, x86-64 or arm-64");
    command->add_option("--isa", arguments->isas, "Instruction set, any number of times; else all");
    command->add_option("--schedule", arguments->schedule,
                        "auto, a schedule text, or a table in JSON");
    command->add_option("--weights", arguments->weights.weights, "Weights to put in, .npy");
    command->add_option("--bias", arguments->weights.bias, "Bias to put in, .npy");
    command->add_option("--order", arguments->weights.order, "Order of the weights")
        ->check(CLI::IsMember({"oihw", "hwio"}));
    command->add_option("--objcopy", arguments->programs.objcopy, "objcopy of the architecture");
    command->add_option("--generators", arguments->programs.generators,
                        "Folder of the generator programs");
    command->add_option("--cache", arguments->programs.cache,
                        "Folder that keeps objects, may be shared");
    command->add_option("-o,--output", arguments->folder, "Folder to write to");
    command->add_flag("--check", arguments->check, "Only say what is wrong; write nothing");
    command->add_flag("--json", arguments->json, "Tell what was made in JSON");
    command->add_flag("-v,--verbose", arguments->verbose, "Say why other rows were not taken");
    command->callback([arguments] { run(*arguments); });
}
