#include "turns.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace bench {
namespace {

double seconds_of(const Work &work, long calls, Clock clock) {
    const double begin = clock();
    for (long call = 0; call < calls; ++call) {
        work();
    }
    return clock() - begin;
}

double seconds_per_call(const Work &work, double slice_seconds, Clock clock) {
    work();
    for (long calls = 1;; calls *= 2) {
        const double seconds = seconds_of(work, calls, clock);
        if (seconds > slice_seconds / 4) {
            return seconds / calls;
        }
    }
}

} // namespace

double processor_time() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

double now() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::vector<std::vector<double>> take_turns(const std::vector<Work> &works, int turns,
                                            double slice_seconds, Clock clock) {
    std::vector<double> estimates;
    for (const Work &work : works) {
        estimates.push_back(seconds_per_call(work, slice_seconds, clock));
    }
    const double slice =
        std::max(slice_seconds, *std::max_element(estimates.begin(), estimates.end()));

    std::vector<std::vector<double>> seconds(works.size(), std::vector<double>(turns));
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t i = 0; i < works.size(); ++i) {
            const std::size_t work = (turn + i) % works.size();
            const long calls = std::max(1L, std::lround(slice / estimates[work]));
            works[work]();
            seconds[work][turn] = seconds_of(works[work], calls, clock) / calls;
        }
    }
    return seconds;
}

std::vector<double> ratios(const std::vector<double> &a, const std::vector<double> &b) {
    std::vector<double> result(a.size());
    std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::divides<>());
    return result;
}

double quantile(std::vector<double> values, double quantile) {
    if (values.empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    std::sort(values.begin(), values.end());
    const double position = quantile * (values.size() - 1);
    const std::size_t below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - below) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double geometric_mean(const std::vector<double> &values) {
    double sum = 0;
    for (double value : values) {
        sum += std::log(value);
    }
    return std::exp(sum / values.size());
}

} // namespace bench
