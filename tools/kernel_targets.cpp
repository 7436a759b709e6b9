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

/// The architecture that this program runs on.
#if defined(__x86_64__)
constexpr char own_architecture[] = "x86-64-linux";
#else
constexpr char own_architecture[] = "arm-64-linux";
#endif

std::string objcopy_of(const std::string &architecture) {
    if (architecture == own_architecture)
        return "objcopy";
    return architecture == "arm-64-linux" ? "aarch64-linux-gnu-objcopy"
                                          : "x86_64-linux-gnu-objcopy";
}

/// Those that there are kernels for, in the order of the kernel table.
std::vector<std::string> architectures() {
    std::vector<std::string> result;
    for (const selvage::KernelTarget &each : selvage::kernel_targets())
        if (std::find(result.begin(), result.end(), each.architecture) == result.end())
            result.push_back(each.architecture);
    return result;
}

} // namespace

std::string architecture_of(const std::string &target) {
    if (target == "host")
        return own_architecture;
    const std::string system = "-linux";
    std::vector<std::string> known = {"host"};
    for (const std::string &each : architectures()) {
        known.push_back(each.substr(0, each.size() - system.size()));
        if (target == each || target == known.back())
            return each;
    }
    throw BadInput("--target " + target + " is not one of " + joined(known));
}

std::vector<std::string> isas_of(const std::string &architecture,
                                 const std::vector<std::string> &only) {
    std::vector<std::string> of_target, wanted;
    for (const selvage::KernelTarget &each : selvage::kernel_targets())
        if (architecture == each.architecture)
            of_target.push_back(each.isa);
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
