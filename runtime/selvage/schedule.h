#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "selvage/core/blocking.h"
#include "selvage/export.h"
#include "selvage/status.h"

namespace selvage {

/// What the threads of a run share among them. The results are the same, to the bit, for each.
enum class Split {
    automatic, ///< whatever is estimated to be the fastest
    images,    ///< whole images of the batch
    planes,    ///< planes of the output, those of all images in a row
    rows,      ///< rows of the output, those of all images in a row
    columns,   ///< columns of the output, those of all images in a row
    channels,  ///< convolutions: blocks of output channels as kernels compute them, or groups
};

/// The names of schedule texts.
constexpr std::array<std::pair<Split, const char *>, 6> splits = {{{Split::automatic, "automatic"},
                                                                   {Split::images, "images"},
                                                                   {Split::planes, "planes"},
                                                                   {Split::rows, "rows"},
                                                                   {Split::columns, "columns"},
                                                                   {Split::channels, "channels"}}};

/// The name of a split. Never null.
constexpr const char *name(Split split) { return splits[std::size_t(split)].second; }

/// How a problem is computed: which kernel, how that cuts up its work, and what threads share. What
/// is empty, 0 or automatic is the library's choice. A schedule never changes what a problem is;
/// `channel_blocks` and the kernel decide in which order floats are summed, and so their roundings.
struct Schedule {
    std::string kernel;             ///< a schedule of the kernel table, see KernelRow::schedule
    std::string isa;                ///< an instruction set: only kernels of exactly this set
    Blocking blocking;              ///< how the kernel cuts up its work
    Split split = Split::automatic; ///< what threads share
};

/// Reads a schedule text,
///
///     [KERNEL] [KEY=VALUE]...
///
/// in which KERNEL is a schedule of the kernel table or `auto`, and KEY is one of
///
///     strip_rows, block_rows, channel_blocks, strip_planes, strip_columns
///             1 .. 2^31-1, see Blocking; of winograd rounded up to whole tiles
///     split   images, planes, rows, columns, channels or automatic
///     isa     sse41, avx2 or avx512; neon
///
/// for example "direct_14x2_c64 strip_rows=7 channel_blocks=4 split=channels isa=avx512". What is
/// left out is the library's choice; the empty text leaves all to it. Whether there is such a
/// kernel, and what of this applies to it, make_plan() tells. On failure, with `invalid_argument`,
/// *schedule is unchanged. Safe from any thread.
SELVAGE_API Status parse_schedule(std::string_view text, Schedule *schedule);

/// The text of a schedule, which parse_schedule() reads back: "auto" or the kernel, and every key
/// that is not left to the library.
SELVAGE_API std::string text(const Schedule &schedule);

} // namespace selvage
