#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "selvage/plan.h"

namespace selvage {

/// A plan together with the memory that it needs: the short way to run one problem many times.
///
/// A layer owns its packed weights and its scratch memory, so one layer serves one thread at a
/// time; threads that share weights share a Plan instead.
class Layer {
public:
    const Plan &plan() const { return plan_; }

    /// Plan::run() with the layer's own memory.
    Status run(const Tensor<const float> &input, const Tensor<float> &output);

    /// The same on dense NHWC tensors of the problem's shape.
    Status run(const float *input, float *output);

private:
    struct Free {
        void operator()(std::byte *memory) const {
            ::operator delete(memory, std::align_val_t(alignment));
        }
    };
    using Memory = std::unique_ptr<std::byte, Free>;

    friend Status make_layer(const Problem &, const Options &, const float *, WeightOrder,
                             const float *, Layer *);
    Plan plan_;
    Memory packed_, scratch_;
};

/// make_plan(), memory for the plan, and Plan::pack(). Weights and bias are read once; both are
/// null for pools. On failure *layer is unchanged, with the code of the step that failed or
/// `too_small` where there is no memory. Safe from any thread.
Status make_layer(const Problem &problem, const Options &options, const float *weights,
                  WeightOrder order, const float *bias, Layer *layer);

} // namespace selvage
