#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "selvage/memory.h"

namespace bench {

/// Gives a std::vector memory as the library's own: aligned, and on huge pages where it is large.
template <class T> struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U> Aligned(const Aligned<U> &) {}
    T *allocate(std::size_t count) {
        selvage::Memory memory = selvage::allocate(count * sizeof(T));
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
        return reinterpret_cast<T *>(memory.release());
    }
    void deallocate(T *memory, std::size_t) {
        selvage::FreeMemory()(reinterpret_cast<std::byte *>(memory));
    }
    friend bool operator==(Aligned, Aligned) { return true; }
    friend bool operator!=(Aligned, Aligned) { return false; }
};

using Floats = std::vector<float, Aligned<float>>;

/// What a problem reads.
struct Data {
    Floats input;   ///< dense, in the problem's layout; of images the values of the bytes
    Floats weights; ///< OIHW; empty where the problem has none
    Floats bias;    ///< empty where the problem has none
};

/// How many numbers there are of each.
struct DataSizes {
    std::size_t input, weights, bias;
};

/// Small integers, the same for the same sizes on every machine; those of images are not negative.
Data integer_data(const DataSizes &sizes, bool image);

/// Tells outputs apart that differ in any number; equal numbers make it equal on every machine.
std::uint64_t checksum(const Floats &output);

} // namespace bench
