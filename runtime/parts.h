#pragma once

#include "candidates.h"
#include "shares.h"
#include "work.h"

namespace selvage {

/// The most phases of a transposed convolution, all its shares together: each has tables of its
/// own.
constexpr int most_phases = 1 << 16;

/// The whole output of a problem.
Region whole_output(const Problem &problem);

/// Adds the parts that compute a piece of work->output, for one of the shares, to work->parts. The
/// first of a plan's own parts settle work->weights, which all others take. Fails with
/// `unsupported` where some part finds no kernel.
Status add_parts(const Choice &choice, const Piece &piece, int share, Work *work);

} // namespace selvage
