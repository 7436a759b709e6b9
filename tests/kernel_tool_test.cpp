// `selvage kernel` from outside: what it makes is compiled as an app would, and held against the
// oracle at sizes, pads and phases of all kinds.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "selvage/kernel.h"

#include "hold.h"
#include "random_problems.h"
#include "shapes.h"
#include "trial.h"

namespace fs = std::filesystem;

using selvage::Op;
using selvage::Plan;
using selvage::Problem;
using selvage::Region;
using selvage::Tensor;
using selvage::WeightOrder;

namespace {

/// How a process ended, and what it wrote.
struct Outcome {
    int code = 0;
    std::string text;
};

Outcome shell(const std::string &command) {
    Outcome outcome;
    FILE *pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe))
        outcome.text.append(buffer, count);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return outcome;
}

/// The folder that all tests of this process write to.
const std::string &folder() {
    static const struct Folder {
        std::string path = (fs::temp_directory_path() / "selvage_kernel_XXXXXX").string();
        Folder() {
            if (mkdtemp(path.data()) == nullptr)
                std::abort();
        }
        ~Folder() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    } folder;
    return folder.path;
}

Outcome tool(const std::string &arguments) {
    return shell(std::string("'") + SELVAGE_TOOL + "' kernel " + arguments);
}

/// The tool with what it needs to make a kernel.
Outcome make(const std::string &arguments) {
    return tool(arguments + " --generators '" + GENERATORS + "' -o " + folder());
}

/// Compiles the wrapper of a kernel, as selvage_add_kernel() does but for the visibility of its
/// functions, which are looked up here.
Outcome compile(const std::string &name, const std::string &options = "") {
    return shell("cd " + folder() +
                 " && g++ -std=c++17 -Os -fPIC -Wall -Wextra -Werror "
                 "-fno-exceptions -fno-rtti " +
                 options + " -I. " + INCLUDES + " -c " + name + ".cpp -o " + name + ".o");
}

std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// A .npy file of float32.
void write_npy(const std::string &path, const std::string &shape, const std::vector<float> &data) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    write(path, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" +
                    std::string(reinterpret_cast<const char *>(data.data()), data.size() * 4));
}

/// Runs a function on a stack of its own, and tells how many bytes of that were written.
template <class Function> std::size_t stack_of(const Function &function) {
    static std::vector<unsigned char> stack(1 << 18);
    static const Function *called;
    static ucontext_t here, there;
    constexpr unsigned char paint = 0xa5;
    std::fill(stack.begin(), stack.end(), paint);
    called = &function;
    getcontext(&there);
    there.uc_stack.ss_sp = stack.data();
    there.uc_stack.ss_size = stack.size();
    there.uc_link = &here;
    makecontext(
        &there, +[] { (*called)(); }, 0);
    swapcontext(&here, &there);
    const auto first =
        std::find_if(stack.begin(), stack.end(), [](unsigned char byte) { return byte != paint; });
    return std::size_t(stack.end() - first);
}

// Kernels of all operators.

struct Specification {
    const char *name;
    const char *problem; ///< with the default size and pads
    const char *options; ///< of the tool
    std::vector<std::string> isas;
    const char *family; ///< that must be chosen
};

const std::vector<std::string> all_isas = {"sse41", "avx2", "avx512"};

void PrintTo(const Specification &specification, std::ostream *stream) {
    *stream << specification.problem;
}

const Specification specifications[] = {
    {"conv2d", "conv2d c=5 k=37 in=20x21 kernel=3 stride=2 border=reflect bias=1 act=relu6",
     "--same tf", all_isas, "direct"},
    {"conv2d_image",
     "conv2d c=3 k=20 in=20x21 kernel=3x2 dilation=1x2 value=2",
     "",
     {"avx2"},
     "narrow"},
    {"conv2d_forced",
     "conv2d c=70 k=9 g=1 in=9x9 kernel=2",
     "--schedule 'direct_6x2_c64 strip_rows=5 block_rows=2 channel_blocks=1'",
     {"avx2"},
     "direct"},
    {"conv1d",
     "conv1d c=6 k=8 g=2 in=40 kernel=3 dilation=2 act=relu",
     "--same causal",
     {"avx512"},
     "direct"},
    {"conv3d",
     "conv3d c=4 k=6 in=6x9x17 kernel=2x3x3 layout=nchw border=circular",
     "--same torch",
     {"avx2"},
     "planar"},
    {"transposed",
     "conv_transpose2d c=6 k=5 in=7x8 kernel=4x3 stride=2x3 bias=1",
     "--same tf",
     {"avx512"},
     "direct"},
    {"transposed_planes",
     "conv_transpose2d c=3 k=5 in=7x30 kernel=3 stride=2 layout=nchw",
     "",
     {"avx2"},
     "planar"},
    {"depthwise",
     "depthwise2d c=40 k=40 in=14x15 kernel=3 stride=1 bias=1 act=clamp:-9:50",
     "--same keep",
     {"avx2"},
     "rows"},
    {"multiplied",
     "depthwise2d c=3 k=6 in=14x15 kernel=3x1 border=symmetric,replicate",
     "",
     {"sse41"},
     "any"},
    {"planes", "depthwise2d c=3 k=3 in=14x30 kernel=3 layout=nchw", "", {"avx512"}, "planar"},
    {"maxima",
     "max_pool2d c=20 in=14x15 kernel=3 stride=2 indices=plane order=column",
     "",
     {"avx2"},
     "taps"},
    {"bytes", "max_pool2d c=3 in=14x40 kernel=2 stride=2 type=u8 ceil=1", "", {"avx2"}, "lines"},
    {"average",
     "avg_pool2d c=5 in=14x40 kernel=3x2 stride=2 include_pad=1 ceil=1 layout=nchw",
     "",
     {"avx512"},
     "lines"},
    {"adaptive", "avg_pool2d c=70 in=14x15 adaptive=3x4", "", {"avx512"}, "taps"},
    {"norm", "lp_pool2d c=5 in=14x40 kernel=2x3", "", {"avx2"}, "lines"},
    {"filter",
     "filter2d c=3 in=14x40 kernel=3 weights=fixed:3 type=u8 border=replicate",
     "--same scipy",
     {"avx2"},
     "lines"},
    {"sample", "stride_sample2d c=33 in=14x15 stride=2x3 type=i8", "", {"avx2"}, "taps"},
    {"border", "pad2d c=2 in=14x15 pads=1,2,3,4 border=circular type=u8", "", {"sse41"}, "any"},
};

/// The functions of a kernel, as they lie in a shared library.
class Kernel {
public:
    Kernel(void *library, const std::string &name) : library_(library), name_(name) {}

    template <class Function> Function *get(const std::string &suffix) const {
        void *const address = dlsym(library_, (name_ + suffix).c_str());
        EXPECT_NE(address, nullptr) << name_ << suffix;
        return reinterpret_cast<Function *>(address);
    }

    selvage_shape shape(const Problem &p) const {
        const std::int64_t n = p.n, d = p.z.size, h = p.y.size, w = p.x.size;
        using I = std::int64_t;
        return p.rank == 1   ? get<selvage_shape(I, I)>("_shape")(n, w)
               : p.rank == 2 ? get<selvage_shape(I, I, I)>("_shape")(n, h, w)
                             : get<selvage_shape(I, I, I, I)>("_shape")(n, d, h, w);
    }

    std::string force(const char *isa) const {
        selvage_status status;
        get<selvage_code(const char *, selvage_status *)>("_force_isa")(isa, &status);
        return status.text;
    }
    std::string isa() const { return get<const char *()>("_isa")(); }

    std::size_t scratch_bytes(const selvage_shape &shape) const {
        std::size_t bytes = 0;
        selvage_status status;
        EXPECT_EQ((get<selvage_code(const selvage_shape *, std::size_t *, selvage_status *)>(
                      "_scratch_bytes")(&shape, &bytes, &status)),
                  SELVAGE_OK)
            << status.text;
        return bytes;
    }

    std::string pack(const Problem &p, const void *weights, WeightOrder order, const float *bias,
                     void *packed) const {
        selvage_status status;
        const auto o = selvage_weight_order(order);
        if (p.op == Op::filter)
            get<selvage_code(const void *, selvage_weight_order, void *, selvage_status *)>(
                "_pack")(weights, o, packed, &status);
        else
            get<selvage_code(const void *, selvage_weight_order, const float *, void *,
                             selvage_status *)>("_pack")(weights, o, bias, packed, &status);
        return status.text;
    }

    std::string run(const Problem &p, const selvage_shape &shape, const void *input,
                    const void *packed, void *output, std::int64_t *indices, void *scratch,
                    std::size_t bytes) const {
        selvage_status status;
        const selvage_shape *const s = &shape;
        void *const address = get<void>("");
        using S = const selvage_shape *;
        using Status = selvage_status *;
        const auto call = [&](void *function) {
            if (packed != nullptr)
                reinterpret_cast<selvage_code (*)(S, const void *, const void *, void *, void *,
                                                  std::size_t, Status)>(function)(
                    s, input, packed, output, scratch, bytes, &status);
            else if (p.indices != selvage::Indices::none)
                reinterpret_cast<selvage_code (*)(S, const void *, void *, std::int64_t *, void *,
                                                  std::size_t, Status)>(function)(
                    s, input, output, indices, scratch, bytes, &status);
            else
                reinterpret_cast<selvage_code (*)(S, const void *, void *, void *, std::size_t,
                                                  Status)>(function)(s, input, output, scratch,
                                                                     bytes, &status);
        };
        // What the call itself takes is not the kernel's.
        void *const nothing = reinterpret_cast<void *>(+[] { return SELVAGE_OK; });
        const std::size_t own = stack_of([&] { call(nothing); });
        stack_bytes_ = std::max(stack_bytes_, stack_of([&] { call(address); }) - own);
        return status.text;
    }

    /// The most that a run took.
    std::size_t stack_bytes() const { return stack_bytes_; }

private:
    void *library_;
    std::string name_;
    mutable std::size_t stack_bytes_ = 0;
};

/// "NAME.o NAME_sse41.o ...".
std::string objects(const std::string &name, const std::vector<std::string> &isas) {
    std::string text = name + ".o";
    for (const std::string &isa : isas)
        text += " " + name + "_" + isa + ".o";
    return text;
}

/// Loads a kernel as a shared library that needs nothing but the C library.
void *load(const std::string &name, const std::vector<std::string> &isas) {
    const std::string library = folder() + "/lib" + name + ".so";
    const Outcome linked = shell("cd " + folder() + " && g++ -shared -Wl,-z,defs -nostdlib -o " +
                                 library + " " + objects(name, isas) + " -lc");
    EXPECT_EQ(linked.code, 0) << linked.text;
    void *const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    return handle;
}

/// A problem that differs from the kernel's in what remains an argument.
Problem varied(const Problem &whole, Random &random) {
    for (;;) {
        Problem p = whole;
        p.n = random.between(1, 3);
        for (selvage::Axis *axis : axes(&p)) {
            axis->size = random.between(1, 45);
            if (axis->adaptive > 0)
                continue;
            if (p.op != Op::stride_sample) {
                axis->begin = random.between(-1, 4);
                axis->end = random.between(-1, 4);
            }
            if (p.op != Op::pad)
                axis->phase = random.between(0, int(axis->stride) - 1);
            if (p.op == Op::conv_transpose)
                axis->output_padding = random.between(0, 2);
        }
        if (check(p).ok())
            return p;
    }
}

class MadeKernel : public testing::TestWithParam<Specification> {};

TEST_P(MadeKernel, IsExactAtEverySize) {
    const Specification &made = GetParam();
    const std::string name = made.name;
    std::string isas;
    for (const std::string &isa : made.isas)
        isas += " --isa " + isa;
    const Outcome outcome =
        make(name + " '" + made.problem + "' " + made.options + isas + " --json");
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    const auto told = nlohmann::json::parse(outcome.text);
    ASSERT_EQ(told["kernels"].size(), made.isas.size());
    for (const auto &each : told["kernels"])
        EXPECT_NE(std::string(each["kernel"]).find(std::string("/") + made.family),
                  std::string::npos)
            << each["kernel"];
    const Outcome compiled = compile(name);
    ASSERT_EQ(compiled.code, 0) << compiled.text;
    void *const handle = load(name, made.isas);
    ASSERT_NE(handle, nullptr);
    const Kernel kernel(handle, name);

    Problem whole = parse(made.problem);
    const std::vector<std::string> available = selvage::available_isas();
    for (const std::string &isa : made.isas) {
        if (std::find(available.begin(), available.end(), isa) == available.end()) {
            EXPECT_NE(kernel.force(isa.c_str()), "");
            continue;
        }
        ASSERT_EQ(kernel.force(isa.c_str()), "");
        EXPECT_EQ(kernel.isa(), isa);
        const std::uint64_t seed = seed_from_environment();
        int held = 0, refused = 0;
        for (std::uint64_t each = seed; held < 12; ++each) {
            Random random(each);
            const Problem problem = varied(whole, random);
            const Trial trial(problem, random_data(problem, each), each, true);
            const bool apart =
                (std::string(made.family) == "lines" || std::string(made.family) == "narrow") &&
                problem.layout == selvage::Layout::nhwc && !trial.adjacent_pixels();
            Plan plan;
            ASSERT_TRUE(make_plan(problem, {"", "reference"}, &plan).ok());
            const selvage_shape shape = shape_of(problem);
            const selvage_shape own = kernel.shape(problem);
            EXPECT_EQ(own.n, shape.n);
            EXPECT_EQ(own.depth, shape.depth);
            EXPECT_EQ(own.height, shape.height);
            EXPECT_EQ(own.width, shape.width);
            const std::size_t scratch_bytes = kernel.scratch_bytes(shape);
            const Subject subject = {
                name + "/" + isa,
                plan.output_region(),
                plan.input_region(),
                has_weights(problem.op) ? std::size_t(told["packed_bytes"]) : 0,
                scratch_bytes,
                [&](const void *weights, WeightOrder order, const float *bias, void *packed) {
                    return kernel.pack(problem, weights, order, bias, packed);
                },
                [&](const Tensor<const void> &in, const void *packed, const Tensor<void> &out,
                    const Tensor<std::int64_t> *indices, void *scratch) {
                    const selvage_shape s = with_strides(shape, in, out);
                    // The first element of the whole input, which crops leave out.
                    const std::int64_t cropped = plan.input_region().z.begin * in.stride_d +
                                                 plan.input_region().y.begin * in.stride_h +
                                                 plan.input_region().x.begin * in.stride_w;
                    const std::int64_t bytes = problem.type == selvage::Type::f32 ? 4 : 1;
                    return kernel.run(problem, s,
                                      static_cast<const char *>(in.data) - cropped * bytes, packed,
                                      out.data, indices == nullptr ? nullptr : indices->data,
                                      scratch, scratch_bytes);
                }};
            trial.announce(subject.name);
            const testing::AssertionResult result = trial.holds(subject);
            if (apart) {
                // Lines of numbers need pixels without gaps, and say so.
                ++refused;
                ASSERT_FALSE(result);
                continue;
            }
            ASSERT_TRUE(result);
            ++held;
        }
        std::printf("%s, %s: %d problems, %d views refused\n", made.name, isa.c_str(), held,
                    refused);
    }
    EXPECT_EQ(kernel.force(nullptr), "");
    std::printf("%zu bytes of stack, at most %d\n", kernel.stack_bytes(), int(told["stack_bytes"]));
    EXPECT_LE(kernel.stack_bytes(), std::size_t(told["stack_bytes"]));
    dlclose(handle);
}

INSTANTIATE_TEST_SUITE_P(, MadeKernel, testing::ValuesIn(specifications),
                         [](const auto &info) { return std::string(info.param.name); });

// What objects hold.

/// Makes an archive of a kernel with its wrapper, as selvage_add_kernel() does.
std::string archive(const std::string &name, const std::vector<std::string> &isas) {
    Outcome outcome = compile(name, "-fvisibility=hidden -fno-asynchronous-unwind-tables");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    outcome = shell("cd " + folder() + " && rm -f lib" + name + ".a && ar rcs lib" + name + ".a " +
                    objects(name, isas) + " && strip --strip-unneeded lib" + name + ".a");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return folder() + "/lib" + name + ".a";
}

/// The symbols of an archive whose letter of nm(1) is one of these.
std::set<std::string> symbols(const std::string &archive, const std::string &letters) {
    std::istringstream lines(shell("nm -P " + archive).text);
    std::set<std::string> found;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, letter;
        if (words >> name >> letter && letter.size() == 1 && letters.find(letter) != letters.npos)
            found.insert(name);
    }
    return found;
}

TEST(MadeArchive, IsSmallAndFreeOfDependencies) {
    for (const std::string isa : {"sse41", "avx2", "avx512"}) {
        const std::string name = "small_" + isa;
        const Outcome outcome =
            make(name + " 'conv2d c=64 k=64 in=56x56 kernel=3 bias=1 act=relu' --isa " + isa);
        ASSERT_EQ(outcome.code, 0) << outcome.text;
        const std::string path = archive(name, {isa});
        std::printf("%s: %d bytes\n", name.c_str(), int(fs::file_size(path)));
        EXPECT_LE(fs::file_size(path), 30 * 1024u) << isa;

        std::set<std::string> undefined = symbols(path, "Uvw");
        const std::set<std::string> defined = symbols(path, "TDBRVW");
        for (const std::string &each : defined)
            undefined.erase(each);
        undefined.erase("memcpy");
        undefined.erase("memset");
        EXPECT_EQ(undefined, std::set<std::string>());
        for (const std::string &each : defined)
            EXPECT_EQ(each.rfind(name, 0), 0u) << each << " does not begin with the kernel's name";

        // Beside what the loader writes once: the number of the instruction set that was chosen.
        std::istringstream lines(shell("size -A " + path).text);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string section;
            std::size_t size = 0;
            words >> section >> size;
            EXPECT_FALSE(section == ".init_array" && size > 0);
            EXPECT_FALSE(section == ".data" && size > 0);
            const bool zeros = section.rfind(".bss", 0) == 0;
            EXPECT_FALSE(zeros && size > 8) << line;
        }
    }
}

TEST(OneKernel, HasConstantWeightsInReadOnlyData) {
    const std::string problem = "'conv2d c=3 k=20 in=20x21 kernel=3 bias=1'", isa = "avx2";
    std::vector<float> weights, bias;
    for (int i = 0; i < 20 * 3 * 3 * 3; ++i)
        weights.push_back(float(i * 37 % 19 - 9));
    for (int i = 0; i < 20; ++i)
        bias.push_back(float(i - 7));
    std::vector<float> hwio;
    for (int tap = 0; tap < 9; ++tap)
        for (int i = 0; i < 3; ++i)
            for (int o = 0; o < 20; ++o)
                hwio.push_back(weights[(o * 3 + i) * 9 + tap]);
    write_npy(folder() + "/oihw.npy", "(20, 3, 3, 3)", weights);
    write_npy(folder() + "/hwio.npy", "(3, 3, 3, 20)", hwio);
    write_npy(folder() + "/bias.npy", "(20,)", bias);
    const Plan plan = [&] {
        Plan plan;
        EXPECT_TRUE(make_plan(parse("conv2d c=3 k=20 in=20x21 kernel=3 bias=1"), {}, &plan).ok());
        return plan;
    }();
    const std::size_t outputs = 18 * 19 * 20;
    const std::vector<float> input = [] {
        Random random(5);
        return random_integers(random, 20 * 21 * 3, -4, 4);
    }();
    const oracle::Result expected = expected_output(plan.problem(), {input, weights, bias});
    for (const std::string order : {"oihw", "hwio"}) {
        const std::string name = "constant_" + order;
        const Outcome outcome =
            make(name + " " + problem + " --isa " + isa + " --weights " + folder() + "/" + order +
                 ".npy --bias " + folder() + "/bias.npy --order " + order);
        ASSERT_EQ(outcome.code, 0) << outcome.text;
        const Outcome compiled = compile(name);
        ASSERT_EQ(compiled.code, 0) << compiled.text;
        const Outcome table = shell("objdump -t " + folder() + "/" + name + ".o");
        const std::size_t symbol = table.text.find(name + "_" + isa + "_weights\n");
        ASSERT_NE(symbol, std::string::npos) << table.text;
        const std::size_t line = table.text.rfind('\n', symbol);
        EXPECT_NE(table.text.substr(line, symbol - line).find(" .rodata"), std::string::npos);

        void *const handle = load(name, {isa});
        ASSERT_NE(handle, nullptr);
        const Kernel kernel(handle, name);
        ASSERT_EQ(kernel.force(isa.c_str()), "");
        const selvage_shape shape = kernel.shape(plan.problem());
        std::vector<float> output(outputs);
        const GuardedMemory scratch(kernel.scratch_bytes(shape));
        EXPECT_EQ(kernel.run(plan.problem(), shape, input.data(), nullptr, output.data(), nullptr,
                             scratch.begin<void>(), kernel.scratch_bytes(shape)),
                  "");
        EXPECT_EQ(output, expected.values) << order;
        dlclose(handle);
    }
}

TEST(OneKernel, LivesBesideOthersAndAnotherHalide) {
    ASSERT_EQ(make("first 'conv2d c=3 k=4 in=9x9 kernel=3' --same tf --isa sse41").code, 0);
    ASSERT_EQ(make("second 'max_pool2d c=2 in=9x9 kernel=3' --isa sse41").code, 0);
    archive("first", {"sse41"});
    archive("second", {"sse41"});
    // A kernel of the app's own, with Halide's run-time library, and an allocator of the app.
    const Outcome own = shell(std::string("'") + GENERATORS +
                              "/selvage_conv_generators' -g conv -f own -e object,c_header "
                              "target=host schedule=direct lanes=4 channel_block=4 -o " +
                              folder());
    ASSERT_EQ(own.code, 0) << own.text;
    write(folder() + "/app.cpp", R"(
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>
#include <HalideRuntime.h>
#include <selvage/layer.h>
#include "first.h"
#include "own.h"
#include "second.h"

static int allocated = 0;
extern "C" void *halide_malloc(void *, size_t bytes) {
    ++allocated;
    return std::aligned_alloc(128, (bytes + 255) / 128 * 128);
}
extern "C" void halide_free(void *, void *memory) { std::free(memory); }

struct Buffer {
    halide_dimension_t dims[7];
    halide_buffer_t buffer = {};
    template <class T> Buffer(T *data, std::initializer_list<int> extents) {
        int stride = 1;
        for (int extent : extents) {
            dims[buffer.dimensions++] = halide_dimension_t(0, extent, stride);
            stride *= extent;
        }
        buffer.host = reinterpret_cast<uint8_t *>(data);
        buffer.type = halide_type_of<T>();
        buffer.dim = dims;
    }
};

static int fail(const char *what) {
    std::printf("%s\n", what);
    return 1;
}

int main() {
    // Their own kernel: one channel, 4 pixels, kernel 1x1.
    alignas(64) float weights[16] = {5, 6, 7, 8}, bias[4] = {1, 1, 1, 1};
    float in[4] = {1, 2, 3, 4}, out[16];
    int32_t columns[4] = {0, 1, 2, 3}, zero = 0;
    Buffer input(in, {1, 1, 4, 1, 1, 1}), w(weights, {4, 4, 1, 1, 1, 1, 1}), b(bias, {4, 1, 1});
    Buffer x(columns, {4, 1}), y(&zero, {1, 1}), z(&zero, {1, 1}), output(out, {4, 1, 4, 1, 1, 1});
    const float infinity = std::numeric_limits<float>::infinity();
    if (own(&input.buffer, &w.buffer, &b.buffer, &x.buffer, &y.buffer, &z.buffer, 0, 0, 1, 1, 1, 1,
            0, 1, 1, 1, 1, 0, -infinity, infinity, &output.buffer) != 0)
        return fail("own failed");
    for (int i = 0; i < 16; ++i)
        if (out[i] != in[i / 4] * weights[i % 4] + 1)
            return fail("own differs");
    const int theirs = allocated;
    if (theirs == 0)
        return fail("own took no memory");

    // Two specialised kernels, and the library.
    std::vector<float> image(9 * 9 * 3), filter(4 * 3 * 9), first_out(9 * 9 * 4);
    for (size_t i = 0; i < image.size(); ++i)
        image[i] = float(i * 7 % 11) - 5;
    for (size_t i = 0; i < filter.size(); ++i)
        filter[i] = float(i * 5 % 7) - 3;
    selvage_status status;
    alignas(64) static char packed[FIRST_PACKED_BYTES], scratch[1 << 20];
    selvage_shape shape = first_shape(1, 9, 9);
    size_t bytes = 0;
    if (first_scratch_bytes(&shape, &bytes, &status) != SELVAGE_OK || bytes > sizeof scratch ||
        first_pack(filter.data(), SELVAGE_OIHW, nullptr, packed, &status) != SELVAGE_OK ||
        first(&shape, image.data(), packed, first_out.data(), scratch, sizeof scratch, &status) !=
            SELVAGE_OK)
        return fail(status.text);
    std::vector<float> second_out(7 * 7 * 2);
    shape = second_shape(1, 9, 9);
    if (second(&shape, image.data(), second_out.data(), scratch, sizeof scratch, &status) !=
        SELVAGE_OK)
        return fail(status.text);
    if (allocated != theirs)
        return fail("a specialised kernel took the app's memory");

    for (const char *text : {"conv2d c=3 k=4 in=9x9 kernel=3 same=tf",
                             "max_pool2d c=2 in=9x9 kernel=3"}) {
        selvage::Problem problem;
        selvage::Plan plan;
        selvage::Options options;
        options.adjacent_pixels = true;
        if (!parse_problem(text, &problem).ok() || !make_plan(problem, options, &plan).ok())
            return fail("no plan");
        const bool conv = problem.k == 4;
        std::vector<float> result(conv ? first_out.size() : second_out.size());
        const auto view = [&](auto *data, int size, int channels) {
            return selvage::dense(data, 1, 1, size, size, channels, selvage::Layout::nhwc);
        };
        alignas(64) static char library_packed[1 << 20];
        if (conv && !plan.pack(filter.data(), selvage::WeightOrder::oihw, nullptr, library_packed).ok())
            return fail("not packed");
        if (plan.scratch_bytes() > sizeof scratch ||
            !plan.run<float>(view(static_cast<const float *>(image.data()), 9, conv ? 3 : 2),
                             conv ? library_packed : nullptr,
                             view(result.data(), conv ? 9 : 7, conv ? 4 : 2), scratch,
                             sizeof scratch).ok())
            return fail("the library failed");
        if (result != (conv ? first_out : second_out))
            return fail("differs from the library");
    }
    std::printf("all equal\n");
}
)");
    const Outcome compiled =
        shell("cd " + folder() + " && g++ -std=c++17 -I. " + INCLUDES + " -I'" + HALIDE_INCLUDES +
              "' app.cpp own.o -L. -lfirst -lsecond " + LIBRARIES + " -lpthread -ldl -o app");
    ASSERT_EQ(compiled.code, 0) << compiled.text;
    const Outcome ran = shell(folder() + "/app");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.text, "all equal\n");
}

// The command line.

TEST(KernelTool, RefusesInOneLine) {
    const std::string good = "edge 'conv2d c=4 k=4 in=9x9 kernel=3' --check ";
    const std::string with_bias = "edge 'conv2d c=4 k=4 in=9x9 kernel=3 bias=1' --check ";
    ASSERT_EQ(tool(good).code, 0);
    write(folder() + "/not.npy", "no numbers");
    const struct {
        std::string arguments, text;
    } cases[] = {
        {"1edge 'conv2d c=4 k=4 in=9x9 kernel=3' --check",
         "the name '1edge' must be an identifier"},
        {"edge 'conv4d' --check", "conv4d"},
        {"edge 'conv2d c=4 k=4 in=9x9 kernel=3 same=tf' --check", "--same NAME is a convention"},
        {"edge 'conv2d c=4 k=4 in=9x9 kernel=3'", "-o is needed"},
        {good + "--same middle", "middle"},
        {good + "--target sparc", "--target sparc is not one of host, x86-64, arm-64"},
        {good + "--isa neon", "--isa neon is not one of sse41, avx2, avx512"},
        {good + "--isa avx512 --schedule direct_6x2_c16", "must be one of direct_14x2_c64"},
        {good + "--isa avx2 --schedule direct_6x2_c64_inside", "has no border"},
        {good + "--isa avx2 --schedule planar_4x3_c32", "takes layout nchw"},
        {good + "--isa avx2 --schedule 'direct_6x2_c64 strip_rows=99'", "strip_rows=99: conv/"},
        {good + "--isa avx2 --schedule 'direct_6x2_c64 strip_planes=2'", "has no strip_planes"},
        {good + "--isa avx2 --schedule 'direct_6x2_c64 split=rows'", "has a split"},
        {good + "--isa avx2 --schedule 'isa=sse41'", "is not of avx2"},
        {good + "--isa avx2 --schedule 'direct_6x2_c64 tile=2'", "--schedule: 'tile=2' is no key"},
        {good + "--bias b.npy", "--bias needs --weights"},
        {good + "--weights " + folder() + "/none.npy", "none.npy: cannot be read"},
        {good + "--weights " + folder() + "/not.npy", "is not a .npy file"},
        {good + "--weights w.npy --bias b.npy", "has no bias=1"},
        {with_bias + "--weights w.npy", "--weights needs --bias"},
        {good + "--order ohwi", "ohwi"},
        {"edge 'max_pool2d c=4 in=9x9 kernel=3' --check --weights w.npy", "takes no weights"},
        {"edge 'avg_pool2d c=40 in=8x8 adaptive=2' --isa avx2 --schedule lines_4x2 --check",
         "takes windows of one size"},
        {"edge 'conv2d c=4 k=4 in=9x9 kernel=3' -o " + folder() + " --generators " + folder(),
         "there is no such program; --generators names its folder"},
        {"edge 'conv2d c=4 k=4 in=9x9 kernel=3' -o /dev/null/x --generators " + folder(),
         "/dev/null/x: cannot be made"},
    };
    for (const auto &[arguments, text] : cases) {
        const Outcome outcome = tool(arguments);
        EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.text;
        EXPECT_NE(outcome.text.find(text), std::string::npos) << arguments << "\n" << outcome.text;
        EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
    }
}

TEST(KernelTool, KnowsTargetsByTheirShortAndTheirFullNames) {
    const std::string good = "edge 'max_pool2d c=4 in=9x9 kernel=3' --check -v --target ";
    for (const char *const target : {"host", "x86-64", "x86-64-linux"})
        EXPECT_NE(tool(good + target).text.find("/sse41\n"), std::string::npos) << target;
    for (const char *const target : {"arm-64", "arm-64-linux"})
        EXPECT_NE(tool(good + target).text.find("/neon\n"), std::string::npos) << target;
}

TEST(KernelTool, TellsWhatAGeneratorSays) {
    const std::string generators = folder() + "/broken";
    fs::create_directories(generators);
    const std::string program = generators + "/selvage_conv_generators";
    write(program, "#!/bin/sh\necho 'no luck today' >&2\nexit 3\n");
    fs::permissions(program, fs::perms::owner_all);
    const Outcome outcome = tool("edge 'conv2d c=4 k=4 in=9x9 kernel=3' --isa sse41 -o " +
                                 folder() + "/none --generators " + generators);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.text.find("selvage_conv_generators returned 3: no luck today"),
              std::string::npos)
        << outcome.text;
    EXPECT_FALSE(fs::exists(folder() + "/none/edge.h"));
}

TEST(KernelTool, TakesSchedulesOfATable) {
    const std::string table = folder() + "/table.json",
                      problem = "conv2d c=64 k=64 in=56x56 kernel=3";
    const auto check = [&](const std::string &json, const std::string &of, const std::string &isa) {
        write(table, json);
        return tool("edge '" + of + "' --check -v --isa " + isa + " --schedule " + table);
    };
    const std::string good = "{\"schedules\": [{\"problem\": \"" + problem +
                             "\", \"isa\": \"avx2\", \"schedule\": \"direct_12x1_c16\"}]}";
    const auto kernel = [](const Outcome &outcome) {
        return outcome.text.substr(0, outcome.text.find('\n'));
    };
    // The same problem in other words; then others, which are chosen for as without a table.
    EXPECT_EQ(kernel(check(good, "conv2d kernel=3x3 k=64 c=64 in=56x56 pads=0", "avx2")),
              "kernel   conv/direct_12x1_c16/avx2");
    const auto expect_auto = [&](const std::string &of, const std::string &isa) {
        Problem whole;
        ASSERT_TRUE(parse_problem(of, &whole).ok());
        EXPECT_EQ(check(good, of, isa).text,
                  "selvage: " + table + " has no schedule for " + isa + " of '" +
                      selvage::text(whole) + "'; auto is taken\n" +
                      tool("edge '" + of + "' --check -v --isa " + isa).text);
    };
    expect_auto(problem, "sse41");
    expect_auto(problem + " stride=2", "avx2");

    const auto entry = [](const std::string &fields) {
        return "{\"schedules\": [{\"problem\": \"conv1d in=9 kernel=3\", \"isa\": \"avx2\", "
               "\"schedule\": \"auto\"}, {" +
               fields + "}]}";
    };
    const struct {
        std::string json, text;
    } cases[] = {
        {"{\"schedules\":\n  [}", "table.json: is not JSON at line 2, column 4"},
        {"{\"schedules\": [", "table.json: is not JSON at line 1, column 16"},
        {"", "table.json: is not JSON at line 1, column 1"},
        {"[]", "table.json: must be an object with an array \"schedules\""},
        {"{\"schedule\": []}", "must be an object with an array"},
        {"{\"schedules\": [7]}", "schedules[0]: must be an object"},
        {entry("\"isa\": \"avx2\", \"schedule\": \"any\""),
         "schedules[1]: \"problem\" must be a string"},
        {entry("\"problem\": \"conv2d in=3\", \"isa\": \"avx2\", \"schedule\": \"any\""),
         "schedules[1].problem: "},
        {entry("\"problem\": \"" + problem + "\", \"isa\": \"mmx\", \"schedule\": \"any\""),
         "schedules[1].isa: 'mmx' is not one of sse41, neon, avx2, avx512"},
        {entry("\"problem\": \"" + problem + "\", \"isa\": \"avx2\", \"schedule\": \"any\""),
         "': 'any' is not a schedule of conv and avx2"},
        {entry("\"problem\": \"" + problem + "\", \"isa\": \"avx2\", \"schedul\": \"any\""),
         "schedules[1]: \"schedul\" is not one of problem, isa, threads, accuracy, schedule"},
        {entry("\"problem\": \"" + problem + "\", \"isa\": \"avx2\", \"schedule\": 4"),
         "schedules[1]: \"schedule\" must be a string"},
    };
    for (const auto &[json, text] : cases) {
        const Outcome outcome = check(json, problem, "avx2");
        EXPECT_EQ(outcome.code, 2) << json;
        EXPECT_NE(outcome.text.find(text), std::string::npos) << json << "\n" << outcome.text;
    }
}

TEST(KernelTool, KeepsKernelsInACache) {
    const std::string cache = " --isa sse41 -v --cache " + folder() + "/cache";
    const auto made = [&](const std::string &name, const std::string &problem) {
        const Outcome outcome = make(name + " '" + problem + "'" + cache);
        EXPECT_EQ(outcome.code, 0) << outcome.text;
        const std::size_t line =
            std::min(outcome.text.find("generated "), outcome.text.find("cached "));
        return outcome.text.substr(line, outcome.text.find('\n', line) - line);
    };
    const std::string problem = "max_pool1d c=2 in=40 kernel=3";
    EXPECT_EQ(made("kept", problem), "generated kept_sse41.o");
    const std::string object = read(folder() + "/kept_sse41.o"),
                      header = read(folder() + "/kept.h");
    EXPECT_NE(header.find("\n * Schedules: sse41 "), std::string::npos) << header;
    fs::remove(folder() + "/kept_sse41.o");
    const auto before = fs::file_time_type::clock::now();
    EXPECT_EQ(made("kept", problem), "cached kept_sse41.o");
    EXPECT_EQ(read(folder() + "/kept_sse41.o"), object);
    EXPECT_EQ(read(folder() + "/kept.h"), header);
    // A build sees that it is newer than what it was made from.
    EXPECT_GE(fs::last_write_time(folder() + "/kept_sse41.o"), before);
    EXPECT_EQ(made("other", problem), "generated other_sse41.o");
    EXPECT_EQ(made("kept", problem + " stride=2"), "generated kept_sse41.o");
    // The size decides nothing but the schedule.
    EXPECT_EQ(made("kept", "max_pool1d c=2 in=41 kernel=3"), "cached kept_sse41.o");

    // An entry of equal hash but another specification is none.
    for (const auto &entry : fs::directory_iterator(folder() + "/cache"))
        write(entry.path() / "specification", "another");
    EXPECT_EQ(made("kept", problem), "generated kept_sse41.o");

    // Processes at the same time, which find the generators themselves.
    fs::remove_all(folder() + "/cache");
    const std::string command = std::string("'") + SELVAGE_TOOL + "' kernel both '" + problem +
                                "'" + cache + " -o " + folder();
    const Outcome both = shell(command + "1 & " + command + "2 & wait; " + command + "1");
    EXPECT_EQ(both.text.find("selvage: "), std::string::npos) << both.text;
    EXPECT_NE(read(folder() + "1/both_sse41.o"), "");
    EXPECT_EQ(read(folder() + "1/both_sse41.o"), read(folder() + "2/both_sse41.o"));
    EXPECT_NE(both.text.find("cached both_sse41.o"), std::string::npos) << both.text;
    fs::remove_all(folder() + "1");
    fs::remove_all(folder() + "2");
}

// Names, pads and folders that cannot be.

TEST(KernelTool, RefusesNamesThatAreTaken) {
    const std::string of = " 'conv2d c=4 k=4 in=9x9 kernel=3' --check";
    for (const std::string name :
         {"int", "class", "co_await", "NULL", "uint8_t", "main", "string", "limits", "signal",
          "math", "stdint", "printf", "memcpy", "memset", "std", "selvage"}) {
        const Outcome outcome = tool(name + of);
        EXPECT_EQ(outcome.code, 2) << name;
        EXPECT_EQ(outcome.text, "selvage: the name '" + name +
                                    "' is taken: a word of C or C++, or a name or header of their "
                                    "libraries\n");
    }
    for (const std::string name : {"Int", "main_", "edge", "strings2"})
        EXPECT_EQ(tool(name + of).code, 0) << name;
}

TEST(KernelTool, RefusesPadsOfOneSize) {
    for (const std::string &problem :
         {std::string("pad2d in=9x9 to=12x12"), std::string("pad2d to=12x12 in=9x9"),
          std::string("conv_transpose2d c=4 k=4 in=9x9 kernel=3 stride=2 output_shape=18x18")})
        for (const char *same : {"", " --same tf"}) {
            const Outcome outcome = tool("edge '" + problem + "' --check" + same);
            EXPECT_EQ(outcome.code, 2) << problem << same;
            EXPECT_NE(outcome.text.find("in the problem fixes the pads of this size"),
                      std::string::npos)
                << outcome.text;
        }
}

TEST(KernelTool, NamesTmpdir) {
    const std::string rest = std::string("' kernel edge 'max_pool1d c=2 in=40 kernel=3' --isa "
                                         "sse41 --generators '") +
                             GENERATORS + "' -o " + folder();
    write(folder() + "/file", "");
    for (const std::string &where : {folder() + "/nowhere", folder() + "/file"}) {
        const Outcome outcome = shell("TMPDIR=" + where + " '" + SELVAGE_TOOL + rest);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.text, "selvage: TMPDIR: " + where +
                                    " is not a folder; it is where temporary files go\n");
    }
    EXPECT_EQ(shell(std::string("unset TMPDIR; '") + SELVAGE_TOOL + rest).code, 0);
    EXPECT_EQ(shell(std::string("TMPDIR= '") + SELVAGE_TOOL + rest).code, 0);
}

TEST(KernelTool, NeedsNoCache) {
    const std::string cache = folder() + "/damaged";
    const auto made = [](const std::string &where) {
        const Outcome outcome = make("edge 'max_pool1d c=2 in=40 kernel=3' --isa sse41 --json "
                                     "--cache " +
                                     where);
        EXPECT_EQ(outcome.code, 0) << outcome.text;
        return outcome.text.find("\"cached\": true") == std::string::npos ? "generated" : "cached";
    };
    EXPECT_STREQ(made(cache), "generated");
    const fs::path entry = fs::directory_iterator(cache)->path();
    const std::string object = read(folder() + "/edge_sse41.o");
    for (const char *name : {"specification", "kernel.o", "kernel_key", "stack_bytes"})
        for (const std::string how : {"empty", "missing", "short", "folder"}) {
            const fs::path file = entry / name;
            const std::string whole = read(file);
            ASSERT_NE(whole, "") << file;
            fs::remove(file);
            if (how == "folder")
                fs::create_directory(file);
            else if (how != "missing")
                write(file, how == "empty" || whole.size() == 1 ? std::string()
                            : name == std::string("stack_bytes")
                                ? whole + " "
                                : whole.substr(0, whole.size() - 1));
            EXPECT_STREQ(made(cache), "generated") << name << " " << how;
            EXPECT_EQ(read(folder() + "/edge_sse41.o"), object);
            EXPECT_STREQ(made(cache), "cached") << name << " " << how;
        }
    // Nothing but the entry stays.
    EXPECT_EQ(std::distance(fs::directory_iterator(cache), fs::directory_iterator()), 1);

    write(folder() + "/no_folder", "");
    for (const std::string &where : {folder() + "/no_folder", std::string("/proc/nowhere")})
        EXPECT_STREQ(made(where), "generated");
}

TEST(KernelTool, TellsWhatItsStackHoldsFor) {
    ASSERT_EQ(make("edge 'max_pool1d c=2 in=40 kernel=3' --isa sse41").code, 0);
    EXPECT_NE(read(folder() + "/edge.h").find("-fstack-protector"), std::string::npos);
}

/// Archives of one instruction set, made as selvage_add_kernel() does, are below 30,000 bytes.
TEST(KernelTool, ArchivesAreSmall) {
    for (const std::string &isa : all_isas)
        for (const std::string layout : {"nhwc", "nchw"})
            for (const std::string border : {"constant", "reflect"})
                for (const std::string stride : {"1", "2"}) {
                    const std::string problem =
                        "conv2d c=64 k=64 in=56x56 kernel=3 bias=1 act=clamp:-1:1 stride=" +
                        stride + " layout=" + layout + " border=" + border;
                    SCOPED_TRACE(isa + " " + problem);
                    ASSERT_EQ(make("small '" + problem + "' --isa " + isa).code, 0);
                    ASSERT_EQ(compile("small", "-fno-asynchronous-unwind-tables -fno-lto "
                                               "-fno-merge-constants -fno-jump-tables -fno-ident "
                                               "-fvisibility=hidden")
                                  .code,
                              0);
                    ASSERT_EQ(shell("cd " + folder() +
                                    " && rm -f libsmall.a && objcopy --strip-unneeded small.o && "
                                    "ar rcs libsmall.a small.o small_" +
                                    isa + ".o")
                                  .code,
                              0);
                    EXPECT_LT(fs::file_size(folder() + "/libsmall.a"), 30000u);
                }
}

} // namespace
