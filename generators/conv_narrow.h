#pragma once

#include "generators/conv.h"
#include "schedules/narrow_stages.h"

namespace selvage {

/// What conv_narrow() reads. The channels of a group (all in one block) and stride_x are constants.
struct NarrowInputs : ConvInputs {
    Halide::Expr places_x, places_y; ///< of source_x and source_y: places of a remainder
    int lanes;                       ///< rows of the strip are whole vectors
};

/// The same as conv() for few channels in a group, all of which are summed at once. Where they fill
/// no vector, pixels of a row must follow each other, since rows are copied as lines of numbers.
NarrowStages conv_narrow(const NarrowInputs &in);

} // namespace selvage
