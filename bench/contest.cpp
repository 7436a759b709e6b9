#include "contest.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bench {
namespace {

// What is slower than this in each of a few single calls, whatever the noise, is not looked at any
// longer: it would make the slices of all others as long as one of its calls.
constexpr double hopeless = 1.5;
constexpr int glance_turns = 3;

// The last round. Medians of 20 turns of a millisecond are repeated within 1 to 2 %.
constexpr std::size_t finalists = 4;
constexpr int least_final_turns = 20, most_final_turns = 80;
// The rounds before it, which only tell halves apart.
constexpr int least_turns = 5, most_turns = 20;

constexpr int batch = 5; // turns between looks at the clock
constexpr double slice_seconds = 1e-3;

struct Turns {
    int least, most;
};

class Contest {
public:
    Contest(const std::vector<Work> &works, double seconds, Clock clock, const Standing &standing)
        : works_(works), end_(now() + seconds), clock_(clock), standing_(standing),
          scores_(works.size()) {
        for (std::size_t i = 1; i < works.size(); ++i) {
            left_.push_back(i);
        }
    }

    Verdict decide() {
        drop_hopeless();
        while (left_.size() > finalists) {
            const double rounds = std::ceil(std::log2(double(left_.size()) / double(finalists)));
            round({least_turns, most_turns}, time_left() / (rounds + 2)); // the last one has two
            sort();
            left_.resize(std::max(finalists, left_.size() / 2));
        }
        round({least_final_turns, most_final_turns}, time_left());
        sort();
        const bool beaten = !left_.empty() && scores_[left_.front()].upper_quartile < 1;
        return {scores_, beaten ? left_.front() : 0};
    }

private:
    double time_left() const { return end_ - now(); }

    void score(std::size_t work, const std::vector<double> &seconds,
               const std::vector<double> &first) {
        const std::vector<double> times = ratios(seconds, first);
        scores_[work] = {static_cast<int>(times.size()), median(seconds), median(times),
                         quantile(times, 0.25), quantile(times, 0.75)};
    }

    double seconds_of_call(std::size_t work) const {
        const double begin = clock_();
        works_[work]();
        return clock_() - begin;
    }

    void drop_hopeless() {
        const auto has_hope = [&](std::size_t work) {
            std::vector<double> first, seconds;
            for (int turn = 0; turn < glance_turns; ++turn) {
                first.push_back(seconds_of_call(0));
                seconds.push_back(seconds_of_call(work));
                if (seconds.back() < hopeless * first.back()) {
                    return true;
                }
            }
            score(work, seconds, first);
            return false;
        };
        std::vector<std::size_t> left;
        std::copy_if(left_.begin(), left_.end(), std::back_inserter(left), has_hope);
        left_ = left;
        tell();
    }

    /// Has the first work and those that are left take turns.
    void round(Turns turns, double seconds) {
        const double end = now() + seconds;
        std::vector<Work> works = {works_[0]};
        for (std::size_t work : left_) {
            works.push_back(works_[work]);
        }
        std::vector<std::vector<double>> all(works.size());
        for (int turn = 0; turn < turns.least || (turn < turns.most && now() < end);
             turn += batch) {
            const auto some = take_turns(works, batch, slice_seconds, clock_);
            for (std::size_t i = 0; i < works.size(); ++i) {
                all[i].insert(all[i].end(), some[i].begin(), some[i].end());
                score(i == 0 ? 0 : left_[i - 1], all[i], all[0]);
            }
            tell();
        }
    }

    void sort() {
        std::sort(left_.begin(), left_.end(), [&](std::size_t a, std::size_t b) {
            return scores_[a].ratio < scores_[b].ratio;
        });
    }

    void tell() const {
        if (!standing_) {
            return;
        }
        std::size_t best = 0;
        for (std::size_t work : left_) {
            if (scores_[work].ratio < scores_[best].ratio) {
                best = work;
            }
        }
        standing_(left_.size(), best, scores_[best].ratio);
    }

    const std::vector<Work> &works_;
    const double end_;
    const Clock clock_;
    const Standing &standing_;
    std::vector<Score> scores_;
    std::vector<std::size_t> left_; ///< works but the first
};

} // namespace

Verdict contest(const std::vector<Work> &works, double seconds, Clock clock,
                const Standing &standing) {
    return Contest(works, seconds, clock, standing).decide();
}

} // namespace bench
