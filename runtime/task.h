#pragma once

#include "selvage/core/task.h"

namespace selvage {

/// What one kernel is asked to compute: a rectangle of the output of a problem. To a kernel, a
/// transposed convolution is a number of ordinary ones.
struct Task {
    Problem problem;
    Window z, y, x;
    bool adjacent_pixels = false; ///< the promise of Options
    bool is_tile = false;         ///< of the input there is only what the windows read
};

} // namespace selvage
