#pragma once

#include <cstddef>
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
    Floats input;   ///< dense NHWC
    Floats weights; ///< OIHW; empty for pools
    Floats bias;    ///< empty where the problem has none
};

/// Small integers, the same on every call for the same problem. All sums of the shared layers stay
/// below 2^24, where float arithmetic is exact in any order, so results are equal or wrong.
Data integer_data(const selvage::Problem &problem);

/// A plan with all the memory that it needs: packed weights, scratch memory and a dense output.
class Workload {
public:
    /// Packs the weights and runs once. `data` is read by every run() and has to outlive the
    /// workload. Throws std::runtime_error with the library's text where either fails.
    Workload(selvage::Plan plan, const Data &data);
    Workload(const Workload &) = delete;
    Workload &operator=(const Workload &) = delete;

    /// Computes the problem once, on the same memory every time. What succeeded once with these
    /// arguments does so again, so the status is the constructor's alone.
    void run() {
        status_ = plan_.run(input_, packed_, dense_output_, scratch_.data(), scratch_bytes());
    }
    const selvage::Plan &plan() const { return plan_; }
    /// Dense NHWC. Elements that no run wrote are NaN.
    const Floats &output() const { return output_; }

private:
    std::size_t scratch_bytes() const { return scratch_.size() * sizeof(float); }

    selvage::Plan plan_;
    Floats packed_memory_, scratch_, output_;
    const void *packed_ = nullptr;
    selvage::Tensor<const float> input_;
    selvage::Tensor<float> dense_output_;
    selvage::Status status_;
};

} // namespace bench
