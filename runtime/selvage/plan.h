#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "selvage/problem.h"
#include "selvage/status.h"
#include "selvage/tensor.h"

namespace selvage {

struct KernelRow; // one row of the kernel table, see kernels.h

/// What a caller may insist on. Empty strings leave the choice to the library.
struct Options {
    /// An instruction set: "sse41", "avx2" or "avx512". Only kernels of exactly this set are taken.
    /// Where empty, the environment variable SELVAGE_ISA is read, and where that is unset too,
    /// every set that the CPU has is a candidate.
    std::string isa;
    /// A schedule by its name in the kernel table, for example "reference". Where empty, the
    /// environment variable SELVAGE_SCHEDULE is read.
    std::string schedule;
    /// A promise: in every view that run() is given, neighbouring pixels of a row lie next to each
    /// other (stride_w == c), as in any dense image. Kernels for images of few channels need it.
    bool adjacent_pixels = false;
};

/// A kernel that was considered and not taken, and why.
struct Decline {
    std::string kernel; ///< "op/schedule/isa"
    std::string reason; ///< one line with the values
};

/// Packed weights and scratch memory begin at a multiple of this many bytes. Inputs and outputs
/// need not.
constexpr std::size_t alignment = 64;

/// A problem, the kernel chosen for it, and the sizes of the memory that the kernel needs.
///
/// A plan is an immutable value after make_plan() succeeded: any number of threads may use one at
/// the same time, each with scratch memory of its own.
class Plan {
public:
    const Problem &problem() const { return problem_; }
    const Window &window_y() const { return window_y_; }
    const Window &window_x() const { return window_x_; }

    /// The kernel that run() calls, as "op/schedule/isa"; for example
    /// "conv2d/direct_14x2_c64/avx512".
    const std::string &kernel() const { return kernel_; }
    /// Every other kernel that Options leave for the operator, in the order of the table, and why
    /// it was not taken.
    const std::vector<Decline> &declined() const { return declined_; }

    /// Bytes of packed weights and bias, a multiple of `alignment`; 0 for pools.
    std::size_t packed_bytes() const { return packed_bytes_; }
    /// Bytes of scratch memory for one run(), for any views of the problem's shape; a multiple of
    /// `alignment`.
    std::size_t scratch_bytes() const { return scratch_bytes_; }

    /// Rearranges weights (and bias, null where problem().bias is false) for kernel() into
    /// `packed`, packed_bytes() long and aligned to `alignment`. Weights are dense: k x c/g x
    /// kernel_y x kernel_x elements in the given order (depthwise2d: k x 1 x kernel_y x kernel_x,
    /// and output channel c*m+q reads input channel c). Needed once; `packed` may be used by any
    /// number of runs. Not for pools.
    Status pack(const float *weights, WeightOrder order, const float *bias, void *packed) const;

    /// Computes the problem: reads `input` (n x y.size x x.size x c), writes every element of
    /// `output` (n x outputs_y x outputs_x x k) and nothing else. `packed` comes from pack() of an
    /// equal plan (null for pools); `scratch` has scratch_bytes() and is aligned to `alignment`
    /// (null where 0). Memory of input and output must not overlap. No allocation, no system call.
    /// On failure nothing was written, unless the code is `internal`.
    Status run(const Tensor<const float> &input, const void *packed, const Tensor<float> &output,
               void *scratch, std::size_t scratch_bytes) const;

private:
    friend Status make_plan(const Problem &, const Options &, Plan *);
    Problem problem_;
    Window window_y_, window_x_;
    const KernelRow *row_ = nullptr;
    bool adjacent_pixels_ = false;
    std::string kernel_;
    std::vector<Decline> declined_;
    std::size_t packed_bytes_ = 0;
    std::size_t bias_offset_ = 0; // of the packed bias, in floats
    std::size_t scratch_bytes_ = 0;
    std::vector<float> counted_y_, counted_x_; // avg_pool2d: taps that count, for each output
};

/// Checks the problem, looks for the fastest kernel that can compute it on this CPU, and fills
/// *plan. On failure *plan is unchanged; the code is that of check(problem), or `unsupported` with
/// a text that lists what was considered. Allocates; safe from any thread.
Status make_plan(const Problem &problem, const Options &options, Plan *plan);

/// The instruction sets of the kernel table that this CPU can run, narrowest first.
std::vector<std::string> available_isas();

} // namespace selvage
