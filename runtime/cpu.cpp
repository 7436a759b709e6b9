#include "selvage/core/cpu.h"

#include "selvage/plan.h"

namespace selvage {

std::vector<std::string> available_isas() { return {isas, isas + usable_isas()}; }

} // namespace selvage
