#pragma once

#include <string>
#include <vector>

#include "kernel_object.h"

/// The architecture that a target names: `host`, the one that this program runs on, or its own
/// name, of which `-linux` may be left out. Throws BadInput, with what there is, for others.
std::string architecture_of(const std::string &target);

/// The instruction sets of an architecture, in the order of the kernel table; only those of `only`
/// where that is not empty. Throws BadInput, with what there is, for others.
std::vector<std::string> isas_of(const std::string &architecture,
                                 const std::vector<std::string> &only);

/// The programs that make kernels of an architecture: the generators of this installation or build,
/// and an objcopy from the PATH.
KernelPrograms programs_for(const std::string &architecture);
