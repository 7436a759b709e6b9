#include "data.h"

#include <cstring>
#include <random>

namespace bench {
namespace {

Floats integers(std::size_t count, int low, int high, std::minstd_rand &random) {
    Floats values(count);
    for (float &value : values) {
        value = static_cast<float>(low + static_cast<int>(random() % (high - low + 1)));
    }
    return values;
}

} // namespace

Data integer_data(const DataSizes &sizes, bool image) {
    std::minstd_rand random;
    Data data;
    data.input = integers(sizes.input, image ? 0 : -8, image ? 16 : 8, random);
    data.weights = integers(sizes.weights, -2, 2, random);
    data.bias = integers(sizes.bias, -8, 8, random);
    return data;
}

std::uint64_t checksum(const Floats &output) {
    std::uint64_t hash = 14695981039346656037u; // FNV-1a
    for (const float value : output) {
        const float number = value + 0.f; // of the two zeros one
        std::uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

} // namespace bench
