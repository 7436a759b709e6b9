#pragma once

#include "generators/conv.h"
#include "schedules/tiled_stages.h"

namespace selvage {

/// The same as conv() for GPUs, where in.lane_block x columns x rows of the output are a tile. It
/// is a definition for gpu::tiled() alone: the threads of a block are coordinates of reductions,
/// and what each of them sums has the same place, which is a register of its own only where a block
/// has threads. Only so does the compiler know every index of a thread's sums, and never puts them
/// into memory.
TiledStages conv_tiled(const ConvInputs &in, const Tile &tile);

} // namespace selvage
