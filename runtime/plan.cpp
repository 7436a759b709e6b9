#include "selvage/plan.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include "parts.h"
#include "selvage/schedule_table.h"
#include "wishes.h"

namespace selvage {

namespace {

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

/// The part with the most numbers.
const Part &largest_part(const Work &work) {
    const auto numbers = [](const Part &part) {
        return elements(part.output) * double(part.images.size) * double(part.channels.size);
    };
    const Part *largest = &work.parts.front();
    for (const Part &each : work.parts)
        if (numbers(each) > numbers(*largest))
            largest = &each;
    return *largest;
}

/// What would give the same plan again: where all parts have one kernel, how it cuts up the
/// largest; else the library's choice, which alone mixes kernels.
Schedule replay(const Work &work) {
    const Part &largest = largest_part(work);
    Schedule schedule;
    if (work.shares > 1)
        schedule.split = work.split;
    const auto same = [&](const char *const KernelRow::*column) {
        return std::all_of(work.parts.begin(), work.parts.end(), [&](const Part &each) {
            return std::string_view(each.row->*column) == largest.row->*column;
        });
    };
    if (same(&KernelRow::isa))
        schedule.isa = largest.row->isa;
    if (!same(&KernelRow::schedule) || schedule.isa.empty())
        return schedule;
    schedule.kernel = largest.row->schedule;
    const Blocking most = most_blocking(*largest.row, largest.task);
    for (const BlockingKey &key : blocking_keys)
        if (most.*key.number != 0)
            schedule.blocking.*key.number = largest.blocking.*key.number;
    return schedule;
}

/// Names the kernel of the largest part, and why the others that the choice leaves do not compute
/// it. What would be faster and is not taken does not go with other parts or packed weights.
void describe(Choice choice, Work *work) {
    const Part *const largest = &largest_part(*work);
    work->kernel = name(*largest->row);
    work->schedule = replay(*work);
    if (work->by_table)
        choice.kernel.clear();
    const double least = cost(*largest->row, largest->task);
    for (const Candidate &each : candidates(largest->task, choice)) {
        if (each.row == largest->row)
            continue;
        std::string reason = each.reason;
        if (reason.empty())
            reason = work->by_table ? "is not what the schedule table has"
                     : cost(*each.row, largest->task) < least
                         ? "packs weights or rounds unlike the rest of the output"
                         : "is estimated to be slower";
        work->declined.push_back({name(*each.row), reason});
    }
}

/// Only one instruction set rounds like itself. Packed weights tell theirs.
Choice same_rounding(const Work &work, const std::string &kernel) {
    Choice same = {work.weights.empty() ? work.parts.front().row->isa : "", kernel};
    same.device = work.device;
    return same;
}

/// The estimated time of a run whose shares are computed at the same time.
double cost_of_shares(const Work &work) {
    std::vector<double> costs(std::size_t(work.shares));
    for (const Part &each : work.parts)
        costs[std::size_t(each.share)] += each.cost;
    return *std::max_element(costs.begin(), costs.end());
}

/// The output channels that shares are multiples of: groups, or blocks of each kernel's lanes.
std::int64_t channel_unit(const Work &work) {
    const Problem &p = work.problem;
    if (groups(p) > 1)
        return p.k / groups(p);
    std::int64_t unit = 1;
    for (const PackedWeights &each : work.weights)
        unit = std::lcm(unit, lane_block(*each.row));
    return unit;
}

/// The rows, columns or channels that shares are multiples of. A tile of a winograd kernel that
/// lies in two shares would be computed by both.
std::int64_t share_unit(const Work &work, Split split) {
    const Part &part = work.parts.front();
    const std::int64_t tile = part.row->output_tile;
    switch (split) {
    case Split::rows: return tile == 1 ? 1 : tile * part.step_y;
    case Split::columns: return tile == 1 ? 1 : tile * part.step_x;
    case Split::channels: return channel_unit(work);
    default: return 1;
    }
}

/// Why shares cannot be cut in a way, or empty.
std::string cannot_split(const Work &work, Split split) {
    const auto has_one = [](std::int64_t count, const char *what) {
        return count > 1 ? "" : std::string("the output has one ") + what;
    };
    switch (split) {
    case Split::automatic: return {};
    case Split::images: return has_one(work.problem.n, "image");
    case Split::planes: return has_one(work.output.z.size, "plane");
    case Split::rows: return has_one(work.output.y.size, "row");
    case Split::columns: return has_one(work.output.x.size, "column");
    case Split::channels: break;
    }
    if (!is_conv(work.problem))
        return "only convolutions are cut by channels";
    return has_one(blocks_of(work.problem.k, channel_unit(work)),
                   groups(work.problem) > 1 ? "group" : "block of channels");
}

/// Replaces the parts by those of shares, which are computed like tiles.
Status cut_into_shares(const Choice &choice, Split split, Work *work) {
    const Problem &p = work->problem;
    const Choice same = same_rounding(*work, choice.kernel);
    // A transposed convolution has weights of each phase, other operators at most one.
    const int phases = std::max(1, int(work->weights.size()));
    const int threads = std::min(work->threads, most_phases / phases);
    const std::int64_t unit = share_unit(*work, split);
    work->split = split;
    work->parts.clear();
    work->shares = 0;
    for (const std::vector<Piece> &share :
         shares({{0, p.n}, {0, p.k}, work->output}, split, unit, threads)) {
        for (const Piece &piece : share)
            if (Status status = add_parts(same, piece, work->shares, work); !status.ok())
                return status;
        ++work->shares;
    }
    return {};
}

/// The same, in the way that is asked for, else in that which is estimated to be the fastest.
Status cut_into_shares(const Choice &choice, Work *work) {
    // Earlier ways share less input, which the estimate leaves out.
    constexpr double worth_it = 0.98;
    const Split asked = work->asked.split;
    // A tile may have fewer rows than the whole.
    if (asked != Split::automatic && cannot_split(*work, asked).empty())
        return cut_into_shares(choice, asked, work);
    double least = std::numeric_limits<double>::infinity();
    Work best;
    Status failure;
    for (const Split split :
         {Split::planes, Split::rows, Split::columns, Split::channels, Split::images}) {
        // Lines of all images follow each other, so images alone are for those of one line.
        if (split == Split::images ? !best.parts.empty() : !cannot_split(*work, split).empty())
            continue;
        Work cut = *work;
        if (Status status = cut_into_shares(choice, split, &cut); !status.ok()) {
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
Status prepare(Work *work) {
    std::size_t most_scratch = 0, table_bytes = 0;
    for (Part &each : work->parts) {
        each.blocking = blocking(*each.row, each.task);
        each.tables = lay_out_tables(*each.row, each.task, each.blocking);
        each.tables_offset = table_bytes;
        table_bytes += std::size_t(round_up(std::int64_t(each.tables.bytes), alignment));
        most_scratch = std::max(most_scratch, scratch_bytes(*each.row, each.task, each.blocking));
    }
    work->scratch_bytes = most_scratch * std::size_t(work->shares);
    std::vector<char> tables(table_bytes);
    for (const Part &each : work->parts)
        fill_tables(*each.row, each.task, each.tables, tables.data() + each.tables_offset);
    DeviceMemory memory;
    Status status = allocate(work->device, table_bytes, &memory);
    if (status.ok())
        status = work->device.copy_in(tables.data(), memory.get(), table_bytes);
    work->tables = std::move(memory);
    return status;
}

/// Whether what is asked for is within what the output and its largest part have.
Status check_asked(const Work &work) {
    if (std::string reason = cannot_split(work, work.asked.split); !reason.empty())
        return {Code::invalid_argument,
                "split=" + std::string(name(work.asked.split)) + ": " + reason};
    if (!any(work.asked.blocking))
        return {};
    const Part &largest = largest_part(work);
    const Blocking most = most_blocking(*largest.row, largest.task);
    for (const BlockingKey &key : blocking_keys)
        if (const std::int64_t asked = work.asked.blocking.*key.number; asked > most.*key.number)
            return {Code::invalid_argument, std::string(key.name) + "=" + std::to_string(asked) +
                                                ": " + name(*largest.row) + " has at most " +
                                                std::to_string(most.*key.number) + " here"};
    return {};
}

/// Plans `output` of the problem in *work, as work->asked says and with kernels that the choice
/// leaves.
Status plan(const Choice &choice, const Region &output, Work *work) {
    const Problem &p = work->problem;
    work->output = output;
    if (Status status = add_parts(choice, {{0, p.n}, {0, p.k}, output}, 0, work); !status.ok())
        return status;
    work->input =
        work->is_tile ? inputs(work->parts) : Region{{0, p.z.size}, {0, p.y.size}, {0, p.x.size}};
    if (!work->is_tile)
        place_weights(work);
    if (p.n == 0 || elements(output) == 0)
        return {};
    if (!work->is_tile)
        if (Status status = check_asked(*work); !status.ok())
            return status;
    if (work->threads > 1)
        if (Status status = cut_into_shares(choice, work); !status.ok())
            return status;
    work->cost = cost_of_shares(*work);
    if (Status status = prepare(work); !status.ok())
        return status;
    describe(choice, work);
    return {};
}

Status plan_as_asked(Work *work) {
    // A kernel's name is consent to its accuracy.
    const bool fast = work->fast || (!work->by_table && !work->asked.kernel.empty());
    return plan({work->asked.isa, work->asked.kernel, nullptr, fast, work->device},
                whole_output(work->problem), work);
}

/// Replaces what is asked for by an entry of a table.
Status ask_for(const TunedSchedule &entry, Work *work) {
    const std::string op = kernel_op(work->problem), isa = work->asked.isa;
    if (Status status = parse_schedule(entry.schedule, &work->asked); !status.ok())
        return status;
    Schedule &asked = work->asked;
    if (asked.isa.empty())
        asked.isa = asked.kernel.empty() ? isa : entry.isa;
    if (!isa.empty() && asked.isa != isa)
        return {Code::invalid_argument, "is not of " + isa + ", which is asked for"};
    if (Status status = check_known("isa=" + asked.isa, asked.isa, op, &KernelRow::isa);
        !status.ok())
        return status;
    return check_known(asked.kernel, asked.kernel, op, &KernelRow::schedule);
}

/// Whether both give the same bits.
bool sums_alike(const Work &a, const Work &b) {
    const auto blocks = [](const Work &work, std::size_t weights) {
        for (const Part &part : work.parts)
            if (part.weights == weights)
                return part.blocking.channel_blocks;
        return std::int64_t(0);
    };
    for (std::size_t i = 0; i < a.weights.size(); ++i)
        if (!same_packing(a.problem, *a.weights[i].row, *b.weights[i].row) ||
            blocks(a, i) != blocks(b, i))
            return false;
    return std::string_view(a.parts.front().row->isa) == b.parts.front().row->isa;
}

/// Whether a part rounds more than direct kernels do.
bool is_fast(const Work &work) {
    return std::any_of(work.parts.begin(), work.parts.end(),
                       [](const Part &each) { return each.row->family == Family::winograd; });
}

/// Plans by the schedule table, else by estimates.
Status plan_freely(const ScheduleTable &table, Work *work) {
    const Work blank = *work;
    const std::string machine = blank.asked.isa.empty() ? available_isas().back() : blank.asked.isa;
    const auto find = [&](const char *accuracy) {
        return find_schedule(table, blank.problem, machine, blank.threads, accuracy);
    };
    const TunedSchedule *entry = find(blank.fast ? "fast" : "exact");
    // What is not worth more rounding is as fast without leave for it.
    if (entry == nullptr && blank.fast) {
        if (Status status = plan_as_asked(work); !status.ok() || is_fast(*work))
            return status;
        *work = blank;
        entry = find("exact");
    }
    if (entry == nullptr)
        return plan_as_asked(work);
    work->by_table = true;
    Status status = ask_for(*entry, work);
    if (status.ok())
        status = plan_as_asked(work);
    // The bits are those of one thread.
    if (status.ok() && entry->threads > 1) {
        Work one = blank;
        one.threads = 1;
        if (plan_freely(table, &one).ok() && !sums_alike(one, *work))
            status = {Code::unsupported, "sums in another order than " + text(one.schedule) +
                                             ", which one thread takes"};
    }
    if (status.ok())
        return {};
    *work = blank;
    const Decline declined = {std::string("schedule table: ") + entry->schedule, status.text()};
    status = plan_as_asked(work);
    work->declined.insert(work->declined.begin(), declined);
    return status;
}

/// All that a plan decides.
Status decide(const Problem &problem, const Options &options, Work *work) {
    Wishes wishes;
    if (Status status = read_wishes(kernel_op(problem), options, &wishes); !status.ok())
        return status;
    work->problem = problem;
    work->device = options.device;
    work->adjacent_pixels = options.adjacent_pixels;
    work->separable = options.separable;
    work->threads = options.threads;
    work->asked = wishes.schedule;
    work->fast = wishes.fast;
    const ScheduleTable &table = options.table != nullptr ? *options.table : shipped_schedules();
    if (wishes.of_whom.empty())
        return plan_freely(table, work);
    Status status = plan_as_asked(work);
    return status.ok() ? status : Status(status.code(), wishes.of_whom + ": " + status.text());
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
const Device &Plan::device() const { return work().device; }
const Region &Plan::output_region() const { return work().output; }
const Region &Plan::input_region() const { return work().input; }
const std::string &Plan::kernel() const { return work().kernel; }
std::string Plan::schedule() const { return work().parts.empty() ? "" : text(work().schedule); }
const std::vector<Decline> &Plan::declined() const { return work().declined; }
std::size_t Plan::packed_bytes() const { return work().packed_bytes; }
std::size_t Plan::scratch_bytes() const { return work().scratch_bytes; }
const Work &Plan::work() const { return work_ != nullptr ? *work_ : empty_work(); }

std::vector<PlannedPart> Plan::parts() const {
    std::vector<PlannedPart> result;
    for (const Part &each : work().parts)
        result.push_back({name(*each.row), each.output, each.images, each.channels, each.share});
    return result;
}

Status make_plan(const Problem &problem, const Options &options, Plan *plan) try {
    if (plan == nullptr)
        return {Code::invalid_argument, "make_plan: plan is null"};
    if (Status status = check(problem); !status.ok())
        return status;
    if (std::none_of(kernel_rows(), kernel_rows() + kernel_row_count(),
                     [](const KernelRow &row) { return row.function != nullptr; }))
        return {Code::unsupported, "this build of selvage has no kernels (SELVAGE_KERNELS=OFF); "
                                   "configure and build it with -DSELVAGE_KERNELS=ON"};
    if (options.threads < 1 || options.threads > most_threads)
        return {Code::invalid_argument, "threads " + std::to_string(options.threads) +
                                            " is not in 1.." + std::to_string(most_threads)};
    auto work = std::make_shared<Work>();
    Status status = decide(problem, options, work.get());
    if (status.code() == Code::unsupported && options.cpu_fallback &&
        options.device.queue() != nullptr) {
        const Decline declined = {options.device.name(), status.text()};
        Options on_host = options;
        on_host.device = {};
        *work = {};
        status = decide(problem, on_host, work.get());
        work->declined.insert(work->declined.begin(), declined);
    }
    if (status.ok())
        plan->work_ = std::move(work);
    return status;
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
    work->separable = work_->separable;
    work->is_tile = true;
    work->device = work_->device;
    work->threads = work_->threads;
    work->asked = work_->asked;
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
