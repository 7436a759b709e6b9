#pragma once

#include "selvage/core/views.h"
#include "selvage/status.h"
#include "work.h"

namespace selvage {

/// Whether run() of a plan can take the views, whose memory is not looked at: types, shapes and
/// strides. `indices` may be null.
Status check_views(const Work &work, const View &input, const View &output, const View *indices);

} // namespace selvage
