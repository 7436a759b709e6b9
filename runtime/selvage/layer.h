#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include "selvage/export.h"
#include "selvage/plan.h"

namespace selvage {

/// A plan together with the memory that it needs: the short way to run one problem many times.
///
/// A layer owns its packed weights and its scratch memory, so it serves one run at a time, by as
/// many threads as Options::threads says; runs at the same time that share weights share a Plan.
class Layer {
public:
    /// What is computed, by which kernels.
    const Plan &plan() const { return plan_; }

    /// Plan::run() with the layer's own memory.
    template <class T>
    Status run(const Tensor<const T> &input, const Tensor<T> &output,
               const Tensor<std::int64_t> *indices = nullptr, const Parallel *parallel = nullptr) {
        return plan_.run(input, packed_.get(), output, scratch_.get(), plan_.scratch_bytes(),
                         indices, parallel);
    }

    /// The same on dense tensors of the problem's shape and layout.
    template <class T>
    Status run(const T *input, T *output, std::int64_t *indices = nullptr,
               const Parallel *parallel = nullptr) {
        const Problem &p = plan_.problem();
        const Region &in = plan_.input_region(), &out = plan_.output_region();
        const auto written = [&](auto *data) {
            return dense(data, p.n, out.z.size, out.y.size, out.x.size, p.k, p.layout);
        };
        const Tensor<std::int64_t> index = written(indices);
        return run(dense(input, p.n, in.z.size, in.y.size, in.x.size, p.c, p.layout),
                   written(output), indices == nullptr ? nullptr : &index, parallel);
    }

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
/// null for operators without weights. Filters with whole weights need a Plan. On failure *layer is
/// unchanged, with the code of the step that failed or `too_small` where there is no memory. Safe
/// from any thread.
SELVAGE_API Status make_layer(const Problem &problem, const Options &options, const float *weights,
                              WeightOrder order, const float *bias, Layer *layer);

/// The same for a problem text, as parse_problem() reads it.
SELVAGE_API Status make_layer(std::string_view problem, const Options &options,
                              const float *weights, WeightOrder order, const float *bias,
                              Layer *layer);

} // namespace selvage
