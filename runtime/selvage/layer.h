#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "selvage/export.h"
#include "selvage/plan.h"

namespace selvage {

/// A plan together with the memory that it needs: the short way to run one problem many times.
///
/// A layer owns its packed weights and its scratch memory (on the plan's device), so it serves one
/// run at a time, by as many threads as Options::threads says; runs at the same time that share
/// weights share a Plan.
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
        const Tensor<std::int64_t> index = written(indices);
        return run(read(input), written(output), indices == nullptr ? nullptr : &index, parallel);
    }

    /// Plan::run_on_host_memory() with the layer's own memory.
    template <class T>
    Status run_on_host_memory(const Tensor<const T> &input, const Tensor<T> &output,
                              const Tensor<std::int64_t> *indices = nullptr,
                              const Parallel *parallel = nullptr) {
        return plan_.run_on_host_memory(input, packed_.get(), output, scratch_.get(),
                                        plan_.scratch_bytes(), indices, parallel);
    }

    /// The same on dense tensors of the problem's shape and layout.
    template <class T>
    Status run_on_host_memory(const T *input, T *output, std::int64_t *indices = nullptr,
                              const Parallel *parallel = nullptr) {
        const Tensor<std::int64_t> index = written(indices);
        return run_on_host_memory(read(input), written(output),
                                  indices == nullptr ? nullptr : &index, parallel);
    }

private:
    template <class T> Tensor<const T> read(const T *data) const {
        const Problem &p = plan_.problem();
        const Region &in = plan_.input_region();
        return dense(data, p.n, in.z.size, in.y.size, in.x.size, p.c, p.layout);
    }
    template <class T> Tensor<T> written(T *data) const {
        const Problem &p = plan_.problem();
        const Region &out = plan_.output_region();
        return dense(data, p.n, out.z.size, out.y.size, out.x.size, p.k, p.layout);
    }

    friend Status make_layer(const Problem &, const Options &, const float *, WeightOrder,
                             const float *, Layer *);
    Plan plan_;
    DeviceMemory packed_, scratch_;
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
