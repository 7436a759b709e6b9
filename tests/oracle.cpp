#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace oracle {
namespace {

/// What follows the last of some elements outwards, one step at a time.
std::vector<int> beyond(const std::vector<int> &elements, int count, Mode mode) {
    const int last = int(elements.size()) - 1;
    int at = last, step = -1;
    const auto turn_at_the_ends = [&] {
        if (at + step < 0 || at + step > last)
            step = -step;
    };
    std::vector<int> result;
    while (int(result.size()) < count)
        switch (mode) {
        case Mode::constant: result.push_back(-1); break;
        case Mode::replicate: result.push_back(elements[last]); break;
        case Mode::circular:
            at = at == last ? 0 : at + 1;
            result.push_back(elements[at]);
            break;
        case Mode::symmetric: { // the ends are met twice
            result.push_back(elements[at]);
            const int before = step;
            turn_at_the_ends();
            at += step == before ? step : 0;
            break;
        }
        case Mode::reflect: // and here once
            turn_at_the_ends();
            at += last == 0 ? 0 : step;
            result.push_back(elements[at]);
            break;
        }
    return result;
}

/// One axis of the padded copy and the windows on it.
struct PaddedAxis {
    /// For each position the element of the input that lies there, or -1.
    std::vector<int> source;
    /// Positions below belong to the input or its pads; beyond is the overhang of ceil mode. All
    /// modes but constant go on and on, and have no overhang.
    int declared = 0;
    /// The positions that each window reads.
    std::vector<std::vector<int>> windows;

    PaddedAxis(const Axis &axis, bool ceil) {
        std::vector<int> kept;
        for (int i = std::max(0, -axis.begin); i < axis.size - std::max(0, -axis.end); ++i)
            kept.push_back(i);
        const int end = std::max(0, axis.end);
        const std::vector<int> after = beyond(kept, end + axis.stride, axis.mode);
        std::reverse(kept.begin(), kept.end());
        source = beyond(kept, axis.begin, axis.mode);
        std::reverse(source.begin(), source.end());
        source.insert(source.end(), kept.rbegin(), kept.rend());
        const int input_end = int(source.size());
        source.insert(source.end(), after.begin(), after.end());
        declared = input_end + end;

        if (axis.adaptive > 0)
            share_out(axis);
        else
            place_windows(axis, ceil, input_end);
        if (axis.mode != Mode::constant)
            declared = int(source.size());
    }

private:
    void place_windows(const Axis &axis, bool ceil, int input_end) {
        // A window is placed if it ends inside the padded input; in ceil mode it is enough that
        // stopping before it would leave something unread.
        const int slack = ceil ? axis.stride - 1 : 0;
        for (int start = axis.phase; start + axis.dilation * (axis.kernel - 1) < declared + slack;
             start += axis.stride) {
            windows.emplace_back();
            for (int t = 0; t < axis.kernel; ++t)
                windows.back().push_back(start + t * axis.dilation);
        }
        if (ceil && !windows.empty() && windows.back().front() >= input_end)
            windows.pop_back();
    }

    /// Window i of m reads from i/m of the axis, rounded down, to (i+1)/m, rounded up.
    void share_out(const Axis &axis) {
        for (int i = 0; i < axis.adaptive; ++i) {
            windows.emplace_back();
            for (int at = 0; at < axis.size; ++at)
                if (std::int64_t(at + 1) * axis.adaptive > std::int64_t(i) * axis.size &&
                    std::int64_t(at) * axis.adaptive < std::int64_t(i + 1) * axis.size)
                    windows.back().push_back(at);
        }
    }
};

/// The padded copy of the whole input.
struct PaddedCopy {
    int c;
    PaddedAxis z, y, x;
    std::vector<double> values;

    PaddedCopy(const Problem &p, const std::vector<float> &input)
        : c(p.c), z(p.z, p.ceil), y(p.y, p.ceil), x(p.x, p.ceil) {
        values.reserve(std::size_t(p.n) * z.source.size() * y.source.size() * x.source.size() * c);
        for (int n = 0; n < p.n; ++n)
            for (int sz : z.source)
                for (int sy : y.source)
                    for (int sx : x.source) {
                        const std::size_t plane = std::size_t(n) * p.z.size + sz;
                        const std::size_t pixel = (plane * p.y.size + sy) * p.x.size + sx;
                        const bool inside = sz >= 0 && sy >= 0 && sx >= 0;
                        for (int i = 0; i < c; ++i)
                            values.push_back(inside ? double(input[pixel * c + i]) : p.border);
                    }
    }

    /// The channels of a pixel.
    const double *pixel(int n, int pz, int py, int px) const {
        const std::size_t plane = std::size_t(n) * z.source.size() + pz;
        return &values[((plane * y.source.size() + py) * x.source.size() + px) * c];
    }

    bool inside(int pz, int py, int px) const {
        return z.source[pz] >= 0 && y.source[py] >= 0 && x.source[px] >= 0;
    }

    bool declared(int pz, int py, int px) const {
        return pz < z.declared && py < y.declared && px < x.declared;
    }
};

/// Calls visit(pz, py, px) for the positions of a window, depth outermost.
template <class Visit>
void for_window(const PaddedCopy &padded, int oz, int oy, int ox, Visit visit) {
    for (int pz : padded.z.windows[oz])
        for (int py : padded.y.windows[oy])
            for (int px : padded.x.windows[ox])
                visit(pz, py, px);
}

/// The sum of products of one output channel, bias included.
double weighted_sum(const Problem &p, const PaddedCopy &padded, const std::vector<float> &weights,
                    const std::vector<float> &bias, int n, int oz, int oy, int ox, int o) {
    const int inputs = p.op == Op::conv ? p.c / p.groups : 1;
    const int first = p.op == Op::conv ? o / (p.k / p.groups) * inputs : o / (p.k / p.c);
    const std::size_t taps = std::size_t(p.z.kernel) * p.y.kernel * p.x.kernel;
    const float *w = &weights[o * inputs * taps];
    double sum = bias.empty() ? 0 : bias[o];
    for_window(padded, oz, oy, ox, [&](int pz, int py, int px) {
        const double *pixel = padded.pixel(n, pz, py, px) + first;
        for (int i = 0; i < inputs; ++i)
            sum += pixel[i] * w[i * taps];
        ++w;
    });
    return sum;
}

/// What a sum of products becomes in a byte.
double filtered(const Problem &p, double sum) {
    const double scale = double(std::int64_t(1) << p.shift);
    const double rounded = p.fixed ? std::floor(sum / scale + (p.shift > 0 ? 0.5 : 0.0))
                                   : std::nearbyint(sum); // ties to even
    return std::min(255.0, std::max(0.0, rounded));
}

float mean(const Problem &p, const PaddedCopy &padded, int n, int oz, int oy, int ox, int o) {
    double sum = 0;
    int counted = 0;
    for_window(padded, oz, oy, ox, [&](int pz, int py, int px) {
        const bool inside = padded.inside(pz, py, px);
        if (inside)
            sum += padded.pixel(n, pz, py, px)[o];
        if (p.include_pad ? padded.declared(pz, py, px) : inside)
            ++counted;
    });
    return counted == 0 ? 0 : float(sum) / float(counted);
}

double norm(const Problem &p, const PaddedCopy &padded, int n, int oz, int oy, int ox, int o) {
    double sum = 0;
    for_window(padded, oz, oy, ox, [&](int pz, int py, int px) {
        if (padded.inside(pz, py, px))
            sum += std::pow(std::abs(padded.pixel(n, pz, py, px)[o]), p.p);
    });
    return p.p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p.p);
}

/// The highest element of a window and its index. The first NaN wins, else the first of the
/// highest.
double highest(const Problem &p, const PaddedCopy &padded, int n, int oz, int oy, int ox, int o,
               std::int64_t *index) {
    double best = p.lowest;
    *index = -1;
    for_window(padded, oz, oy, ox, [&](int pz, int py, int px) {
        if (!padded.inside(pz, py, px))
            return;
        const double value = padded.pixel(n, pz, py, px)[o];
        if (p.skip_nan && std::isnan(value))
            return;
        if (*index >= 0 && (std::isnan(best) || !(value > best || std::isnan(value))))
            return;
        best = value;
        const std::int64_t z = padded.z.source[pz], y = padded.y.source[py],
                           x = padded.x.source[px];
        *index =
            p.column_index ? (x * p.y.size + y) * p.z.size + z : (z * p.y.size + y) * p.x.size + x;
        if (p.tensor_index)
            *index += (std::int64_t(n) * p.c + o) * p.z.size * p.y.size * p.x.size;
    });
    return best;
}

float clamped(const Problem &p, double value) {
    if (value < p.low)
        value = p.low;
    if (value > p.high)
        value = p.high;
    return float(value);
}

Result gather(const Problem &p, const std::vector<float> &input, const std::vector<float> &weights,
              const std::vector<float> &bias) {
    const PaddedCopy padded(p, input);
    Result result{int(padded.z.windows.size()),
                  int(padded.y.windows.size()),
                  int(padded.x.windows.size()),
                  {},
                  {}};
    for (int n = 0; n < p.n; ++n)
        for (int oz = 0; oz < result.d; ++oz)
            for (int oy = 0; oy < result.h; ++oy)
                for (int ox = 0; ox < result.w; ++ox)
                    for (int o = 0; o < p.k; ++o) {
                        double value = 0;
                        switch (p.op) {
                        case Op::conv:
                        case Op::depthwise:
                            value = weighted_sum(p, padded, weights, bias, n, oz, oy, ox, o);
                            break;
                        case Op::filter:
                            value = filtered(
                                p, weighted_sum(p, padded, weights, bias, n, oz, oy, ox, o));
                            break;
                        case Op::max_pool:
                            result.indices.emplace_back();
                            value = highest(p, padded, n, oz, oy, ox, o, &result.indices.back());
                            break;
                        case Op::conv_transpose: break; // scatter() computes it
                        case Op::avg_pool: value = mean(p, padded, n, oz, oy, ox, o); break;
                        case Op::lp_pool: value = norm(p, padded, n, oz, oy, ox, o); break;
                        case Op::stride_sample:
                        case Op::pad:
                            for_window(padded, oz, oy, ox, [&](int pz, int py, int px) {
                                value = padded.pixel(n, pz, py, px)[o];
                            });
                            break;
                        }
                        result.values.push_back(clamped(p, value));
                    }
    return result;
}

/// One axis of a transposed convolution: the result before it is cropped, and what is cut out.
struct ScatteredAxis {
    int length;  ///< from the first tap of the first element to the last tap of the last
    int first;   ///< where the output begins in it; negative: that many zeros before it
    int outputs; ///< where these reach past the end, zeros follow

    explicit ScatteredAxis(const Axis &a)
        : length(a.size == 0 ? 0 : a.stride * (a.size - 1) + a.dilation * (a.kernel - 1) + 1),
          first(a.begin - a.phase), outputs(length - first - a.end + a.output_padding) {}

    bool inside(int output) const { return output + first >= 0 && output + first < length; }
};

Result scatter(const Problem &p, const std::vector<float> &input, const std::vector<float> &weights,
               const std::vector<float> &bias) {
    const ScatteredAxis z(p.z), y(p.y), x(p.x);
    const auto place = [&](int n, int pz, int py, int px, int o) {
        return (((std::size_t(n) * z.length + pz) * y.length + py) * x.length + px) * p.k + o;
    };
    std::vector<double> full(place(p.n, 0, 0, 0, 0), 0.0);
    const int inputs = p.c / p.groups, outputs = p.k / p.groups;
    const std::size_t taps = std::size_t(p.z.kernel) * p.y.kernel * p.x.kernel;
    auto element = input.begin();
    for (int n = 0; n < p.n; ++n)
        for (int iz = 0; iz < p.z.size; ++iz)
            for (int iy = 0; iy < p.y.size; ++iy)
                for (int ix = 0; ix < p.x.size; ++ix)
                    for (int c = 0; c < p.c; ++c, ++element) {
                        const float *w = &weights[std::size_t(c) * outputs * taps];
                        for (int tz = 0; tz < p.z.kernel; ++tz)
                            for (int ty = 0; ty < p.y.kernel; ++ty)
                                for (int tx = 0; tx < p.x.kernel; ++tx, ++w) {
                                    double *sums = &full[place(
                                        n, p.z.stride * iz + p.z.dilation * tz,
                                        p.y.stride * iy + p.y.dilation * ty,
                                        p.x.stride * ix + p.x.dilation * tx, c / inputs * outputs)];
                                    for (int o = 0; o < outputs; ++o)
                                        sums[o] += double(*element) * w[o * taps];
                                }
                    }

    Result result{z.outputs, y.outputs, x.outputs, {}, {}};
    for (int n = 0; n < p.n; ++n)
        for (int oz = 0; oz < z.outputs; ++oz)
            for (int oy = 0; oy < y.outputs; ++oy)
                for (int ox = 0; ox < x.outputs; ++ox)
                    for (int o = 0; o < p.k; ++o) {
                        double sum = bias.empty() ? 0 : bias[o];
                        if (z.inside(oz) && y.inside(oy) && x.inside(ox))
                            sum += full[place(n, oz + z.first, oy + y.first, ox + x.first, o)];
                        result.values.push_back(clamped(p, sum));
                    }
    return result;
}

} // namespace

std::vector<std::vector<int>> reads(const Axis &axis, bool ceil) {
    const PaddedAxis padded(axis, ceil);
    std::vector<std::vector<int>> result = padded.windows;
    for (std::vector<int> &window : result)
        for (int &position : window)
            position = padded.source[position];
    return result;
}

Result compute(const Problem &p, const std::vector<float> &input, const std::vector<float> &weights,
               const std::vector<float> &bias) {
    return p.op == Op::conv_transpose ? scatter(p, input, weights, bias)
                                      : gather(p, input, weights, bias);
}

} // namespace oracle
