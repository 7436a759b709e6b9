#pragma once

/// Marks what a shared libselvage exports; all else is hidden in it. C99 and C++.
#define SELVAGE_API __attribute__((visibility("default")))
