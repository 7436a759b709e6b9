#pragma once

#include <string>

#include "selvage/kernels.h"
#include "selvage/plan.h"
#include "selvage/schedule.h"

namespace selvage {

/// What is asked for: by the caller's options, else by the environment.
struct Wishes {
    Schedule schedule;   ///< its isa also where the schedule text has none
    bool fast = false;   ///< Options::accuracy
    std::string of_whom; ///< "schedule=TEXT" or "SELVAGE_SCHEDULE=TEXT"; empty: no schedule
};

/// Fails with `invalid_argument` for texts that are none, for what no kernel of the operator has,
/// and for instruction sets that contradict each other; with `unsupported` for one that this CPU
/// lacks.
Status read_wishes(const std::string &op, const Options &options, Wishes *wishes);

/// Whether there is a kernel of the operator whose column has the value. `source` begins the text
/// of a failure, which lists the values that there are.
Status check_known(const std::string &source, const std::string &value, const std::string &op,
                   const char *const KernelRow::*column);

} // namespace selvage
