// The operators as plain algorithms of Halide without a directive, all numbers fixed, for Halide's
// autoschedulers to schedule: what the schedules of this project are compared with.
#include <Halide.h>

namespace {

using namespace Halide;

/// What all operators have: tensors in NHWC (Halide's order is the reverse), and windows.
template <class T> class Windows : public Generator<T> {
public:
    GeneratorParam<int> images{"images", 1}, channels{"channels", 1}, outputs{"outputs", 1};
    GeneratorParam<int> width{"width", 1}, height{"height", 1};
    GeneratorParam<int> output_width{"output_width", 1}, output_height{"output_height", 1};
    GeneratorParam<int> kernel_x{"kernel_x", 1}, kernel_y{"kernel_y", 1};
    GeneratorParam<int> stride_x{"stride_x", 1}, stride_y{"stride_y", 1};
    GeneratorParam<int> dilation_x{"dilation_x", 1}, dilation_y{"dilation_y", 1};
    GeneratorParam<int> left{"left", 0}, top{"top", 0};

protected:
    template <class Port> static void fix(Port &port, const std::vector<int> &extents) {
        for (std::size_t i = 0; i < extents.size(); ++i) {
            port.dim(int(i)).set_bounds(0, extents[i]);
            port.dim(int(i)).set_estimate(0, extents[i]);
        }
    }
    template <class Port> void fix_input(Port &input) {
        fix(input, {channels, width, height, images});
    }
    template <class Port> void fix_output(Port &output) {
        fix(output, {outputs, output_width, output_height, images});
    }
    Expr column(const Expr &x, const Expr &tap) const {
        return x * stride_x + tap * dilation_x - left;
    }
    Expr row(const Expr &y, const Expr &tap) const { return y * stride_y + tap * dilation_y - top; }
    template <class Port> Func padded(Port &input, const Expr &value) const {
        return BoundaryConditions::constant_exterior(
            input, value, {{Expr(), Expr()}, {0, int(width)}, {0, int(height)}, {Expr(), Expr()}});
    }

    Var k{"k"}, x{"x"}, y{"y"}, n{"n"};
};

class Conv : public Windows<Conv> {
public:
    GeneratorParam<int> groups{"groups", 1};
    Input<Buffer<float, 4>> input{"input"}, weights{"weights"}; // weights: k, c / groups, kx, ky
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        const int group = int(channels) / int(groups);
        fix_input(input);
        fix(weights, {outputs, group, kernel_x, kernel_y});
        fix(bias, {outputs});
        const Func in = padded(input, 0.f);
        const RDom r(0, group, 0, kernel_x, 0, kernel_y);
        const Expr first = int(groups) == 1 ? Expr(0) : k / (int(outputs) / int(groups)) * group;
        Func sum("sum");
        sum(k, x, y, n) = bias(k);
        sum(k, x, y, n) +=
            in(first + r[0], column(x, r[1]), row(y, r[2]), n) * weights(k, r[0], r[1], r[2]);
        output(k, x, y, n) = sum(k, x, y, n);
        fix_output(output);
    }
};

class ConvTranspose : public Windows<ConvTranspose> {
public:
    Input<Buffer<float, 4>> input{"input"}, weights{"weights"}; // weights: k, c, kx, ky
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        fix_input(input);
        fix(weights, {outputs, channels, kernel_x, kernel_y});
        fix(bias, {outputs});
        const Func in = padded(input, 0.f);
        const RDom r(0, channels, 0, kernel_x, 0, kernel_y);
        const Expr across = x + left - r[1] * dilation_x, down = y + top - r[2] * dilation_y;
        Func sum("sum");
        sum(k, x, y, n) = bias(k);
        sum(k, x, y, n) += select(across % stride_x == 0 && down % stride_y == 0,
                                  in(r[0], across / stride_x, down / stride_y, n), 0.f) *
                           weights(k, r[0], r[1], r[2]);
        output(k, x, y, n) = sum(k, x, y, n);
        fix_output(output);
    }
};

class Depthwise : public Windows<Depthwise> {
public:
    Input<Buffer<float, 4>> input{"input"};
    Input<Buffer<float, 3>> weights{"weights"}; // k, kx, ky
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        fix_input(input);
        fix(weights, {outputs, kernel_x, kernel_y});
        fix(bias, {outputs});
        const Func in = padded(input, 0.f);
        const RDom r(0, kernel_x, 0, kernel_y);
        const int multiplier = int(outputs) / int(channels);
        Func sum("sum");
        sum(k, x, y, n) = bias(k);
        sum(k, x, y, n) +=
            in(multiplier == 1 ? Expr(k) : k / multiplier, column(x, r[0]), row(y, r[1]), n) *
            weights(k, r[0], r[1]);
        output(k, x, y, n) = sum(k, x, y, n);
        fix_output(output);
    }
};

class MaxPool : public Windows<MaxPool> {
public:
    Input<Buffer<float, 4>> input{"input"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        fix_input(input);
        const Func in = padded(input, Float(32).min());
        const RDom r(0, kernel_x, 0, kernel_y);
        output(k, x, y, n) = maximum(in(k, column(x, r[0]), row(y, r[1]), n));
        fix_output(output);
    }
};

class AveragePool : public Windows<AveragePool> {
public:
    GeneratorParam<int> counted_width{"counted_width", 0}, counted_height{"counted_height", 0};
    GeneratorParam<int> counted_left{"counted_left", 0}, counted_top{"counted_top", 0};
    Input<Buffer<float, 4>> input{"input"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() {
        fix_input(input);
        const Func in = padded(input, 0.f);
        const RDom r(0, kernel_x, 0, kernel_y);
        Func count("count"), sum("sum");
        const auto within = [](const Expr &position, const Expr &low, const Expr &high) {
            return position >= low && position < high;
        };
        count(x, y) = 0.f;
        count(x, y) += select(within(column(x, r[0]), -int(counted_left), int(counted_width)) &&
                                  within(row(y, r[1]), -int(counted_top), int(counted_height)),
                              1.f, 0.f);
        sum(k, x, y, n) = 0.f;
        sum(k, x, y, n) += in(k, column(x, r[0]), row(y, r[1]), n);
        output(k, x, y, n) = sum(k, x, y, n) / count(x, y);
        fix_output(output);
    }
};

} // namespace

HALIDE_REGISTER_GENERATOR(Conv, conv)
HALIDE_REGISTER_GENERATOR(ConvTranspose, conv_transpose)
HALIDE_REGISTER_GENERATOR(Depthwise, depthwise)
HALIDE_REGISTER_GENERATOR(MaxPool, max_pool)
HALIDE_REGISTER_GENERATOR(AveragePool, avg_pool)
