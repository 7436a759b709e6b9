#pragma once

#include <string>

#include <dlfcn.h>

namespace selvage {

/// A driver's shared library, looked for when it is first needed, so that a machine without one is
/// told from one with a broken one. It stays loaded.
class Library {
public:
    explicit Library(const char *name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr)
            missing_ = name;
    }

    /// Sets a function, or notes that it is missing.
    template <class Function> void find(const char *name, Function **function) {
        *function =
            handle_ == nullptr ? nullptr : reinterpret_cast<Function *>(dlsym(handle_, name));
        if (*function == nullptr && missing_.empty())
            missing_ = name;
    }

    /// The library, or the first function, that is not there; empty if all is.
    const std::string &missing() const { return missing_; }

private:
    void *handle_;
    std::string missing_;
};

} // namespace selvage
