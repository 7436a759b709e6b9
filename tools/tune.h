#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <layers.h>
#include <selvage/plan.h>
#include <turns.h>

#include "tuned_table.h"

/// What `selvage tune` is asked for.
struct TuneArguments {
    std::vector<bench::Layer> layers;
    std::string table; ///< its path
    std::string isa;   ///< the class of machines: their best instruction set
    std::string accuracy = "exact";
    int threads = 1;
    double budget = 0;                                                ///< seconds
    std::size_t candidates = std::numeric_limits<std::size_t>::max(); ///< the most of a layer
    bool again = false; ///< measure what the table has already
    bool json = false;  ///< results on stdout are JSON
};

/// What plans are made with that the cost model chooses, and no table.
selvage::Options options_of(const TuneArguments &arguments);

/// The plan that an app gets of a problem where this is its table. Throws BadInput where there is
/// none, and where the problem's entry cannot serve, with the reason.
selvage::Plan plan_by(const TunedTable &table, const selvage::Problem &problem,
                      const TuneArguments &arguments);

/// What times are taken by: threads that wait for others take no processor time.
bench::Clock clock_of(const TuneArguments &arguments);

/// A ratio or a time for readers.
std::string rounded(double number, int digits);

/// Measures the layers and writes the table after each. Throws BadInput where a layer cannot be
/// measured, before any is; std::runtime_error at the end where the library's own choice gave a
/// wrong result.
void tune_layers(const TuneArguments &arguments);

/// Measures the entries of a table that fit the arguments against the cost model.
void check_table(const TuneArguments &arguments, const std::string &path);

/// Writes a folder that measures the layers on another machine; its README tells how.
void export_layers(const TuneArguments &arguments, const std::string &folder,
                   const std::string &target);
