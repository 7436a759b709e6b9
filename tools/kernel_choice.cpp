#include "kernel_choice.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <choose.h>
#include <selvage/core/strips.h>
#include <selvage/schedule.h>
#include <task.h>

#include "commands.h"

namespace {

using selvage::Axis;
using selvage::KernelRow;
using selvage::Op;
using selvage::Problem;
using selvage::Task;
using selvage::Transposed;
using selvage::Window;

/// The windows of the parts of an axis: of each phase of a transposed convolution.
std::vector<Window> windows(const Problem &p, const Axis &axis) {
    if (p.op != Op::conv_transpose)
        return {selvage::window(axis, p.ceil).window};
    const Transposed whole = selvage::transposed(axis).transposed;
    std::vector<Window> result;
    for (std::int64_t phase = 0; phase < whole.phases(); ++phase)
        result.push_back(whole.phase(phase).window);
    return result;
}

/// What a row is asked to compute; all tasks of a problem together.
std::vector<Task> tasks(const Problem &p, const selvage::Blocking &asked) {
    std::vector<Task> result;
    for (const Window &z : windows(p, p.z))
        for (const Window &y : windows(p, p.y))
            for (const Window &x : windows(p, p.x)) {
                result.push_back({p, z, y, x});
                // The wrapper of a specialised kernel refuses other pixels.
                result.back().adjacent_pixels = true;
                result.back().asked = asked;
            }
    return result;
}

/// The same task where it asks most of a row: with pads on every axis that may have them, and
/// adaptive windows of several sizes.
Task at_any_size(Task task) {
    const Problem &p = task.problem;
    const auto widen = [](const Axis &axis, Window *window) {
        window->adaptive = axis.adaptive;
        window->before = std::max<std::int64_t>(window->before, 1);
        window->outputs = std::max<std::int64_t>(window->outputs, 1);
    };
    widen(p.x, &task.x);
    if (p.rank >= 2)
        widen(p.y, &task.y);
    if (p.rank >= 3)
        widen(p.z, &task.z);
    return task;
}

std::string decline(const KernelRow &row, const std::vector<Task> &tasks) {
    if (row.family == selvage::Family::winograd)
        return "rounds more than a direct convolution, and specialised kernels do not";
    for (const Task &task : tasks)
        for (const Task &each : {task, at_any_size(task)})
            if (std::string reason = selvage::decline(row, each); !reason.empty())
                return reason;
    return {};
}

double cost(const KernelRow &row, const std::vector<Task> &tasks) {
    double sum = 0;
    for (const Task &task : tasks)
        sum += selvage::cost(row, task);
    return sum;
}

/// The numbers of a schedule are within what the largest of the tasks has.
void check_cut(const KernelRow &row, const std::vector<Task> &tasks) {
    const selvage::Blocking &asked = tasks.front().asked;
    for (const selvage::BlockingKey &key : selvage::blocking_keys) {
        std::int64_t most = 0;
        for (const Task &task : tasks)
            most = std::max(most, selvage::most_blocking(row, task).*key.number);
        if (asked.*key.number > most)
            throw BadInput(std::string("schedule: ") + key.name + "=" +
                           std::to_string(asked.*key.number) + ": " + name(row) + " has at most " +
                           std::to_string(most) + " at this size");
    }
}

/// The rows of an operator and an instruction set.
std::vector<const KernelRow *> rows_of(const Problem &problem, const std::string &isa) {
    const std::string op = kernel_op(problem);
    std::vector<const KernelRow *> rows;
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i) {
        const KernelRow &row = selvage::kernel_rows()[i];
        if (op == row.op && isa == row.isa)
            rows.push_back(&row);
    }
    return rows;
}

} // namespace

std::vector<std::string> schedules_of(const Problem &problem, const std::string &isa) {
    std::vector<std::string> names;
    for (const KernelRow *row : rows_of(problem, isa))
        names.push_back(row->schedule);
    return names;
}

selvage::Schedule read_schedule(const std::string &where, const Problem &problem,
                                const std::string &isa, const std::string &text) {
    selvage::Schedule schedule;
    if (selvage::Status status = selvage::parse_schedule(text, &schedule); !status.ok())
        throw BadInput(where + ": " + status.text());
    const std::string &own_isa = schedule.isa.empty() ? isa : schedule.isa;
    const std::vector<std::string> names = schedules_of(problem, own_isa);
    if (!schedule.kernel.empty() &&
        std::find(names.begin(), names.end(), schedule.kernel) == names.end())
        throw BadInput(where + ": '" + schedule.kernel + "' is not a schedule of " +
                       kernel_op(problem) + " and " + own_isa + "; must be one of " +
                       joined(names));
    return schedule;
}

ChosenRow choose_row(const Problem &problem, const std::string &isa, const std::string &schedule) {
    const selvage::Schedule asked = read_schedule("schedule", problem, isa, schedule);
    if (!asked.isa.empty() && asked.isa != isa)
        throw BadInput("schedule: '" + schedule + "' is not of " + isa);
    if (asked.split != selvage::Split::automatic)
        throw BadInput("schedule: '" + schedule +
                       "' has a split, which is up to callers of the "
                       "kernel: they say which rows it computes");
    const std::vector<Task> all = tasks(problem, asked.blocking);
    ChosenRow best = {nullptr, {}, asked.blocking};
    double least = std::numeric_limits<double>::infinity();
    for (const KernelRow *row : rows_of(problem, isa)) {
        if (!asked.kernel.empty() && asked.kernel != row->schedule)
            continue;
        std::string reason = decline(*row, all);
        if (reason.empty()) {
            const double estimate = cost(*row, all);
            const KernelRow *slower = row;
            if (best.row == nullptr || estimate < least) {
                std::swap(slower, best.row);
                least = estimate;
            }
            if (slower == nullptr)
                continue;
            row = slower;
            reason = "is estimated to be slower";
        }
        best.declined.push_back({name(*row), reason});
    }
    if (best.row == nullptr) {
        std::string reasons;
        for (const selvage::Decline &each : best.declined)
            reasons += "; " + each.kernel + " " + each.reason;
        throw BadInput("no kernel of " + isa + " for every size of " + text(problem) + reasons);
    }
    check_cut(*best.row, all);
    return best;
}
