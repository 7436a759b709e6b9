// The first call of every kernel touches no pages but those of scratch, output and code, and calls
// 2 to 100 none for the first time; none of them allocates.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <link.h>
#include <sys/resource.h>

#include "selvage/plan.h"
#include "selvage/thread_pool.h"

#include "hold.h"

using selvage::KernelRow;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;

namespace {
std::atomic<long> allocations{0};
}

// This program's own heap, which counts. The allocator behind it stays glibc's.
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);

void *malloc(std::size_t bytes) {
    ++allocations;
    return __libc_malloc(bytes);
}
void *calloc(std::size_t count, std::size_t bytes) {
    ++allocations;
    return __libc_calloc(count, bytes);
}
void *realloc(void *memory, std::size_t bytes) {
    ++allocations;
    return __libc_realloc(memory, bytes);
}
void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
    ++allocations;
    return __libc_memalign(alignment, bytes);
}
void *memalign(std::size_t alignment, std::size_t bytes) { return aligned_alloc(alignment, bytes); }
int posix_memalign(void **memory, std::size_t alignment, std::size_t bytes) {
    *memory = aligned_alloc(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}
}

namespace {

/// Of this thread: a pool's own, when its threads start or go to sleep, are not the library's.
long minor_faults() {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

long pages(std::size_t bytes) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    return long((bytes + page - 1) / page);
}

/// Of the program and its libraries, code and constants.
long pages_of_code() {
    long all = 0;
    const auto add = [](dl_phdr_info *object, std::size_t, void *sum) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto &segment = object->dlpi_phdr[i];
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0)
                *static_cast<long *>(sum) += pages(segment.p_memsz) + 1; // it may begin within one
        }
        return 0;
    };
    dl_iterate_phdr(add, &all);
    return all;
}

/// Problems of which every kernel takes at least one, in both layouts.
const std::vector<std::string> layers = {
    "conv2d c=64 k=32 in=4x14 kernel=3 pads=1 bias=1 act=relu",
    "conv2d c=16 k=16 in=2x840 kernel=1 bias=1", // 840 columns: whole tiles of all widths
    "conv2d c=3 k=32 in=29x29 kernel=3 stride=2 pads=0,0,1,1",
    "conv2d c=5 k=7 in=9x11 kernel=2x5 stride=3x1 pads=1,2,3,4 border=reflect",
    "conv2d c=16 k=24 in=9x11 kernel=2 pads=0,0,1,1",
    "conv2d c=16 k=24 in=9x11 kernel=3 pads=2 dilation=2",
    "conv_transpose2d c=16 k=24 in=9x11 kernel=4 stride=2 pads=1",
    "depthwise2d c=72 in=28x28 kernel=3 pads=1 bias=1 act=relu6",
    "depthwise2d c=72 in=28x28 kernel=3 stride=2 pads=0,0,1,1",
    "depthwise2d c=72 in=14x14 kernel=5 pads=2",
    "depthwise2d c=72 in=14x14 kernel=5 stride=2 pads=2",
    "depthwise2d c=72 in=14x14 kernel=3",
    "depthwise2d c=72 in=15x15 kernel=3 stride=2",
    "depthwise2d c=72 in=14x14 kernel=5",
    "depthwise2d c=72 in=19x19 kernel=5 stride=2",
    "depthwise2d c=72 in=14x14 kernel=7 pads=3",
    "depthwise2d c=72 in=20x20 kernel=7",
    "max_pool2d c=72 in=9x28 type=u8 kernel=3 stride=2 pads=1",
    "max_pool2d c=72 in=9x28 type=i8 kernel=3",
    "max_pool2d c=72 in=9x28 type=u8 indices=plane kernel=3",
    "max_pool2d c=72 in=9x28 type=i8 indices=plane kernel=3",
    "max_pool2d c=72 in=9x28 indices=tensor kernel=3 stride=2 pads=1",
    "lp_pool2d c=72 in=9x28 kernel=3 p=1",
    "lp_pool2d c=72 in=9x28 kernel=3 pads=1 p=2",
    "lp_pool2d c=72 in=9x28 kernel=3 p=3",
    "max_pool2d c=3 in=28x40 type=u8 kernel=3",
    "max_pool2d c=3 in=28x40 type=u8 kernel=5",
    "max_pool2d c=3 in=28x40 type=u8 kernel=7",
    "filter2d c=3 in=28x40 kernel=3",
    "filter2d c=3 in=28x40 kernel=5 pads=2 border=reflect",
    "filter2d c=3 in=28x40 kernel=7",
    "filter2d c=72 in=28x28 kernel=3",
    "filter2d c=3 in=28x40 kernel=3 weights=fixed:8",
    "filter2d c=3 in=28x40 kernel=5 weights=fixed:8",
    "filter2d c=3 in=28x40 kernel=7 weights=fixed:8",
    "filter2d c=72 in=28x28 kernel=3 weights=fixed:8",
    "pad2d c=72 in=28x28 pads=1,2,3,4 border=circular",
    "pad2d c=72 in=28x28 pads=1,2,3,4 type=u8",
    "stride_sample2d c=72 in=28x28 stride=2 type=i8",
};

/// The same for kernels of one size and stride.
std::vector<std::string> pool_layers() {
    std::vector<std::string> all;
    for (const char *pool : {"max_pool2d", "max_pool2d nan=skip", "avg_pool2d"})
        for (const char *window :
             {"kernel=2 pads=0,0,1,1", "kernel=2", "kernel=2 stride=2 pads=1", "kernel=2 stride=2",
              "kernel=3 pads=1", "kernel=3", "kernel=3 stride=2 pads=1", "kernel=3 stride=2",
              "kernel=5 pads=2", "kernel=5"})
            all.push_back(std::string(pool) + " c=72 in=9x28 " + window);
    return all;
}

/// The same for kernels of one number of channels and stride.
std::vector<std::string> narrow_layers() {
    std::vector<std::string> all;
    for (const char *channels : {"1", "3", "4", "8", "16"})
        for (const char *stride : {"1", "2"})
            all.push_back(std::string("conv2d k=32 in=9x29 kernel=3 pads=1 c=") + channels +
                          " stride=" + stride);
    return all;
}

std::vector<Problem> problems_for(const std::string &op) {
    std::vector<Problem> problems;
    for (const std::vector<std::string> &texts : {layers, pool_layers(), narrow_layers()})
        for (const std::string &text : texts)
            for (const char *layout : {" layout=nhwc", " layout=nchw"})
                if (const Problem problem = parse(text + layout); kernel_op(problem) == op)
                    problems.push_back(problem);
    return problems;
}

std::vector<const KernelRow *> every_kernel() {
    std::vector<const KernelRow *> kernels;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const KernelRow *row = &selvage::kernel_rows()[i];
        const std::vector<const KernelRow *> runnable = kernels_of(row->op);
        if (std::find(runnable.begin(), runnable.end(), row) != runnable.end())
            kernels.push_back(row);
    }
    return kernels;
}

std::size_t outputs(const Plan &plan) {
    const Problem &p = plan.problem();
    const selvage::Region &out = plan.output_region();
    return std::size_t(p.n * out.z.size * out.y.size * out.x.size * p.k);
}

/// All that one call needs, whatever the type of its numbers. No page of scratch, output and
/// indices was touched before the first call.
template <class T> class Runner {
public:
    Runner(const Plan &plan, const Data &data, const selvage::Parallel *parallel)
        : plan_(plan), parallel_(parallel), input_(data.input.begin(), data.input.end()),
          packed_(plan.packed_bytes()), scratch_(plan.scratch_bytes(), MAP_SHARED),
          output_(outputs(plan) * sizeof(T), MAP_SHARED),
          indices_(plan.problem().indices == selvage::Indices::none
                       ? 0
                       : outputs(plan) * sizeof(std::int64_t),
                   MAP_SHARED) {
        const Problem &p = plan.problem();
        if (!has_weights(p.op))
            return;
        const std::vector<std::int16_t> whole(data.weights.begin(), data.weights.end());
        const selvage::Status status =
            p.shift < 0 ? plan.pack(data.weights.data(), selvage::WeightOrder::oihw,
                                    p.bias ? data.bias.data() : nullptr, packed())
                        : plan.pack(whole.data(), selvage::WeightOrder::oihw, packed());
        EXPECT_TRUE(status.ok()) << status.text();
    }

    bool run() {
        const Problem &p = plan_.problem();
        const selvage::Region &out = plan_.output_region();
        const auto written = [&](auto *data) {
            return selvage::dense(data, p.n, out.z.size, out.y.size, out.x.size, p.k, p.layout);
        };
        const selvage::Tensor<std::int64_t> indices = written(indices_.begin<std::int64_t>());
        return plan_
            .run(selvage::dense<const T>(input_.data(), p.n, p.z.size, p.y.size, p.x.size, p.c,
                                         p.layout),
                 has_weights(p.op) ? packed() : nullptr, written(output_.begin<T>()),
                 scratch_.begin<std::byte>(), plan_.scratch_bytes(),
                 p.indices == selvage::Indices::none ? nullptr : &indices, parallel_)
            .ok();
    }

private:
    std::byte *packed() const { return packed_.begin<std::byte>(); }

    const Plan &plan_;
    const selvage::Parallel *parallel_;
    std::vector<T> input_;
    GuardedMemory packed_, scratch_, output_, indices_;
};

/// Pages of the memory that a call writes.
template <class T> long pages_of_memory(const Plan &plan) {
    long all = pages(plan.scratch_bytes()) + pages(outputs(plan) * sizeof(T));
    if (plan.problem().indices != selvage::Indices::none)
        all += pages(outputs(plan) * sizeof(std::int64_t));
    return all;
}

/// The first call and one with memory that is new again, while code has been touched before.
template <class T> void expect_few_faults(const Plan &plan, const Data &data) {
    for (const long code : {pages_of_code(), 0L}) {
        Runner<T> runner(plan, data, nullptr);
        const long before = minor_faults();
        const bool ok = runner.run();
        const long faults = minor_faults() - before;
        EXPECT_TRUE(ok);
        EXPECT_LE(faults, pages_of_memory<T>(plan) + code)
            << plan.kernel() << ": " << text(plan.problem());
    }
}

template <class T>
void expect_quiet(const Plan &plan, const Data &data, const selvage::Parallel *parallel) {
    Runner<T> runner(plan, data, parallel);
    bool all_ok = runner.run();
    const long allocations_before = allocations, faults_before = minor_faults();
    for (int call = 2; call <= sample(100); ++call)
        all_ok = runner.run() && all_ok;
    const long faults = minor_faults() - faults_before;
    const long allocated = allocations - allocations_before;
    EXPECT_TRUE(all_ok);
    // A thread of a pool may touch its stack for the first time in any call.
    if (parallel == nullptr) {
        EXPECT_EQ(faults, 0) << plan.kernel() << ": " << text(plan.problem());
    }
    EXPECT_EQ(allocated, 0) << plan.kernel() << ": " << text(plan.problem());
}

template <class T>
void expect_first_and_later(const Plan &plan, const Data &data, const selvage::Parallel *parallel) {
    if (parallel == nullptr)
        expect_few_faults<T>(plan, data);
    expect_quiet<T>(plan, data, parallel);
}

void expect_quiet(const Problem &problem, const Plan &plan,
                  const selvage::Parallel *parallel = nullptr) {
    const Data data = separable_data(problem, 1);
    switch (problem.type) {
    case selvage::Type::f32: return expect_first_and_later<float>(plan, data, parallel);
    case selvage::Type::u8: return expect_first_and_later<std::uint8_t>(plan, data, parallel);
    case selvage::Type::i8: return expect_first_and_later<std::int8_t>(plan, data, parallel);
    }
}

class Memory : public testing::TestWithParam<const KernelRow *> {};

TEST_P(Memory, CallsNeitherAllocateNorFaultNeedlessly) {
    int accepted = 0;
    for (const Problem &problem : problems_for(GetParam()->op)) {
        Plan plan;
        Options options = {GetParam()->isa, GetParam()->schedule, true};
        options.separable = GetParam()->separable;
        if (!selvage::make_plan(problem, options, &plan).ok())
            continue;
        ++accepted;
        expect_quiet(problem, plan);
    }
    EXPECT_GT(accepted, 0) << "takes no layer of the list";
}

INSTANTIATE_TEST_SUITE_P(, Memory, testing::ValuesIn(every_kernel()), [](const auto &info) {
    const KernelRow &row = *info.param;
    return std::string(row.op) + "_" + row.schedule + "_" + row.isa;
});

// A plan of several parts is as quiet as its kernels.
TEST(MemoryOfPlans, PartsNeitherAllocateNorFault) {
    for (const std::string &layer : layers) {
        const Problem problem = parse(layer);
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(problem, {"", "", true}, &plan).ok());
        expect_quiet(problem, plan);
    }
}

TEST(MemoryOfPlans, SharesNeitherAllocateNorFault) {
    selvage::ThreadPool pool(3);
    for (const std::string &layer : layers) {
        const Problem problem = parse(layer);
        Plan plan;
        ASSERT_TRUE(selvage::make_plan(problem, {"", "", true, 3}, &plan).ok());
        expect_quiet(problem, plan);
        expect_quiet(problem, plan, &pool.parallel());
    }
}

/// Large maps in both layouts, and a late one.
const std::vector<std::string> large_layers = {
    "conv2d c=64 k=64 in=224x224 kernel=3 pads=1",
    "conv2d c=64 k=64 in=224x224 kernel=3 dilation=2 pads=2",
    "conv2d c=3 k=64 in=224x224 kernel=7 stride=2 pads=2,2,3,3",
    "conv2d c=256 k=256 g=32 in=112x112 kernel=3 pads=1",
    "conv2d c=512 k=512 in=7x7 kernel=3 pads=1",
    "depthwise2d c=64 in=224x224 kernel=5 pads=2",
    "max_pool2d c=64 in=224x224 kernel=3 stride=2 pads=1",
    "avg_pool2d c=64 in=224x224 kernel=3 pads=1",
    "filter2d c=3 in=1080x1920 kernel=7 pads=3 border=reflect",
    "filter2d c=3 in=1080x1920 kernel=7 pads=3 border=reflect weights=fixed:12",
};

/// What docs/kernels.md promises, where channels fill blocks of 64 and the last tile may reach 64
/// outputs too far: 1.25 MiB, and the padded rows that one row of outputs reads. Of winograd 4 MiB,
/// and one row of tiles: what it reads, and at most 4 products an output, of inputs and of outputs.
double most_scratch(const Problem &p, const KernelRow &row) {
    constexpr double mebi = 1 << 20;
    const std::int64_t channels = (p.c / p.g + 63) / 64 * 64, outputs = (p.k / p.g + 63) / 64 * 64;
    const std::int64_t rows = p.y.dilation * (p.y.kernel - 1) + 1 + p.y.stride;
    const std::int64_t columns = p.x.begin + p.x.size + p.x.end + 64 * p.x.stride;
    const double read = 4.0 * double(channels * rows * columns);
    if (row.family != selvage::Family::winograd)
        return 1.25 * mebi + read;
    const std::int64_t tiles = row.output_tile * columns * (channels + outputs);
    return 4 * mebi + read * row.output_tile + 4.0 * 4 * double(tiles);
}

TEST(MemoryOfPlans, ScratchIsAStrip) {
    for (const std::string &layer : large_layers)
        for (const char *layout : {" layout=nhwc", " layout=nchw"}) {
            const Problem problem = parse(layer + layout);
            for (const KernelRow *row : kernels_of(kernel_op(problem))) {
                Plan plan;
                Options options = {row->isa, row->schedule, true};
                options.separable = row->separable;
                if (!selvage::make_plan(problem, options, &plan).ok())
                    continue;
                EXPECT_LE(double(plan.scratch_bytes()), most_scratch(problem, *row))
                    << plan.kernel() << ": " << text(problem);
            }
        }
}

TEST(MemoryCount, SeesAllocations) {
    const long before = allocations;
    std::vector<char> memory(100);
    memory[50] = 1;
    EXPECT_GT(allocations, before) << int(memory[50]);
}

} // namespace
