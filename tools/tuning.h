#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <contest.h>

/// A schedule that may compute a problem.
struct Entrant {
    std::string schedule; ///< as a schedule text
    /// Gets ready and computes the problem once; returns what is wrong with the result, empty where
    /// it is right. Throws std::exception where the schedule cannot compute it.
    std::function<std::string()> prepare;
    bench::Work run; ///< computes it again
};

/// How an entrant did.
struct Measured {
    std::string schedule;
    std::string excluded; ///< why it was not timed; empty: it was
    bool wrong = false;   ///< since its result is
    bench::Score score;
};

/// What was found out about a problem.
struct Tuned {
    std::vector<Measured> entrants; ///< in their order
    std::size_t winner = 0;

    std::size_t measured() const; ///< how many were timed
};

/// Prepares the entrants, of many as many as time allows, and has those that are right compete, see
/// bench::contest(). The first is the one to beat; throws std::runtime_error with the reason where
/// that one is not right. `ready` is told after each preparation how many are done. `standing`
/// counts entrants.
Tuned tune(const std::vector<Entrant> &entrants, double seconds, bench::Clock clock,
           const std::function<void(std::size_t)> &ready = {},
           const bench::Standing &standing = {});
