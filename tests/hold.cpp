#include "hold.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "selvage/kernels.h"

#include "random_problems.h"

using selvage::Code;
using selvage::Op;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;

namespace {

/// Random problems go on until the tuned kernels of an instruction set took this many,
constexpr int problems_taken = 1000;
/// each single kernel this many,
constexpr int runs_of_kernel = 10;
/// or there were so many that random_problem() must be missing a kernel.
constexpr int most_problems = 8000;

std::uint64_t seed_from_environment() {
    const char *seed = std::getenv("SELVAGE_SEED");
    return seed ? std::strtoull(seed, nullptr, 10) : 20240229;
}

/// Holds the trial against one kernel; false where the kernel declines the problem.
bool hold(const Trial &trial, const Problem &problem, const Options &kernel) {
    const std::string kernel_name =
        std::string(name(problem.op)) + "/" + kernel.schedule + "/" + kernel.isa;
    trial.announce(kernel_name);
    Options options = kernel;
    options.adjacent_pixels = trial.adjacent_pixels();
    Plan plan;
    const Status status = selvage::make_plan(problem, options, &plan);
    if (status.code() == Code::unsupported)
        return false;
    if (!status.ok()) {
        ADD_FAILURE() << text(problem) << ": " << status.text();
        return false;
    }
    EXPECT_EQ(plan.kernel(), kernel_name);
    EXPECT_TRUE(trial.holds(plan));
    return true;
}

/// Some kernel must take every problem, whatever the instruction sets.
void expect_served(const Trial &trial, const Problem &problem) {
    trial.announce("make_plan");
    Plan plan;
    const Status status = selvage::make_plan(problem, {}, &plan);
    EXPECT_TRUE(status.ok()) << text(problem) << ": " << status.text();
}

/// Holds the data in the layouts of three seeds against every kernel.
void hold_everywhere(const Problem &problem, const Data &data) {
    for (std::uint64_t seed : {1, 2, 3}) {
        const Trial trial(problem, data, seed);
        expect_served(trial, problem);
        for (const Options &kernel : kernels_of(problem.op)) {
            hold(trial, problem, kernel);
            if (testing::Test::HasFailure())
                return; // one repro line is enough
        }
    }
}

} // namespace

Problem parse(const std::string &text) {
    Problem problem;
    const Status status = selvage::parse_problem(text, &problem);
    if (!status.ok())
        ADD_FAILURE() << text << ": " << status.text();
    return problem;
}

std::vector<Options> kernels_of(Op op) {
    const std::vector<std::string> isas = selvage::available_isas();
    const std::set<std::string> available(isas.begin(), isas.end());
    std::vector<Options> kernels;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const selvage::KernelRow &row = selvage::kernel_rows()[i];
        if (row.op == op && available.count(row.isa))
            kernels.push_back({row.isa, row.schedule});
    }
    return kernels;
}

void hold_random_problems(Op op, const std::string &isa) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));

    std::vector<Options> kernels;
    for (const Options &kernel : kernels_of(op))
        if (kernel.isa == isa || kernel.schedule == "reference")
            kernels.push_back(kernel);
    std::vector<int> runs(kernels.size());
    int problems = 0, taken = 0;
    const auto enough = [&] {
        return taken >= problems_taken &&
               *std::min_element(runs.begin(), runs.end()) >= runs_of_kernel;
    };
    while (alone ? problems < 1 : !enough() && problems < most_problems) {
        const std::uint64_t each = seed + problems++;
        const Problem problem = alone ? parse(alone) : random_problem(op, each);
        ASSERT_EQ(problem.op, op);
        const Trial trial(problem, random_data(problem, each), each);
        expect_served(trial, problem);
        bool tuned = false;
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (hold(trial, problem, kernels[i])) {
                ++runs[i];
                tuned = tuned || kernels[i].schedule != "reference";
            }
        taken += tuned;
        if (testing::Test::HasFailure())
            return;
    }

    std::printf("%5d problems, of which the tuned kernels of %s took %d\n", problems, isa.c_str(),
                taken);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        std::printf("%5d %s/%s\n", runs[i], kernels[i].schedule.c_str(), kernels[i].isa.c_str());
    EXPECT_TRUE(alone || enough()) << "too few problems for some kernel";
}

void hold_values(const char *text, const Data &data, const std::vector<float> &expected) {
    const Problem problem = parse(text);
    const std::vector<float> found = expected_output(problem, data);
    EXPECT_TRUE(
        std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same_number))
        << "the oracle says " << testing::PrintToString(found) << " instead of "
        << testing::PrintToString(expected);
    hold_everywhere(problem, data);
}

void hold_problem(const std::string &text) {
    const Problem problem = parse(text);
    hold_everywhere(problem, random_data(problem, 1));
}

std::vector<float> count_up(int first, int last) {
    std::vector<float> numbers(last - first + 1);
    std::iota(numbers.begin(), numbers.end(), float(first));
    return numbers;
}
