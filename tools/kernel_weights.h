#pragma once

#include <cstddef>
#include <string>

#include <selvage/kernels.h>
#include <selvage/problem.h>

/// Bytes of packed weights of a specialised kernel of that name made of this row; 0 without
/// weights.
std::size_t packed_bytes(const std::string &name, const selvage::KernelRow &row,
                         const selvage::Problem &problem);

/// The files of constant weights.
struct WeightFiles {
    std::string weights, bias, order; ///< .npy, .npy or empty, "oihw" or "hwio"
};

/// Packs constant weights as NAME_pack() would for this row. Throws BadInput where the files are
/// not as the problem wants them.
std::string packed_weights(const std::string &name, const selvage::KernelRow &row,
                           const selvage::Problem &problem, const WeightFiles &files);
