#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "turns.h"

namespace bench {

/// How a work did in the last round that it took part in.
struct Score {
    int turns = 0;      ///< of that round
    double seconds = 0; ///< of a call, median
    /// Time over that of the first work in the same turn: quartiles.
    double ratio = 1, lower_quartile = 1, upper_quartile = 1;
};

/// Where a contest stands: works that are left, and the lowest ratio among them so far.
using Standing = std::function<void(std::size_t left, std::size_t best, double ratio)>;

struct Verdict {
    std::vector<Score> scores; ///< in the order of the works
    std::size_t winner = 0;
};

/// Looks for the fastest of works that compute the same. The first is the one to beat: it is in
/// every round, and wins unless another one took less time in three of four turns of the last
/// round, so that noise replaces nothing.
///
/// All works that are left take turns; a round ends with the slower half of them leaving, by the
/// median of their ratios to the first work in the same turn, and the last few meet in a round of
/// many turns, which alone decides. So neither one noisy sample nor the luck of having been picked
/// counts. `seconds` is what all of it may take; each round has a least number of turns, which a
/// contest of slow works may need longer for. `standing` is told after every few turns.
Verdict contest(const std::vector<Work> &works, double seconds, Clock clock = processor_time,
                const Standing &standing = {});

} // namespace bench
