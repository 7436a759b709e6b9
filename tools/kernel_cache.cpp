#include "kernel_cache.h"

#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <system_error>

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
                                        const std::string &specification) try {
    const fs::path entry = fs::path(folder) / content_key(specification);
    if (folder.empty() || read_file(entry / "specification") != specification)
        return {};
    CachedKernel kernel = {read_file(entry / "kernel.o"), 0};
    const std::string stack = read_file(entry / "stack_bytes");
    const char *const end = stack.data() + stack.size();
    const auto [rest, error] = std::from_chars(stack.data(), end, kernel.stack_bytes);
    if (error != std::errc() || rest != end || kernel.stack_bytes < 1 ||
        read_file(entry / "kernel_key") != content_key(kernel.object))
        return {};
    return kernel;
} catch (const std::runtime_error &) {
    return {};
}

void add_to_cache(const std::string &folder, const std::string &specification,
                  const CachedKernel &kernel) try {
    if (folder.empty())
        return;
    fs::create_directories(folder);
    // The entry lies within, since the temporary folder itself is for its owner alone.
    const TemporaryFolder temporary(folder);
    const fs::path made = fs::path(temporary.path()) / "entry",
                   entry = fs::path(folder) / content_key(specification);
    fs::create_directory(made);
    write_file(made / "specification", specification);
    write_file(made / "kernel.o", kernel.object);
    write_file(made / "kernel_key", content_key(kernel.object));
    write_file(made / "stack_bytes", std::to_string(kernel.stack_bytes));
    std::error_code error;
    fs::remove_all(entry, error);
    // Another process may have been faster; its entry is the same.
    fs::rename(made, entry, error);
} catch (const std::runtime_error &) {
}
