#pragma once

#include "schedules/cpu/direct.h"
#include "schedules/cpu/pointwise.h"
#include "schedules/cpu/winograd.h"

/// Convolutions of NEON, which multiplies by one element of a vector: a vector of
/// cpu::channel_step = 4 channels of a pixel is loaded once and serves 4 * vectors multiply-adds,
/// where those of cpu/ load the pixel once for each channel.
///
/// All pixels of a tile stay in registers through a step of 4 channels, so of 32 registers 6 x 3
/// sums + 6 pixels + 3 weights = 27, 5 x 4 + 5 + 4 = 29, 8 x 2 + 8 + 2 = 26; what is left holds the
/// next weights. 7 x 3 + 7 + 3 = 31 leaves too few and spills. A step of 6 x 3 loads 6 pixels and
/// 12 weights for 72 multiply-adds; 8 x 3 by cpu/, one pixel and channel at a time, loads 32 and 12
/// for 96. docs/arm.md has what that makes by the model of LLVM.
namespace selvage::arm {

/// Pixels, a vector of their channels each, in registers. `channel` and `pixel` are dimensions of
/// the stage.
inline void by_element(Halide::Func pixels, const Halide::Var &channel, const Halide::Var &pixel) {
    pixels.store_in(Halide::MemoryType::Register).vectorize(channel).unroll(pixel);
}

inline void direct(ConvStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var li("li"), l("l"), x("x"), one("one"), i("i");
    cpu::direct(s, lanes, tile, vectors);
    // A loop of one turn inside those that the conditions of the taps depend on: pixels that are
    // loaded there need no condition of their own.
    s.partial.update().split(x, one, x, tile).reorder(li, l, x, s.taps[0], one);
    s.pixels.compute_at(s.partial, one);
    by_element(s.pixels, i, x);
}

inline void pointwise(PointwiseStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var ci("ci"), x("x");
    cpu::pointwise(s, lanes, tile, vectors);
    Func pixels = s.panel.in(s.sum);
    pixels.compute_at(s.sum, s.taps.y);
    by_element(pixels, ci, x);
}

inline void winograd(WinogradStages &s, int lanes, int tile, int vectors) {
    using namespace Halide;
    Var ci("ci"), p("p");
    cpu::winograd(s, lanes, tile, vectors);
    Func pixels = s.full_input.in(s.sums);
    pixels.compute_at(s.sums, s.channels[1]);
    by_element(pixels, ci, p);
}

} // namespace selvage::arm
