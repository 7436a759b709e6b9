#include "kernel_object.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

#include <kernel_sources.h>
#include <task.h>

#include "commands.h"
#include "family_name.h"
#include "files.h"
#include "kernel_cache.h"
#include "object_file.h"
#include "process.h"

namespace {

namespace fs = std::filesystem;
using selvage::Axis;
using selvage::KernelRow;
using selvage::Op;
using selvage::Problem;

// Numbers that are fixed.

/// What the windows of an axis have in common at every size; 0 where they differ.
struct FixedAxis {
    std::int64_t kernel = 0, stride = 0, dilation = 0;
};

FixedAxis fixed_axis(const Problem &p, const Axis &axis) {
    if (axis.adaptive > 0)
        return {};
    if (p.op != Op::conv_transpose)
        return {axis.kernel, axis.stride, axis.dilation};
    // Pads move the phases round; two input elements have them all.
    Axis whole;
    whole.size = 2;
    whole.kernel = axis.kernel;
    whole.stride = axis.stride;
    whole.dilation = axis.dilation;
    const selvage::Transposed phases = selvage::transposed(whole).transposed;
    const selvage::Window first = phases.phase(0).window;
    FixedAxis fixed = {first.kernel, first.stride, first.dilation};
    for (std::int64_t phase = 1; phase < phases.phases(); ++phase) {
        const selvage::Window each = phases.phase(phase).window;
        if (each.kernel != fixed.kernel)
            fixed.kernel = 0;
        if (each.dilation != fixed.dilation)
            fixed.dilation = 0;
    }
    return fixed;
}

/// The parameters of the generator: those of the row, and the numbers of the problem.
std::vector<std::string> parameters(const KernelRow &row, const Problem &p) {
    std::vector<std::string> words = {std::string("schedule=") + family_name(row.family)};
    const auto add = [&](const char *parameter, std::int64_t value) {
        words.push_back(std::string(parameter) + "=" + std::to_string(value));
    };
    if (row.schedule_function != nullptr)
        words.push_back(std::string("function=") + row.schedule_function);
    add("lanes", row.lanes);
    add("tile", row.tile);
    add("vectors", row.vectors);
    if (row.widest_map != 0)
        add("widest_map", row.widest_map);
    const bool conv = std::string_view(row.op) == "conv";
    const std::int64_t groups = selvage::groups(p);
    if (conv) {
        add("channel_block", row.channel_block);
        add("fixed_channels", p.c / groups);
        add("fixed_outputs", p.k / groups);
        add("fixed_groups", groups);
        add("fixed_step", p.op == Op::conv_transpose ? p.x.stride : 1);
    } else if (row.family == selvage::Family::lines) {
        add("fixed_channels", selvage::interleaved(p));
    } else {
        add("fixed_channels", p.c);
        add("fixed_outputs", p.k);
    }
    if (row.separable)
        words.push_back("separable=true");
    if (std::string_view(row.op) == "depthwise")
        add("fixed_multiplier", p.k / p.c);
    const FixedAxis z = fixed_axis(p, p.z), y = fixed_axis(p, p.y), x = fixed_axis(p, p.x);
    add("fixed_kernel_z", z.kernel);
    add("fixed_kernel_y", y.kernel);
    add("fixed_kernel_x", x.kernel);
    add("fixed_stride_y", y.stride);
    add("fixed_stride_x", x.stride);
    add("fixed_dilation_y", y.dilation);
    add("fixed_dilation_x", x.dilation);
    return words;
}

const selvage::KernelTarget &target_of(const KernelRow &row) {
    for (const selvage::KernelTarget &each : selvage::kernel_targets())
        if (std::string_view(each.isa) == row.isa)
            return each;
    throw std::logic_error(std::string("no target for ") + row.isa);
}

// Stack.

/// A number of assembly, after `$` or `#`; 0 where there is none.
std::int64_t immediate(std::string_view text) {
    const std::size_t mark = text.find_first_of("$#");
    if (mark == text.npos)
        return 0;
    std::int64_t value = 0;
    std::from_chars(text.data() + mark + 1, text.data() + text.size(), value);
    return value;
}

/// What one instruction takes from the stack: pushes, frames, and what aligning them may skip.
/// Throws std::runtime_error where that is a number of the run time.
std::int64_t taken_from_stack(std::string_view operation, std::string_view operands) {
    constexpr std::int64_t word = 8, largest_alignment = 64;
    const std::int64_t value = immediate(operands);
    const auto has = [&](std::string_view part) { return operands.find(part) != operands.npos; };
    const auto known = [&](std::int64_t bytes) {
        if (value == 0)
            throw std::runtime_error("a kernel takes stack of unknown size: " +
                                     std::string(operation) + " " + std::string(operands));
        return bytes;
    };
    // x86-64. A call pushes where to return to; the compiler also adds negative numbers.
    if (operation == "pushq" || operation == "callq")
        return word;
    if (has(", %rsp"))
        return operation == "subq"                ? known(value)
               : operation == "andq"              ? largest_alignment
               : operation == "addq" && value < 0 ? -value
                                                  : 0;
    // AArch64. Frames that are aligned are subtracted into another register first.
    if (operation == "sub" && has(", sp, "))
        return known(has("lsl #12") ? value << 12 : value);
    if (operation == "and" && operands.substr(0, 4) == "sp, ")
        return largest_alignment;
    if (const std::size_t store = operands.find("[sp, #-"); store != operands.npos)
        return -immediate(operands.substr(store));
    return 0;
}

/// What all functions of an assembly file take, as if each called another; there are two that do.
std::int64_t stack_of(const std::string &assembly) {
    std::istringstream lines(assembly);
    std::int64_t bytes = 8; // where to return to
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] != '\t')
            continue;
        line.resize(std::min(line.find("//"), line.size()));
        const std::size_t end = line.find('\t', 1);
        const std::string_view whole = line;
        const std::string_view operation = whole.substr(1, end == line.npos ? line.npos : end - 1);
        std::string_view operands = end == line.npos ? std::string_view() : whole.substr(end + 1);
        operands = operands.substr(0, operands.find("  "));
        while (!operands.empty() && std::isspace(operands.back()))
            operands.remove_suffix(1);
        bytes += taken_from_stack(operation, operands);
    }
    return bytes;
}

// Object files.

/// The folder for files that are needed for a while.
std::string scratch_folder() {
    const char *const given = std::getenv("TMPDIR");
    const std::string folder = given == nullptr || *given == '\0' ? "/tmp" : given;
    if (std::error_code error; !fs::is_directory(folder, error))
        throw BadInput("TMPDIR: " + folder + " is not a folder; it is where temporary files go");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw BadInput("TMPDIR: " + folder + " cannot be written; it is where temporary files go");
    return folder;
}

/// What tells the Halide library that a generator loads from others: its path, size and time, or
/// nothing where the system's linker finds none. Its bytes would take longer to read than kernels
/// to make.
std::string halide_of(const std::string &generator) try {
    std::smatch found;
    const std::string loaded = run_program("ldd", {generator});
    if (!std::regex_search(loaded, found, std::regex("libHalide\\S* => (/.*) \\(0x")))
        return "";
    const fs::path path = fs::canonical(found[1].str());
    return path.string() + " " + std::to_string(fs::file_size(path)) + " " +
           std::to_string(fs::last_write_time(path).time_since_epoch().count());
} catch (const std::runtime_error &) {
    return ""; // no program that loads libraries, or no ldd
}

/// Renames the hooks for scratch memory, so that every kernel has its own, takes out what describes
/// the kernel to Halide's tools, and hides the function that only its own `_argv` calls.
void finish_object(const std::string &objcopy, const std::string &name, const std::string &symbol,
                   const std::string &object) {
    run_program(objcopy,
                {"--redefine-sym", "halide_malloc=" + name + "_scratch_alloc", "--redefine-sym",
                 "halide_free=" + name + "_scratch_free",
                 "--remove-section=.text." + symbol + "_metadata", "--remove-section=.data.rel.ro",
                 "--remove-section=.comment", "--strip-symbol=" + symbol + "_metadata",
                 "--localize-symbol=" + symbol, "--strip-unneeded", object});
    // The texts of that description.
    if (!is_referred_to(read_file(object), ".rodata"))
        run_program(objcopy, {"--remove-section=.rodata", object});
}

} // namespace

KernelObject make_kernel_object(const std::string &name, const KernelRow &row,
                                const Problem &problem, const KernelPrograms &programs) {
    const selvage::KernelGenerator &kind = *selvage::kernel_generator(row.op);
    const std::string generator =
        programs.generators + "/" +
        (row.schedule_function != nullptr ? "selvage_extra_generators" : kind.program);
    if (!fs::exists(generator))
        throw BadInput(generator + ": there is no such program; --generators names its folder");
    const std::string symbol = name + "_" + row.isa;
    std::vector<std::string> arguments = {"-g",
                                          kind.generator,
                                          "-f",
                                          symbol,
                                          "-e",
                                          "object,assembly",
                                          std::string("target=") + target_of(row).target};
    if (*kind.parameters != '\0')
        arguments.push_back(kind.parameters);
    for (const std::string &each : parameters(row, problem))
        arguments.push_back(each);

    std::string specification = "generator " + content_key(read_file(generator)) + "\nprogram " +
                                content_key(read_file("/proc/self/exe")) + "\nobjcopy " +
                                programs.objcopy + "\nhalide " + halide_of(generator);
    for (const std::string &each : arguments)
        specification += "\n" + each;
    KernelObject result;
    if (const auto found = find_cached(programs.cache, specification)) {
        result.bytes = found->object;
        result.stack_bytes = found->stack_bytes;
        result.cached = true;
        return result;
    }

    const TemporaryFolder folder(scratch_folder());
    arguments.insert(arguments.end(), {"-o", folder.path()});
    run_program(generator, arguments);
    const std::string object = folder.path() + "/" + symbol + ".o";
    finish_object(programs.objcopy, name, symbol, object);
    result.bytes = read_file(object);
    result.stack_bytes = stack_of(read_file(folder.path() + "/" + symbol + ".s"));
    add_to_cache(programs.cache, specification, {result.bytes, result.stack_bytes});
    return result;
}
