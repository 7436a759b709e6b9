#pragma once

#include <string>
#include <vector>

#include <selvage/kernels.h>
#include <selvage/plan.h>
#include <selvage/problem.h>

/// The row of the kernel table that a specialised kernel is made of, and why no other is.
struct ChosenRow {
    const selvage::KernelRow *row;
    std::vector<selvage::Decline> declined;
};

/// The row of an instruction set that is estimated to be the fastest at the problem's size, among
/// those that serve the problem at every size, with every pads and phase. `schedule` is "auto" or
/// the name of the only candidate. Whether this CPU has the instruction set makes no difference.
/// Throws BadInput where no row does.
ChosenRow choose_row(const selvage::Problem &problem, const std::string &isa,
                     const std::string &schedule);

/// The names of the schedules that compute the problem's operator with an instruction set.
std::vector<std::string> schedules_of(const selvage::Problem &problem, const std::string &isa);
