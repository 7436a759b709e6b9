#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

using selvage::Op;
using selvage::Problem;

// Multiplications that the elements of the border may cost, and those of the interior.
constexpr double budget = 2e7;

/// Which elements of the input the outputs of one axis depend on.
class Reads {
public:
    Reads(const Problem &p, const selvage::Axis &axis)
        : is_transposed_(p.op == Op::conv_transpose), transposed_(transposed(axis).transposed),
          window_(window(axis, p.ceil).window), inside_(window_.inside()),
          include_pad_(p.include_pad) {}

    std::int64_t taps() const { return is_transposed_ ? transposed_.kernel : window_.kernel; }

    /// The element that a tap of an output reads, or -1 for the border's value.
    std::int64_t source(std::int64_t output, std::int64_t tap) const {
        if (!is_transposed_) {
            const std::int64_t element = window_.source(output, tap);
            return element < 0 ? -1 : element + window_.origin;
        }
        // out[stride*i + dilation*t - before] += in[i]
        const std::int64_t distance = output + transposed_.before - transposed_.dilation * tap;
        const std::int64_t element = distance / transposed_.stride;
        return distance >= 0 && distance % transposed_.stride == 0 && element < transposed_.size
                   ? element
                   : -1;
    }

    bool on_border(std::int64_t output) const {
        return !is_transposed_ && (output < inside_.first || output >= inside_.end);
    }

    /// The taps of an average's divisor.
    std::int64_t counted(std::int64_t output) const {
        return window_.counted(output, include_pad_);
    }

private:
    bool is_transposed_;
    selvage::Transposed transposed_;
    selvage::Window window_;
    selvage::Window::Outputs inside_;
    bool include_pad_;
};

/// A problem in plain loops.
class Loops {
public:
    Loops(const selvage::Plan &plan, const Data &data)
        : p_(plan.problem()), data_(data), z_(p_, p_.z), y_(p_, p_.y), x_(p_, p_.x),
          input_(dense(data.input.data(), p_.n, p_.z.size, p_.y.size, p_.x.size, p_.c, p_.layout)),
          has_channels_(p_.op == Op::conv || p_.op == Op::conv_transpose) {}

    bool on_border(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return z_.on_border(z) || y_.on_border(y) || x_.on_border(x);
    }

    /// Multiplications of one element.
    double cost() const {
        return static_cast<double>(z_.taps()) * y_.taps() * x_.taps() * inputs();
    }

    float element(std::int64_t n, std::int64_t z, std::int64_t y, std::int64_t x,
                  std::int64_t k) const {
        const std::int64_t first = has_channels_ ? k / (p_.k / p_.g) * inputs() : k / (p_.k / p_.c);
        float sum = p_.bias ? data_.bias[k] : 0;
        float highest = -std::numeric_limits<float>::infinity();
        for (std::int64_t tz = 0; tz < z_.taps(); ++tz) {
            for (std::int64_t ty = 0; ty < y_.taps(); ++ty) {
                for (std::int64_t tx = 0; tx < x_.taps(); ++tx) {
                    const std::int64_t iz = z_.source(z, tz), iy = y_.source(y, ty),
                                       ix = x_.source(x, tx);
                    const bool inside = iz >= 0 && iy >= 0 && ix >= 0;
                    // Padding takes no part in pools; transposed convolutions have none.
                    if (!inside && (is_pool(p_.op) || p_.op == Op::conv_transpose)) {
                        continue;
                    }
                    for (std::int64_t c = first; c < first + inputs(); ++c) {
                        const float value =
                            inside ? input_.data[n * input_.stride_n + iz * input_.stride_d +
                                                 iy * input_.stride_h + ix * input_.stride_w +
                                                 c * input_.stride_c]
                                   : p_.value;
                        highest = std::max(highest, value);
                        sum += is_pool(p_.op) ? value : value * weight(k, c, first, tz, ty, tx);
                    }
                }
            }
        }
        switch (p_.op) {
        case Op::max_pool: return highest;
        case Op::avg_pool: return sum / (z_.counted(z) * y_.counted(y) * x_.counted(x));
        case Op::filter: return std::clamp(sum, 0.f, 255.f);
        default: return activated(sum);
        }
    }

private:
    float activated(float sum) const {
        switch (p_.act) {
        case selvage::Activation::none: return sum;
        case selvage::Activation::relu: return std::max(sum, 0.f);
        case selvage::Activation::relu6: return std::clamp(sum, 0.f, 6.f);
        case selvage::Activation::clamp: break;
        }
        return std::clamp(sum, p_.act_low, p_.act_high);
    }

    /// Input channels that one output depends on.
    std::int64_t inputs() const { return has_channels_ ? p_.c / p_.g : 1; }

    float weight(std::int64_t k, std::int64_t c, std::int64_t first, std::int64_t tz,
                 std::int64_t ty, std::int64_t tx) const {
        const std::int64_t outputs = p_.k / p_.g;
        const std::int64_t filter =
            p_.op == Op::conv_transpose ? c * outputs + k % outputs : k * inputs() + c - first;
        return data_.weights[((filter * z_.taps() + tz) * y_.taps() + ty) * x_.taps() + tx];
    }

    const Problem &p_;
    const Data &data_;
    Reads z_, y_, x_;
    selvage::Tensor<const float> input_;
    bool has_channels_;
};

/// A dense view without memory, for the places of elements.
selvage::Tensor<const float> output_view(const selvage::Plan &plan) {
    const Problem &p = plan.problem();
    const selvage::Region &r = plan.output_region();
    return selvage::dense<const float>(nullptr, p.n, r.z.size, r.y.size, r.x.size, p.k, p.layout);
}

/// Calls visit(n, z, y, x) for every pixel.
template <class Visit> void for_pixels(const selvage::Tensor<const float> &view, Visit visit) {
    for (std::int64_t n = 0; n < view.n; ++n) {
        for (std::int64_t z = 0; z < view.d; ++z) {
            for (std::int64_t y = 0; y < view.h; ++y) {
                for (std::int64_t x = 0; x < view.w; ++x) {
                    visit(n, z, y, x);
                }
            }
        }
    }
}

bool has_winograd(const selvage::Plan &plan) {
    const std::vector<selvage::PlannedPart> parts = plan.parts();
    return std::any_of(parts.begin(), parts.end(), [](const selvage::PlannedPart &part) {
        return part.kernel.find("/winograd_") != std::string::npos;
    });
}

} // namespace

std::string not_covered(const Problem &p) {
    if (p.op == Op::lp_pool || p.op == Op::stride_sample || p.op == Op::pad) {
        return name(p.op, p.rank) + " is not among the operators that are measured";
    }
    if (p.y.adaptive > 0 || p.x.adaptive > 0 || p.z.adaptive > 0) {
        return "adaptive pools are not measured";
    }
    if (p.indices != selvage::Indices::none || p.shift >= 0 || p.type == selvage::Type::i8) {
        return "indices, whole weights and type=i8 are not measured";
    }
    // Of integer_data(): 16 times 2 a tap, and a bias.
    constexpr double exact = 1 << 24, most = 32, least = 8;
    const double taps = static_cast<double>(p.z.kernel) * p.y.kernel * p.x.kernel;
    const double inputs = p.op == Op::conv || p.op == Op::conv_transpose ? p.c / p.g : 1;
    return taps * inputs * most + least > exact
               ? "sums of " + std::to_string(p.c / p.g) + " channels are not exact"
               : "";
}

std::vector<Expected> reference(const selvage::Plan &plan, const Data &data) {
    const Loops loops(plan, data);
    const selvage::Tensor<const float> output = output_view(plan);
    double border = 0, interior = 0; // pixels
    for_pixels(output, [&](std::int64_t, std::int64_t z, std::int64_t y, std::int64_t x) {
        ++(loops.on_border(z, y, x) ? border : interior);
    });
    // Every how many elements one is computed, to stay within the budget.
    const auto step = [&](double pixels) {
        const double cost = pixels * output.c * loops.cost();
        return static_cast<std::int64_t>(std::ceil(std::max(1.0, cost / budget)));
    };
    const std::int64_t border_step = step(border), interior_step = step(interior);

    std::vector<Expected> expected;
    std::int64_t pixel = 0; // shifts the channels, so that every channel has its turn
    for_pixels(output, [&](std::int64_t n, std::int64_t z, std::int64_t y, std::int64_t x) {
        const std::int64_t each = loops.on_border(z, y, x) ? border_step : interior_step;
        for (std::int64_t k = pixel++ % each; k < output.c; k += each) {
            const std::size_t index = n * output.stride_n + z * output.stride_d +
                                      y * output.stride_h + x * output.stride_w +
                                      k * output.stride_c;
            expected.push_back({index, loops.element(n, z, y, x, k)});
        }
    });
    return expected;
}

std::string fault(const selvage::Plan &plan, const std::vector<Expected> &expected,
                  const Floats &output) {
    const bool is_rounded = has_winograd(plan);
    const selvage::Tensor<const float> view = output_view(plan);
    const auto place = [&](std::size_t index) {
        const auto along = [&](std::int64_t stride, std::int64_t size) {
            return std::to_string(index / stride % size);
        };
        return "output n=" + along(view.stride_n, view.n) + " z=" + along(view.stride_d, view.d) +
               " y=" + along(view.stride_h, view.h) + " x=" + along(view.stride_w, view.w) +
               " k=" + along(view.stride_c, view.c) + " is " + std::to_string(output[index]);
    };
    for (const Expected &each : expected) {
        const float result = output[each.index];
        if ((is_rounded ? std::nearbyint(result) : result) != each.value) {
            return place(each.index) + " instead of " + std::to_string(each.value);
        }
    }
    const auto unwritten =
        std::find_if(output.begin(), output.end(), [](float value) { return std::isnan(value); });
    return unwritten == output.end() ? "" : place(unwritten - output.begin());
}

} // namespace bench
