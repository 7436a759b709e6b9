#pragma once

#include <cstddef>
#include <functional>
#include <new>
#include <vector>

#include "selvage/plan.h"

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

/// Small integers, the same on every call for the same problem; those of images are not negative.
/// All sums of the shared layers stay below 2^24, where float arithmetic is exact in any order, so
/// results are equal or wrong.
Data integer_data(const selvage::Problem &problem);

/// A plan with all the memory that it needs: packed weights, scratch memory and a dense output. Its
/// problem has numbers of type f32 or u8.
class Workload {
public:
    /// Packs the weights and runs once. `data` is read and `parallel` called by every run(); both
    /// have to outlive the workload. Throws std::runtime_error with the library's text where either
    /// fails.
    Workload(selvage::Plan plan, const Data &data, const selvage::Parallel *parallel = nullptr);
    Workload(const Workload &) = delete;
    Workload &operator=(const Workload &) = delete;

    /// Computes the problem once, on the same memory every time. What succeeded once with these
    /// arguments does so again, so the status is the constructor's alone.
    void run() { status_ = run_(); }
    const selvage::Plan &plan() const { return plan_; }
    /// Dense, in the problem's layout; of images the bytes that the constructor's run wrote.
    /// Floats that no run wrote are NaN.
    const Floats &output() const { return output_; }

private:
    template <class T> void prepare(const T *input, T *output);

    using Bytes = std::vector<std::uint8_t, Aligned<std::uint8_t>>;

    selvage::Plan plan_;
    const selvage::Parallel *parallel_;
    Floats packed_, scratch_, output_;
    Bytes input_bytes_, output_bytes_; ///< of images, in place of floats
    std::function<selvage::Status()> run_;
    selvage::Status status_;
};

} // namespace bench
