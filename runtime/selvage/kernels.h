#pragma once

#include <cstddef>
#include <string>

#include "selvage/problem.h"

namespace selvage {

/// The strategies of schedules/; a row of the table is one of them with its parameters.
enum class Family {
    reference, ///< no directives: any problem, slowly
    direct,    ///< conv, NHWC, from a re-ordered strip (schedules/x86/direct.h)
    planar,    ///< conv and depthwise, NCHW, from lines of pixels (schedules/x86/planar.h)
    rows,      ///< known kernel and stride, tiles of pixels (schedules/x86/windows.h)
    taps,      ///< any kernel and stride, one pixel at a time (schedules/x86/windows.h)
    lines,     ///< few channels or NCHW, any stride, from a strip (schedules/x86/lines.h)
    any,       ///< any window problem, number by number (schedules/x86/windows.h)
};

/// One compiled kernel: a row of cmake/Kernels.cmake. A plain value with static lifetime.
struct KernelRow {
    /// What it computes: an operator and, where there is more than one, the type of its numbers;
    /// kernel_op() tells it for a problem.
    const char *op;
    const char *schedule; ///< unique among the rows of one op and isa
    const char *isa;      ///< "sse41", "avx2" or "avx512"
    Family family;
    int lanes;         ///< numbers of a vector
    int tile;          ///< neighbouring pixels that are computed together; of planar: outputs
    int vectors;       ///< vectors that are computed together: of channels; of planar: of pixels
    int channel_block; ///< conv: input channels that lie together in weights and strip
    int kernel;        ///< the kernel on both axes, undilated; 0: any
    int stride;        ///< the stride on both axes; 0: any
    /// depthwise: output channels of each input channel; 0: any. Where it is 1, neighbouring
    /// channels are loaded as vectors.
    int fixed_multiplier;
    bool border; ///< false: only problems whose windows stay inside the input
    int rate;    ///< measured speed of full tiles, relative to rows of the same isa; percent
    /// The C function, taking pointers to its arguments in the order of the generator's inputs; the
    /// typed declaration is in the header that is generated beside each archive.
    int (*function)(void **arguments);
};

/// All rows, the same in every process. The first of them are the references.
const KernelRow *kernel_rows();
std::size_t kernel_row_count();

/// What rows that can compute the problem have as `op`: "conv" for conv, conv_transpose, and
/// depthwise in NCHW, "max_pool_u8" for a max pool of 8-bit numbers, "copy" for pad and
/// stride_sample, and so on.
std::string kernel_op(const Problem &problem);

/// "op/schedule/isa".
std::string name(const KernelRow &row);

} // namespace selvage
