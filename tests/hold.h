#pragma once

#include <string>
#include <vector>

#include "selvage/plan.h"

#include "trial.h"

/// The problem of a text; a bad text fails the test.
selvage::Problem parse(const std::string &text);

/// The options that force each kernel of an operator that this CPU can run.
std::vector<selvage::Options> kernels_of(selvage::Op op);

/// Holds random problems of the operator against the schedule `reference` and every kernel of the
/// instruction set, until its tuned kernels have taken a thousand, and demands that none was left
/// out.
///
/// SELVAGE_SEED moves the sequence of problems. With SELVAGE_PROBLEM that problem alone is run, on
/// the data and layout of SELVAGE_SEED; the text of a failure is such a line.
void hold_random_problems(selvage::Op op, const std::string &isa);

/// Holds hand-worked values against the oracle and against every kernel that accepts the problem.
/// Input and output are dense NHWC, weights are OIHW.
void hold_values(const char *problem, const Data &data, const std::vector<float> &expected);

/// Holds every kernel that accepts the problem against the oracle on random data.
void hold_problem(const std::string &problem);

/// The numbers first, first + 1, ... last.
std::vector<float> count_up(int first, int last);
