#include "selvage/plan.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "cpu.h"
#include "packing.h"
#include "parts.h"
#include "scratch.h"

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
std::vector<std::string> known(const std::string &op, const char *const KernelRow::*column) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.op == op && std::find(values.begin(), values.end(), row.*column) == values.end())
            values.emplace_back(row.*column);
    }
    return values;
}

/// Whether some row has the value that is wished for; the text of a failure lists the others.
Status check_wish(const Wish &wish, const std::string &op, const char *const KernelRow::*column) {
    const std::vector<std::string> values = known(op, column);
    if (wish.value.empty() || std::find(values.begin(), values.end(), wish.value) != values.end())
        return {};
    std::string text = wish.source + "=" + wish.value + ": " + op + " has ";
    for (const std::string &value : values)
        text += (&value == &values.front() ? "" : ", ") + value;
    return {Code::invalid_argument, text};
}

/// The smallest range that holds both.
Range hull(const Range &a, const Range &b) {
    const std::int64_t begin = std::min(a.begin, b.begin);
    return {begin, std::max(a.begin + a.size, b.begin + b.size) - begin};
}

Range view(const Window &w) { return {w.origin, w.size}; }

Region input_of(const Part &part) {
    return {view(part.task.z), view(part.task.y), view(part.task.x)};
}

double elements(const Region &region) {
    return double(region.z.size) * double(region.y.size) * double(region.x.size);
}

/// Where each of the weights lies in packed memory; every kernel's begin at a line.
void place_weights(Work *work) {
    const Problem &p = work->problem;
    const std::size_t number = p.shift < 0 ? sizeof(float) : sizeof(std::int16_t);
    for (PackedWeights &each : work->weights) {
        Task task = {p, {}, {}, {}};
        task.z.kernel = std::max<std::int64_t>(1, each.z.count);
        task.y.kernel = std::max<std::int64_t>(1, each.y.count);
        task.x.kernel = std::max<std::int64_t>(1, each.x.count);
        each.offset = work->packed_bytes;
        each.bias_offset =
            each.offset + scratch_round(std::size_t(packed_weights(*each.row, task)) * number);
        work->packed_bytes =
            each.bias_offset +
            scratch_round(std::size_t(packed_outputs(*each.row, p)) * sizeof(float));
    }
}

/// Plans `output` of the problem in *work.
Status plan(const Work *parent, const Choice &choice, const Region &output, Work *work) {
    const Problem &p = work->problem;
    work->output = output;
    if (Status status = add_parts(parent, choice, work); !status.ok())
        return status;
    const Part *largest = &work->parts.front();
    for (const Part &each : work->parts) {
        work->scratch_bytes =
            std::max(work->scratch_bytes, selvage::scratch_bytes(*each.row, each.task));
        if (elements(each.output) > elements(largest->output))
            largest = &each;
    }
    work->kernel = name(*largest->row);
    for (const Candidate &each : candidates(largest->task, choice))
        if (each.row != largest->row)
            work->declined.push_back(
                {name(*each.row), each.reason.empty() ? "is estimated to be slower" : each.reason});
    if (parent != nullptr) {
        work->weights = parent->weights;
        work->packed_bytes = parent->packed_bytes;
        work->input = input_of(work->parts.front());
        for (const Part &each : work->parts) {
            const Region in = input_of(each);
            work->input = {hull(work->input.z, in.z), hull(work->input.y, in.y),
                           hull(work->input.x, in.x)};
        }
        return {};
    }
    work->input = {{0, p.z.size}, {0, p.y.size}, {0, p.x.size}};
    place_weights(work);
    return {};
}

bool within(const Range &part, const Range &all) {
    return part.begin >= all.begin && part.size >= 0 && part.begin <= all.begin + all.size &&
           part.size <= all.begin + all.size - part.begin;
}

std::string range_text(const Range &range) {
    return std::to_string(range.begin) + "+" + std::to_string(range.size);
}

std::string region_text(const Region &region) {
    return range_text(region.z) + " " + range_text(region.y) + " " + range_text(region.x);
}

/// What a plan is before make_plan(): empty, and refused by run().
const Work &empty_work() {
    static const Work empty = {};
    return empty;
}

} // namespace

const Problem &Plan::problem() const { return work().problem; }
const Region &Plan::output_region() const { return work().output; }
const Region &Plan::input_region() const { return work().input; }
const std::string &Plan::kernel() const { return work().kernel; }
const std::vector<Decline> &Plan::declined() const { return work().declined; }
std::size_t Plan::packed_bytes() const { return work().packed_bytes; }
std::size_t Plan::scratch_bytes() const { return work().scratch_bytes; }
const Work &Plan::work() const { return work_ != nullptr ? *work_ : empty_work(); }

std::vector<PlannedPart> Plan::parts() const {
    std::vector<PlannedPart> result;
    for (const Part &each : work().parts)
        result.push_back({name(*each.row), each.output});
    return result;
}

Status make_plan(const Problem &problem, const Options &options, Plan *plan) try {
    if (plan == nullptr)
        return {Code::invalid_argument, "make_plan: plan is null"};
    if (Status status = check(problem); !status.ok())
        return status;
    const std::string op = kernel_op(problem);
    const Wish isa = wish(options.isa, "isa", "SELVAGE_ISA");
    const Wish schedule = wish(options.schedule, "schedule", "SELVAGE_SCHEDULE");
    if (Status status = check_wish(isa, op, &KernelRow::isa); !status.ok())
        return status;
    if (Status status = check_wish(schedule, op, &KernelRow::schedule); !status.ok())
        return status;
    if (!isa.value.empty() && !cpu_runs(isa.value))
        return {Code::unsupported, isa.source + "=" + isa.value + ": this CPU lacks it"};

    auto work = std::make_shared<Work>();
    work->problem = problem;
    work->adjacent_pixels = options.adjacent_pixels;
    const Choice choice = {isa.value, schedule.value};
    if (Status status = selvage::plan(nullptr, choice, whole_output(problem), work.get());
        !status.ok())
        return status;
    plan->work_ = std::move(work);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status Plan::tile(const Region &output, Plan *tile) const try {
    if (work_ == nullptr || tile == nullptr)
        return {Code::invalid_argument, work_ == nullptr
                                            ? "tile: the plan is empty; make_plan() fills it"
                                            : "tile: tile is null"};
    const Region &all = work_->output;
    if (!within(output.z, all.z) || !within(output.y, all.y) || !within(output.x, all.x))
        return {Code::invalid_argument, "tile: " + region_text(output) + " is not within " +
                                            region_text(all) +
                                            " (begin+size of planes, rows and columns)"};
    auto work = std::make_shared<Work>();
    work->problem = work_->problem;
    work->adjacent_pixels = work_->adjacent_pixels;
    // Only one instruction set rounds like itself.
    // Packed weights tell theirs.
    const Choice choice = {work_->weights.empty() ? work_->parts.front().row->isa : "", {}};
    if (Status status = selvage::plan(work_.get(), choice, output, work.get()); !status.ok())
        return status;
    tile->work_ = std::move(work);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

} // namespace selvage
