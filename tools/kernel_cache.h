#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Kernels that were made before, in a folder that several build trees and processes may share at
/// the same time. Entries are found by a hash of the specification, the text of all that decides
/// them; it lies beside them and is compared, so that equal hashes of two do no harm. A cache only
/// saves time: one that is damaged or cannot be written stops nothing.

struct CachedKernel {
    std::string object;
    std::int64_t stack_bytes;
};

/// The entry of a specification; none where there is no folder (an empty path), no such entry, or
/// one that is not whole.
std::optional<CachedKernel> find_cached(const std::string &folder,
                                        const std::string &specification);

/// Adds an entry, in place of one that is there. Does nothing where the folder is empty or cannot
/// be written.
void add_to_cache(const std::string &folder, const std::string &specification,
                  const CachedKernel &kernel);

/// 32 hexadecimal digits that tell contents apart: FNV-1a of 128 bits.
std::string content_key(const std::string &bytes);
