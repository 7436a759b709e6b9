#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

using selvage::Op;
using selvage::Window;

// Multiplications that the elements of the border may cost, and those of the interior.
constexpr double budget = 2e7;

bool inside(std::int64_t position, const Window &window) {
    return 0 <= position && position < window.size;
}

std::int64_t position(const Window &window, std::int64_t output, std::int64_t tap) {
    return window.stride * output + window.dilation * tap - window.before;
}

bool leaves_input(const Window &window, std::int64_t output) {
    return !inside(position(window, output, 0), window) ||
           !inside(position(window, output, window.kernel - 1), window);
}

float element(const selvage::Plan &plan, const Data &data, std::int64_t n, std::int64_t y,
              std::int64_t x, std::int64_t k) {
    const selvage::Problem &p = plan.problem();
    const Window &wy = plan.window_y(), &wx = plan.window_x();
    const std::int64_t inputs = p.op == Op::conv2d ? p.c / p.g : 1; // that one output depends on
    const std::int64_t first = p.op == Op::conv2d ? k / (p.k / p.g) * inputs : k / (p.k / p.c);
    float sum = p.bias ? data.bias[k] : 0;
    float highest = -std::numeric_limits<float>::infinity();
    std::int64_t counted = 0;
    for (std::int64_t ty = 0; ty < wy.kernel; ++ty) {
        for (std::int64_t tx = 0; tx < wx.kernel; ++tx) {
            const std::int64_t iy = position(wy, y, ty), ix = position(wx, x, tx);
            const bool is_inside = inside(iy, wy) && inside(ix, wx);
            counted += p.include_pad ? iy < wy.counted_end && ix < wx.counted_end : is_inside;
            if (is_pool(p.op) && !is_inside) {
                continue;
            }
            const float *read =
                is_inside
                    ? data.input.data() +
                          ((n * p.y.size + wy.origin + iy) * p.x.size + wx.origin + ix) * p.c +
                          first
                    : nullptr;
            for (std::int64_t c = 0; c < inputs; ++c) {
                const float value = read ? read[c] : p.value;
                highest = std::max(highest, value);
                sum += is_pool(p.op)
                           ? value
                           : value *
                                 data.weights[((k * inputs + c) * wy.kernel + ty) * wx.kernel + tx];
            }
        }
    }
    return p.op == Op::max_pool2d ? highest : p.op == Op::avg_pool2d ? sum / counted : sum;
}

// Every how many elements one has to be computed to stay within the budget.
std::int64_t step(double elements, const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    const double taps =
        static_cast<double>(p.y.kernel) * p.x.kernel * (p.op == Op::conv2d ? p.c / p.g : 1);
    return static_cast<std::int64_t>(std::ceil(std::max(1.0, elements * taps / budget)));
}

} // namespace

std::vector<Expected> reference(const selvage::Plan &plan, const Data &data) {
    const selvage::Problem &p = plan.problem();
    const Window &wy = plan.window_y(), &wx = plan.window_x();
    const auto on_border = [&](std::int64_t y, std::int64_t x) {
        return leaves_input(wy, y) || leaves_input(wx, x);
    };
    double border = 0, interior = 0;
    for (std::int64_t y = 0; y < wy.outputs; ++y) {
        for (std::int64_t x = 0; x < wx.outputs; ++x) {
            ++(on_border(y, x) ? border : interior);
        }
    }
    const std::int64_t border_step = step(p.n * border * p.k, plan);
    const std::int64_t interior_step = step(p.n * interior * p.k, plan);

    std::vector<Expected> expected;
    std::int64_t pixel = 0; // also shifts the channels, so that every channel has its turn
    for (std::int64_t n = 0; n < p.n; ++n) {
        for (std::int64_t y = 0; y < wy.outputs; ++y) {
            for (std::int64_t x = 0; x < wx.outputs; ++x, ++pixel) {
                const std::int64_t each = on_border(y, x) ? border_step : interior_step;
                for (std::int64_t k = pixel % each; k < p.k; k += each) {
                    const std::size_t index = pixel * p.k + k;
                    expected.push_back({index, element(plan, data, n, y, x, k)});
                }
            }
        }
    }
    return expected;
}

std::string fault(const selvage::Plan &plan, const std::vector<Expected> &expected,
                  const Floats &output) {
    const auto place = [&](std::size_t index) {
        const std::size_t k = plan.problem().k, columns = plan.window_x().outputs,
                          rows = plan.window_y().outputs;
        return "output n=" + std::to_string(index / k / columns / rows) +
               " y=" + std::to_string(index / k / columns % rows) +
               " x=" + std::to_string(index / k % columns) + " k=" + std::to_string(index % k) +
               " is " + std::to_string(output[index]);
    };
    for (const Expected &each : expected) {
        if (output[each.index] != each.value) {
            return place(each.index) + " instead of " + std::to_string(each.value);
        }
    }
    const auto unwritten =
        std::find_if(output.begin(), output.end(), [](float value) { return std::isnan(value); });
    return unwritten == output.end() ? "" : place(unwritten - output.begin());
}

} // namespace bench
