#include "ceilings.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace bench {
namespace {

// A call is long enough that to start it on all threads does not count: about 50 us.
constexpr long rounds = 20000;
constexpr double least_bytes = 8e6;

constexpr int bursts = 15;
constexpr double burst_seconds = 1e-3;

/// Calls task(i) for each thread i of the pool, at the same time.
void on_all(selvage::ThreadPool &pool, const std::function<void(int)> &task) {
    pool.run([](void *data, int index) { (*static_cast<std::function<void(int)> *>(data))(index); },
             const_cast<std::function<void(int)> *>(&task), pool.threads());
}

double fastest(const Work &work) {
    const std::vector<double> seconds = take_turns({work}, bursts, burst_seconds, now)[0];
    return *std::min_element(seconds.begin(), seconds.end());
}

} // namespace

Ceilings::Ceilings(const std::string &isa, selvage::ThreadPool &pool)
    : peak_(fma_peak(isa)), pool_(pool),
      operations_per_second_(operations() / fastest(arithmetic())) {
    for (const MemoryLevel &level : memory_levels()) {
        Bandwidth best = {level, 0};
        Stream best_stream;
        for (Move move : {Move::read, Move::copy, Move::triad}) {
            const Stream stream = stream_of(level, move);
            const double rate = stream.repeats * stream.traffic->bytes() / fastest(work_of(stream));
            if (rate > best.bytes_per_second) {
                best.bytes_per_second = rate;
                best_stream = stream;
            }
        }
        bandwidths_.push_back(best);
        streams_.push_back(best_stream);
    }
}

Work Ceilings::arithmetic() {
    return [this] { on_all(pool_, [this](int) { peak_.run(rounds); }); };
}

double Ceilings::operations() const {
    return peak_.operations_per_round * rounds * pool_.threads();
}

Ceilings::Stream Ceilings::stream_of(const MemoryLevel &level, Move move) const {
    const auto traffic = std::make_shared<Traffic>(level, move, pool_.threads());
    const double bytes = traffic->bytes() / pool_.threads();
    return {traffic, std::max(1L, std::lround(least_bytes / bytes))};
}

Work Ceilings::work_of(const Stream &stream) {
    return [this, stream] {
        on_all(pool_, [&](int thread) {
            for (long repeat = 0; repeat < stream.repeats; ++repeat) {
                stream.traffic->run(thread);
            }
        });
    };
}

const Ceilings::Stream &Ceilings::find(const MemoryLevel &level) const {
    const std::vector<MemoryLevel> &levels = memory_levels();
    std::size_t index = 0;
    while (levels[index].name != level.name) {
        ++index;
    }
    return streams_[index];
}

Work Ceilings::traffic(const MemoryLevel &level) { return work_of(find(level)); }

double Ceilings::bytes(const MemoryLevel &level) const {
    const Stream &stream = find(level);
    return stream.repeats * stream.traffic->bytes();
}

} // namespace bench
