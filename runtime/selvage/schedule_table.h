#pragma once

#include <string_view>

#include "selvage/export.h"
#include "selvage/problem.h"
#include "selvage/schedule_table_c.h"

namespace selvage {

/// A schedule that was measured: the name in C++.
using TunedSchedule = ::selvage_tuned_schedule;
/// A table of them: the name in C++.
using ScheduleTable = ::selvage_schedule_table;

/// The table that the library was built with: the entries of the files in the CMake variable
/// SELVAGE_SCHEDULES, then those that it ships.
SELVAGE_API const ScheduleTable &shipped_schedules();

/// The first entry for the problem, instruction set and accuracy with so many threads, else with
/// one; null where there is none. Problems are equal where their texts are, but for `n`, `bias` and
/// `act`. Safe from any thread.
SELVAGE_API const TunedSchedule *find_schedule(const ScheduleTable &table, const Problem &problem,
                                               std::string_view isa, int threads,
                                               std::string_view accuracy);

} // namespace selvage
