#pragma once

#include <cstddef>
#include <string>

#include "selvage/problem.h"

namespace selvage {

/// The strategies of schedules/; a row of the table is one of them with its parameters.
enum class Family {
    reference, ///< no directives: any problem, slowly
    direct,    ///< conv2d from a re-ordered strip (schedules/x86/direct.h)
    rows,      ///< known kernel and stride, tiles of pixels (schedules/x86/windows.h)
    taps,      ///< any kernel and stride, one pixel at a time (schedules/x86/windows.h)
    flat,      ///< horizontal stride 1 on adjacent pixels of few channels (schedules/x86/windows.h)
    any,       ///< any window problem: few channels, multipliers, values (schedules/x86/windows.h)
};

/// One compiled kernel: a row of cmake/Kernels.cmake. A plain value with static lifetime.
struct KernelRow {
    Op op;
    const char *schedule; ///< unique among the rows of one op and isa
    const char *isa;      ///< "sse41", "avx2" or "avx512"
    Family family;
    int lanes;         ///< floats of a vector
    int tile;          ///< neighbouring pixels that are computed together
    int vectors;       ///< vectors of output channels that are computed together
    int channel_block; ///< conv2d: input channels that lie together in weights and strip
    int kernel;        ///< the kernel on both axes, undilated; 0: any
    int stride;        ///< the stride on both axes; 0: any
    /// depthwise2d: output channels of each input channel; 0: any. Where it is 1, neighbouring
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

/// "op/schedule/isa".
std::string name(const KernelRow &row);

} // namespace selvage
