#pragma once

#include <string>
#include <vector>

#include "kernel_object.h"

/// The instruction sets of an architecture, in the order of the kernel table; only those of `only`
/// where that is not empty. Throws BadInput, with what there is, for others.
std::vector<std::string> isas_of(const std::string &architecture,
                                 const std::vector<std::string> &only);

/// The programs that make kernels of an architecture: the generators of this installation or build,
/// and an objcopy from the PATH.
KernelPrograms programs_for(const std::string &architecture);
