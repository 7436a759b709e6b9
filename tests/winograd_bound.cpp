#include "winograd_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

using selvage::Problem;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Terms of the longest row.
int terms(const Matrix &matrix) {
    int most = 0;
    for (const std::vector<double> &row : matrix)
        most = std::max(most, int(row.size() - std::count(row.begin(), row.end(), 0.)));
    return most;
}

double gamma(int n) {
    const double u = std::ldexp(1., -24);
    return n * u / (1 - n * u);
}

} // namespace

const WinogradMatrices &winograd_matrices(int outputs, int taps) {
    // F(2, 3) and F(4, 3): A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks.
    static const std::vector<WinogradMatrices> all = {
        {2,
         3,
         {{1, 1, 1, 0}, {0, 1, -1, -1}},
         {{1, 0, 0}, {1. / 2, 1. / 2, 1. / 2}, {1. / 2, -1. / 2, 1. / 2}, {0, 0, 1}},
         {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
         2},
        {3,
         3,
         {{1, 1, 1, 1, 0}, {0, 1, -1, 2, 0}, {0, 1, 1, 4, 1}},
         {{1. / 2, 0, 0},
          {-1. / 2, -1. / 2, -1. / 2},
          {-1. / 6, 1. / 6, -1. / 6},
          {1. / 6, 1. / 3, 2. / 3},
          {0, 0, 1}},
         {{2, -1, -2, 1, 0},
          {0, -2, -1, 1, 0},
          {0, 2, -3, 1, 0},
          {0, -1, 0, 1, 0},
          {0, 2, -1, -2, 1}},
         6},
        {4,
         3,
         {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
         {{1. / 4, 0, 0},
          {-1. / 6, -1. / 6, -1. / 6},
          {-1. / 6, 1. / 6, -1. / 6},
          {1. / 24, 1. / 12, 1. / 6},
          {1. / 24, -1. / 12, 1. / 6},
          {0, 0, 1}},
         {{4, 0, -5, 0, 1, 0},
          {0, -4, -4, 1, 1, 0},
          {0, 4, -4, -1, 1, 0},
          {0, -2, -1, 2, 1, 0},
          {0, 2, -1, -2, 1, 0},
          {0, 4, 0, -5, 0, 1}},
         24},
        {3,
         2,
         {{1, 1, 1, 0}, {0, 1, -1, 0}, {0, 1, 1, 1}},
         {{1, 0}, {1. / 2, 1. / 2}, {1. / 2, -1. / 2}, {0, 1}},
         {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
         2}};
    return *std::find_if(all.begin(), all.end(), [&](const WinogradMatrices &each) {
        return each.outputs == outputs && each.taps == taps;
    });
}

std::vector<double> winograd_bound(const Problem &p, const Data &data, int outputs) {
    const int taps = int(p.x.kernel);
    const WinogradMatrices &of = winograd_matrices(outputs, taps);
    const std::size_t products = of.b.size(), inputs = std::size_t(p.c / p.g);
    double largest = std::abs(double(p.value));
    for (const float number : data.input)
        largest = std::max(largest, std::abs(double(number)));
    std::vector<double> input(products, 0.); // |B^T||d|, of one axis
    for (std::size_t u = 0; u < products; ++u)
        for (const double each : of.b[u])
            input[u] += std::abs(each);
    const bool whole =
        std::all_of(
            data.weights.begin(), data.weights.end(),
            [&](float weight) { return std::fmod(weight, float(of.divisor * of.divisor)) == 0; }) &&
        std::all_of(data.input.begin(), data.input.end(),
                    [](float number) { return number == std::trunc(number); });
    const int roundings = 1 + 2 * terms(of.b) + int(inputs) + 1 + 2 * terms(of.a) + 1 + 1;

    std::vector<double> bounds;
    for (std::int64_t k = 0; k < p.k; ++k) {
        Matrix weights(products, std::vector<double>(products, 0.)); // sum of |G||w||G^T|
        for (std::size_t i = 0; i < inputs; ++i)
            for (std::size_t v = 0; v < products; ++v)
                for (std::size_t u = 0; u < products; ++u)
                    for (int y = 0; y < taps; ++y)
                        for (int x = 0; x < taps; ++x)
                            weights[v][u] +=
                                std::abs(of.g[v][y] * of.g[u][x] *
                                         data.weights[((k * inputs + i) * taps + y) * taps + x]);
        double most = 0;
        for (int y = 0; y < outputs; ++y)
            for (int x = 0; x < outputs; ++x) {
                double sum = 0;
                for (std::size_t v = 0; v < products; ++v)
                    for (std::size_t u = 0; u < products; ++u)
                        sum += std::abs(of.a[y][v] * of.a[x][u]) * weights[v][u] * input[v] *
                               input[u] * largest;
                most = std::max(most, sum);
            }
        most += data.bias.empty() ? 0 : std::abs(data.bias[k]);
        bounds.push_back(whole && most < (1 << 24) ? 0 : gamma(roundings) * most);
    }
    return bounds;
}
