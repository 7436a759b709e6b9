#pragma once

#include <memory>
#include <vector>

#include "bandwidth.h"
#include "fma_peak.h"
#include "selvage/thread_pool.h"
#include "turns.h"

namespace bench {

/// What so many threads of this machine can do at most, as works that take turns with kernels.
class Ceilings {
public:
    /// `isa` is the instruction set of the arithmetic; the pool has the threads. Measures how each
    /// level of memory is moved the fastest. Takes a second.
    Ceilings(const std::string &isa, selvage::ThreadPool &pool);

    struct Bandwidth {
        MemoryLevel level;
        double bytes_per_second; ///< of the fastest burst
    };
    /// Operations per second of the fastest burst.
    double operations_per_second() const { return operations_per_second_; }
    const std::vector<Bandwidth> &bandwidths() const { return bandwidths_; }

    /// Arithmetic that never leaves the registers.
    Work arithmetic();
    double operations() const; ///< of one call
    /// Moves data of a level, in the way that is the fastest for it.
    Work traffic(const MemoryLevel &level);
    double bytes(const MemoryLevel &level) const; ///< of one call

private:
    struct Stream {
        std::shared_ptr<Traffic> traffic;
        long repeats; ///< of a call
    };

    Work work_of(const Stream &stream);
    Stream stream_of(const MemoryLevel &level, Move move) const;
    const Stream &find(const MemoryLevel &level) const;

    FmaPeak peak_;
    selvage::ThreadPool &pool_;
    double operations_per_second_;
    std::vector<Bandwidth> bandwidths_;
    std::vector<Stream> streams_; ///< by level
};

} // namespace bench
