#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A cache, or the memory behind all of them.
struct MemoryLevel {
    std::string name;     ///< "L1", "L2", "L3" or "DRAM"
    std::size_t capacity; ///< bytes; of DRAM more than anything here needs
    bool shared;          ///< by all threads; L1 and L2 belong to one
};

/// The levels of this machine, the smallest first.
const std::vector<MemoryLevel> &memory_levels();

/// The smallest level that holds so many bytes when as many threads share the work.
const MemoryLevel &level_of(double bytes, int threads);

/// How memory is moved: read alone, copied, or a = b + s * c.
enum class Move { read, copy, triad };

/// Data that lie in a level, for several threads that move them at the same time: what bandwidth is
/// measured with.
class Traffic {
public:
    Traffic(const MemoryLevel &level, Move move, int threads);

    /// Moves the data of one thread, 0 to threads - 1, once.
    void run(int thread);
    /// Bytes that all threads together name in a run: of a copy those that are read and those that
    /// are written. Lines that a store fetches before it overwrites them do not count.
    double bytes() const;

private:
    struct Free {
        void operator()(void *memory) const;
    };

    Move move_;
    std::size_t arrays_, vectors_; ///< vectors_ of each array
    std::vector<std::unique_ptr<void, Free>> memory_;
};

} // namespace bench
