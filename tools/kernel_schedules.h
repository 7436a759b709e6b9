#pragma once

#include <string>

#include <selvage/problem.h>

/// The schedule that --schedule asks for: "auto", a name, or what a table (a path that ends in
/// .json) has for an equal problem and the instruction set; "auto" where it has nothing,
/// which is told in a line on stderr.
///
///     {"schedules": [{"problem": "conv2d ...", "isa": "avx512", "schedule": "direct_7x3_c64"}]}
///
/// Throws BadInput with the place where a table is malformed or names what there is not.
std::string schedule_for(const std::string &option, const selvage::Problem &problem,
                         const std::string &isa);
