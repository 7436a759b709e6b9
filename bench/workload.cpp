#include "workload.h"

#include <limits>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

Floats integers(std::size_t count, int magnitude, std::minstd_rand &random) {
    Floats values(count);
    for (float &value : values) {
        value = static_cast<float>(static_cast<int>(random() % (2 * magnitude + 1)) - magnitude);
    }
    return values;
}

void require(const selvage::Status &status) {
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
}

} // namespace

Data integer_data(const selvage::Problem &p) {
    std::minstd_rand random;
    Data data;
    data.input = integers(p.n * p.y.size * p.x.size * p.c, 8, random);
    if (!is_pool(p.op)) {
        const std::int64_t inputs = p.op == selvage::Op::conv2d ? p.c / p.g : 1;
        data.weights = integers(p.k * inputs * p.y.kernel * p.x.kernel, 2, random);
    }
    if (p.bias) {
        data.bias = integers(p.k, 8, random);
    }
    return data;
}

Workload::Workload(selvage::Plan plan, const Data &data)
    : plan_(std::move(plan)), packed_memory_((plan_.packed_bytes() + 3) / sizeof(float)),
      scratch_((plan_.scratch_bytes() + 3) / sizeof(float)) {
    const selvage::Problem &p = plan_.problem();
    const std::int64_t rows = plan_.window_y().outputs, columns = plan_.window_x().outputs;
    output_.assign(p.n * rows * columns * p.k, std::numeric_limits<float>::quiet_NaN());
    input_ = selvage::dense(data.input.data(), p.n, p.y.size, p.x.size, p.c);
    dense_output_ = selvage::dense(output_.data(), p.n, rows, columns, p.k);
    if (!is_pool(p.op)) {
        require(plan_.pack(data.weights.data(), selvage::WeightOrder::oihw,
                           p.bias ? data.bias.data() : nullptr, packed_memory_.data()));
        packed_ = packed_memory_.data();
    }
    run();
    require(status_);
}

} // namespace bench
