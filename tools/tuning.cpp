#include "tuning.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace {

// So many are prepared whatever the time; others as long as most of the time is left for turns.
constexpr std::size_t least_entrants = 24;
constexpr double share_of_contest = 2. / 3;

/// An entrant that is prepared, or what keeps it out of the contest.
Measured prepared(const Entrant &entrant) {
    Measured result = {entrant.schedule, "", false, {}};
    try {
        result.excluded = entrant.prepare();
        result.wrong = !result.excluded.empty();
    } catch (const std::exception &error) {
        result.excluded = error.what();
    }
    return result;
}

} // namespace

std::size_t Tuned::measured() const {
    return std::size_t(std::count_if(entrants.begin(), entrants.end(),
                                     [](const Measured &each) { return each.excluded.empty(); }));
}

Tuned tune(const std::vector<Entrant> &entrants, double seconds, bench::Clock clock,
           const std::function<void(std::size_t)> &ready, const bench::Standing &standing) {
    const double end = bench::now() + seconds;
    Tuned tuned;
    std::vector<std::size_t> competing;
    std::vector<bench::Work> works;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
        if (i >= least_entrants && bench::now() > end - seconds * share_of_contest) {
            tuned.entrants.push_back(
                {entrants[i].schedule, "left out for want of time", false, {}});
            continue;
        }
        tuned.entrants.push_back(prepared(entrants[i]));
        const std::string &excluded = tuned.entrants.back().excluded;
        if (i == 0 && !excluded.empty())
            throw std::runtime_error(entrants[i].schedule + ": " + excluded);
        if (excluded.empty()) {
            competing.push_back(i);
            works.push_back(entrants[i].run);
        }
        if (ready)
            ready(i + 1);
    }
    const bench::Verdict verdict = bench::contest(
        works, end - bench::now(), clock, [&](std::size_t left, std::size_t best, double ratio) {
            if (standing)
                standing(left, competing[best], ratio);
        });
    for (std::size_t i = 0; i < competing.size(); ++i)
        tuned.entrants[competing[i]].score = verdict.scores[i];
    tuned.winner = competing[verdict.winner];
    return tuned;
}
