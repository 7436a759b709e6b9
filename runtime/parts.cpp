#include "parts.h"

#include <algorithm>
#include <utility>

namespace selvage {

namespace {

Status no_kernel(const Task &task, const Choice &choice) {
    std::string reasons;
    for (const Candidate &each : candidates(task, choice))
        reasons += "; " + name(*each.row) + " " + each.reason;
    return {Code::unsupported, "no kernel for " + text(task.problem) + reasons};
}

// Rectangles of the output.

Region all_of(const Task &task) {
    return {{0, task.z.outputs}, {0, task.y.outputs}, {0, task.x.outputs}};
}

/// A rectangle of a task's output; of every step-th element.
struct Cut {
    Task task;
    Region output;
    Costed choice;
    std::int64_t step_y = 1, step_x = 1;
};

double cost(const std::vector<Cut> &cuts) {
    double sum = 0;
    for (const Cut &each : cuts)
        sum += each.choice.cost;
    return sum;
}

Cut cut(const Task &whole, const Region &region, const Choice &choice) {
    Cut result{whole, region, {}};
    result.task.z = whole.z.slice(region.z.begin, region.z.size);
    result.task.y = whole.y.slice(region.y.begin, region.y.size);
    result.task.x = whole.x.slice(region.x.begin, region.x.size);
    result.choice = cheapest(result.task, choice);
    const std::int64_t multiple = result.choice.row != nullptr ? result.choice.row->output_tile : 1;
    result.task.y = result.task.y.slice(0, region.y.size, multiple);
    result.task.x = result.task.x.slice(0, region.x.size, multiple);
    return result;
}

/// Output rows whose input stays in the second-level cache (512 KiB and more).
std::int64_t cached_rows(const Task &task) {
    constexpr double share = 512 * 1024;
    const double row = double(task.x.size) * double(task.problem.c) *
                       double(number_bytes(task.problem)) * double(task.y.stride);
    return std::int64_t(std::max(1.0, share / row));
}

/// The outputs that read nothing outside the input, and those around them, outermost axis first.
/// Empty where every output is near a border.
std::vector<Region> inside_and_edges(const Task &task) {
    const auto in_z = task.z.inside(), in_y = task.y.inside(), in_x = task.x.inside();
    const auto range = [](const Window::Outputs &o) { return Range{o.first, o.end - o.first}; };
    const Range z = range(in_z), y = range(in_y), x = range(in_x);
    const Range all_y{0, task.y.outputs}, all_x{0, task.x.outputs};
    if (z.size == 0 || y.size == 0 || x.size == 0)
        return {};
    std::vector<Region> regions;
    const auto add = [&](const Region &region) {
        if (region.z.size > 0 && region.y.size > 0 && region.x.size > 0)
            regions.push_back(region);
    };
    // Columns at the edges are computed while their rows are in the cache; else every one of them
    // would wait for memory (depthwise 3x3, 96 channels on 112x112: 20 % of the time).
    const std::int64_t band = x.size == all_x.size ? y.size : cached_rows(task);
    for (std::int64_t row = y.begin; row < y.begin + y.size; row += band) {
        const Range rows{row, std::min(band, y.begin + y.size - row)};
        add({z, rows, x});
        add({z, rows, {0, in_x.first}});
        add({z, rows, {in_x.end, task.x.outputs - in_x.end}});
    }
    add({z, {0, in_y.first}, all_x});
    add({z, {in_y.end, task.y.outputs - in_y.end}, all_x});
    add({{0, in_z.first}, all_y, all_x});
    add({{in_z.end, task.z.outputs - in_z.end}, all_y, all_x});
    return regions;
}

/// Cuts a task into parts where kernels for the inside and others for the edges are faster together
/// than any kernel for the whole. Empty where no row takes the task.
std::vector<Cut> cut_up(const Task &task, const Choice &choice) {
    const Cut whole = cut(task, all_of(task), choice);
    std::vector<Cut> best;
    if (whole.choice.row != nullptr)
        best = {whole};
    if (!choice.kernel.empty())
        return best;
    std::vector<Cut> cuts;
    Choice same = choice;
    for (const Region &region : inside_and_edges(task)) {
        cuts.push_back(cut(task, region, same));
        if (cuts.back().choice.row == nullptr)
            return best;
        same.packed_for = cuts.front().choice.row;
    }
    // A part has costs of its own, which the estimate leaves out.
    constexpr double worth_it = 0.95;
    if (cuts.size() > 1 && cost(cuts) < worth_it * whole.choice.cost)
        best = cuts;
    return best;
}

/// From an output of a dilated convolution to the next whose taps are neighbours of its own.
std::int64_t step_apart(const Window &w) { return w.stride == 1 ? w.dilation : 1; }

/// Cuts a task with dilations into one part for each of their remainders, convolutions without
/// dilation in every respect but that their elements lie apart, where that lets a winograd row take
/// it. Empty where it does not, or where that costs more than `limit`.
std::vector<Cut> interleave(const Task &task, const Choice &choice, double limit) {
    const std::int64_t step_y = step_apart(task.y), step_x = step_apart(task.x);
    const std::int64_t parts_y = std::max<std::int64_t>(1, std::min(step_y, task.y.outputs)),
                       parts_x = std::max<std::int64_t>(1, std::min(step_x, task.x.outputs));
    if ((step_y == 1 && step_x == 1) || parts_y * parts_x > most_phases)
        return {};
    std::vector<Cut> cuts;
    for (std::int64_t y = 0; y < parts_y; ++y)
        for (std::int64_t x = 0; x < parts_x; ++x) {
            Task part = task;
            part.y = task.y.every(step_y, y);
            part.x = task.x.every(step_x, x);
            Cut found = cut(part, all_of(part), choice);
            const KernelRow *row = found.choice.row;
            if (row == nullptr || row->family != Family::winograd ||
                found.choice.cost * double(parts_y * parts_x) > limit)
                return {};
            found.output.y.begin = y;
            found.output.x.begin = x;
            found.step_y = step_y;
            found.step_x = step_x;
            cuts.push_back(std::move(found));
        }
    return cuts;
}

Task whole_task(const Problem &p) {
    return {p, window(p.z, p.ceil).window, window(p.y, p.ceil).window, window(p.x, p.ceil).window};
}

/// A convolution of some of the output channels, or of the groups that these are.
Problem of_channels(Problem p, std::int64_t channels) {
    if (groups(p) > 1) {
        p.c = p.c * channels / p.k;
        p.g = p.op == Op::depthwise ? 1 : p.g * channels / p.k;
    }
    p.k = channels;
    return p;
}

Status add_windows(Choice choice, const Piece &piece, Work *work) {
    const Problem &p = work->problem;
    const Region &output = piece.output;
    Task task = whole_task(p);
    task.z = task.z.slice(output.z.begin, output.z.size);
    task.y = task.y.slice(output.y.begin, output.y.size);
    task.x = task.x.slice(output.x.begin, output.x.size);
    task.problem = of_channels(p, piece.channels.size);
    task.adjacent_pixels = work->adjacent_pixels;
    task.separable = work->separable;
    task.is_tile = work->is_tile;
    task.asked = work->asked.blocking;
    if (!work->weights.empty())
        choice.packed_for = work->weights.front().row;
    std::vector<Cut> cuts = cut_up(task, choice);
    const double limit = cuts.empty() ? std::numeric_limits<double>::infinity() : cost(cuts);
    if (std::vector<Cut> apart = interleave(task, choice, limit); !apart.empty())
        cuts = std::move(apart);
    if (cuts.empty())
        return no_kernel(task, choice);
    for (const Cut &each : cuts) {
        Part part = {each.task, each.choice.row, 0, each.output};
        part.step_y = each.step_y;
        part.step_x = each.step_x;
        part.cost = each.choice.cost;
        work->parts.push_back(std::move(part));
    }
    if (work->weights.empty() && has_weights(p.op))
        work->weights.push_back(
            {cuts.front().choice.row, {0, 1, p.z.kernel}, {0, 1, p.y.kernel}, {0, 1, p.x.kernel}});
    return {};
}

// Transposed convolutions.

/// The indices of a transposed convolution's phases: of every stride-th output along each axis.
struct Phases {
    Transposed z, y, x;

    std::size_t index(std::int64_t iz, std::int64_t iy, std::int64_t ix) const {
        return std::size_t((iz * y.phases() + iy) * x.phases() + ix);
    }
};

Phases phases(const Problem &p) {
    return {transposed(p.z).transposed, transposed(p.y).transposed, transposed(p.x).transposed};
}

/// The same for a transposed convolution, which is an ordinary one for each phase of its outputs.
Status add_phases(Choice choice, const Piece &piece, Work *work) {
    const auto taps = [](const Transposed::Phase &phase) {
        return Taps{phase.first_tap, -phase.tap_step, phase.taps};
    };
    const Problem &p = work->problem;
    const Region &output = piece.output;
    const Phases whole = phases(p);
    const Phases here = {whole.z.slice(output.z.begin, output.z.size),
                         whole.y.slice(output.y.begin, output.y.size),
                         whole.x.slice(output.x.begin, output.x.size)};
    const double count =
        double(whole.z.phases()) * double(whole.y.phases()) * double(whole.x.phases());
    if (count > most_phases)
        return {Code::unsupported, "no kernel for " + text(p) + "; its strides make " +
                                       std::to_string(std::int64_t(count)) + " phases, more than " +
                                       std::to_string(most_phases)};
    const bool packed = !work->weights.empty();
    for (std::int64_t iz = 0; iz < here.z.phases(); ++iz)
        for (std::int64_t iy = 0; iy < here.y.phases(); ++iy)
            for (std::int64_t ix = 0; ix < here.x.phases(); ++ix) {
                const Transposed::Phase z = here.z.phase(iz), y = here.y.phase(iy),
                                        x = here.x.phase(ix);
                const Task task = {of_channels(p, piece.channels.size),
                                   z.window,
                                   y.window,
                                   x.window,
                                   work->adjacent_pixels,
                                   work->is_tile,
                                   work->asked.blocking};
                const std::size_t weights = whole.index((output.z.begin + iz) % whole.z.phases(),
                                                        (output.y.begin + iy) % whole.y.phases(),
                                                        (output.x.begin + ix) % whole.x.phases());
                if (packed)
                    choice.packed_for = work->weights[weights].row;
                const Cut found = cut(task, all_of(task), choice);
                if (found.choice.row == nullptr)
                    return no_kernel(task, choice);
                if (!packed)
                    work->weights.push_back({found.choice.row, taps(z), taps(y), taps(x)});
                Part part = {
                    found.task,
                    found.choice.row,
                    weights,
                    {{iz, z.window.outputs}, {iy, y.window.outputs}, {ix, x.window.outputs}}};
                part.step_z = p.z.stride;
                part.step_y = p.y.stride;
                part.step_x = p.x.stride;
                part.cost = found.choice.cost;
                work->parts.push_back(std::move(part));
            }
    return {};
}

/// Settles where a part's channels lie in the input and in packed weights, whose outermost axis
/// are the blocks of output channels.
void place_channels(const Work &work, const Range &channels, Part *part) {
    part->channels = channels;
    const Problem &p = work.problem;
    if (channels.begin == 0)
        return;
    const PackedWeights &all = work.weights[part->weights];
    const std::int64_t outputs = p.k / groups(p), block = lane_block(*all.row);
    const std::int64_t group = channels.begin / outputs, blocks = blocks_of(outputs, block);
    const std::int64_t before = group * blocks + channels.begin % outputs / block;
    const std::int64_t taps = all.z.places() * all.y.places() * all.x.places();
    part->input_channel = group * (p.c / groups(p));
    part->weights_offset =
        std::size_t(packed_weights(*all.row, p, taps) / (groups(p) * blocks) * before) *
        sizeof(float);
    part->bias_offset = std::size_t(before * block) * sizeof(float);
}

} // namespace

Region whole_output(const Problem &p) {
    if (p.op == Op::conv_transpose) {
        const Phases all = phases(p);
        return {{0, all.z.outputs}, {0, all.y.outputs}, {0, all.x.outputs}};
    }
    return all_of(whole_task(p));
}

Status add_parts(const Choice &choice, const Piece &piece, int share, Work *work) {
    const std::size_t first = work->parts.size();
    if (Status status = work->problem.op == Op::conv_transpose ? add_phases(choice, piece, work)
                                                               : add_windows(choice, piece, work);
        !status.ok())
        return status;
    for (std::size_t i = first; i < work->parts.size(); ++i) {
        Part &part = work->parts[i];
        part.output.z.begin += piece.output.z.begin - work->output.z.begin;
        part.output.y.begin += piece.output.y.begin - work->output.y.begin;
        part.output.x.begin += piece.output.x.begin - work->output.x.begin;
        part.cost *= double(piece.images.size) / double(std::max<std::int64_t>(1, work->problem.n));
        part.images = piece.images;
        place_channels(*work, piece.channels, &part);
        part.share = share;
    }
    return {};
}

} // namespace selvage
