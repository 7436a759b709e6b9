#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/plan.h"

#include "guarded_memory.h"

/// The numbers of one problem: dense NHWC input, OIHW weights and bias. The latter two are empty
/// where the problem has none.
struct Data {
    std::vector<float> input, weights, bias;
};

/// Integer-valued data of a problem, small enough for every sum to be exact in float. Max pools
/// also get NaN now and then.
Data random_data(const selvage::Problem &problem, std::uint64_t seed);

/// Equal, or both NaN. The sign of zero is not looked at.
bool same_number(float a, float b);

/// The oracle's answer, dense NHWC.
std::vector<float> expected_output(const selvage::Problem &problem, const Data &data);

/// One problem with its data and the expected output, to be held against any number of plans.
///
/// Every run sees the worst memory that the API allows. Input, weights, packed weights, output and
/// scratch touch guard pages, what a kernel only reads is read-only, the gaps of the input's view
/// and fresh scratch are NaN, and the output lies among sentinels that must survive. The layout of
/// the views and the order of the weights follow from the seed. When a kernel hits a guard page,
/// the trial is printed before the process dies.
class Trial {
public:
    Trial(const selvage::Problem &problem, const Data &data, std::uint64_t seed);

    /// Names the kernel that runs next, for the case that it kills the process.
    void announce(const std::string &kernel) const;

    /// Success if the plan's kernel gives exactly the expected values and touches nothing else.
    /// (NaN equals NaN; the sign of zero is not looked at.) The text of a failure holds a repro
    /// line.
    testing::AssertionResult holds(const selvage::Plan &plan) const;

    /// Whether the pixels of both views lie next to each other, see Options::adjacent_pixels.
    bool adjacent_pixels() const;

private:
    testing::AssertionResult output_is_right() const;

    selvage::Problem problem_;
    std::uint64_t seed_;
    std::vector<float> expected_;
    selvage::WeightOrder order_ = selvage::WeightOrder::oihw;
    GuardedMemory weights_memory_, bias_memory_;
    std::unique_ptr<GuardedMemory> input_memory_, output_memory_;
    const float *weights_ = nullptr, *bias_ = nullptr;
    selvage::Tensor<const float> input_;
    selvage::Tensor<float> output_;
};
