#include "machine.h"

#include <fstream>

namespace bench {

std::string machine_name() {
    std::ifstream cpus("/proc/cpuinfo");
    for (std::string line; std::getline(cpus, line);) {
        if (line.compare(0, 10, "model name") == 0) {
            return line.substr(line.find(':') + 2);
        }
    }
    // CPUs of Arm have numbers there; boards have a name here.
    std::string board;
    std::getline(std::ifstream("/proc/device-tree/model") >> std::ws, board, '\0');
    return board.empty() ? "unknown" : board;
}

} // namespace bench
