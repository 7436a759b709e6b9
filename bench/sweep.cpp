// Whether cost grows linearly: neighbouring sizes of a map, of channels and of a kernel take turns.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "subject.h"
#include "turn_program.h"
#include "turns.h"

namespace bench {
namespace {

using Size = std::int64_t;

/// The sizes of a vector of the widest instruction set: a sweep crosses the multiples of all
/// vectors and tiles up to two of them.
constexpr Size vector = 16, cycle = 2 * vector;

/// What a size may cost more than a larger one does per output, from 8 vectors on.
constexpr double most_excess = 1.15;

/// Which size of a problem grows.
enum class Grows { map, channels, inputs, outputs, kernel };

struct Sweep {
    const char *name, *problem; ///< `{}` stands for the size that grows
    Grows grows;
};

constexpr Sweep sweeps[] = {
    {"conv 3x3", "conv2d c=32 k=32 in={0}x{0} kernel=3 pads=1", Grows::map},
    {"conv 3x3", "conv2d c=64 k={0} in=28x28 kernel=3 pads=1", Grows::outputs},
    {"conv 3x3", "conv2d c={0} k=64 in=28x28 kernel=3 pads=1", Grows::inputs},
    {"conv", "conv2d c=32 k=32 in=28x28 kernel={0} same=keep", Grows::kernel},
    {"conv 1x1", "conv2d c=32 k=32 in={0}x{0} kernel=1", Grows::map},
    {"conv 1x1", "conv2d c=64 k={0} in=28x28 kernel=1", Grows::outputs},
    {"conv 1x1", "conv2d c={0} k=64 in=28x28 kernel=1", Grows::inputs},
    {"conv 3x3, stride 2", "conv2d c=32 k=32 in={0}x{0} kernel=3 stride=2 pads=1", Grows::map},
    {"first layer 3x3", "conv2d c=3 k=32 in={0}x{0} kernel=3 pads=1", Grows::map},
    {"first layer 3x3", "conv2d c=3 k={0} in=56x56 kernel=3 pads=1", Grows::outputs},
    {"first layer", "conv2d c=3 k=32 in=56x56 kernel={0} same=keep", Grows::kernel},
    {"depthwise 3x3", "depthwise2d c=32 in={0}x{0} kernel=3 pads=1", Grows::map},
    {"depthwise 3x3", "depthwise2d c={0} in=28x28 kernel=3 pads=1", Grows::channels},
    {"depthwise", "depthwise2d c=64 in=28x28 kernel={0} same=keep", Grows::kernel},
    {"max pool 3x3, stride 2", "max_pool2d c=32 in={0}x{0} kernel=3 stride=2 pads=1", Grows::map},
    {"max pool 3x3, stride 2", "max_pool2d c={0} in=28x28 kernel=3 stride=2 pads=1",
     Grows::channels},
    {"max pool", "max_pool2d c=64 in=28x28 kernel={0} same=keep", Grows::kernel},
    {"average pool", "avg_pool2d c=64 in=28x28 kernel={0} same=keep", Grows::kernel},
    {"conv 3x3, NCHW", "conv2d c=32 k=32 in={0}x{0} kernel=3 pads=1 layout=nchw", Grows::map},
    {"conv 3x3, NCHW", "conv2d c=64 k={0} in=28x28 kernel=3 pads=1 layout=nchw", Grows::outputs},
    {"conv 3x3, NCHW", "conv2d c={0} k=64 in=28x28 kernel=3 pads=1 layout=nchw", Grows::inputs},
    {"conv, NCHW", "conv2d c=32 k=32 in=28x28 kernel={0} same=keep layout=nchw", Grows::kernel},
    {"depthwise 3x3, NCHW", "depthwise2d c=32 in={0}x{0} kernel=3 pads=1 layout=nchw", Grows::map},
    {"depthwise, NCHW", "depthwise2d c=64 in=28x28 kernel={0} same=keep layout=nchw",
     Grows::kernel},
    {"max pool 3x3, stride 2, NCHW",
     "max_pool2d c=32 in={0}x{0} kernel=3 stride=2 pads=1 layout=nchw", Grows::map},
    {"max pool, NCHW", "max_pool2d c=64 in=28x28 kernel={0} same=keep layout=nchw", Grows::kernel},
    {"filter 3x3 of bytes", "filter2d c=3 in={0}x{0} kernel=3 pads=1", Grows::map},
    {"filter of bytes", "filter2d c=3 in=112x112 kernel={0} same=keep", Grows::kernel},
};

std::string name(Grows grows) {
    switch (grows) {
    case Grows::map: return "map";
    case Grows::channels: return "channels";
    case Grows::inputs: return "input channels";
    case Grows::outputs: return "output channels";
    case Grows::kernel: return "kernel";
    }
    return "";
}

/// How much larger the work of a size is than that of size 1.
double work(Grows grows, Size size) {
    const auto length = static_cast<double>(size);
    return grows == Grows::map || grows == Grows::kernel ? length * length : length;
}

/// Sizes that take turns.
struct Range {
    Size first, last;
    bool large; ///< 8 vectors and more
};

std::vector<Range> ranges(Grows grows) {
    if (grows == Grows::kernel) {
        return {{1, 9, false}};
    }
    return {{1, cycle, false}, {8 * vector, 8 * vector + cycle, true}};
}

/// A size of a sweep: what it costs, and the larger size that it is held to.
struct Point {
    Size size;
    std::string problem, kernel;
    double seconds = 0;
    Size against = 0; ///< 0: there is none
    double ratio = 0,
           lower_quartile = 0; ///< cost over that of `against`, of large sizes per output
    double bar = 0;
    bool cliff() const { return lower_quartile > bar; }
};

/// Time of a size over that of another, turn by turn, of large sizes per unit of work.
std::vector<double> excess(const Range &range, Grows grows, const Point &one, const Point &other,
                           const std::vector<double> &seconds_of_one,
                           const std::vector<double> &seconds_of_other) {
    std::vector<double> costs = ratios(seconds_of_one, seconds_of_other);
    for (double &cost : costs) {
        cost *= range.large ? work(grows, other.size) / work(grows, one.size) : 1;
    }
    return costs;
}

void judge(Point &point, const Point &other, const std::vector<double> &costs, double bar) {
    point.against = other.size;
    point.ratio = median(costs);
    point.lower_quartile = quantile(costs, 0.25);
    point.bar = bar;
}

/// Measures a range of sizes, and judges each.
///
/// Small sizes may cost no more than any larger one: then the tail of a vector or tile costs at
/// most as much as a whole one. Large ones may cost per output at most most_excess of what any
/// other of the range does. Where that fails, the two sizes are measured again on their own.
std::vector<Point> measure(const Sweep &sweep, const Range &range, const TurnArguments &arguments) {
    std::vector<Point> points;
    std::vector<std::unique_ptr<Subject>> subjects;
    std::vector<Work> works;
    for (Size size = range.first; size <= range.last; ++size) {
        Point point;
        point.size = size;
        point.problem = fmt::format(fmt::runtime(sweep.problem), size);
        subjects.push_back(std::make_unique<Subject>(problem(point.problem), arguments.isa));
        point.kernel = subjects.back()->plan().kernel();
        points.push_back(point);
        works.push_back([subject = subjects.back().get()] { subject->run(); });
    }
    const auto seconds = take_turns(works, arguments.turns, arguments.slice);
    const double bar = range.large ? most_excess : 1;
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].seconds = median(seconds[i]);
        std::size_t highest = i;
        double most = 0;
        for (std::size_t j = range.large ? 0 : i + 1; j < points.size(); ++j) {
            const double cost =
                median(excess(range, sweep.grows, points[i], points[j], seconds[i], seconds[j]));
            if (j != i && cost > most) {
                highest = j;
                most = cost;
            }
        }
        if (highest == i) {
            continue;
        }
        Point &other = points[highest];
        judge(points[i], other,
              excess(range, sweep.grows, points[i], other, seconds[i], seconds[highest]), bar);
        if (points[i].cliff()) {
            const auto again =
                take_turns({works[i], works[highest]}, 3 * arguments.turns, arguments.slice);
            judge(points[i], other,
                  excess(range, sweep.grows, points[i], other, again[0], again[1]), bar);
        }
    }
    return points;
}

nlohmann::json json_of(const Sweep &sweep, const Range &range, const std::vector<Point> &points) {
    nlohmann::json sizes = nlohmann::json::array();
    for (const Point &point : points) {
        sizes.push_back({{"size", point.size},
                         {"problem", point.problem},
                         {"kernel", point.kernel},
                         {"milliseconds", point.seconds * 1e3},
                         {"work", work(sweep.grows, point.size)},
                         {"against", point.against},
                         {"ratio", point.ratio},
                         {"lower_quartile", point.lower_quartile},
                         {"bar", point.bar},
                         {"cliff", point.cliff()}});
    }
    return {{"name", sweep.name},
            {"grows", name(sweep.grows)},
            {"large", range.large},
            {"sizes", sizes}};
}

/// A line of the table: the worst size of a range.
void print(const Sweep &sweep, const Range &range, const std::vector<Point> &points,
           std::ptrdiff_t cliffs) {
    const Point &worst =
        *std::max_element(points.begin(), points.end(), [](const Point &a, const Point &b) {
            return a.lower_quartile < b.lower_quartile;
        });
    fmt::print("| {} | {} | {} to {} | {} | {} | {:.4f} | {} | {} | {:.3f} | {:.3f} | {:.2f} |\n",
               sweep.name, name(sweep.grows), range.first, range.last, cliffs, worst.size,
               worst.seconds * 1e3, worst.kernel, worst.against, worst.ratio, worst.lower_quartile,
               worst.bar);
    std::fflush(stdout);
}

void run(const TurnArguments &arguments) {
    fmt::print("| problem | grows | sizes | cliffs | worst | ms | kernel | against | ratio | lower "
               "quartile | bar |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    const std::regex filter(arguments.filter);
    nlohmann::json all = nlohmann::json::array();
    std::size_t sizes = 0, cliffs = 0;
    for (const Sweep &sweep : sweeps) {
        if (!std::regex_search(fmt::format("{}, {}", sweep.name, name(sweep.grows)), filter)) {
            continue;
        }
        for (const Range &range : ranges(sweep.grows)) {
            const std::vector<Point> points = measure(sweep, range, arguments);
            const auto found = std::count_if(points.begin(), points.end(),
                                             [](const Point &point) { return point.cliff(); });
            print(sweep, range, points, found);
            all.push_back(json_of(sweep, range, points));
            sizes += points.size();
            cliffs += found;
        }
    }
    if (all.empty()) {
        throw std::runtime_error("no sweep matches " + arguments.filter);
    }
    fmt::print("\n{} of {} sizes cost more than they may\n", cliffs, sizes);
    write_json(arguments, {{"sweeps", all}, {"sizes", sizes}, {"cliffs", cliffs}});
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    return bench::run_turn_program(
        "Whether cost grows linearly with maps, channels and kernels, one thread: every size of a "
        "range in turn. From 8 vectors on, a size may cost per output 15% more than any other of "
        "its range; below, no more than any larger size, so that a tail costs one vector or tile.",
        argc, argv, bench::run);
}
