#pragma once

namespace selvage {

/// The strategies of schedules/; a row of the table is one of them with its parameters.
enum class Family {
    reference, ///< no directives: any problem, slowly
    direct,    ///< conv, NHWC, from a re-ordered strip (schedules/cpu/direct.h)
    pointwise, ///< conv of one tap, NHWC, as a matrix product (schedules/cpu/pointwise.h)
    narrow,    ///< conv of few channels in a group, NHWC, from lines (schedules/cpu/narrow.h)
    planar,    ///< conv and depthwise, NCHW, from lines of pixels (schedules/cpu/planar.h)
    winograd,  ///< conv, NHWC, square kernels by fewer products (schedules/cpu/winograd.h)
    rows,      ///< known kernel and stride, tiles of pixels (schedules/cpu/windows.h)
    taps,      ///< any kernel and stride, one pixel at a time (schedules/cpu/windows.h)
    lines,     ///< few channels or NCHW, any stride, from a strip (schedules/cpu/lines.h)
    any,       ///< any window problem, number by number (schedules/cpu/windows.h); on a GPU any at
               ///< all (schedules/gpu/any.h)
    tiled,     ///< conv on a GPU, from tiles in shared memory (schedules/gpu/tiled.h)
    split,     ///< the same, with channels shared out and added up afterwards
};

/// One kernel: a row of cmake/Kernels.cmake. A plain value with static lifetime.
struct KernelRow {
    /// What it computes: an operator and, where there is more than one, the type of its numbers;
    /// kernel_op() tells it for a problem.
    const char *op;
    const char *schedule; ///< unique among the rows of one op and isa
    const char *isa;      ///< "sse41", "avx2" or "avx512"; "neon"
    Family family;        ///< its strategy
    int lanes;            ///< numbers of a vector
    /// Neighbouring pixels that are computed together; of planar: outputs; of winograd: tiles; of
    /// tiled: rows and columns.
    int tile;
    int vectors;       ///< vectors that are computed together: of channels; of planar: of pixels
    int channel_block; ///< conv: input channels that lie together in weights and strip
    int output_tile;   ///< winograd: outputs of a tile, along both axes; else 1
    int kernel;        ///< the kernel on both axes, undilated; 0: any
    int stride;        ///< the stride on both axes; 0: any
    /// rows: the widest map, in outputs of a row, that has loops of its own; 0: none.
    int widest_map;
    /// depthwise: output channels of each input channel; 0: any. Where it is 1, neighbouring
    /// channels are loaded as vectors.
    int fixed_multiplier;
    bool border; ///< false: only problems whose windows stay inside the input
    /// lines: windows are worked out along one axis and then along the other; of filters only with
    /// weights as Options::separable promises.
    bool separable;
    int rate; ///< measured speed of full tiles, relative to rows of the same isa; percent
    /// The C function, taking pointers to its arguments in the order of the generator's inputs; the
    /// typed declaration is in the header that is generated beside each archive. Null where the row
    /// is not part of this build: of other architectures, or SELVAGE_KERNELS=OFF.
    int (*function)(void **arguments);
    /// The function outside the tree that orders it (docs/add-a-schedule.md); null: its family's.
    const char *schedule_function = nullptr;
};

} // namespace selvage
