#include "selvage/plan.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "parts.h"
#include "selvage/core/cpu.h"

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

/// The distinct values of a column among the rows of an operator that are part of this build.
std::vector<std::string> known(const std::string &op, const char *const KernelRow::*column) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.function != nullptr && row.op == op &&
            std::find(values.begin(), values.end(), row.*column) == values.end())
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

/// Where each of the weights lies in packed memory.
void place_weights(Work *work) {
    for (PackedWeights &each : work->weights)
        work->packed_bytes = place(work->problem, work->packed_bytes, &each);
}

/// What a tile reads.
Region inputs(const std::vector<Part> &parts) {
    Region all = input_of(parts.front());
    for (const Part &each : parts) {
        const Region in = input_of(each);
        all = {hull(all.z, in.z), hull(all.y, in.y), hull(all.x, in.x)};
    }
    return all;
}

/// Names the kernel of the largest part, and why the others that the choice leaves do not compute
/// it. What would be faster and is not taken does not go with other parts or packed weights.
void describe(const Choice &choice, Work *work) {
    const Part *largest = &work->parts.front();
    for (const Part &each : work->parts)
        if (elements(each.output) > elements(largest->output))
            largest = &each;
    work->kernel = name(*largest->row);
    const double least = cost(*largest->row, largest->task);
    for (const Candidate &each : candidates(largest->task, choice)) {
        if (each.row == largest->row)
            continue;
        std::string reason = each.reason;
        if (reason.empty())
            reason = cost(*each.row, largest->task) < least
                         ? "packs weights or rounds unlike the rest of the output"
                         : "is estimated to be slower";
        work->declined.push_back({name(*each.row), reason});
    }
}

/// Only one instruction set rounds like itself. Packed weights tell theirs.
Choice same_rounding(const Work &work, const std::string &schedule) {
    return {work.weights.empty() ? work.parts.front().row->isa : "", schedule};
}

/// The estimated time of a run whose shares are computed at the same time.
double cost_of_shares(const Work &work) {
    std::vector<double> costs(std::size_t(work.shares));
    for (const Part &each : work.parts)
        costs[std::size_t(each.share)] += each.cost;
    return *std::max_element(costs.begin(), costs.end());
}

/// Replaces the parts by those of shares, which are computed like tiles.
Status cut_into_shares(const Choice &choice, Range Region::*axis, Work *work) {
    const Choice same = same_rounding(*work, choice.schedule);
    // A transposed convolution has weights of each phase, other operators at most one.
    const int phases = std::max(1, int(work->weights.size()));
    const int threads = std::min(work->threads, most_phases / phases);
    work->parts.clear();
    work->shares = 0;
    for (const std::vector<Piece> &share : shares(work->problem.n, work->output, axis, threads)) {
        for (const Piece &piece : share)
            if (Status status = add_parts(same, piece, work->shares, work); !status.ok())
                return status;
        ++work->shares;
    }
    return {};
}

/// The same, across the axis that makes the fastest.
Status cut_into_shares(const Choice &choice, Work *work) {
    // Lines of outer axes share less input, which the estimate leaves out.
    constexpr double worth_it = 0.98;
    double least = std::numeric_limits<double>::infinity();
    Work best;
    Status failure;
    for (Range Region::*axis : {&Region::z, &Region::y, &Region::x}) {
        // One line makes one share of an image, as any other axis does; one axis must be tried.
        if ((work->output.*axis).size == 1 && (axis != &Region::x || !best.parts.empty()))
            continue;
        Work cut = *work;
        if (Status status = cut_into_shares(choice, axis, &cut); !status.ok()) {
            failure = status;
            continue;
        }
        if (const double cost = cost_of_shares(cut); cost < worth_it * least) {
            least = cost;
            best = std::move(cut);
        }
    }
    if (best.parts.empty())
        return failure;
    *work = std::move(best);
    return {};
}

/// What calls of kernels need besides the caller's views.
void prepare(Work *work) {
    std::size_t most_scratch = 0;
    for (Part &each : work->parts) {
        each.blocking = blocking(*each.row, each.task);
        each.tables = lay_out_tables(*each.row, each.task, each.blocking);
        each.table_memory.resize(each.tables.bytes);
        fill_tables(*each.row, each.task, each.tables, each.table_memory.data());
        most_scratch = std::max(most_scratch, scratch_bytes(*each.row, each.task, each.blocking));
    }
    work->scratch_bytes = most_scratch * std::size_t(work->shares);
}

/// Plans `output` of the problem in *work.
Status plan(const Choice &choice, const Region &output, Work *work) {
    const Problem &p = work->problem;
    work->output = output;
    if (Status status = add_parts(choice, {{0, p.n}, output}, 0, work); !status.ok())
        return status;
    work->input =
        work->is_tile ? inputs(work->parts) : Region{{0, p.z.size}, {0, p.y.size}, {0, p.x.size}};
    if (!work->is_tile)
        place_weights(work);
    const bool empty = p.n == 0 || elements(output) == 0;
    if (work->threads > 1 && !empty)
        if (Status status = cut_into_shares(choice, work); !status.ok())
            return status;
    if (empty)
        return {};
    describe(choice, work);
    prepare(work);
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
        result.push_back({name(*each.row), each.output, each.images, each.share});
    return result;
}

Status make_plan(const Problem &problem, const Options &options, Plan *plan) try {
    if (plan == nullptr)
        return {Code::invalid_argument, "make_plan: plan is null"};
    if (Status status = check(problem); !status.ok())
        return status;
    // The references, first of the table, are for every x86-64 CPU.
    if (kernel_rows()->function == nullptr)
        return {Code::unsupported, "this build of selvage has no kernels (SELVAGE_KERNELS=OFF); "
                                   "configure and build it with -DSELVAGE_KERNELS=ON"};
    if (options.threads < 1 || options.threads > most_threads)
        return {Code::invalid_argument, "threads " + std::to_string(options.threads) +
                                            " is not in 1.." + std::to_string(most_threads)};
    const std::string op = kernel_op(problem);
    const Wish isa = wish(options.isa, "isa", "SELVAGE_ISA");
    const Wish schedule = wish(options.schedule, "schedule", "SELVAGE_SCHEDULE");
    if (Status status = check_wish(isa, op, &KernelRow::isa); !status.ok())
        return status;
    if (Status status = check_wish(schedule, op, &KernelRow::schedule); !status.ok())
        return status;
    if (!isa.value.empty() && !cpu_runs(isa.value.c_str()))
        return {Code::unsupported, isa.source + "=" + isa.value + ": this CPU lacks it"};

    auto work = std::make_shared<Work>();
    work->problem = problem;
    work->adjacent_pixels = options.adjacent_pixels;
    work->threads = options.threads;
    if (Status status =
            selvage::plan({isa.value, schedule.value}, whole_output(problem), work.get());
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
    work->is_tile = true;
    work->threads = work_->threads;
    work->weights = work_->weights;
    work->packed_bytes = work_->packed_bytes;
    if (Status status = selvage::plan(same_rounding(*work_, ""), output, work.get()); !status.ok())
        return status;
    tile->work_ = std::move(work);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

} // namespace selvage
