#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "selvage/plan.h"

namespace bench {

/// An entry of a file of layers, such as peers/layers.json, as a problem of the library.
struct Layer {
    std::string name;
    selvage::Problem problem;
};

/// The layer of a problem text, which is its name. Throws std::runtime_error with the fault of the
/// text.
Layer parse_layer(const std::string &text);

/// The layer of one JSON object, or of a problem text there. Throws nlohmann::json::exception or
/// std::runtime_error where a field is missing or has a value that no layer may have.
Layer parse_layer(const nlohmann::json &fields);

/// All layers of the file, in its order. Throws as parse_layer() does.
std::vector<Layer> read_layers(const std::string &path);

/// Floating-point operations, nominal: every tap of every window counts, those on padding too, and
/// every tap of every input element of a transposed convolution. A tap is a multiplication and an
/// addition, or one operation in a pool.
double operations(const selvage::Plan &plan);

/// Bytes that have to move at least: input, weights and bias read once, output written once.
double bytes(const selvage::Plan &plan);

/// Whether any window leaves the input. Transposed convolutions have no border to read.
bool reads_border(const selvage::Problem &problem);

} // namespace bench
