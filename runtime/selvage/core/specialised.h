#pragma once

// What specialised kernels are compiled from: the one header of this library that the NAME.cpp of
// selvage_add_kernel() includes, once NAME.h is included.
//
// All of it is compiled into an anonymous namespace, so that no function of an object can be
// merged with that of another one, which may be made of another version of this library or for
// another CPU. What comes from outside, C's types and the standard library, is included first.

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "selvage/kernel.h"
#include "selvage/status_c.h"
#include "selvage/weight_order_c.h"

namespace {
#include "selvage/core/engine.h"
}
