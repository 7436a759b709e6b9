#include "kernel_cache.h"

#include <filesystem>

#include <unistd.h>

#include "commands.h"
#include "files.h"

namespace fs = std::filesystem;

std::string content_key(const std::string &bytes) {
    using Number = unsigned __int128;
    constexpr Number prime = (Number(1) << 88) + 0x13b;
    Number hash = (Number(0x6c62272e07bb0142) << 64) + 0x62b821756295c58d;
    for (unsigned char byte : bytes)
        hash = (hash ^ byte) * prime;
    std::string key;
    for (int digit = 0; digit < 32; ++digit, hash <<= 4)
        key += "0123456789abcdef"[int(hash >> 124)];
    return key;
}

std::optional<CachedKernel> find_cached(const std::string &folder,
                                        const std::string &specification) {
    const fs::path entry = fs::path(folder) / content_key(specification);
    if (folder.empty() || !fs::exists(entry) || read_file(entry / "specification") != specification)
        return {};
    return CachedKernel{read_file(entry / "kernel.o"),
                        std::stoll(read_file(entry / "stack_bytes"))};
}

void add_to_cache(const std::string &folder, const std::string &specification,
                  const CachedKernel &kernel) {
    if (folder.empty())
        return;
    const fs::path entry = fs::path(folder) / content_key(specification);
    const fs::path made = entry.string() + "." + std::to_string(getpid());
    std::error_code error;
    fs::create_directories(made, error);
    if (error)
        throw BadInput(folder + ": cannot be written: " + error.message());
    write_file(made / "specification", specification);
    write_file(made / "kernel.o", kernel.object);
    write_file(made / "stack_bytes", std::to_string(kernel.stack_bytes));
    // Another process may have been faster; its entry is the same.
    fs::rename(made, entry, error);
    if (error)
        fs::remove_all(made, error);
}
