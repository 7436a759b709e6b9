// Calls 2 to 100 of every kernel neither allocate nor touch a page for the first time.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "selvage/plan.h"

#include "hold.h"

using selvage::Op;
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

long minor_faults() {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/// Problems of which every kernel takes at least one.
std::vector<std::string> layers(Op op) {
    switch (op) {
    case Op::conv2d:
        return {
            "conv2d c=64 k=64 in=14x14 kernel=3 pads=1 bias=1 act=relu",
            "conv2d c=64 k=64 in=2x420 kernel=1 bias=1", // 420 columns: whole tiles of all widths
            "conv2d c=3 k=32 in=29x29 kernel=3 stride=2 pads=0,0,1,1",
            "conv2d c=5 k=7 in=9x11 kernel=2x5 stride=3x1 pads=1,2,3,4"};
    case Op::depthwise2d:
        return {"depthwise2d c=72 in=28x28 kernel=3 pads=1 bias=1 act=relu6",
                "depthwise2d c=72 in=28x28 kernel=3 stride=2 pads=0,0,1,1",
                "depthwise2d c=72 in=14x14 kernel=5 pads=2",
                "depthwise2d c=72 in=14x14 kernel=5 stride=2 pads=2",
                "depthwise2d c=72 in=14x14 kernel=3",
                "depthwise2d c=72 in=15x15 kernel=3 stride=2",
                "depthwise2d c=72 in=14x14 kernel=5",
                "depthwise2d c=72 in=19x19 kernel=5 stride=2"};
    case Op::max_pool2d:
    case Op::avg_pool2d: {
        const std::string pool = name(op) + std::string(" c=72 in=28x28 ");
        return {pool + "kernel=2 pads=0,0,1,1",    pool + "kernel=2",
                pool + "kernel=2 stride=2 pads=1", pool + "kernel=2 stride=2",
                pool + "kernel=3 pads=1",          pool + "kernel=3",
                pool + "kernel=3 stride=2 pads=1", pool + "kernel=3 stride=2"};
    }
    }
    return {};
}

struct Kernel {
    Op op;
    Options options;
};

void PrintTo(const Kernel &kernel, std::ostream *out) {
    *out << name(kernel.op) << "/" << kernel.options.schedule << "/" << kernel.options.isa;
}

std::vector<Kernel> every_kernel() {
    std::vector<Kernel> kernels;
    for (Op op : {Op::conv2d, Op::depthwise2d, Op::max_pool2d, Op::avg_pool2d})
        for (const Options &options : kernels_of(op))
            kernels.push_back({op, options});
    return kernels;
}

class Memory : public testing::TestWithParam<Kernel> {};

TEST_P(Memory, LaterCallsNeitherAllocateNorFault) {
    int accepted = 0;
    for (const std::string &layer : layers(GetParam().op)) {
        const Problem problem = parse(layer);
        Options options = GetParam().options;
        options.adjacent_pixels = true;
        Plan plan;
        if (!selvage::make_plan(problem, options, &plan).ok())
            continue;
        ++accepted;

        const Data data = random_data(problem, 1);
        std::vector<float> output(expected_output(problem, data).size());
        const GuardedMemory packed(plan.packed_bytes()), scratch(plan.scratch_bytes());
        const bool weighted = !is_pool(problem.op);
        std::byte *packed_weights = weighted ? packed.begin<std::byte>() : nullptr;
        ASSERT_TRUE(!weighted ||
                    plan.pack(data.weights.data(), selvage::WeightOrder::oihw,
                              problem.bias ? data.bias.data() : nullptr, packed_weights)
                        .ok());
        const auto run = [&] {
            return plan
                .run(selvage::dense(data.input.data(), problem.n, problem.y.size, problem.x.size,
                                    problem.c),
                     packed_weights,
                     selvage::dense(output.data(), problem.n, plan.window_y().outputs,
                                    plan.window_x().outputs, problem.k),
                     scratch.begin<std::byte>(), plan.scratch_bytes())
                .ok();
        };

        bool all_ok = run();
        const long allocations_before = allocations, faults_before = minor_faults();
        for (int call = 2; call <= 100; ++call)
            all_ok = run() && all_ok;
        const long faults = minor_faults() - faults_before;
        const long allocated = allocations - allocations_before;
        EXPECT_TRUE(all_ok);
        EXPECT_EQ(faults, 0) << plan.kernel() << ": " << layer;
        EXPECT_EQ(allocated, 0) << plan.kernel() << ": " << layer;
    }
    EXPECT_GT(accepted, 0) << "takes no layer of the list";
}

INSTANTIATE_TEST_SUITE_P(, Memory, testing::ValuesIn(every_kernel()), [](const auto &info) {
    return std::string(name(info.param.op)) + "_" + info.param.options.schedule + "_" +
           info.param.options.isa;
});

TEST(MemoryCount, SeesAllocations) {
    const long before = allocations;
    std::vector<char> memory(100);
    memory[50] = 1;
    EXPECT_GT(allocations, before) << int(memory[50]);
}

} // namespace
