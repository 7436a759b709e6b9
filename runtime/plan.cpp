#include "selvage/plan.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "choose.h"
#include "cpu.h"
#include "scratch.h"
#include "selvage/kernels.h"

namespace selvage {

namespace {

/// What kernels are asked to be, by whom.
struct Wish {
    std::string value; ///< empty: anything
    std::string source;
};

/// The caller's wish, else the environment's, else none.
Wish wish(const std::string &option, const char *option_name, const char *variable) {
    if (!option.empty())
        return {option, option_name};
    const char *value = std::getenv(variable);
    return {value != nullptr ? value : "", variable};
}

/// The distinct values of a column among the rows of an operator.
std::vector<std::string> known(Op op, const char *const KernelRow::*column) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.op == op && std::find(values.begin(), values.end(), row.*column) == values.end())
            values.emplace_back(row.*column);
    }
    return values;
}

/// Whether some row has the value that is wished for; the text of a failure lists the others.
Status check_wish(const Wish &wish, Op op, const char *const KernelRow::*column) {
    const std::vector<std::string> values = known(op, column);
    if (wish.value.empty() || std::find(values.begin(), values.end(), wish.value) != values.end())
        return {};
    std::string text = wish.source + "=" + wish.value + ": " + name(op) + " has ";
    for (const std::string &value : values)
        text += (&value == &values.front() ? "" : ", ") + value;
    return {Code::invalid_argument, text};
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

/// The rows of an operator that a wish leaves, with the reason of each that cannot take the
/// problem.
struct Candidate {
    const KernelRow *row;
    std::string reason; ///< empty: it can
};

std::vector<Candidate> candidates(const Problem &problem, bool adjacent_pixels, const Window &y,
                                  const Window &x, const std::string &isa,
                                  const std::string &schedule) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.op != problem.op || (!isa.empty() && isa != row.isa) ||
            (!schedule.empty() && schedule != row.schedule))
            continue;
        found.push_back({&row, cpu_runs(row.isa) ? decline(row, problem, adjacent_pixels, y, x)
                                                 : std::string("this CPU lacks ") + row.isa});
    }
    return found;
}

const KernelRow *cheapest(const std::vector<Candidate> &candidates, const Problem &problem,
                          const Window &y, const Window &x) {
    const KernelRow *best = nullptr;
    double best_cost = 0;
    for (const Candidate &each : candidates) {
        if (!each.reason.empty())
            continue;
        const double estimate = cost(*each.row, problem, y, x);
        if (best == nullptr || estimate < best_cost) {
            best = each.row;
            best_cost = estimate;
        }
    }
    return best;
}

} // namespace

Status make_plan(const Problem &problem, const Options &options, Plan *plan) try {
    if (plan == nullptr)
        return {Code::invalid_argument, "make_plan: plan is null"};
    if (Status status = check(problem); !status.ok())
        return status;
    const Wish isa = wish(options.isa, "isa", "SELVAGE_ISA");
    const Wish schedule = wish(options.schedule, "schedule", "SELVAGE_SCHEDULE");
    if (Status status = check_wish(isa, problem.op, &KernelRow::isa); !status.ok())
        return status;
    if (Status status = check_wish(schedule, problem.op, &KernelRow::schedule); !status.ok())
        return status;
    if (!isa.value.empty() && !cpu_runs(isa.value))
        return {Code::unsupported, isa.source + "=" + isa.value + ": this CPU lacks it"};

    Plan made;
    made.problem_ = problem;
    made.adjacent_pixels_ = options.adjacent_pixels;
    made.window_y_ = window(problem.y, problem.ceil).window;
    made.window_x_ = window(problem.x, problem.ceil).window;
    const Window &y = made.window_y_, &x = made.window_x_;
    const std::vector<Candidate> rows =
        candidates(problem, options.adjacent_pixels, y, x, isa.value, schedule.value);
    made.row_ = cheapest(rows, problem, y, x);
    if (made.row_ == nullptr) {
        std::string reasons;
        for (const Candidate &each : rows)
            reasons += "; " + name(*each.row) + " " + each.reason;
        return {Code::unsupported, "no kernel for " + text(problem) + reasons};
    }
    for (const Candidate &each : rows)
        if (each.row != made.row_)
            made.declined_.push_back(
                {name(*each.row), each.reason.empty() ? "is estimated to be slower" : each.reason});

    const KernelRow &row = *made.row_;
    made.kernel_ = name(row);
    made.scratch_bytes_ = scratch_bytes(row, problem, y, x);
    if (!is_pool(problem.op)) {
        made.bias_offset_ =
            std::size_t(round_up(std::int64_t(packed_weights(row, problem)), floats_per_line));
        made.packed_bytes_ = scratch_round(
            (made.bias_offset_ + std::size_t(packed_outputs(row, problem))) * sizeof(float));
    }
    if (problem.op == Op::avg_pool2d && problem.n > 0 && y.outputs > 0 && x.outputs > 0) {
        made.counted_y_ = counted(y, problem.include_pad, 1);
        made.counted_x_ =
            counted(x, problem.include_pad, row.family == Family::flat ? problem.c : 1);
    }
    *plan = std::move(made);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

} // namespace selvage
