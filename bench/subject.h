#pragma once

#include <string>

#include "workload.h"

namespace bench {

/// The problem of a text. Throws std::runtime_error with the reason where it is none.
selvage::Problem problem(const std::string &text);

/// A problem that is ready to be timed: planned, with data and memory of its own, and right.
class Subject {
public:
    /// Takes the library's choice among the kernels of an instruction set (of any, where empty),
    /// and holds its result to reference(). Throws std::runtime_error with the problem's text where
    /// there is no kernel or the result is wrong. `parallel` runs the shares of several threads.
    Subject(const selvage::Problem &problem, const std::string &isa, int threads = 1,
            const selvage::Parallel *parallel = nullptr);

    void run() { workload_.run(); }
    const selvage::Plan &plan() const { return workload_.plan(); }

private:
    Data data_; // before the workload, which reads it
    Workload workload_;
};

} // namespace bench
