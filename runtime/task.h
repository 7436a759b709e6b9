#pragma once

#include "selvage/core/blocking.h"
#include "selvage/core/task.h"

namespace selvage {

/// What one kernel is asked to compute: a rectangle of the output of a problem. To a kernel, a
/// transposed convolution is a number of ordinary ones.
struct Task {
    Problem problem;
    Window z, y, x;
    bool adjacent_pixels = false; ///< the promise of Options
    bool is_tile = false;         ///< of the input there is only what the windows read
    Blocking asked = {};          ///< by a schedule; larger numbers than the task has mean all
    bool separable = false;       ///< the promise of Options

    static constexpr bool may_ask = true;
    static constexpr bool may_be(Family) { return true; }
};

} // namespace selvage
