#pragma once

#include <cstddef>

/// @file
/// Where kernels get their temporary memory. Whoever calls the plain C functions of the kernels
/// without the rest of the library may define these two functions himself; the first argument is
/// the `__user_context` that the kernel was called with.
extern "C" {

/// At least `bytes` bytes, aligned to 64. Kernels do not expect null. They release what they take
/// in reverse order.
void *selvage_scratch_alloc(void *context, std::size_t bytes);
/// Takes back the last memory that was handed out and is not yet released.
void selvage_scratch_free(void *context, void *memory);
}
