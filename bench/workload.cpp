#include "workload.h"

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

Floats integers(std::size_t count, int low, int high, std::minstd_rand &random) {
    Floats values(count);
    for (float &value : values) {
        value = static_cast<float>(low + static_cast<int>(random() % (high - low + 1)));
    }
    return values;
}

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

Data integer_data(const selvage::Problem &p) {
    std::minstd_rand random;
    const bool image = p.type == selvage::Type::u8;
    Data data;
    data.input = integers(p.n * p.z.size * p.y.size * p.x.size * p.c, image ? 0 : -8,
                          image ? 16 : 8, random);
    data.weights = integers(weight_count(p), -2, 2, random);
    if (p.bias) {
        data.bias = integers(p.k, -8, 8, random);
    }
    return data;
}

Workload::Workload(selvage::Plan plan, const Data &data, const selvage::Parallel *parallel)
    : plan_(std::move(plan)), parallel_(parallel), packed_(plan_.packed_bytes() / sizeof(float)),
      scratch_(plan_.scratch_bytes() / sizeof(float)) {
    const selvage::Problem &p = plan_.problem();
    const selvage::Region &region = plan_.output_region();
    output_.assign(p.n * region.z.size * region.y.size * region.x.size * p.k,
                   std::numeric_limits<float>::quiet_NaN());
    if (has_weights(p.op)) {
        require(plan_.pack(data.weights.data(), selvage::WeightOrder::oihw,
                           p.bias ? data.bias.data() : nullptr, packed_.data()));
    }
    if (p.type == selvage::Type::f32) {
        prepare(data.input.data(), output_.data());
    } else {
        input_bytes_.assign(data.input.begin(), data.input.end());
        output_bytes_.resize(output_.size());
        prepare<std::uint8_t>(input_bytes_.data(), output_bytes_.data());
    }
    run();
    require(status_);
    std::copy(output_bytes_.begin(), output_bytes_.end(), output_.begin());
}

/// Makes run() compute dense tensors.
template <class T> void Workload::prepare(const T *input, T *output) {
    const selvage::Problem &p = plan_.problem();
    const auto view = [&](auto *data, const selvage::Region &region, std::int64_t channels) {
        return selvage::dense(data, p.n, region.z.size, region.y.size, region.x.size, channels,
                              p.layout);
    };
    run_ = [this, in = view(input, plan_.input_region(), p.c),
            out = view(output, plan_.output_region(), p.k)] {
        return plan_.run(in, packed_.empty() ? nullptr : packed_.data(), out, scratch_.data(),
                         plan_.scratch_bytes(), nullptr, parallel_);
    };
}

} // namespace bench
