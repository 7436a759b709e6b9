#include "subject.h"

#include <stdexcept>

#include "reference.h"

namespace bench {
namespace {

selvage::Plan plan_of(const selvage::Problem &problem, const std::string &isa, int threads) {
    selvage::Plan plan;
    const selvage::Status status = make_plan(problem, {isa, "", true, threads}, &plan);
    if (!status.ok()) {
        throw std::runtime_error(text(problem) + ": " + status.text());
    }
    return plan;
}

} // namespace

selvage::Problem problem(const std::string &text) {
    selvage::Problem problem;
    const selvage::Status status = selvage::parse_problem(text, &problem);
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
    return problem;
}

Subject::Subject(const selvage::Problem &problem, const std::string &isa, int threads,
                 const selvage::Parallel *parallel)
    : data_(integer_data(problem)), workload_(plan_of(problem, isa, threads), data_, parallel) {
    const std::string wrong = fault(plan(), reference(plan(), data_), workload_.output());
    if (!wrong.empty()) {
        throw std::runtime_error(text(problem) + " by " + plan().kernel() + ": " + wrong);
    }
}

} // namespace bench
