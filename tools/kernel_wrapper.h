#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <selvage/core/blocking.h>
#include <selvage/kernels.h>
#include <selvage/problem.h>

/// A specialised kernel, as its wrapper describes it: the C functions around one row of the kernel
/// table for each instruction set.
struct SpecialisedKernel {
    std::string name;
    selvage::Problem problem;
    std::string same; ///< the convention of the default pads; empty: those of the problem
    std::vector<const selvage::KernelRow *> rows; ///< narrowest instruction set first
    std::size_t packed_bytes = 0;                 ///< the most of all rows
    std::int64_t stack_bytes = 0;                 ///< the most of all rows
    bool has_constant_weights = false;            ///< in NAME_<isa>.weights, beside the source
    /// How each of the rows cuts up its work; empty: as the library would.
    std::vector<selvage::Blocking> cuts = {};
};

/// The texts of NAME.h (C99) and NAME.cpp (C++17).
std::string header_text(const SpecialisedKernel &kernel);
std::string source_text(const SpecialisedKernel &kernel);
