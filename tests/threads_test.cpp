// A plan for several threads is cut into shares that meet without seams: the same bits for any
// number of threads, on any hook, in any order.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/core/views.h"
#include "selvage/layer.h"
#include "selvage/thread_pool.h"

#include "hold.h"
#include "random_problems.h"

using selvage::Code;
using selvage::Op;
using selvage::Options;
using selvage::Parallel;
using selvage::Plan;
using selvage::PlannedPart;
using selvage::Problem;
using selvage::Region;
using selvage::Split;
using selvage::Status;
using selvage::ThreadPool;

namespace {

// Hooks.

using Task = void (*)(void *data, int index);

const Parallel backwards = {[](void *, Task task, void *data, int count) {
                                for (int index = count; index-- > 0;)
                                    task(data, index);
                            },
                            nullptr};

/// A new thread for each task.
const Parallel all_at_once = {[](void *, Task task, void *data, int count) {
                                  std::vector<std::thread> threads;
                                  for (int index = 0; index < count; ++index)
                                      threads.emplace_back(task, data, index);
                                  for (std::thread &each : threads)
                                      each.join();
                              },
                              nullptr};

/// Runs one task and leaves the others out.
Parallel only(int *index) {
    return {[](void *index, Task task, void *data, int count) {
                if (*static_cast<int *>(index) < count)
                    task(data, *static_cast<int *>(index));
            },
            index};
}

// Runs.

/// Data of a problem, with reals where it has floats, so that another order of summation shows.
Data inexact_data(const Problem &problem, std::uint64_t seed) {
    Data data = random_data(problem, seed);
    Random random(seed ^ 0x7ead5);
    const auto reals = [&](std::vector<float> &numbers) {
        for (float &number : numbers)
            number = float(random.between(-16777216, 16777216)) / 16777216;
    };
    if (problem.type == selvage::Type::f32)
        reals(data.input);
    if (problem.shift < 0)
        reals(data.weights);
    reals(data.bias);
    return data;
}

/// What a run left in the caller's memory.
struct Result {
    Status status;
    std::vector<std::byte> values;
    std::vector<std::int64_t> indices;
    std::vector<std::byte> scratch;
};

/// Runs a plan on dense tensors whose outputs and scratch held a pattern before.
template <class T>
Result run(const Plan &plan, const Data &data, const std::byte *packed, const Parallel *parallel,
           std::byte pattern) {
    const Problem &p = plan.problem();
    const Region &in = plan.input_region(), &out = plan.output_region();
    const std::vector<T> input(data.input.begin(), data.input.end());
    const std::size_t outputs = std::size_t(p.n * out.z.size * out.y.size * out.x.size * p.k);
    Result result;
    result.values.assign(outputs * sizeof(T), pattern);
    result.indices.resize(p.indices == selvage::Indices::none ? 0 : outputs);
    const auto view = [&](auto *data, const Region &r, std::int64_t channels) {
        return selvage::dense(data, p.n, r.z.size, r.y.size, r.x.size, channels, p.layout);
    };
    const selvage::Tensor<std::int64_t> indices = view(result.indices.data(), out, p.k);
    const GuardedMemory scratch(plan.scratch_bytes());
    auto *const first = scratch.begin<std::byte>(), *const last = first + plan.scratch_bytes();
    std::fill(first, last, pattern);
    result.status = plan.run(view(input.data(), in, p.c), packed,
                             view(reinterpret_cast<T *>(result.values.data()), out, p.k), first,
                             plan.scratch_bytes(),
                             p.indices == selvage::Indices::none ? nullptr : &indices, parallel);
    result.scratch.assign(first, last);
    return result;
}

Result run(const Plan &plan, const Data &data, const std::byte *packed, const Parallel *parallel,
           std::byte pattern = std::byte(0xff)) {
    switch (plan.problem().type) {
    case selvage::Type::u8: return run<std::uint8_t>(plan, data, packed, parallel, pattern);
    case selvage::Type::i8: return run<std::int8_t>(plan, data, packed, parallel, pattern);
    case selvage::Type::f32: break;
    }
    return run<float>(plan, data, packed, parallel, pattern);
}

void pack(const Plan &plan, const Data &data, std::byte *packed) {
    const Problem &p = plan.problem();
    if (!has_weights(p.op))
        return;
    const std::vector<std::int16_t> whole(data.weights.begin(), data.weights.end());
    const Status status = p.shift < 0 ? plan.pack(data.weights.data(), selvage::WeightOrder::oihw,
                                                  p.bias ? data.bias.data() : nullptr, packed)
                                      : plan.pack(whole.data(), selvage::WeightOrder::oihw, packed);
    ASSERT_TRUE(status.ok()) << status.text();
}

int shares(const Plan &plan) {
    int count = 1;
    for (const PlannedPart &part : plan.parts())
        count = std::max(count, part.share + 1);
    return count;
}

std::string isa(const std::string &kernel) { return kernel.substr(kernel.rfind('/') + 1); }

class Threads : public testing::TestWithParam<Op> {
protected:
    /// Calls visit(problem, seed, repro) for random problems, or for that of SELVAGE_PROBLEM.
    template <class Visit> void for_each_problem(int problems, Visit visit) {
        const std::uint64_t seed = seed_from_environment();
        const char *alone = std::getenv("SELVAGE_PROBLEM");
        std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
        const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
        for (std::uint64_t each = seed; each < seed + (alone ? 1 : sample(problems)); ++each) {
            const Problem problem = alone ? parse(alone) : random_problem(GetParam(), each);
            visit(problem, each,
                  "\n  SELVAGE_SEED=" + std::to_string(each) + " SELVAGE_PROBLEM='" +
                      text(problem) + "' threads_test --gtest_filter=" + test.test_suite_name() +
                      "." + test.name());
            if (HasFatalFailure())
                return;
        }
    }
};

TEST_P(Threads, GiveTheSameBits) {
    const ThreadPool pool(3);
    int cut = 0;
    std::map<Split, int> by;
    for_each_problem(150, [&](const Problem &problem, std::uint64_t seed,
                              const std::string &repro) {
        const Data data = inexact_data(problem, seed);
        Options options;
        options.adjacent_pixels = true;
        options.schedule = "auto";
        Plan one;
        ASSERT_TRUE(make_plan(problem, options, &one).ok()) << repro;
        const GuardedMemory memory(one.packed_bytes());
        auto *const packed = memory.begin<std::byte>();
        pack(one, data, packed);
        const Result expected = run(one, data, packed, nullptr);
        ASSERT_TRUE(expected.status.ok()) << expected.status.text() << repro;
        for (int threads : {2, 3, 5, 8}) {
            options.threads = threads;
            // Each kind of split in turn, where the output has it.
            const Split split = selvage::splits[(seed + threads) % selvage::splits.size()].first;
            options.schedule = std::string("auto split=") + name(split);
            Plan many;
            Status status = make_plan(problem, options, &many);
            if (status.ok()) {
                ++by[split];
            } else {
                EXPECT_EQ(status.code(), Code::invalid_argument) << status.text() << repro;
                options.schedule = "auto";
                status = make_plan(problem, options, &many);
            }
            ASSERT_TRUE(status.ok()) << status.text() << repro;
            ASSERT_EQ(many.packed_bytes(), one.packed_bytes()) << repro;
            EXPECT_LE(shares(many), threads) << repro;
            cut += shares(many) == threads;
            // Others may round in another way. (Each phase of conv_transpose has its own.)
            for (const PlannedPart &part : many.parts()) {
                if (problem.op != Op::conv_transpose) {
                    ASSERT_EQ(isa(part.kernel), isa(one.parts().front().kernel)) << repro;
                }
            }
            for (const Parallel *parallel : {static_cast<const Parallel *>(nullptr), &backwards,
                                             &all_at_once, &pool.parallel()}) {
                const Result found = run(many, data, packed, parallel);
                ASSERT_TRUE(found.status.ok()) << found.status.text() << repro;
                ASSERT_EQ(found.values, expected.values) << threads << " threads" << repro;
                ASSERT_EQ(found.indices, expected.indices) << threads << " threads" << repro;
            }
        }
    });
    const bool alone = std::getenv("SELVAGE_PROBLEM") != nullptr;
    EXPECT_TRUE(alone || cut >= sample(100)) << cut;
    const bool has_channels = GetParam() == Op::conv || GetParam() == Op::conv_transpose;
    for (const auto &[split, name] : selvage::splits)
        EXPECT_TRUE(alone || by[split] >= sample(5) || (split == Split::channels && !has_channels))
            << name << " " << by[split];
}

// Kernels have no thread sanitizer in them, so this tells what each share writes.
TEST_P(Threads, ShareNothing) {
    for_each_problem(60, [&](const Problem &problem, std::uint64_t seed, const std::string &repro) {
        const Data data = random_data(problem, seed);
        Options options;
        options.adjacent_pixels = true;
        options.threads = 4;
        Plan plan;
        ASSERT_TRUE(make_plan(problem, options, &plan).ok()) << repro;
        const GuardedMemory memory(plan.packed_bytes());
        auto *const packed = memory.begin<std::byte>();
        pack(plan, data, packed);
        const Result expected = run(plan, data, packed, nullptr);
        // Outputs and scratch are written where they differ from either of two patterns.
        const auto written = [](const std::vector<std::byte> &a, const std::vector<std::byte> &b) {
            std::vector<bool> result(a.size());
            for (std::size_t i = 0; i < a.size(); ++i)
                result[i] = a[i] != std::byte(0x5a) || b[i] != std::byte(0xa5);
            return result;
        };
        std::vector<int> value_writers(expected.values.size()),
            scratch_writers(plan.scratch_bytes());
        const int count = shares(plan);
        for (int share = 0; count > 1 && share < count; ++share) {
            const Parallel hook = only(&share);
            const Result a = run(plan, data, packed, &hook, std::byte(0x5a)),
                         b = run(plan, data, packed, &hook, std::byte(0xa5));
            ASSERT_EQ(a.status.code(), Code::internal) << repro;
            const std::vector<bool> values = written(a.values, b.values),
                                    scratch = written(a.scratch, b.scratch);
            for (std::size_t i = 0; i < values.size(); ++i) {
                value_writers[i] += values[i];
                if (values[i]) {
                    ASSERT_EQ(a.values[i], expected.values[i]) << repro;
                }
            }
            for (std::size_t i = 0; i < scratch.size(); ++i)
                scratch_writers[i] += scratch[i];
        }
        if (count > 1) {
            ASSERT_EQ(value_writers, std::vector<int>(value_writers.size(), 1)) << repro;
            ASSERT_TRUE(std::all_of(scratch_writers.begin(), scratch_writers.end(),
                                    [](int writers) { return writers <= 1; }))
                << repro;
        }
    });
}

// Guard pages, sentinels, strides and the oracle: of every kernel and of tiles.
TEST_P(Threads, HoldWhatOneHolds) {
    for_each_problem(
        100, [&](const Problem &problem, std::uint64_t seed, const std::string &repro) {
            const Trial trial(problem, random_data(problem, seed), seed);
            std::vector<Options> choices = {{}};
            for (const selvage::KernelRow *row : kernels_of(kernel_op(problem)))
                choices.push_back({row->isa, row->schedule});
            Random random(seed ^ 0x5a1e);
            for (Options options : choices) {
                options.adjacent_pixels = trial.adjacent_pixels();
                options.separable = trial.separable();
                options.threads = random.between(2, 5);
                Plan plan;
                const Status status = make_plan(problem, options, &plan);
                if (status.code() == Code::unsupported && !options.schedule.empty())
                    continue;
                ASSERT_TRUE(status.ok()) << status.text() << repro;
                ASSERT_TRUE(trial.holds(plan));
                const Region whole = plan.output_region();
                if (problem.n == 0 || whole.z.size == 0 || whole.y.size == 0 || whole.x.size == 0)
                    continue;
                const std::int64_t half = whole.y.size / 2;
                ASSERT_TRUE(trial.holds(plan, {whole.z, {half, whole.y.size - half}, whole.x}));
            }
        });
}

INSTANTIATE_TEST_SUITE_P(, Threads,
                         testing::Values(Op::conv, Op::depthwise, Op::conv_transpose, Op::max_pool,
                                         Op::avg_pool, Op::lp_pool, Op::filter, Op::stride_sample,
                                         Op::pad),
                         [](const auto &info) { return name(info.param, 2); });

// How an output is cut.

Plan plan_for(int threads, const char *problem) {
    Options options;
    options.threads = threads;
    Plan plan;
    const Status status = make_plan(parse(problem), options, &plan);
    EXPECT_TRUE(status.ok()) << status.text();
    return plan;
}

/// The outputs of each share, over all images.
std::vector<std::int64_t> sizes(const Plan &plan) {
    std::vector<std::int64_t> result(std::size_t(shares(plan)));
    for (const PlannedPart &part : plan.parts())
        result[std::size_t(part.share)] +=
            part.images.size * part.output.z.size * part.output.y.size * part.output.x.size;
    return result;
}

using Sizes = std::vector<std::int64_t>;

TEST(Shares, AreEqualButForOneLine) {
    EXPECT_EQ(sizes(plan_for(1, "conv2d n=3 c=3 in=10x7 kernel=3 pads=1")), Sizes({210}));
    EXPECT_EQ(sizes(plan_for(2, "conv2d n=4 c=3 in=10x7 kernel=3 pads=1")), Sizes({140, 140}));
    EXPECT_EQ(sizes(plan_for(2, "conv2d n=3 c=3 in=10x7 kernel=3 pads=1")), Sizes({105, 105}));
    EXPECT_EQ(sizes(plan_for(3, "conv2d c=3 in=10x7 kernel=3 pads=1")), Sizes({28, 21, 21}));
    EXPECT_EQ(sizes(plan_for(4, "conv2d n=2 c=3 in=7x5 kernel=3 pads=1")), Sizes({20, 20, 15, 15}));
    // Planes, where there are enough, else rows; of one row the columns.
    EXPECT_EQ(sizes(plan_for(2, "max_pool3d in=8x3x5 kernel=1")), Sizes({60, 60}));
    EXPECT_EQ(sizes(plan_for(2, "max_pool3d in=3x9x5 kernel=1")), Sizes({75, 60}));
    EXPECT_EQ(sizes(plan_for(2, "conv1d in=101 kernel=1")), Sizes({51, 50}));
    EXPECT_EQ(sizes(plan_for(2, "max_pool2d c=8 in=1x101 kernel=1")), Sizes({51, 50}));
    // The phases of a transposed convolution are cut at the same rows.
    EXPECT_EQ(sizes(plan_for(2, "conv_transpose2d in=4x5 kernel=2 stride=2")), Sizes({40, 40}));
}

TEST(Shares, AreNoMoreThanLines) {
    EXPECT_EQ(sizes(plan_for(8, "conv2d c=3 in=3x2 kernel=3 pads=1")), Sizes({2, 2, 2}));
    EXPECT_EQ(sizes(plan_for(1024, "avg_pool2d c=64 in=7x7 adaptive=1")), Sizes({1}));
    EXPECT_EQ(sizes(plan_for(8, "avg_pool2d n=2 c=64 in=7x7 adaptive=1")), Sizes({1, 1}));
    EXPECT_EQ(sizes(plan_for(8, "conv2d c=3 in=2x7 kernel=3")), Sizes({0}));
    EXPECT_EQ(sizes(plan_for(8, "conv2d n=0 c=3 in=7x7 kernel=1")), Sizes({0}));
}

// One image again and again, by a stride of 0: more images than products of 64 bits could count.
TEST(Shares, OfVeryManyImages) {
    const Plan plan = plan_for(3, "max_pool2d n=4611686018427387905 in=5x1 kernel=1");
    std::vector<std::int64_t> images(3);
    for (const PlannedPart &part : plan.parts())
        images[std::size_t(part.share)] += part.images.size;
    EXPECT_EQ(images, Sizes({1537228672809129302, 1537228672809129302, 1537228672809129301}));
}

// Every share has a part for each phase, and every part has tables of its own.
TEST(Shares, OfManyPhasesAreFew) {
    EXPECT_EQ(sizes(plan_for(1024, "conv_transpose1d in=3 kernel=4096 stride=4096")).size(), 16u);
    const Plan plan = plan_for(16, "conv_transpose2d in=4x2 kernel=200 stride=200");
    EXPECT_EQ(plan.parts().size(), 40000u);
    EXPECT_EQ(shares(plan), 1);
}

// The weights are packed for the kernel of the whole output, and shares read the same.
TEST(Shares, TellWhyTheyTakeNoFasterKernel) {
    Options options;
    options.isa = narrowest_isa();
    options.threads = 8;
    Plan plan;
    ASSERT_TRUE(make_plan(parse("conv2d c=3 in=9x9 kernel=3 layout=nchw"), options, &plan).ok());
    EXPECT_GT(shares(plan), 1);
    const std::vector<selvage::Decline> &declined = plan.declined();
    EXPECT_TRUE(std::any_of(declined.begin(), declined.end(), [](const selvage::Decline &each) {
        return each.reason == "packs weights or rounds unlike the rest of the output";
    }));
}

// Nothing is computed of a stride that is never taken.
TEST(Shares, OfOneRowWhoseStrideIsAnyNumber) {
    const char *const problem = "conv_transpose2d in=1x8 kernel=1x2 stride=2";
    const Data data = random_data(parse(problem), 1);
    const Plan plan = plan_for(1, problem);
    const GuardedMemory packed(plan.packed_bytes()), scratch(plan.scratch_bytes());
    pack(plan, data, packed.begin<std::byte>());
    std::vector<float> expected(16), output(16);
    selvage::Tensor<float> view = selvage::dense(expected.data(), 1, 1, 16, 1);
    const auto run = [&] {
        return plan.run(selvage::dense<const float>(data.input.data(), 1, 1, 8, 1),
                        packed.begin<std::byte>(), view, scratch.begin<std::byte>(),
                        plan.scratch_bytes());
    };
    ASSERT_TRUE(run().ok());
    view.data = output.data();
    view.stride_n = view.stride_d = view.stride_h = INT64_MAX;
    ASSERT_TRUE(run().ok());
    EXPECT_EQ(output, expected);
    selvage::View stepped("output", view);
    stepped.step(2, 2, 2);
    EXPECT_EQ(stepped.stride_d, INT64_MAX);
    EXPECT_EQ(stepped.stride_h, INT64_MAX);
    EXPECT_EQ(stepped.stride_w, 2);
}

TEST(Shares, OfTilesAreForAsManyThreads) {
    const Plan plan = plan_for(3, "conv2d c=3 in=40x7 kernel=3 pads=1");
    Plan tile;
    ASSERT_TRUE(plan.tile({{}, {5, 30}, {1, 4}}, &tile).ok());
    EXPECT_EQ(sizes(tile), Sizes({40, 40, 40}));
    ASSERT_TRUE(tile.tile({{}, {5, 2}, {2, 2}}, &tile).ok());
    EXPECT_EQ(sizes(tile), Sizes({2, 2}));
}

TEST(Shares, HaveScratchOfTheirOwn) {
    const char *const problem = "conv2d n=2 c=16 k=32 in=16x16 kernel=3 pads=1";
    const std::size_t one = plan_for(1, problem).scratch_bytes(),
                      two = plan_for(2, problem).scratch_bytes();
    EXPECT_GT(one, 0u);
    EXPECT_EQ(two, 2 * one); // an image for each
}

// Errors.

TEST(RejectedThreads, NumbersOutOfRange) {
    for (int threads : {0, -1, selvage::most_threads + 1}) {
        Options options;
        options.threads = threads;
        Plan plan;
        const Status status = make_plan(parse("conv2d in=4x4 kernel=3"), options, &plan);
        EXPECT_EQ(status.code(), Code::invalid_argument);
        EXPECT_NE(status.text().find("threads " + std::to_string(threads)), std::string::npos)
            << status.text();
    }
}

TEST(RejectedThreads, HooksThatCannotBeOrDoNotDo) {
    for (int threads : {1, 2}) {
        selvage::Layer layer;
        Options options;
        options.threads = threads;
        ASSERT_TRUE(make_layer(parse("max_pool1d in=400 kernel=1"), options, nullptr,
                               selvage::WeightOrder::oihw, nullptr, &layer)
                        .ok());
        const std::vector<float> x(400, 1);
        std::vector<float> y = repeat(400, -5);
        const Parallel null = {nullptr, nullptr};
        const Status status = layer.run(x.data(), y.data(), nullptr, &null);
        EXPECT_EQ(status.code(), Code::invalid_argument);
        EXPECT_NE(status.text().find("parallel"), std::string::npos) << status.text();
        EXPECT_EQ(y, repeat(400, -5));

        const Parallel idle = {[](void *, Task, void *, int) {}, nullptr};
        if (threads == 1) {
            EXPECT_TRUE(layer.run(x.data(), y.data(), nullptr, &idle).ok()); // nothing to share
            continue;
        }
        const Parallel first_twice = {[](void *, Task task, void *data, int count) {
                                          for (int i = 0; i < count; ++i)
                                              task(data, 0);
                                      },
                                      nullptr};
        const Parallel from_one = {[](void *, Task task, void *data, int count) {
                                       for (int i = 1; i <= count; ++i)
                                           task(data, i);
                                   },
                                   nullptr};
        const Parallel too_many = {[](void *, Task task, void *data, int count) {
                                       for (int i = -1; i <= count; ++i)
                                           task(data, i);
                                   },
                                   nullptr};
        for (const auto &[hook, count] :
             {std::pair{&idle, "0 of 2"}, {&first_twice, "1 of 2"}, {&from_one, "1 of 2"}}) {
            const Status left_out = layer.run(x.data(), y.data(), nullptr, hook);
            EXPECT_EQ(left_out.code(), Code::internal);
            EXPECT_NE(left_out.text().find(count), std::string::npos) << left_out.text();
        }
        EXPECT_TRUE(layer.run(x.data(), y.data(), nullptr, &too_many).ok());
        EXPECT_EQ(y, x);
    }
}

TEST(RejectedThreads, ScratchOfFewerThreads) {
    const char *const problem = "conv2d n=2 c=16 k=16 in=16x16 kernel=3 pads=1";
    const Data data = random_data(parse(problem), 1);
    const Plan plan = plan_for(2, problem);
    const GuardedMemory packed(plan.packed_bytes()), scratch(plan.scratch_bytes());
    pack(plan, data, packed.begin<std::byte>());
    std::vector<float> output(2 * 16 * 16 * 16, -5);
    const Status status =
        plan.run(selvage::dense<const float>(data.input.data(), 2, 16, 16, 16),
                 packed.begin<std::byte>(), selvage::dense(output.data(), 2, 16, 16, 16),
                 scratch.begin<std::byte>(), plan.scratch_bytes() / 2);
    EXPECT_EQ(status.code(), Code::too_small);
    EXPECT_EQ(output, repeat(int(output.size()), -5));
}

// The pool.

/// Counts how often each task was called.
struct Calls {
    explicit Calls(int count) : of_task(std::size_t(count)) {}
    static void task(void *data, int index) {
        ++static_cast<Calls *>(data)->of_task[std::size_t(index)];
    }
    bool each(int times) const {
        return std::all_of(of_task.begin(), of_task.end(),
                           [&](const std::atomic<int> &calls) { return calls == times; });
    }
    std::vector<std::atomic<int>> of_task;
};

TEST(Pool, CallsEachTaskOnce) {
    for (int threads : {-3, 0, 1, 2, 4, 9}) {
        ThreadPool pool(threads);
        EXPECT_EQ(pool.threads(), std::max(threads, 1));
        for (int count : {0, 1, 2, 3, 8, 100}) {
            Calls calls(count);
            for (int run = 1; run <= 20; ++run) {
                pool.run(Calls::task, &calls, count);
                ASSERT_TRUE(calls.each(run)) << threads << " threads, " << count << " tasks";
            }
        }
    }
}

TEST(Pool, OfMoreThreadsThanAnyPlanHas) {
    const ThreadPool pool(selvage::most_threads + 20);
    EXPECT_LE(pool.threads(), selvage::most_threads);
}

// Workers fall asleep in between, at any moment around the next run.
TEST(Pool, RunsAfterPauses) {
    ThreadPool pool(3);
    Calls calls(5);
    for (int run = 1; run <= 200; ++run) {
        std::this_thread::sleep_for(std::chrono::microseconds(run));
        pool.run(Calls::task, &calls, 5);
        ASSERT_TRUE(calls.each(run));
    }
}

TEST(Pool, TasksRunAtTheSameTime) {
    ThreadPool pool(3);
    // Each waits for all three.
    std::atomic<int> arrived{0};
    pool.run(
        [](void *data, int) {
            auto &arrived = *static_cast<std::atomic<int> *>(data);
            ++arrived;
            while (arrived < 3)
                std::this_thread::yield();
        },
        &arrived, 3);
    EXPECT_EQ(arrived, 3);
}

TEST(Pool, RunsWithinTasks) {
    ThreadPool pool(3);
    struct Nested {
        const Parallel *parallel;
        Calls calls{4};
    } nested = {&pool.parallel()};
    pool.run(
        [](void *data, int) {
            auto &nested = *static_cast<Nested *>(data);
            nested.parallel->run(nested.parallel->context, Calls::task, &nested.calls, 4);
        },
        &nested, 6);
    EXPECT_TRUE(nested.calls.each(6));
}

TEST(Pool, RunsOfManyThreads) {
    ThreadPool pool(3);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            Calls calls(7);
            for (int run = 1; run <= 500; ++run) {
                pool.run(Calls::task, &calls, 7);
                wrong += !calls.each(run);
            }
        });
    for (std::thread &each : threads)
        each.join();
    EXPECT_EQ(wrong, 0);
}

// What a run wrote is visible after it, without help of the tasks.
TEST(Pool, WritesAreVisible) {
    ThreadPool pool(4);
    std::vector<int> numbers(64);
    for (int run = 1; run <= 500; ++run) {
        pool.run([](void *data, int index) { ++(*static_cast<std::vector<int> *>(data))[index]; },
                 &numbers, 64);
        ASSERT_EQ(numbers, std::vector<int>(64, run));
    }
}

// One plan, one pool, two threads that run it at the same time.
TEST(Pool, SharedByRunsOfOnePlan) {
    const char *const problem = "conv2d n=2 c=8 k=16 in=20x20 kernel=3 pads=1,2,3,4";
    const Data data = inexact_data(parse(problem), 1);
    const Plan plan = plan_for(3, problem);
    const GuardedMemory packed(plan.packed_bytes());
    pack(plan, data, packed.begin<std::byte>());
    const Result expected = run(plan, data, packed.begin<std::byte>(), nullptr);
    ThreadPool pool(3);
    std::atomic<int> wrong{0};
    const auto many_runs = [&] {
        for (int i = 0; i < 50; ++i)
            wrong += run(plan, data, packed.begin<std::byte>(), &pool.parallel()).values !=
                     expected.values;
    };
    std::thread other(many_runs);
    many_runs();
    other.join();
    EXPECT_EQ(wrong, 0);
}

} // namespace
