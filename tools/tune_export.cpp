#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <reference.h>
#include <selvage/core/engine.h>
#include <workload.h>

#include "commands.h"
#include "exported_sources.h"
#include "files.h"
#include "kernel_choice.h"
#include "kernel_targets.h"
#include "kernel_weights.h"
#include "kernel_wrapper.h"
#include "progress.h"
#include "tune.h"

namespace {

namespace fs = std::filesystem;
using selvage::KernelRow;
using selvage::Problem;

void require(const selvage::Status &status) {
    if (!status.ok())
        throw BadInput(status.text());
}

/// What kernels on another machine are held to: the output here, itself held to plain loops.
struct Expected {
    std::size_t outputs;
    std::uint64_t checksum;
};

Expected expect(const bench::Layer &layer) {
    if (const std::string reason = bench::not_covered(layer.problem); !reason.empty())
        throw BadInput(layer.name + ": " + reason);
    selvage::Options options;
    options.adjacent_pixels = true; // data are dense
    selvage::Plan plan;
    require(make_plan(layer.problem, options, &plan));
    const bench::Data data = bench::integer_data(layer.problem);
    const bench::Workload workload(plan, data);
    const std::string wrong = fault(plan, reference(plan, data), workload.output());
    if (!wrong.empty())
        throw std::runtime_error(layer.name + ": " + plan.kernel() + ": " + wrong);
    return {workload.output().size(), checksum(workload.output())};
}

/// The rows that serve a problem at every size, the cost model's choice first, and no references.
std::vector<const KernelRow *> rows(const Problem &problem, const std::string &isa,
                                    std::size_t most) {
    std::vector<const KernelRow *> result = {choose_row(problem, isa, "auto").row};
    for (const std::string &schedule : schedules_of(problem, isa)) {
        if (result.size() == most)
            break;
        try {
            const KernelRow *const row = choose_row(problem, isa, schedule).row;
            if (row != result.front() && row->family != selvage::Family::reference)
                result.push_back(row);
        } catch (const BadInput &) { // it declines the problem
        }
    }
    return result;
}

/// Makes the kernel of a row.
SpecialisedKernel make_kernel(const std::string &name, const KernelRow &row, const Problem &problem,
                              const KernelPrograms &programs, const std::string &folder) {
    const KernelObject object = make_kernel_object(name, row, problem, programs);
    SpecialisedKernel kernel = {name, problem, "", {&row}, packed_bytes(name, row, problem),
                                0,    false};
    kernel.stack_bytes = object.stack_bytes + std::int64_t(selvage::wrapper_stack_bytes);
    const std::string base = folder + "/kernels/" + name;
    write_file(base + "_" + row.isa + ".o", object.bytes);
    write_file(base + ".h", header_text(kernel));
    write_file(base + ".cpp", source_text(kernel));
    return kernel;
}

// The source layers.cpp, see export/exported.h.

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\')
            result += '\\';
        result += each;
    }
    return result + "\"";
}

std::string candidate_text(const SpecialisedKernel &kernel) {
    const Problem &p = kernel.problem;
    const std::string &name = kernel.name;
    const std::string number = p.type == selvage::Type::f32 ? "float" : "std::uint8_t";
    std::ostringstream text;
    text << "      {" << quoted(kernel.rows.front()->schedule) << ", " << kernel.packed_bytes
         << ",\n       [] { return " << name << "_shape(" << p.n;
    for (const auto &[rank, axis] : {std::pair(3, &p.z), std::pair(2, &p.y), std::pair(1, &p.x)})
        if (p.rank >= rank)
            text << ", " << axis->size;
    text << "); },\n       " << name << "_scratch_bytes,\n       ";
    if (has_weights(p.op)) {
        text << "[](const bench::Data &data, void *packed, selvage_status *status) {\n"
             << "         return " << name << "_pack(data.weights.data(), SELVAGE_OIHW, ";
        if (p.op != selvage::Op::filter)
            text << (p.bias ? "data.bias.data(), " : "nullptr, ");
        text << "packed, status);\n       },\n       ";
    } else {
        text << "nullptr,\n       ";
    }
    text << "[](const selvage_shape *shape, const void *input, const void *"
         << (has_weights(p.op) ? "packed" : "") << ", void *output, void *scratch,\n"
         << "          std::size_t bytes, selvage_status *status) {\n"
         << "         return " << name << "(shape, static_cast<const " << number << " *>(input), "
         << (has_weights(p.op) ? "packed, " : "") << "static_cast<" << number
         << " *>(output), scratch, bytes, status);\n       }},\n";
    return text.str();
}

/// The source as it grows.
class LayersSource {
public:
    void begin(const bench::Layer &layer, const std::string &isa, const Expected &expected) {
        const bench::DataSizes sizes = bench::data_sizes(layer.problem);
        list_ << "    {" << quoted(layer.name) << ",\n     " << quoted(text(layer.problem))
              << ",\n     " << quoted(isa) << ", "
              << (layer.problem.type == selvage::Type::f32 ? "false" : "true") << ", {"
              << sizes.input << ", " << sizes.weights << ", " << sizes.bias << "}, "
              << expected.outputs << ", " << expected.checksum << "u,\n     {\n";
    }
    void add(const SpecialisedKernel &kernel) {
        includes_ << "#include \"" << kernel.name << ".h\"\n";
        list_ << candidate_text(kernel);
    }
    void end() { list_ << "     }},\n"; }

    std::string text_of_file() const {
        return "// Made by `selvage tune --export`: what `measure` measures.\n"
               "#include \"exported.h\"\n\n" +
               includes_.str() + "\nconst std::vector<ExportedLayer> layers = {\n" + list_.str() +
               "};\n";
    }

private:
    std::ostringstream includes_, list_;
};

/// The folder that another one lies in; BadInput where that one cannot be made.
std::string parent_of(const std::string &folder) {
    std::error_code error;
    if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder)))
        throw BadInput("--export " + folder + ": is there already, and not an empty folder");
    const fs::path path = (fs::absolute(folder) / ".").lexically_normal(); // ends with a slash
    const fs::path parent = path.parent_path().parent_path();
    if (!fs::is_directory(parent, error))
        throw BadInput("--export " + folder + ": " + parent.string() + " is not a folder");
    return parent;
}

} // namespace

void export_layers(const TuneArguments &arguments, const std::string &folder,
                   const std::string &architecture) {
    std::vector<std::string> only;
    if (!arguments.isa.empty())
        only.push_back(arguments.isa);
    const std::vector<std::string> isas = isas_of(architecture, only);
    if (arguments.threads != 1 || arguments.accuracy != "exact")
        throw BadInput("--export measures one thread and accuracy exact");
    const TemporaryFolder temporary(parent_of(folder)); // so that it appears complete or not at all
    const std::string made = temporary.path() + "/made";
    fs::create_directories(made + "/kernels");
    const KernelPrograms programs = programs_for(architecture);
    LayersSource source;
    Progress progress(arguments.layers.size());
    for (std::size_t i = 0; i < arguments.layers.size(); ++i) {
        const bench::Layer &layer = arguments.layers[i];
        progress.begin(layer.name);
        const Expected expected = expect(layer);
        for (const std::string &isa : isas) {
            source.begin(layer, isa, expected);
            const std::vector<const KernelRow *> candidates =
                rows(layer.problem, isa, arguments.candidates);
            for (std::size_t j = 0; j < candidates.size(); ++j) {
                progress.tell(isa + " " + candidates[j]->schedule);
                const std::string name =
                    "layer" + std::to_string(i) + "_" + isa + "_" + std::to_string(j);
                source.add(make_kernel(name, *candidates[j], layer.problem, programs, made));
            }
            source.end();
        }
    }
    write_file(made + "/layers.cpp", source.text_of_file());
    for (const ExportedSource &each : exported_sources) {
        const std::string path = made + "/" + each.path;
        fs::create_directories(fs::path(path).parent_path());
        write_file(path, each.text);
    }
    fs::rename(made, folder);
}
