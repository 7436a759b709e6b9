#pragma once

#include "schedules/cpu/direct.h"

namespace selvage::extra {

/// cpu::direct() with the tiles of a block in another order: down its columns, whose neighbouring
/// tiles read rows of the strip in common, where cpu::direct() goes along its rows.
inline void columns_first(ConvStages &s, int lanes, int tile, int vectors) {
    cpu::direct(s, lanes, tile, vectors);
    const Halide::Var xo("xo"), y("y");
    s.accumulator.update().reorder(y, xo);
    // Inside both loops: the sums of one tile fit the registers, those of a column do not.
    s.partial.compute_at(s.accumulator, y);
}

} // namespace selvage::extra
