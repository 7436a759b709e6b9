#pragma once

#include <string>

/// Whether a kernel of this name could not be compiled, or would stand in the way of other code: a
/// keyword of C or C++, a type, macro or function that every program may use, or a standard header,
/// for which NAME.h on the app's include path would be taken.
bool is_taken_name(const std::string &name);
