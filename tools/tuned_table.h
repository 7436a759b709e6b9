#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <selvage/problem.h>

/// An entry of a table of schedules: what was the fastest.
struct TunedEntry {
    selvage::Problem problem;
    std::string isa; ///< the class of machines: the best instruction set that they have
    int threads = 1;
    std::string accuracy = "exact", schedule;
};

/// A table of schedules, as files hold it:
///
///     {"machine": "CPU", "schedules": [
///         {"problem": "conv2d ...", "isa": "avx512", "threads": 1, "accuracy": "exact",
///          "schedule": "direct_14x2_c64 strip_rows=7"}
///     ]}
///
/// `machine` may be left out, as may threads (1) and accuracy (exact).
struct TunedTable {
    std::string machine; ///< what it was measured on, for readers
    std::vector<TunedEntry> entries;
};

/// The table of a file. Beside `machine` and `schedules` it may have other fields, as the results
/// of `selvage tune --export` do; entries may not. Throws BadInput with the place of the fault.
TunedTable read_tuned_table(const std::string &path);

/// The table as JSON, an entry a line.
std::string text(const TunedTable &table);

/// The entry for equal problems, or null. Batch, bias and activation make no difference to a
/// schedule.
const TunedEntry *find(const TunedTable &table, const TunedEntry &like);

/// Replaces the entry that find() has, or adds one.
void put(TunedTable *table, const TunedEntry &entry);

/// Puts all entries of the other table.
void merge(TunedTable *table, const TunedTable &other);
