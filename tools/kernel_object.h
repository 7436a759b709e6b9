#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <selvage/kernels.h>
#include <selvage/problem.h>

/// The programs that kernels are made with.
struct KernelPrograms {
    std::string generators; ///< the folder of the generator programs
    std::string objcopy;
    std::string cache; ///< a folder that keeps what was made; empty: none
};

/// One kernel as an object file.
struct KernelObject {
    std::string bytes;
    std::int64_t stack_bytes = 0; ///< that a call takes at most, what aligns its frame included
    bool cached = false;          ///< it was taken from the cache
};

/// Makes the kernel of a row with the problem's numbers fixed. Its function is called
/// NAME_ISA_argv, as KernelRow::function; undefined in it are at most NAME_scratch_alloc,
/// NAME_scratch_free, memcpy, memset and powf. Throws BadInput where a program is missing, and
/// std::runtime_error with the program's text where one fails.
KernelObject make_kernel_object(const std::string &name, const selvage::KernelRow &row,
                                const selvage::Problem &problem, const KernelPrograms &programs);
