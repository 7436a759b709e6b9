#pragma once

#include <string>

#include <selvage/problem.h>

/// The schedule text that --schedule asks for: one as choose_row() takes it, or what a table (a
/// path that ends in .json, see tuned_table.h) has for an equal problem, the instruction set, one
/// thread and `exact`; "auto" where it has nothing, which is told in a line on stderr. Throws
/// BadInput with the place where a table is malformed, or where the schedule is none of the kernel
/// table's.
std::string schedule_for(const std::string &option, const selvage::Problem &problem,
                         const std::string &isa);
