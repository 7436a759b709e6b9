#include "hold.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "selvage/core/cpu.h"

#include "random_problems.h"
#include "tested_device.h"

using selvage::Code;
using selvage::KernelRow;
using selvage::Layout;
using selvage::Op;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;

namespace {

/// Random problems go on until the tuned kernels of an instruction set took this many,
constexpr int problems_taken = 600;
/// each single kernel this many,
constexpr int runs_of_kernel = 10;
/// or there were so many that random_problem() must be missing a kernel.
constexpr int most_problems = 8000;

/// Holds the trial against the plan that follows from the options; false where they leave no kernel
/// that can compute the problem. `kernel` is what must run, if that is known.
bool hold(const Trial &trial, const Problem &problem, Options options, const std::string &kernel) {
    trial.announce(kernel.empty() ? "make_plan" : kernel);
    options.adjacent_pixels = trial.adjacent_pixels();
    options.separable = trial.separable();
    options.device = tested_device();
    Plan plan;
    const Status status = selvage::make_plan(problem, options, &plan);
    if (status.code() == Code::unsupported)
        return false;
    if (!status.ok()) {
        ADD_FAILURE() << text(problem) << ": " << status.text();
        return false;
    }
    if (!kernel.empty() && plan.kernel() != "none") {
        EXPECT_EQ(plan.kernel(), kernel) << text(problem);
        for (const selvage::PlannedPart &part : plan.parts())
            EXPECT_EQ(part.kernel, kernel) << text(problem);
    }
    EXPECT_TRUE(trial.holds(plan));
    return true;
}

/// Some kernel must take every problem.
void hold_chosen(const Trial &trial, const Problem &problem, const std::string &isa) {
    EXPECT_TRUE(hold(trial, problem, {isa, ""}, ""))
        << "no kernel" << (isa.empty() ? "" : " of ") << isa << " for " << text(problem);
}

/// Holds the data in both layouts and the strides of two seeds against every kernel.
void hold_everywhere(Problem problem, const Data &data) {
    for (Layout layout : {Layout::nhwc, Layout::nchw})
        for (std::uint64_t seed : {1, 2}) {
            problem.layout = layout;
            const Trial trial(problem, data, seed);
            hold_chosen(trial, problem, "");
            for (const KernelRow *row : kernels_of(kernel_op(problem))) {
                hold(trial, problem, {row->isa, row->schedule}, name(*row));
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

std::vector<const KernelRow *> kernels_of(const std::string &op) {
    const std::vector<std::string> isas = tested_isas();
    std::vector<const KernelRow *> rows;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const KernelRow &row = selvage::kernel_rows()[i];
        if (row.op == op && std::find(isas.begin(), isas.end(), row.isa) != isas.end())
            rows.push_back(&row);
    }
    return rows;
}

const char *narrowest_isa() { return selvage::isas[0]; }

const char *schedule_of(const std::string &op, const std::string &begin, const std::string &end) {
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const KernelRow &row = selvage::kernel_rows()[i];
        const std::string schedule = row.schedule;
        if (row.op == op && std::string(row.isa) == narrowest_isa() &&
            schedule.rfind(begin, 0) == 0 && schedule.size() >= end.size() &&
            schedule.compare(schedule.size() - end.size(), end.size(), end) == 0)
            return row.schedule;
    }
    ADD_FAILURE() << "no schedule " << begin << "..." << end << " of " << op << " for "
                  << narrowest_isa();
    return "";
}

std::uint64_t seed_from_environment() {
    const char *seed = std::getenv("SELVAGE_SEED");
    return seed ? std::strtoull(seed, nullptr, 10) : 20240229;
}

int sample(int usual) {
    const char *percent = std::getenv("SELVAGE_SAMPLE");
    return percent ? std::max(1, usual * std::atoi(percent) / 100) : usual;
}

void hold_random_problems(Op op, const std::string &isa) {
    const std::uint64_t seed = seed_from_environment();
    const char *alone = std::getenv("SELVAGE_PROBLEM");
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));

    std::map<const KernelRow *, int> runs;
    int problems = 0, taken = 0;
    const auto enough = [&] {
        return taken >= sample(problems_taken) &&
               std::all_of(runs.begin(), runs.end(),
                           [](const auto &each) { return each.second >= sample(runs_of_kernel); });
    };
    while (alone ? problems < 1 : !enough() && problems < most_problems) {
        const std::uint64_t each = seed + problems++;
        const Problem problem = alone ? parse(alone) : random_problem(op, each);
        ASSERT_EQ(problem.op, op);
        const Trial trial(problem, random_data(problem, each), each);
        hold_chosen(trial, problem, isa);
        // What a layout borrows from another operator (depthwise, in planes, from conv) is demanded
        // by the test of that.
        Problem in_pixels = problem;
        in_pixels.layout = Layout::nhwc;
        const std::string own_op = kernel_op(in_pixels);
        bool tuned = false;
        for (const KernelRow *row : kernels_of(kernel_op(problem))) {
            if (row->isa != isa)
                continue;
            const bool ran = hold(trial, problem, {row->isa, row->schedule}, name(*row));
            tuned = tuned || (ran && row->family != selvage::Family::reference);
            // Phases of transposed convolutions have stride 1, and winograd kernels take none.
            const bool never = op == Op::conv_transpose &&
                               (row->stride > 1 || row->family == selvage::Family::winograd);
            if (row->op == own_op && !never)
                runs[row] += ran;
        }
        taken += tuned;
        if (testing::Test::HasFailure())
            return;
    }

    std::printf("%5d problems, of which the tuned kernels of %s took %d\n", problems, isa.c_str(),
                taken);
    for (const auto &[row, count] : runs)
        std::printf("%5d %s\n", count, name(*row).c_str());
    EXPECT_TRUE(alone || enough()) << "too few problems for some kernel";
}

void hold_values(const std::string &text, const Data &data, const std::vector<float> &expected) {
    const Problem problem = parse(text);
    const std::vector<float> found = expected_output(problem, data).values;
    EXPECT_TRUE(
        std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same_number))
        << "the oracle says " << testing::PrintToString(found) << " instead of "
        << testing::PrintToString(expected);
    hold_everywhere(problem, data);
}

void hold_indices(const std::string &text, const Data &data, const std::vector<float> &expected,
                  const std::vector<std::int64_t> &indices) {
    EXPECT_EQ(expected_output(parse(text), data).indices, indices);
    hold_values(text, data, expected);
}

void hold_problem(const std::string &text) {
    const Problem problem = parse(text);
    hold_everywhere(problem, random_data(problem, 1));
}

void hold_separable(const std::string &text) {
    const Problem problem = parse(text);
    const Data data = separable_data(problem, 1);
    EXPECT_TRUE(data.separable) << text;
    hold_everywhere(problem, data);
}

void hold_outputs(const std::string &text, std::vector<std::int64_t> outputs) {
    Plan plan;
    const Status status = selvage::make_plan(parse(text), {}, &plan);
    ASSERT_TRUE(status.ok()) << status.text();
    outputs.insert(outputs.begin(), 3 - outputs.size(), 1);
    const selvage::Region &region = plan.output_region();
    EXPECT_EQ((std::vector<std::int64_t>{region.z.size, region.y.size, region.x.size}), outputs)
        << text;
    hold_problem(text);
}

std::vector<float> count_up(int first, int last) {
    std::vector<float> numbers(last - first + 1);
    std::iota(numbers.begin(), numbers.end(), float(first));
    return numbers;
}

std::vector<float> repeat(int times, float number) { return std::vector<float>(times, number); }

std::vector<float> in_each_channel(int times, const std::vector<float> &plane) {
    std::vector<float> result;
    for (float value : plane)
        result.insert(result.end(), times, value);
    return result;
}
