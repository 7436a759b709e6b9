#include "cpu.h"

#include "selvage/plan.h"

namespace selvage {

namespace {

struct Isa {
    const char *name;
    bool (*present)();
};

// Each set asks for exactly the features in the SELVAGE_TARGET_* of cmake/Kernels.cmake.
const Isa isas[] = {
    {"sse41", [] { return __builtin_cpu_supports("sse4.1") != 0; }},
    {"avx2",
     [] {
         return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("f16c");
     }},
    {"avx512",
     [] {
         return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
     }},
};

} // namespace

bool cpu_runs(std::string_view isa) {
    for (const Isa &each : isas)
        if (each.name == isa)
            return each.present();
    return false;
}

std::vector<std::string> available_isas() {
    std::vector<std::string> names;
    for (const Isa &each : isas)
        if (each.present())
            names.emplace_back(each.name);
    return names;
}

} // namespace selvage
