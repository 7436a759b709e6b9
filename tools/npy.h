#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A dense array of float32 in C order, as NumPy stores it in a .npy file.
struct NpyArray {
    std::vector<std::int64_t> shape;
    std::vector<float> data;
};

/// The shape as NumPy writes it, for example "(1, 8, 8, 3)".
std::string shape_text(const std::vector<std::int64_t> &shape);

/// Reads a .npy file of format version 1.0 or 2.0 that holds little-endian float32 in C order.
/// Throws BadInput with the path and the reason for anything else, truncated files included.
NpyArray read_npy(const std::string &path);

/// Writes a .npy file (version 1.0). The file appears complete or not at all: what stood there is
/// replaced at the very end. Throws BadInput where the file cannot be created, and
/// std::runtime_error where it cannot be written.
void write_npy(const std::string &path, const NpyArray &array);
