#include "workload.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bench {
namespace {

std::int64_t weight_count(const selvage::Problem &p) {
    const std::int64_t taps = p.z.kernel * p.y.kernel * p.x.kernel;
    switch (p.op) {
    case selvage::Op::conv: return p.k * (p.c / p.g) * taps;
    case selvage::Op::conv_transpose: return p.c * (p.k / p.g) * taps;
    default: return has_weights(p.op) ? p.k * taps : 0;
    }
}

void require(const selvage::Status &status) {
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
}

} // namespace

DataSizes data_sizes(const selvage::Problem &p) {
    return {static_cast<std::size_t>(p.n * p.z.size * p.y.size * p.x.size * p.c),
            static_cast<std::size_t>(weight_count(p)), static_cast<std::size_t>(p.bias ? p.k : 0)};
}

Data integer_data(const selvage::Problem &p) {
    return integer_data(data_sizes(p), p.type == selvage::Type::u8);
}

Workload::Workload(selvage::Plan plan, const Data &data, const selvage::Parallel *parallel,
                   Floats *output)
    : plan_(std::move(plan)), parallel_(parallel), packed_(plan_.packed_bytes() / sizeof(float)),
      scratch_(plan_.scratch_bytes() / sizeof(float)),
      output_(output == nullptr ? &own_output_ : output) {
    const selvage::Problem &p = plan_.problem();
    const selvage::Region &region = plan_.output_region();
    output_->assign(p.n * region.z.size * region.y.size * region.x.size * p.k,
                    std::numeric_limits<float>::quiet_NaN());
    if (has_weights(p.op)) {
        pack(data);
    }
    if (p.indices != selvage::Indices::none) {
        indices_.resize(output_->size());
    }
    switch (p.type) {
    case selvage::Type::f32:
        prepare(data.input.data(), output_->data());
        run();
        break;
    case selvage::Type::u8: run_bytes<std::uint8_t>(data); break;
    case selvage::Type::i8: run_bytes<std::int8_t>(data); break;
    }
    require(status_);
}

void Workload::pack(const Data &data) {
    const selvage::Problem &p = plan_.problem();
    const selvage::WeightOrder order = selvage::WeightOrder::oihw;
    if (p.shift >= 0) {
        const std::vector<std::int16_t> whole(data.weights.begin(), data.weights.end());
        require(plan_.pack(whole.data(), order, packed_.data()));
    } else {
        require(plan_.pack(data.weights.data(), order, p.bias ? data.bias.data() : nullptr,
                           packed_.data()));
    }
}

/// Runs on bytes, and puts their values where those of floats are.
template <class T> void Workload::run_bytes(const Data &data) {
    input_bytes_.resize(data.input.size());
    output_bytes_.resize(output_->size());
    T *const input = reinterpret_cast<T *>(input_bytes_.data());
    T *const output = reinterpret_cast<T *>(output_bytes_.data());
    std::transform(data.input.begin(), data.input.end(), input,
                   [](float value) { return static_cast<T>(value); });
    prepare<T>(input, output);
    run();
    std::copy(output, output + output_->size(), output_->begin());
}

/// Makes run() compute dense tensors.
template <class T> void Workload::prepare(const T *input, T *output) {
    const selvage::Problem &p = plan_.problem();
    const auto view = [&](auto *data, const selvage::Region &region, std::int64_t channels) {
        return selvage::dense(data, p.n, region.z.size, region.y.size, region.x.size, channels,
                              p.layout);
    };
    run_ = [this, in = view(input, plan_.input_region(), p.c),
            out = view(output, plan_.output_region(), p.k),
            places = view(indices_.data(), plan_.output_region(), p.k)] {
        return plan_.run(in, packed_.empty() ? nullptr : packed_.data(), out, scratch_.data(),
                         plan_.scratch_bytes(), indices_.empty() ? nullptr : &places, parallel_);
    };
}

} // namespace bench
