#pragma once

#include <functional>
#include <vector>

#include "data.h"
#include "selvage/plan.h"

namespace bench {

/// The sizes of what a problem reads.
DataSizes data_sizes(const selvage::Problem &problem);

/// Small integers, the same on every call for the same problem; those of images are not negative.
/// All sums of the shared layers stay below 2^24, where float arithmetic is exact in any order, so
/// results are equal or wrong.
Data integer_data(const selvage::Problem &problem);

/// A plan with all the memory that it needs: packed weights, scratch memory and a dense output.
class Workload {
public:
    /// Packs the weights and runs once. `data` is read and `parallel` called by every run(); both
    /// have to outlive the workload, and so has `output`, where it is not null: memory for floats
    /// that workloads of one problem share, so that where it lies makes none of them faster. Throws
    /// std::runtime_error with the library's text where either fails.
    Workload(selvage::Plan plan, const Data &data, const selvage::Parallel *parallel = nullptr,
             Floats *output = nullptr);
    Workload(const Workload &) = delete;
    Workload &operator=(const Workload &) = delete;

    /// Computes the problem once, on the same memory every time. What succeeded once with these
    /// arguments does so again, so the status is the constructor's alone.
    void run() { status_ = run_(); }
    const selvage::Plan &plan() const { return plan_; }
    /// Dense, in the problem's layout; of images the bytes that the constructor's run wrote.
    /// Floats that no run wrote are NaN.
    const Floats &output() const { return *output_; }

private:
    void pack(const Data &data);
    template <class T> void prepare(const T *input, T *output);
    template <class T> void run_bytes(const Data &data);

    using Bytes = std::vector<std::uint8_t, Aligned<std::uint8_t>>;

    selvage::Plan plan_;
    const selvage::Parallel *parallel_;
    Floats packed_, scratch_, own_output_;
    Floats *output_;
    Bytes input_bytes_, output_bytes_;  ///< of images, in place of floats
    std::vector<std::int64_t> indices_; ///< of max pools that tell them
    std::function<selvage::Status()> run_;
    selvage::Status status_;
};

} // namespace bench
