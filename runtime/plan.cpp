#include "selvage/plan.h"

#include <cstdlib>

#include "choose.h"
#include "cpu.h"
#include "selvage/kernels.h"

namespace selvage {

namespace {

/// The caller's wish, else the environment's, else none.
std::string wish(const std::string &option, const char *variable) {
    if (!option.empty())
        return option;
    const char *value = std::getenv(variable);
    return value != nullptr ? value : "";
}

bool known(const std::string &value, const char *const KernelRow::*column) {
    for (std::size_t i = 0; i < kernel_row_count(); ++i)
        if (value == kernel_rows()[i].*column)
            return true;
    return false;
}

/// Why the row is no candidate at all, or empty.
std::string unwanted(const KernelRow &row, const std::string &isa, const std::string &schedule) {
    if (!isa.empty() && isa != row.isa)
        return "isa " + isa + " was asked for";
    if (!schedule.empty() && schedule != row.schedule)
        return "schedule " + schedule + " was asked for";
    if (!cpu_runs(row.isa))
        return std::string("this CPU lacks ") + row.isa;
    return {};
}

/// Window::counted() of every output, each `repeats` times.
std::vector<float> counted(const Window &w, bool include_pad, std::int64_t repeats) {
    std::vector<float> counts;
    counts.reserve(static_cast<std::size_t>(w.outputs * repeats));
    for (std::int64_t i = 0; i < w.outputs; ++i)
        counts.insert(counts.end(), std::size_t(repeats), float(w.counted(i, include_pad)));
    return counts;
}

constexpr std::size_t floats_per_line = alignment / sizeof(float);

} // namespace

Status make_plan(const Problem &problem, const Options &options, Plan *plan) {
    if (plan == nullptr)
        return {Code::invalid_argument, "make_plan: plan is null"};
    if (Status status = check(problem); !status.ok())
        return status;
    Plan made;
    made.problem_ = problem;
    made.adjacent_pixels_ = options.adjacent_pixels;
    made.window_y_ = window(problem.y, problem.ceil).window;
    made.window_x_ = window(problem.x, problem.ceil).window;
    const Window &y = made.window_y_, &x = made.window_x_;
    const std::string isa = wish(options.isa, "SELVAGE_ISA");
    const std::string schedule = wish(options.schedule, "SELVAGE_SCHEDULE");
    if (!isa.empty() && !known(isa, &KernelRow::isa))
        return {Code::invalid_argument, "unknown isa " + isa + "; known: sse41, avx2, avx512"};
    if (!isa.empty() && !cpu_runs(isa))
        return {Code::unsupported, "isa " + isa + " was asked for, which this CPU lacks"};
    if (!schedule.empty() && !known(schedule, &KernelRow::schedule))
        return {Code::invalid_argument,
                "unknown schedule " + schedule + "; cmake/Kernels.cmake lists them"};

    double best = 0;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.op != problem.op)
            continue;
        std::string reason = unwanted(row, isa, schedule);
        if (reason.empty())
            reason = decline(row, problem, options.adjacent_pixels, y, x);
        if (!reason.empty()) {
            made.declined_.push_back({name(row), reason});
            continue;
        }
        const double estimate = cost(row, problem, y, x);
        if (made.row_ != nullptr && estimate >= best) {
            made.declined_.push_back({name(row), "is estimated to be slower"});
            continue;
        }
        if (made.row_ != nullptr)
            made.declined_.push_back({name(*made.row_), "is estimated to be slower"});
        made.row_ = &row;
        best = estimate;
    }
    if (made.row_ == nullptr) {
        std::string reasons;
        for (const Decline &each : made.declined_)
            reasons += "; " + each.kernel + " " + each.reason;
        return {Code::unsupported, "no kernel for " + text(problem) + reasons};
    }

    const KernelRow &row = *made.row_;
    made.kernel_ = name(row);
    made.scratch_bytes_ = scratch_bytes(row, problem, y, x);
    if (!is_pool(problem.op)) {
        const std::int64_t inputs = problem.op == Op::conv2d ? problem.c / problem.g : 1;
        const std::int64_t outputs = packed_outputs(row, problem);
        const std::int64_t weights =
            outputs * round_up(inputs, row.channel_block) * problem.y.kernel * problem.x.kernel;
        // Kernels address bytes with 32 bits; `check` has seen the weights without the rounding.
        if (weights > largest / std::int64_t(sizeof(float)))
            return {Code::overflow, made.kernel_ + " packs the weights of " + text(problem) +
                                        " into " + std::to_string(weights) +
                                        " elements, more than " + std::to_string(largest) +
                                        " bytes"};
        made.bias_offset_ = std::size_t(round_up(weights, floats_per_line));
        made.packed_bytes_ = (made.bias_offset_ + std::size_t(outputs)) * sizeof(float);
    }
    if (problem.op == Op::avg_pool2d) {
        made.counted_y_ = counted(y, problem.include_pad, 1);
        made.counted_x_ =
            counted(x, problem.include_pad, row.family == Family::flat ? problem.c : 1);
    }
    *plan = std::move(made);
    return {};
}

} // namespace selvage
