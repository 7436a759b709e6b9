#include "kernel_targets.h"

#include <algorithm>
#include <filesystem>

#include <kernel_sources.h>

#include "commands.h"

namespace {

namespace fs = std::filesystem;

/// The folder of the generators: beside this program in an installation, where it is one; else this
/// program's own, as in a build.
std::string generators_folder() {
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    const fs::path installed = here.parent_path() / "libexec" / "selvage";
    return (fs::exists(installed) ? installed : here).string();
}

std::string objcopy_of(const std::string &architecture) {
#if defined(__x86_64__)
    const char *const own = "x86-64-linux";
#else
    const char *const own = "arm-64-linux";
#endif
    if (architecture == own)
        return "objcopy";
    return architecture == "arm-64-linux" ? "aarch64-linux-gnu-objcopy"
                                          : "x86_64-linux-gnu-objcopy";
}

} // namespace

std::vector<std::string> isas_of(const std::string &architecture,
                                 const std::vector<std::string> &only) {
    std::vector<std::string> architectures, of_target, wanted;
    for (const selvage::KernelTarget &each : selvage::kernel_targets()) {
        if (std::find(architectures.begin(), architectures.end(), each.architecture) ==
            architectures.end())
            architectures.push_back(each.architecture);
        if (architecture == each.architecture)
            of_target.push_back(each.isa);
    }
    if (of_target.empty())
        throw BadInput("--target " + architecture + " is not one of " + joined(architectures));
    for (const std::string &isa : only)
        if (std::find(of_target.begin(), of_target.end(), isa) == of_target.end())
            throw BadInput("--isa " + isa + " is not one of " + joined(of_target) + ", those of " +
                           architecture);
    for (const std::string &isa : of_target)
        if (only.empty() || std::find(only.begin(), only.end(), isa) != only.end())
            wanted.push_back(isa);
    return wanted;
}

KernelPrograms programs_for(const std::string &architecture) {
    return {generators_folder(), objcopy_of(architecture), ""};
}
