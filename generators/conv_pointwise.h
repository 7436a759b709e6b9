#pragma once

#include "generators/conv.h"
#include "schedules/pointwise_stages.h"

namespace selvage {

/// The same as conv() for kernels of one tap that read no border. Outputs and the inputs that they
/// read are lines of pixels side by side, `width` long: a row, or all of an image where its rows
/// follow each other. `in.strip_rows` counts tiles that are copied together.
PointwiseStages conv_pointwise(const ConvInputs &in);

} // namespace selvage
