#pragma once

#include <string>

namespace bench {

/// The name of this machine's CPU, or of the machine where Linux tells no other; else "unknown".
std::string machine_name();

} // namespace bench
