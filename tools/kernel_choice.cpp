#include "kernel_choice.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <choose.h>
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
std::vector<Task> tasks(const Problem &p) {
    std::vector<Task> result;
    for (const Window &z : windows(p, p.z))
        for (const Window &y : windows(p, p.y))
            for (const Window &x : windows(p, p.x)) {
                result.push_back({p, z, y, x});
                // The wrapper of a specialised kernel refuses other pixels.
                result.back().adjacent_pixels = true;
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

ChosenRow choose_row(const Problem &problem, const std::string &isa, const std::string &schedule) {
    const std::vector<Task> all = tasks(problem);
    ChosenRow best = {nullptr, {}};
    double least = std::numeric_limits<double>::infinity();
    for (const KernelRow *row : rows_of(problem, isa)) {
        if (schedule != "auto" && schedule != row->schedule)
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
    return best;
}
