#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "autoscheduler.h"
#include "ceilings.h"
#include "reference.h"
#include "workload.h"

namespace bench {

/// A problem with its data and results, which all schedules share.
struct Case {
    /// Throws std::invalid_argument where no kernel computes the problem.
    explicit Case(const selvage::Problem &problem);

    selvage::Problem problem;
    Data data;
    std::vector<Expected> expected;
    Floats output;
};

/// How schedules are compared.
struct ComparisonOptions {
    std::string isa;      ///< of the kernels
    std::string schedule; ///< a schedule text: this one alone beside the library's choice
    bool all_rows;        ///< all kernels get all turns, not only the fastest of each family
    int turns;
    double slice; ///< seconds that each side gets in a turn
};

/// A kernel by an autoscheduler, for the table.
struct Rival {
    std::string name;
    AutoscheduledKernel kernel;
};

/// Times every schedule of a layer: the library's choice, by its tables and by its cost model, all
/// kernels, and rivals, all of them against the first and beside what limits the machine. `cases`
/// are the layer's layouts; the choices and rivals are of the first alone. Returns one object for
/// each, as the README of this folder documents the "results"; what is wrong or cannot run is one
/// too, with the reason. Throws std::invalid_argument where options.schedule cannot compute the
/// problem, and std::runtime_error where the library's choice is wrong.
std::vector<nlohmann::json> compare_schedules(const std::vector<Case *> &cases,
                                              const std::vector<Rival> &rivals,
                                              const ComparisonOptions &options, Ceilings &ceilings,
                                              selvage::ThreadPool &pool);

} // namespace bench
