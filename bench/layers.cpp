#include "layers.h"

#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace bench {
namespace {

selvage::Axis axis(const nlohmann::json &fields, std::size_t index, const char *size) {
    selvage::Axis axis;
    axis.size = fields.at(size);
    axis.kernel = fields.at("kernel").at(index);
    axis.stride = fields.at("stride").at(index);
    axis.dilation = fields.at("dilation").at(index);
    axis.begin = fields.at("pads").at(index); // top, left, bottom, right
    axis.end = fields.at("pads").at(2 + index);
    return axis;
}

double input_elements(const selvage::Problem &p) {
    return static_cast<double>(p.n) * p.c * p.y.size * p.x.size;
}

double output_elements(const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    return static_cast<double>(p.n) * p.k * plan.window_y().outputs * plan.window_x().outputs;
}

// Weights that one output channel is the sum over; for pools the elements of the window.
double taps(const selvage::Problem &p) {
    const double window = static_cast<double>(p.y.kernel) * p.x.kernel;
    return p.op == selvage::Op::conv2d ? window * (p.c / p.g) : window;
}

} // namespace

Layer parse_layer(const nlohmann::json &fields) {
    Layer layer;
    layer.name = fields.at("name");
    const std::string op = fields.at("op");
    selvage::Problem &problem = layer.problem;
    if (op == "conv2d") {
        problem.op = selvage::Op::conv2d;
        problem.g = fields.at("groups");
    } else if (op == "depthwise") {
        problem.op = selvage::Op::depthwise2d;
    } else if (op == "pool_max") {
        problem.op = selvage::Op::max_pool2d;
    } else if (op == "pool_avg") {
        problem.op = selvage::Op::avg_pool2d;
    } else if (op == "conv_transpose") {
        layer.not_covered = "transposed convolution is not covered yet";
        return layer;
    } else {
        throw std::runtime_error("layer " + layer.name + ": unknown op " + op);
    }
    problem.n = fields.at("N");
    problem.c = fields.at("C");
    problem.k = fields.at("K");
    problem.y = axis(fields, 0, "H");
    problem.x = axis(fields, 1, "W");
    problem.bias = fields.value("bias", false);
    problem.include_pad = fields.value("count_include_pad", false);
    problem.ceil = fields.value("ceil_mode", false);
    return layer;
}

std::vector<Layer> read_layers(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    std::vector<Layer> layers;
    for (const nlohmann::json &fields : nlohmann::json::parse(file)) {
        layers.push_back(parse_layer(fields));
    }
    return layers;
}

double operations(const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    return output_elements(plan) * taps(p) * (is_pool(p.op) ? 1 : 2);
}

double bytes(const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    double elements = input_elements(p) + output_elements(plan);
    if (!is_pool(p.op)) {
        elements += p.k * taps(p) + (p.bias ? p.k : 0);
    }
    return elements * sizeof(float);
}

bool reads_border(const selvage::Plan &plan) {
    return plan.window_y().reads_border() || plan.window_x().reads_border();
}

bool is_dense_3x3(const selvage::Problem &p) {
    return p.op == selvage::Op::conv2d && p.y.kernel == 3 && p.x.kernel == 3 && p.g == 1 &&
           p.c >= 64 && p.k >= 64;
}

} // namespace bench
