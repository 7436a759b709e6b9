#pragma once

#include <string>
#include <vector>

#include <selvage/kernels.h>
#include <selvage/plan.h>
#include <selvage/problem.h>
#include <selvage/schedule.h>

/// The row of the kernel table that a specialised kernel is made of, and why no other is.
struct ChosenRow {
    const selvage::KernelRow *row;
    std::vector<selvage::Decline> declined;
    selvage::Blocking cut; ///< how it cuts up its work; 0: as the library would
};

/// The row of an instruction set that is estimated to be the fastest at the problem's size, among
/// those that serve the problem at every size, with every pads and phase. `schedule` is a schedule
/// text: "auto", or the only candidate and how it cuts up its work (numbers that are more than a
/// size has mean all of it). Whether this CPU has the instruction set makes no difference. Throws
/// BadInput where no row does, or the text is none of this instruction set.
ChosenRow choose_row(const selvage::Problem &problem, const std::string &isa,
                     const std::string &schedule);

/// What a schedule text says. Throws BadInput, whose text begins with `where`, where it is none or
/// names a kernel that the problem's operator does not have of the instruction set, or of its own.
selvage::Schedule read_schedule(const std::string &where, const selvage::Problem &problem,
                                const std::string &isa, const std::string &text);

/// The names of the schedules that compute the problem's operator with an instruction set.
std::vector<std::string> schedules_of(const selvage::Problem &problem, const std::string &isa);
