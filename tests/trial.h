#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/plan.h"

#include "guarded_memory.h"
#include "oracle.h"

/// The numbers of one problem, whatever its type: a dense NDHWC input, weights in the order
/// WeightOrder::oihw, and bias. The latter two are empty where the problem has none.
struct Data {
    std::vector<float> input, weights, bias;
    bool separable = false; ///< what Options::separable promises
};

/// The part of a view.
template <class T> selvage::Tensor<T> cut(selvage::Tensor<T> view, const selvage::Region &part) {
    view.data +=
        part.z.begin * view.stride_d + part.y.begin * view.stride_h + part.x.begin * view.stride_w;
    view.d = part.z.size;
    view.h = part.y.size;
    view.w = part.x.size;
    return view;
}

/// Integer-valued data of a problem, small enough for every sum to be exact in float. (Weights of
/// filters are multiples of 1/8, so that roundings meet ties.) Now and then there is a NaN where
/// the operator passes it on.
Data random_data(const selvage::Problem &problem, std::uint64_t seed);

/// The same, but with separable weights where a filter may have them: whole, of one plane.
Data separable_data(const selvage::Problem &problem, std::uint64_t seed);

/// Equal, or both NaN. The sign of zero is not looked at.
bool same_number(float a, float b);

/// The oracle's answer, dense NDHWC.
oracle::Result expected_output(const selvage::Problem &problem, const Data &data);

/// What computes a problem, or a rectangle of its output: a plan, or whatever else takes the same
/// memory. The functions return the text of a failure, else nothing.
struct Subject {
    std::string name;
    selvage::Region output, input;
    std::size_t packed_bytes, scratch_bytes;
    std::function<std::string(const void *weights, selvage::WeightOrder order, const float *bias,
                              void *packed)>
        pack;
    /// Views of the rectangles; no indices where the problem has none.
    std::function<std::string(const selvage::Tensor<const void> &input, const void *packed,
                              const selvage::Tensor<void> &output,
                              const selvage::Tensor<std::int64_t> *indices, void *scratch)>
        run;
    /// Of a Winograd kernel the outputs of a tile along one axis: it is as right as
    /// winograd_bound() says. All else computes convolutions exactly.
    int output_tile = 1;
};

/// `whole` packs what `part`, the same plan or a tile of it, runs on.
Subject subject(const selvage::Plan &whole, const selvage::Plan &part);

/// One problem with its data and the expected output, to be held against any number of plans.
///
/// Every run sees the worst memory that the API allows. Input, weights, packed weights, outputs and
/// scratch touch guard pages, what a kernel only reads is read-only, the gaps of the input's view
/// hold NaN or the highest number, fresh scratch is NaN, and the outputs lie among sentinels that
/// must survive. The strides of the views and the order of the weights follow from the seed. When a
/// kernel hits a guard page, the trial is printed before the process dies.
class Trial {
public:
    /// `alike`: indices have the strides of the output.
    Trial(const selvage::Problem &problem, const Data &data, std::uint64_t seed,
          bool alike = false);

    /// Names the kernel that runs next, for the case that it kills the process.
    void announce(const std::string &kernel) const;

    /// Success if the plan gives exactly the expected values, or those within the bound of its
    /// kernel, and touches nothing else. (NaN equals NaN; the sign of zero is not looked at.) The
    /// text of a failure holds a repro line.
    testing::AssertionResult holds(const selvage::Plan &plan) const;

    /// The same for the tile of a plan that computes a rectangle of its output. The tile sees only
    /// its part of the input and must leave the rest of the output alone.
    testing::AssertionResult holds(const selvage::Plan &plan, const selvage::Region &tile) const;

    /// The same for anything else.
    testing::AssertionResult holds(const Subject &subject) const;

    /// Whether the pixels of all views lie next to each other, see Options::adjacent_pixels.
    bool adjacent_pixels() const;
    /// Whether the weights are separable, see Options::separable.
    bool separable() const { return data_.separable; }

    /// The output of the whole problem.
    selvage::Region output_region() const;

private:
    /// Memory of its own and a view of it, whatever the type of its elements.
    struct Placed {
        selvage::Tensor<void> view;
        std::unique_ptr<GuardedMemory> memory;
    };

    template <class T> static Placed place(selvage::Tensor<void> view, std::uint64_t seed);
    template <class T> Placed place_input(const selvage::Region &part) const;
    selvage::Region input_region() const;
    testing::AssertionResult run(const Subject &subject) const;
    template <class T>
    testing::AssertionResult run(const Subject &subject, const std::byte *packed) const;

    selvage::Problem problem_;
    Data data_;
    std::uint64_t seed_;
    oracle::Result expected_;
    selvage::WeightOrder order_ = selvage::WeightOrder::oihw;
    GuardedMemory weights_, bias_;
    Placed input_, output_, indices_;
};
