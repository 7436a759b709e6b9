#pragma once

#include <functional>
#include <vector>

namespace bench {

using Work = std::function<void()>;

using Clock = double (*)();

/// Seconds that the calling thread has run.
double processor_time();

/// Seconds of a clock that only moves forward.
double now();

/// Lets the works take turns and returns the seconds per call of each work in each turn, as
/// result[work][turn].
///
/// Machines change their speed within seconds, so only slices of one turn may be compared: the
/// ratio of two works is the median of the turns' ratios. In a turn every work runs for a slice of
/// about `slice_seconds`, or of one call of the slowest work where that takes longer. All slices
/// are equally long, so that noise hits all works alike; each begins with one untimed call that
/// brings the work's data back to the caches; and every turn begins with another work. Counted is
/// the processor time of the calling thread, so that other programs on the machine matter less; of
/// works with threads of their own, the time on the wall.
std::vector<std::vector<double>> take_turns(const std::vector<Work> &works, int turns,
                                            double slice_seconds, Clock clock = processor_time);

/// a[i] / b[i]
std::vector<double> ratios(const std::vector<double> &a, const std::vector<double> &b);

/// The value below which the share `quantile` (0 to 1) of the values lies; NaN where there is none.
double quantile(std::vector<double> values, double quantile);
double median(std::vector<double> values);
double geometric_mean(const std::vector<double> &values);

} // namespace bench
