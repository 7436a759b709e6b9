#pragma once

#include "candidates.h"
#include "work.h"

namespace selvage {

/// The whole output of a problem.
Region whole_output(const Problem &problem);

/// Fills in the parts of work->output, and the weights that they want unless `parent`, the plan of
/// which that output is a tile, has them (null: none). Fails with `unsupported` where some part
/// finds no kernel.
Status add_parts(const Work *parent, const Choice &choice, Work *work);

} // namespace selvage
