#pragma once

#include <vector>

/// A file that exported folders hold; the build writes these into the program.
struct ExportedSource {
    const char *path; ///< within such a folder
    const char *text;
};

extern const std::vector<ExportedSource> exported_sources;
