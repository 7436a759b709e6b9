#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A dense array in C order, as NumPy stores it in a .npy file.
template <class T = float> struct NpyArray {
    std::vector<std::int64_t> shape;
    std::vector<T> data;
};

/// The shape as NumPy writes it, for example "(1, 8, 8, 3)".
std::string shape_text(const std::vector<std::int64_t> &shape);

/// Reads a .npy file of format version 1.0 or 2.0 that holds little-endian T in C order: float,
/// std::uint8_t, std::int8_t or std::int16_t. Throws BadInput with the path and the reason for
/// anything else, other types and truncated files included.
template <class T = float> NpyArray<T> read_npy(const std::string &path);

/// Writes a .npy file (version 1.0) of float, std::uint8_t, std::int8_t or std::int64_t. The file
/// appears complete or not at all: what stood there is replaced at the very end. Throws BadInput
/// where the file cannot be created, and std::runtime_error where it cannot be written.
template <class T> void write_npy(const std::string &path, const NpyArray<T> &array);
