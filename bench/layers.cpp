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

double elements(const selvage::Region &region) {
    return static_cast<double>(region.z.size) * region.y.size * region.x.size;
}

// Weights that one output channel is the sum over, or of a transposed convolution, one input
// channel is multiplied with; of pools the elements of the window.
double taps(const selvage::Problem &p) {
    const double window = static_cast<double>(p.z.kernel) * p.y.kernel * p.x.kernel;
    return p.op == selvage::Op::conv             ? window * (p.c / p.g)
           : p.op == selvage::Op::conv_transpose ? window * (p.k / p.g)
                                                 : window;
}

} // namespace

Layer parse_layer(const std::string &text) {
    Layer layer = {text, {}};
    const selvage::Status status = selvage::parse_problem(text, &layer.problem);
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
    return layer;
}

Layer parse_layer(const nlohmann::json &fields) {
    if (fields.is_string()) {
        return parse_layer(fields.get<std::string>());
    }
    Layer layer;
    layer.name = fields.at("name");
    const std::string op = fields.at("op");
    selvage::Problem &problem = layer.problem;
    if (op == "conv2d") {
        problem.op = selvage::Op::conv;
        problem.g = fields.at("groups");
    } else if (op == "conv_transpose") {
        problem.op = selvage::Op::conv_transpose;
        problem.g = fields.at("groups");
    } else if (op == "depthwise") {
        problem.op = selvage::Op::depthwise;
    } else if (op == "pool_max") {
        problem.op = selvage::Op::max_pool;
    } else if (op == "pool_avg") {
        problem.op = selvage::Op::avg_pool;
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
    if (p.op == selvage::Op::conv_transpose) {
        return p.n * p.c * elements(plan.input_region()) * taps(p) * 2;
    }
    return p.n * p.k * elements(plan.output_region()) * taps(p) * (is_pool(p.op) ? 1 : 2);
}

double bytes(const selvage::Plan &plan) {
    const selvage::Problem &p = plan.problem();
    const double images =
        p.n * (p.c * elements(plan.input_region()) + p.k * elements(plan.output_region()));
    double weights = p.bias ? p.k : 0;
    if (has_weights(p.op)) {
        weights += (p.op == selvage::Op::conv_transpose ? p.c : p.k) * taps(p);
    }
    return images * (p.type == selvage::Type::f32 ? 4 : 1) + weights * sizeof(float);
}

bool reads_border(const selvage::Problem &p) {
    return p.op != selvage::Op::conv_transpose &&
           (window(p.z, p.ceil).window.reads_border() ||
            window(p.y, p.ceil).window.reads_border() || window(p.x, p.ceil).window.reads_border());
}

} // namespace bench
