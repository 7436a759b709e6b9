#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace oracle {
namespace {

int reach(const Axis &axis) { return axis.dilation * (axis.kernel - 1) + 1; }

/// An axis of the padded copy: `front` filler, `size` elements of the input from `origin` on, and
/// filler up to `length`. Positions below `declared` belong to the input or its declared pads; what
/// lies beyond is the overhang of ceil mode.
struct PaddedAxis {
    int origin, size, front, declared, length;

    explicit PaddedAxis(const Axis &axis, int outputs)
        : origin(std::max(0, -axis.begin)), size(axis.size - origin - std::max(0, -axis.end)),
          front(std::max(0, axis.begin)), declared(front + size + std::max(0, axis.end)),
          length(std::max(declared, axis.phase + axis.stride * (outputs - 1) + reach(axis))) {}

    bool in_input(int position) const { return position >= front && position < front + size; }
};

/// The padded copy of the whole input.
class PaddedCopy {
public:
    PaddedCopy(const Problem &p, const std::vector<float> &input, double filler)
        : c_(p.c), y_(p.y, outputs(p.y, p.ceil)), x_(p.x, outputs(p.x, p.ceil)),
          values_(std::size_t(p.n) * y_.length * x_.length * p.c, filler) {
        for (int n = 0; n < p.n; ++n)
            for (int y = 0; y < y_.size; ++y)
                for (int x = 0; x < x_.size; ++x)
                    for (int c = 0; c < p.c; ++c) {
                        const std::size_t row = std::size_t(n) * p.y.size + y_.origin + y;
                        const std::size_t pixel = row * p.x.size + x_.origin + x;
                        values_[index(n, y_.front + y, x_.front + x, c)] = input[pixel * p.c + c];
                    }
    }

    double value(int n, int y, int x, int c) const { return values_[index(n, y, x, c)]; }
    bool in_input(int y, int x) const { return y_.in_input(y) && x_.in_input(x); }
    bool declared(int y, int x) const { return y < y_.declared && x < x_.declared; }

private:
    std::size_t index(int n, int y, int x, int c) const {
        return ((std::size_t(n) * y_.length + y) * x_.length + x) * c_ + c;
    }

    int c_;
    PaddedAxis y_, x_;
    std::vector<double> values_;
};

} // namespace

int outputs(const Axis &axis, bool ceil) {
    const PaddedAxis padded(axis, 0);
    // A window is placed if it ends inside the padded input; in ceil mode it is enough that
    // stopping before it would leave something unread.
    int count = 0;
    int start = axis.phase;
    const int slack = ceil ? axis.stride - 1 : 0;
    while (start + reach(axis) <= padded.declared + slack) {
        ++count;
        start += axis.stride;
    }
    const bool last_starts_past_input =
        count > 0 && start - axis.stride >= padded.front + padded.size;
    return ceil && last_starts_past_input ? count - 1 : count;
}

std::vector<float> compute(const Problem &p, const std::vector<float> &input,
                           const std::vector<float> &weights, const std::vector<float> &bias) {
    const double infinity = std::numeric_limits<double>::infinity();
    const bool is_pool = p.op == Op::max_pool || p.op == Op::avg_pool;
    const PaddedCopy padded(p, input,
                            p.op == Op::max_pool ? -infinity
                            : is_pool            ? 0.0
                                                 : double(p.border));
    const int rows = outputs(p.y, p.ceil), columns = outputs(p.x, p.ceil);
    const int inputs_of_output = p.op == Op::conv ? p.c / p.groups : 1;

    std::vector<float> result;
    result.reserve(std::size_t(p.n) * rows * columns * p.k);
    for (int n = 0; n < p.n; ++n)
        for (int oy = 0; oy < rows; ++oy)
            for (int ox = 0; ox < columns; ++ox)
                for (int o = 0; o < p.k; ++o) {
                    const int first = p.op == Op::conv ? o / (p.k / p.groups) * inputs_of_output
                                      : p.op == Op::depthwise ? o / (p.k / p.c)
                                                              : o;
                    double sum = is_pool || bias.empty() ? 0 : bias[o];
                    double highest = -infinity;
                    int counted = 0;
                    for (int i = 0; i < inputs_of_output; ++i)
                        for (int ky = 0; ky < p.y.kernel; ++ky)
                            for (int kx = 0; kx < p.x.kernel; ++kx) {
                                const int y = p.y.phase + oy * p.y.stride + ky * p.y.dilation;
                                const int x = p.x.phase + ox * p.x.stride + kx * p.x.dilation;
                                const double value = padded.value(n, y, x, first + i);
                                if (is_pool) {
                                    sum += value;
                                    if (std::isnan(value) || value > highest)
                                        highest = value;
                                    if (p.include_pad ? padded.declared(y, x)
                                                      : padded.in_input(y, x))
                                        ++counted;
                                } else {
                                    const std::size_t plane = std::size_t(o) * inputs_of_output + i;
                                    sum += value *
                                           weights[(plane * p.y.kernel + ky) * p.x.kernel + kx];
                                }
                            }
                    float value = float(sum);
                    if (p.op == Op::max_pool)
                        value = float(highest);
                    if (p.op == Op::avg_pool)
                        value = counted == 0 ? 0 : float(sum) / float(counted);
                    if (value < p.low)
                        value = p.low;
                    if (value > p.high)
                        value = p.high;
                    result.push_back(value);
                }
    return result;
}

} // namespace oracle
