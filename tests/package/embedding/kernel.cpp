// The kernel that a plan has for the problem of the consumer.
#include <cstdio>

#include <selvage/plan.h>

int main() {
    selvage::Problem problem;
    selvage::Plan plan;
    selvage::Status status =
        selvage::parse_problem("conv2d c=1 k=1 in=3x4 kernel=2x3 pads=1,2,0,1", &problem);
    if (status.ok())
        status = selvage::make_plan(problem, {}, &plan);
    std::puts(status.ok() ? plan.kernel().c_str() : status.text().c_str());
}
