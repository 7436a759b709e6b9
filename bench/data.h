#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "selvage/core/scratch.h"

namespace bench {

/// Gives a std::vector memory that is aligned as the library wants it.
template <class T> struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U> Aligned(const Aligned<U> &) {}
    T *allocate(std::size_t count) {
        return static_cast<T *>(
            ::operator new (count * sizeof(T), std::align_val_t{selvage::alignment}));
    }
    void deallocate(T *memory, std::size_t) {
        ::operator delete (memory, std::align_val_t{selvage::alignment});
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
