#include "autoscheduler.h"

#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <files.h>
#include <kernel_cache.h>
#include <process.h>
#include <selvage/core/buffer.h>

#include "turns.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using selvage::Op;
using selvage::Problem;
using selvage::Window;

constexpr const char *function_name = "autoscheduled";

const char *generator(Op op) {
    switch (op) {
    case Op::conv: return "conv";
    case Op::conv_transpose: return "conv_transpose";
    case Op::depthwise: return "depthwise";
    case Op::max_pool: return "max_pool";
    case Op::avg_pool: return "avg_pool";
    default: return nullptr;
    }
}

struct AxisNumbers {
    std::int64_t outputs, before;
    Window window; ///< not of transposed convolutions
};

AxisNumbers numbers(const Problem &p, const selvage::Axis &axis) {
    if (p.op == Op::conv_transpose) {
        const selvage::Transposed whole = transposed(axis).transposed;
        return {whole.outputs, whole.before, {}};
    }
    const Window w = window(axis, p.ceil).window;
    return {w.outputs, w.before, w};
}

std::vector<std::string> parameters(const Problem &p) {
    std::vector<std::string> words;
    const auto add = [&](const char *name, std::int64_t value) {
        words.push_back(std::string(name) + "=" + std::to_string(value));
    };
    const AxisNumbers y = numbers(p, p.y), x = numbers(p, p.x);
    add("images", p.n);
    add("channels", p.c);
    add("outputs", p.k);
    add("width", p.x.size);
    add("height", p.y.size);
    add("output_width", x.outputs);
    add("output_height", y.outputs);
    add("kernel_x", p.x.kernel);
    add("kernel_y", p.y.kernel);
    add("stride_x", p.x.stride);
    add("stride_y", p.y.stride);
    add("dilation_x", p.x.dilation);
    add("dilation_y", p.y.dilation);
    add("left", x.before);
    add("top", y.before);
    if (p.op == Op::conv) {
        add("groups", p.g);
    }
    if (p.op == Op::avg_pool) {
        add("counted_left", p.include_pad ? p.x.begin : 0);
        add("counted_top", p.include_pad ? p.y.begin : 0);
        add("counted_width", p.include_pad ? x.window.counted_end : p.x.size);
        add("counted_height", p.include_pad ? y.window.counted_end : p.y.size);
    }
    return words;
}

/// Runs a program for so many seconds of a processor at most, then ends it by SIGXCPU.
void run_limited(int seconds, const std::string &program, std::vector<std::string> arguments) {
    arguments.insert(
        arguments.begin(),
        {"--cpu=" + std::to_string(seconds) + ":" + std::to_string(seconds + 1), program});
    run_program("prlimit", arguments);
}

void link_library(const std::string &object, const std::string &library) {
    const std::string unfinished = library + ".part";
    run_program("c++", {"-shared", object, "-o", unfinished, "-lpthread", "-ldl"});
    fs::rename(unfinished, library);
}

std::int64_t code_bytes_of(const std::string &object) {
    std::istringstream table(run_program("size", {object}));
    std::string headings;
    std::getline(table, headings);
    std::int64_t text = 0;
    table >> text;
    return text;
}

/// The last line of an error's text: what went wrong, after Halide's stack of calls.
std::string last_line(std::string text) {
    text.erase(text.find_last_not_of('\n') + 1);
    return text.substr(text.rfind('\n') + 1);
}

nlohmann::json make(const std::vector<std::string> &arguments, int limit,
                    const std::string &library, const AutoschedulerPlace &place) {
    const TemporaryFolder folder(place.cache);
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"-o", folder.path()});
    const std::string object = folder.path() + "/" + function_name + ".o";
    const double begin = now();
    try {
        run_limited(limit, place.generators, all);
    } catch (const std::runtime_error &error) {
        const std::string text = error.what();
        const bool late = text.find("signal " + std::to_string(SIGXCPU)) != text.npos;
        return {{"failure", late ? fmt::format("no schedule within {} s", limit) : last_line(text)},
                {"limit", late ? limit : 0}};
    }
    const double seconds = now() - begin;
    link_library(object, library);
    return {{"failure", ""},
            {"compile_seconds", seconds},
            {"code_bytes", code_bytes_of(object)},
            {"limit", 0}};
}

Floats ordered_weights(const Problem &p, const Data &data) {
    const std::int64_t inputs = p.op == Op::depthwise ? 1 : p.c / p.g;
    const bool input_first = p.op == Op::conv_transpose;
    const std::int64_t taps = p.y.kernel * p.x.kernel;
    Floats result(data.weights.size());
    for (std::int64_t k = 0; k < p.k; ++k) {
        for (std::int64_t c = 0; c < inputs; ++c) {
            for (std::int64_t tap = 0; tap < taps; ++tap) {
                const std::int64_t filter = input_first ? c * p.k + k : k * inputs + c;
                result[(tap * inputs + c) * p.k + k] = data.weights[filter * taps + tap];
            }
        }
    }
    return result;
}

} // namespace

/// The arguments of a call: dense buffers.
struct AutoscheduledWorkload::Buffers {
    static constexpr int most_buffers = 4, most_dimensions = 4;

    void add(float *data, const std::vector<std::int64_t> &extents) {
        selvage::BufferHeader &buffer = headers[count];
        std::int32_t stride = 1;
        for (std::size_t i = 0; i < extents.size(); ++i) {
            dimensions[count][i] = {0, static_cast<std::int32_t>(extents[i]), stride, 0};
            stride *= static_cast<std::int32_t>(extents[i]);
        }
        buffer = {0,
                  nullptr,
                  reinterpret_cast<std::uint8_t *>(data),
                  0,
                  selvage::number_type(float()),
                  static_cast<std::int32_t>(extents.size()),
                  dimensions[count],
                  nullptr};
        arguments[count++] = &buffer;
    }

    selvage::BufferHeader headers[most_buffers];
    selvage::Dimension dimensions[most_buffers][most_dimensions];
    void *arguments[most_buffers];
    int count = 0;
};

const std::vector<Autoscheduler> &autoschedulers() {
    static const std::vector<Autoscheduler> all = {
        {"Mullapudi2016", "libautoschedule_mullapudi2016.so", "Mullapudi2016", ""},
        {"Li2018", "libautoschedule_li2018.so", "Li2018", ""},
        {"Adams2019", "libautoschedule_adams2019.so", "Adams2019", ""},
        {"Adams2019 greedy", "libautoschedule_adams2019.so", "Adams2019",
         "autoscheduler.beam_size=1"}};
    return all;
}

std::string no_plain_algorithm(const Problem &p) {
    const auto is_plain = [&](const selvage::Axis &axis) {
        if (p.op == Op::conv_transpose) {
            return true;
        }
        const Window w = window(axis, p.ceil).window;
        return w.mode == selvage::Mode::constant && w.origin == 0 && w.cropped == 0 &&
               w.adaptive == 0;
    };
    const char *reason = generator(p.op) == nullptr               ? "the operator has none"
                         : p.rank != 2                            ? "not of two axes"
                         : p.type != selvage::Type::f32           ? "not of floats"
                         : p.layout != selvage::Layout::nhwc      ? "not NHWC"
                         : p.act != selvage::Activation::none     ? "has an activation"
                         : p.indices != selvage::Indices::none    ? "has indices"
                         : p.op == Op::conv_transpose && p.g != 1 ? "transposed, with groups"
                         : p.value != 0                           ? "has a border that is not 0"
                         : !is_plain(p.y) || !is_plain(p.x)
                             ? "has a border mode, a crop or adaptive windows"
                             : "";
    return reason;
}

AutoscheduledKernel make_autoscheduled(const Problem &problem, const Autoscheduler &autoscheduler,
                                       int threads, int limit, const AutoschedulerPlace &place) {
    std::vector<std::string> arguments = {"-g",
                                          generator(problem.op),
                                          "-f",
                                          function_name,
                                          "-e",
                                          "object",
                                          "-p",
                                          place.plugins + "/" + autoscheduler.plugin,
                                          "target=host-no_runtime-no_asserts-no_bounds_query",
                                          std::string("autoscheduler=") + autoscheduler.halide_name,
                                          "autoscheduler.parallelism=" + std::to_string(threads)};
    if (*autoscheduler.options != '\0') {
        arguments.push_back(autoscheduler.options);
    }
    for (const std::string &word : parameters(problem)) {
        arguments.push_back(word);
    }
    std::string specification = content_key(read_file(place.generators));
    for (const std::string &word : arguments) {
        specification += "\n" + word;
    }
    fs::create_directories(place.cache);
    const std::string base = place.cache + "/" + content_key(specification);
    const std::string facts_file = base + ".json", library = base + ".so";

    nlohmann::json facts;
    if (fs::exists(facts_file)) {
        facts = nlohmann::json::parse(std::ifstream(facts_file));
    }
    // What ran out of time may succeed in more.
    if (facts.is_null() || (facts["limit"] > 0 && facts["limit"] < limit)) {
        facts = make(arguments, limit, library, place);
        write_file(facts_file, facts.dump(1));
    }
    AutoscheduledKernel kernel;
    kernel.failure = facts["failure"];
    if (kernel.failure.empty()) {
        kernel.library = library;
        kernel.compile_seconds = facts["compile_seconds"];
        kernel.code_bytes = facts["code_bytes"];
    }
    return kernel;
}

AutoscheduledWorkload::AutoscheduledWorkload(const AutoscheduledKernel &kernel,
                                             const selvage::Plan &plan, const Data &data,
                                             Floats *output)
    : library_(dlopen(kernel.library.c_str(), RTLD_NOW | RTLD_LOCAL)),
      buffers_(std::make_unique<Buffers>()) {
    if (library_ == nullptr) {
        throw std::runtime_error(dlerror());
    }
    const std::string name = std::string(function_name) + "_argv";
    function_ = reinterpret_cast<int (*)(void **)>(dlsym(library_, name.c_str()));
    const Problem &p = plan.problem();
    const selvage::Region &out = plan.output_region();
    buffers_->add(const_cast<float *>(data.input.data()), {p.c, p.x.size, p.y.size, p.n});
    if (has_weights(p.op)) {
        weights_ = ordered_weights(p, data);
        bias_.assign(p.k, 0);
        std::copy(data.bias.begin(), data.bias.end(), bias_.begin());
        if (p.op == Op::depthwise) {
            buffers_->add(weights_.data(), {p.k, p.x.kernel, p.y.kernel});
        } else {
            buffers_->add(weights_.data(), {p.k, p.c / p.g, p.x.kernel, p.y.kernel});
        }
        buffers_->add(bias_.data(), {p.k});
    }
    output->assign(p.n * out.y.size * out.x.size * p.k, std::numeric_limits<float>::quiet_NaN());
    buffers_->add(output->data(), {p.k, out.x.size, out.y.size, p.n});
    run();
}

AutoscheduledWorkload::~AutoscheduledWorkload() { dlclose(library_); }

void AutoscheduledWorkload::run() { function_(buffers_->arguments); }

void use_halide_runtime(const AutoschedulerPlace &place, int threads) {
    static void *runtime = nullptr;
    if (runtime == nullptr) {
        fs::create_directories(place.cache);
        const TemporaryFolder folder(place.cache);
        run_program(place.generators,
                    {"-r", "halide_runtime", "-e", "object", "-o", folder.path(), "target=host"});
        const std::string library = place.cache + "/halide_runtime.so";
        link_library(folder.path() + "/halide_runtime.o", library);
        runtime = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (runtime == nullptr) {
            throw std::runtime_error(dlerror());
        }
        // Else large temporaries go back to the system after each call, and come back page by page.
        mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
        mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    }
    using SetThreads = int (*)(int);
    reinterpret_cast<SetThreads>(dlsym(runtime, "halide_set_num_threads"))(threads);
}

} // namespace bench
