#pragma once

#include <any>
#include <map>
#include <string>

#include <Halide.h>

namespace selvage {

/// Gives stages their order and place, for vectors of `lanes` numbers and the tile of a row.
template <class Stages>
using ScheduleFunction = void (*)(Stages &stages, int lanes, int tile, int vectors);

/// Functions outside the tree (docs/add-a-schedule.md) by name, each a ScheduleFunction.
using ScheduleFunctions = std::map<std::string, std::any>;

} // namespace selvage

// Only the program that makes their kernels has them.
#ifdef SELVAGE_EXTRA_FUNCTIONS
#include SELVAGE_EXTRA_FUNCTIONS
#else
namespace selvage {
inline const ScheduleFunctions extra_functions;
} // namespace selvage
#endif

namespace selvage {

/// The function outside the tree of that name. Throws Halide::CompileError where there is none that
/// takes these stages.
template <class Stages> ScheduleFunction<Stages> extra_function(const std::string &name) {
    const auto found = extra_functions.find(name);
    if (found == extra_functions.end())
        throw Halide::CompileError("function=" + name + ": there is none of that name");
    const auto *function = std::any_cast<ScheduleFunction<Stages>>(&found->second);
    if (function == nullptr)
        throw Halide::CompileError("function=" + name +
                                   ": does not take the stages of the row's family, lanes, tile "
                                   "and vectors");
    return *function;
}

/// The same, or the family's own where no name is given.
template <class Stages>
ScheduleFunction<Stages> extra_or(const std::string &name, ScheduleFunction<Stages> own) {
    return name.empty() ? own : extra_function<Stages>(name);
}

} // namespace selvage
