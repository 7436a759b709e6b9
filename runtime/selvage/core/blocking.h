#pragma once

#include <cstdint>

namespace selvage {

/// How a kernel with a strip cuts up its work. 0: left to the library, or nothing that the kernel
/// has.
struct Blocking {
    /// Output rows that share one strip; of pointwise: tiles of pixels that share one panel.
    std::int64_t strip_rows = 0;
    std::int64_t block_rows = 0;     ///< of those, rows that are accumulated together
    std::int64_t channel_blocks = 0; ///< channel blocks of one partial sum
    std::int64_t strip_planes = 0;   ///< lines: planes that share one strip
    std::int64_t strip_columns = 0;  ///< winograd: output columns that share one strip
};

/// One of the numbers, by its name in schedule texts.
struct BlockingKey {
    const char *name;
    std::int64_t Blocking::*number;
};

constexpr BlockingKey blocking_keys[] = {{"strip_rows", &Blocking::strip_rows},
                                         {"block_rows", &Blocking::block_rows},
                                         {"channel_blocks", &Blocking::channel_blocks},
                                         {"strip_planes", &Blocking::strip_planes},
                                         {"strip_columns", &Blocking::strip_columns}};

/// Whether any of the numbers is given.
constexpr bool any(const Blocking &blocking) {
    for (const BlockingKey &key : blocking_keys)
        if (blocking.*key.number != 0)
            return true;
    return false;
}

} // namespace selvage
