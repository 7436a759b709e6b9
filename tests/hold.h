#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "selvage/kernels.h"
#include "selvage/plan.h"

#include "tested_device.h"
#include "trial.h"

/// The problem of a text; a bad text fails the test.
selvage::Problem parse(const std::string &text);

/// The kernels of an operator, as kernel_op() calls it, that the tested device can run.
std::vector<const selvage::KernelRow *> kernels_of(const std::string &op);

/// The instruction set that every CPU of this architecture has: "sse41" or "neon".
const char *narrowest_isa();

/// Of that set the first schedule in the table, of an operator as kernel_op() calls it, whose name
/// begins and ends so: "direct_" and "_c64", whatever the tile between them.
const char *schedule_of(const std::string &op, const std::string &begin,
                        const std::string &end = "");

/// The seed of random tests: SELVAGE_SEED, or always the same.
std::uint64_t seed_from_environment();

/// How many of something a random test takes: `usual`, or of that as many in a hundred as
/// SELVAGE_SAMPLE says, and at least one. Emulated processors are a hundred times as slow as real
/// ones.
int sample(int usual);

/// Holds random problems of the operator against the plan that the instruction set makes for them
/// and against every kernel of the set, until its tuned kernels have taken some hundreds, and
/// demands that none was left out.
///
/// SELVAGE_SEED moves the sequence of problems. With SELVAGE_PROBLEM that problem alone is run, on
/// the data and strides of SELVAGE_SEED; the text of a failure is such a line.
void hold_random_problems(selvage::Op op, const std::string &isa);

/// Holds hand-worked values against the oracle and against every kernel that accepts the problem,
/// in both layouts. Input and output are dense NDHWC here, weights are OIHW.
void hold_values(const std::string &problem, const Data &data, const std::vector<float> &expected);

/// The same for maxima and their indices.
void hold_indices(const std::string &problem, const Data &data, const std::vector<float> &expected,
                  const std::vector<std::int64_t> &indices);

/// Holds every kernel that accepts the problem against the oracle on random data, in both layouts.
void hold_problem(const std::string &problem);

/// The same with separable weights of a filter.
void hold_separable(const std::string &problem);

/// The same on any data, and the output must have these sizes: planes, rows, columns.
void hold_outputs(const std::string &problem, std::vector<std::int64_t> outputs);

/// The numbers first, first + 1, ... last.
std::vector<float> count_up(int first, int last);

/// The same number, some times.
std::vector<float> repeat(int times, float number);

/// Every number `times` times in a row: the same plane in all channels.
std::vector<float> in_each_channel(int times, const std::vector<float> &plane);
