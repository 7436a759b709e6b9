#include "kernel_wrapper.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <set>
#include <sstream>

#include <selvage/core/engine.h>
#include <selvage/schedule.h>

#include "family_name.h"

namespace {

using selvage::Axis;
using selvage::KernelRow;
using selvage::Op;
using selvage::Problem;

// What all functions share.

std::string upper(std::string text) {
    for (char &each : text)
        each = char(std::toupper(static_cast<unsigned char>(each)));
    return text;
}

const char *number_type(const Problem &p) {
    return p.type == selvage::Type::f32  ? "float"
           : p.type == selvage::Type::u8 ? "uint8_t"
                                         : "int8_t";
}

const char *weight_type(const Problem &p) { return p.shift < 0 ? "float" : "int16_t"; }

bool has_weights(const SpecialisedKernel &kernel) {
    return selvage::has_weights(kernel.problem.op);
}

/// Whether the caller packs the weights.
bool packs(const SpecialisedKernel &kernel) {
    return has_weights(kernel) && !kernel.has_constant_weights;
}

bool has_bias(const Problem &p) { return p.op != Op::filter; }

bool has_indices(const Problem &p) { return p.indices != selvage::Indices::none; }

/// A space that lines are not broken at.
constexpr char fixed_space = '\1';

std::string unbroken(std::string text) {
    std::replace(text.begin(), text.end(), ' ', fixed_space);
    return text;
}

/// Words in lines of at most 100 characters that begin with `first` and then with `indent`.
std::string wrapped(const std::string &first, const std::string &text, const std::string &indent) {
    constexpr std::size_t longest = 100;
    std::istringstream words(text);
    std::string result, line = first;
    const char *separator = "";
    for (std::string word; words >> word; separator = " ") {
        if (*separator != 0 && line.size() + 1 + word.size() > longest) {
            result += line + "\n";
            line = indent + word;
        } else {
            line += separator + word;
        }
    }
    result += line;
    std::replace(result.begin(), result.end(), fixed_space, ' ');
    return result;
}

std::string comment(const std::string &text) {
    return wrapped("/* ", text + fixed_space + "*/", " * ") + "\n";
}

/// A call or a declaration, of the parameters that are not empty.
std::string function(const std::string &name, std::initializer_list<std::string> parameters) {
    std::string text = unbroken(name) + "(";
    const char *separator = "";
    for (const std::string &each : parameters)
        if (!each.empty()) {
            text += separator + unbroken(each);
            separator = ", ";
        }
    return wrapped("", text + ")", "    ");
}

// Declarations, without the semicolon.

std::string shape_declaration(const SpecialisedKernel &k) {
    const int rank = k.problem.rank;
    return function("selvage_shape " + k.name + "_shape",
                    {"int64_t n", rank >= 3 ? "int64_t depth" : "",
                     rank >= 2 ? "int64_t height" : "", "int64_t width"});
}

std::string output_declaration(const SpecialisedKernel &k) {
    return function(
        "selvage_code " + k.name + "_output",
        {"const selvage_shape *shape", "selvage_extent *output", "selvage_status *status"});
}

std::string scratch_declaration(const SpecialisedKernel &k) {
    return function("selvage_code " + k.name + "_scratch_bytes",
                    {"const selvage_shape *shape", "size_t *bytes", "selvage_status *status"});
}

std::string pack_declaration(const SpecialisedKernel &k) {
    return function("selvage_code " + k.name + "_pack",
                    {std::string("const ") + weight_type(k.problem) + " *weights",
                     "selvage_weight_order order", has_bias(k.problem) ? "const float *bias" : "",
                     "void *packed", "selvage_status *status"});
}

std::string run_declaration(const SpecialisedKernel &k) {
    const std::string number = number_type(k.problem);
    return function("selvage_code " + k.name,
                    {"const selvage_shape *shape", "const " + number + " *input",
                     packs(k) ? "const void *packed" : "", number + " *output",
                     has_indices(k.problem) ? "int64_t *indices" : "", "void *scratch",
                     "size_t scratch_bytes", "selvage_status *status"});
}

std::string isa_declaration(const SpecialisedKernel &k) {
    return "const char *" + k.name + "_isa(void)";
}

std::string force_declaration(const SpecialisedKernel &k) {
    return function("selvage_code " + k.name + "_force_isa",
                    {"const char *isa", "selvage_status *status"});
}

/// The schedule of each instruction set.
std::string schedules(const SpecialisedKernel &k) {
    std::string result;
    for (std::size_t i = 0; i < k.rows.size(); ++i) {
        selvage::Schedule schedule;
        schedule.kernel = k.rows[i]->schedule;
        if (!k.cuts.empty())
            schedule.blocking = k.cuts[i];
        result += std::string(i == 0 ? "" : ", ") + k.rows[i]->isa + " " + text(schedule);
    }
    return result;
}

// The constants of the source.

std::string constant(float value) {
    if (std::isnan(value))
        return "std::numeric_limits<float>::quiet_NaN()";
    if (std::isinf(value))
        return std::string(value < 0 ? "-" : "") + "std::numeric_limits<float>::infinity()";
    std::ostringstream text;
    text << std::hexfloat << value << "f";
    return text.str();
}

const char *name(Op op) {
    switch (op) {
    case Op::conv: return "conv";
    case Op::depthwise: return "depthwise";
    case Op::conv_transpose: return "conv_transpose";
    case Op::max_pool: return "max_pool";
    case Op::avg_pool: return "avg_pool";
    case Op::lp_pool: return "lp_pool";
    case Op::filter: return "filter";
    case Op::stride_sample: return "stride_sample";
    case Op::pad: break;
    }
    return "pad";
}

std::string name(selvage::Mode mode) {
    for (const selvage::NamedMode &each : selvage::modes)
        if (each.mode == mode)
            return std::string(each.name);
    return {};
}

const char *name(selvage::Activation act) {
    switch (act) {
    case selvage::Activation::none: return "none";
    case selvage::Activation::relu: return "relu";
    case selvage::Activation::relu6: return "relu6";
    case selvage::Activation::clamp: break;
    }
    return "clamp";
}

/// Statements that set what differs from a default Problem.
class Assignments {
public:
    explicit Assignments(const SpecialisedKernel &kernel) {
        const Problem &p = kernel.problem, none;
        add("op", "selvage::Op::", name(p.op));
        set("rank", p.rank, 0);
        set("c", p.c, none.c);
        set("k", p.k, none.k);
        set("g", p.g, none.g);
        axis("z", p.z, kernel.same.empty());
        axis("y", p.y, kernel.same.empty());
        axis("x", p.x, kernel.same.empty());
        if (p.value != 0)
            add("value", constant(p.value));
        if (p.type != none.type)
            add("type", "selvage::Type::", p.type == selvage::Type::u8 ? "u8" : "i8");
        if (p.layout != none.layout)
            add("layout", "selvage::Layout::", "nchw");
        flag("bias", p.bias, false);
        if (p.act != none.act)
            add("act", "selvage::Activation::", name(p.act));
        if (p.act == selvage::Activation::clamp) {
            add("act_low", constant(p.act_low));
            add("act_high", constant(p.act_high));
        }
        flag("include_pad", p.include_pad, false);
        flag("ceil", p.ceil, false);
        if (p.op == Op::lp_pool)
            add("p", constant(p.p));
        if (p.indices != none.indices)
            add("indices",
                "selvage::Indices::", p.indices == selvage::Indices::plane ? "plane" : "tensor");
        if (p.order != none.order)
            add("order", "selvage::IndexOrder::", "column");
        flag("keep_nan", p.keep_nan, true);
        set("shift", p.shift, none.shift);
    }
    std::string text() const { return text_.str(); }

private:
    void add(const std::string &field, const std::string &value, const std::string &word = "") {
        text_ << "    p." << field << " = " << value << word << ";\n";
    }
    void set(const std::string &field, std::int64_t value, std::int64_t standard) {
        if (value != standard)
            add(field, std::to_string(value));
    }
    void flag(const std::string &field, bool value, bool standard) {
        if (value != standard)
            add(field, value ? "true" : "false");
    }
    void axis(const std::string &name, const Axis &a, bool pads) {
        const Axis none;
        set(name + ".kernel", a.kernel, none.kernel);
        set(name + ".stride", a.stride, none.stride);
        set(name + ".dilation", a.dilation, none.dilation);
        if (pads) {
            set(name + ".begin", a.begin, none.begin);
            set(name + ".end", a.end, none.end);
        }
        set(name + ".phase", a.phase, none.phase);
        set(name + ".output_padding", a.output_padding, none.output_padding);
        set(name + ".adaptive", a.adaptive, none.adaptive);
        if (a.mode != none.mode)
            add(name + ".mode", "selvage::Mode::", ::name(a.mode));
    }

    std::ostringstream text_;
};

std::string row_text(const SpecialisedKernel &k, const KernelRow &row) {
    std::ostringstream text;
    text << "{\"" << row.op << "\", \"" << row.schedule << "\", \"" << row.isa
         << "\", selvage::Family::" << family_name(row.family) << ", " << row.lanes << ", "
         << row.tile << ", " << row.vectors << ", " << row.channel_block << ", " << row.output_tile
         << ", " << row.kernel << ", " << row.stride << ", " << row.widest_map << ", "
         << row.fixed_multiplier << ", " << (row.border ? "true" : "false") << ", "
         << (row.separable ? "true" : "false") << ", " << row.rate << ", " << k.name << "_"
         << row.isa << "_argv},";
    return wrapped("        ", text.str(), "         ") + "\n";
}

std::string families_text(const SpecialisedKernel &k) {
    std::set<std::string> families;
    for (const KernelRow *row : k.rows)
        families.insert(family_name(row->family));
    std::string tests;
    for (const std::string &family : families)
        tests +=
            (tests.empty() ? "family == selvage::Family::" : " || family == selvage::Family::") +
            family;
    return wrapped("        ", "return " + tests + ";", "               ") + "\n";
}

std::string cut_text(const selvage::Blocking &cut) {
    std::string numbers;
    if (any(cut))
        for (const selvage::BlockingKey &key : selvage::blocking_keys)
            numbers += (numbers.empty() ? "" : ", ") + std::to_string(cut.*key.number);
    return "{" + numbers + "}";
}

/// The packed weights of the instruction set that calls use.
std::string weights_text(const SpecialisedKernel &k) {
    std::ostringstream text;
    text << "// The packed weights of each instruction set, in read-only data.\n";
    for (const KernelRow *row : k.rows) {
        const std::string symbol = k.name + "_" + row->isa + "_weights";
        text << "__asm__(\".section .rodata." << symbol << ",\\\"a\\\"\\n\"\n"
             << "        \".balign 64\\n\"\n"
             << "        \".globl " << symbol << "\\n\"\n"
             << "        \".hidden " << symbol << "\\n\"\n"
             << "        \"" << symbol << ":\\n\"\n"
             << "        \".incbin \\\"" << k.name << "_" << row->isa << ".weights\\\"\\n\"\n"
             << "        \".previous\\n\");\n";
    }
    text << "extern \"C\" {\n";
    for (const KernelRow *row : k.rows)
        text << "HIDDEN extern const char " << k.name << "_" << row->isa << "_weights[];\n";
    text << "}\n\n";
    return text.str();
}

/// A function that tells those of the instruction set that calls use; without a table of
/// addresses, which would have to be written when a program is loaded.
std::string constant_weights(const SpecialisedKernel &k) {
    std::string text = "const void *constant_weights() {\n    switch (Kernel::chosen()) {\n";
    for (std::size_t i = 0; i < k.rows.size(); ++i)
        text += "    case " + std::to_string(i) + ": return " + k.name + "_" + k.rows[i]->isa +
                "_weights;\n";
    return text + "    default: return nullptr;\n    }\n}\n\n";
}

} // namespace

std::string header_text(const SpecialisedKernel &k) {
    const Problem &p = k.problem;
    const std::string prefix = upper(k.name) + "_";
    const bool nhwc = p.layout == selvage::Layout::nhwc;
    std::ostringstream text;
    text << "#ifndef " << prefix << "H\n#define " << prefix << "H\n\n"
         << "/* Made by `selvage kernel " << k.name << "`, C99.\n *\n"
         << wrapped(" *     ", selvage::text(p), " *     ") << "\n *\n"
         << wrapped(
                " * ",
                "All but images, sizes, pads, phases and strides of the data is fixed; these are "
                "those of a selvage_shape (selvage/kernel.h). The size above is what the "
                "schedules were chosen for. Schedules: " +
                    schedules(k) + ".",
                " * ")
         << "\n *\n"
         << wrapped(
                " * ",
                "No function allocates or prints, and but for " + k.name +
                    "_force_isa() none keeps anything, so all may be called by any number of "
                    "threads at the same time. `status` may be null; else it gets the code that "
                    "is returned, and one line of text.",
                " * ")
         << "\n */\n"
         << "\n#include <stddef.h>\n#include <stdint.h>\n\n#include <selvage/kernel.h>\n\n"
         << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    if (packs(k))
        text << comment("Bytes of packed weights, enough for each instruction set. They begin at a "
                        "multiple of 64.")
             << "#define " << prefix << "PACKED_BYTES " << k.packed_bytes << "\n\n";
    text << comment("Bytes of stack that a call takes at most, with what aligns its frames to 64 "
                    "bytes, without what memcpy and memset take. It holds for the compiler flags "
                    "of selvage_add_kernel(); others, as -fsanitize=address and "
                    "-fstack-protector, add to it.")
         << "#define " << prefix << "STACK_BYTES " << k.stack_bytes << "\n\n"
         << comment(
                "The shape of n dense images of this size, with the phase and the pads that the "
                "kernel was made with" +
                (k.same.empty() ? "" : ", those of the convention `" + k.same + "`") +
                ". Any of its fields may be changed.")
         << shape_declaration(k) << ";\n\n"
         << comment("The size of one image of the output. SELVAGE_INVALID_ARGUMENT or "
                    "SELVAGE_OVERFLOW where there is none.")
         << output_declaration(k) << ";\n\n"
         << comment(
                "Bytes of scratch memory for a call with this shape and the instruction set that "
                "calls use.")
         << scratch_declaration(k) << ";\n\n";
    if (packs(k))
        text << comment(
                    std::string("Packs weights for the instruction set that calls use, once for "
                                "any number of calls. `weights`: ") +
                    (p.op == Op::conv_transpose ? "c x k/g x taps" : "k x c/g x taps") +
                    ", dense, or in the order of SELVAGE_HWIO; " +
                    (!has_bias(p) ? ""
                     : p.bias     ? "`bias`: k numbers; "
                                  : "`bias`: null, since this kernel has none; ") +
                    "`packed`: " + prefix + "PACKED_BYTES.")
             << pack_declaration(k) << ";\n\n";
    text << comment(
                std::string("Reads `input`, n x sizes with c channels ") +
                (nhwc ? "last" : "first") + ", and writes `output`, the same with k channels" +
                (has_indices(p) ? ", and `indices` of its shape" : "") +
                ". They must not overlap. `scratch`: " + k.name +
                "_scratch_bytes() for this call alone, from a multiple of 64 on. Unless the code "
                "is SELVAGE_OK or SELVAGE_INTERNAL, nothing was written.")
         << run_declaration(k) << ";\n\n"
         << comment("The instruction set that calls use: the best of this CPU, or what was forced. "
                    "\"none\" where the CPU has none of them; then calls return "
                    "SELVAGE_UNSUPPORTED.")
         << isa_declaration(k) << ";\n\n"
         << comment(
                std::string("Makes all calls use that instruction set; null: the best again. For "
                            "tests and benches") +
                (packs(k) ? ", before packing" : "") +
                ". SELVAGE_UNSUPPORTED where the CPU lacks it.")
         << force_declaration(k) << ";\n\n"
         << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return text.str();
}

std::string source_text(const SpecialisedKernel &k) {
    const Problem &p = k.problem;
    std::string same = k.same;
    std::replace(same.begin(), same.end(), '-', '_');
    const auto call = [](const char *name, std::initializer_list<std::string> arguments) {
        return " {\n    return " + function(name, arguments) + ";\n}\n\n";
    };
    std::ostringstream text;
    text << "// Made by `selvage kernel " << k.name
         << "`, C++17; goes with the objects beside it.\n\n"
         << "#include \"" << k.name << ".h\"\n\n#include <selvage/core/specialised.h>\n\n"
         << "#define HIDDEN __attribute__((visibility(\"hidden\")))\n\n"
         << "extern \"C\" {\n";
    for (const KernelRow *row : k.rows)
        text << "HIDDEN int " << k.name << "_" << row->isa << "_argv(void **arguments);\n";
    text << "\n// By these the kernels take their temporary memory from the caller's scratch.\n"
         << "HIDDEN void *" << k.name << "_scratch_alloc(void *scratch, std::size_t bytes) {\n"
         << "    return selvage::take(*static_cast<selvage::Scratch *>(scratch), bytes);\n}\n"
         << "HIDDEN void " << k.name << "_scratch_free(void *scratch, void *memory) {\n"
         << "    selvage::give_back(*static_cast<selvage::Scratch *>(scratch), memory);\n}\n}\n\n";
    if (k.has_constant_weights)
        text << weights_text(k);
    text << "namespace {\n\nconstexpr selvage::Problem problem() {\n    selvage::Problem p;\n"
         << Assignments(k).text() << "    return p;\n}\n\n"
         << "struct Description {\n    static constexpr char name[] = \"" << k.name << "\";\n"
         << "    static constexpr selvage::Problem problem = ::problem();\n"
         << "    static constexpr selvage::Pads (*same)(const selvage::Axis &) = "
         << (same.empty() ? "nullptr" : "selvage::convention::" + same) << ";\n"
         << "    static constexpr selvage::KernelRow rows[] = {\n";
    for (const KernelRow *row : k.rows)
        text << row_text(k, *row);
    text << "    };\n    static constexpr bool may_be(selvage::Family family) {\n"
         << families_text(k) << "    }\n"
         << "    static constexpr selvage::Blocking cuts[] = {";
    for (std::size_t i = 0; i < k.rows.size(); ++i)
        text << (i == 0 ? "" : ", ") << (k.cuts.empty() ? "{}" : cut_text(k.cuts[i]));
    text << "};\n    static constexpr bool may_ask = "
         << (std::any_of(k.cuts.begin(), k.cuts.end(), selvage::any) ? "true" : "false")
         << ";\n};\n\n"
         << "using Kernel = selvage::Specialised<Description, " << number_type(p) << ", "
         << weight_type(p) << ">;\n\n"
         << (k.has_constant_weights ? constant_weights(k) : "") << "} // namespace\n\n"
         << shape_declaration(k)
         << call("Kernel::shape",
                 {"n", p.rank >= 3 ? "depth" : "1", p.rank >= 2 ? "height" : "1", "width"})
         << output_declaration(k) << call("Kernel::output", {"shape", "output", "status"})
         << scratch_declaration(k) << call("Kernel::scratch_bytes", {"shape", "bytes", "status"});
    if (packs(k))
        text << "static_assert(Kernel::packed_bytes() == " << upper(k.name) << "_PACKED_BYTES);\n\n"
             << pack_declaration(k)
             << call("Kernel::pack",
                     {"weights", "order", has_bias(p) ? "bias" : "nullptr", "packed", "status"});
    text << run_declaration(k)
         << call("Kernel::run", {"shape", "input",
                                 packs(k)                 ? "packed"
                                 : k.has_constant_weights ? "constant_weights()"
                                                          : "nullptr",
                                 "output", has_indices(p) ? "indices" : "nullptr", "scratch",
                                 "scratch_bytes", "status"})
         << isa_declaration(k) << call("Kernel::isa", {}) << force_declaration(k)
         << call("Kernel::force_isa", {"isa", "status"});
    return text.str();
}
