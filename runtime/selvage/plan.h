#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "selvage/core/scratch.h"
#include "selvage/device.h"
#include "selvage/export.h"
#include "selvage/parallel.h"
#include "selvage/problem.h"
#include "selvage/region.h"
#include "selvage/schedule.h"
#include "selvage/schedule_table.h"
#include "selvage/status.h"
#include "selvage/tensor.h"

namespace selvage {

/// What a caller may insist on. Empty strings leave the choice to the library.
struct Options {
    /// An instruction set: "sse41", "avx2", "avx512"; on ARM "neon". Only kernels of exactly this
    /// set are taken. Where empty, the environment variable SELVAGE_ISA is read, and where that is
    /// unset too, every set that the CPU has is a candidate.
    std::string isa;
    /// A schedule text, see parse_schedule(): "reference", or
    /// "direct_14x2_c64 strip_rows=7 split=channels isa=avx512". The whole output is computed by
    /// the kernel that it names. What does not apply to the kernel or to the problem, or is more
    /// than these have, is refused. Where empty, the environment variable SELVAGE_SCHEDULE is read;
    /// where that is unset or empty too, the schedule table is asked, and what it does not have is
    /// estimated. "auto" takes the estimate without asking the table.
    std::string schedule;
    /// A promise about NHWC: in every view that run() is given, neighbouring pixels of a row lie
    /// next to each other (stride_w == c), as in any dense image. Kernels for images of few
    /// channels need it.
    bool adjacent_pixels = false;
    /// How many threads may compute one run(): the output is cut into at most so many shares of
    /// equal size, as the schedule's split says, which run() hands to its Parallel. 1 to
    /// most_threads. A transposed convolution of p phases has at most 65536/p shares. The results
    /// are the same, to the bit, for any number.
    int threads = 1;
    /// Schedules that were measured, see find_schedule(). Null: those that the library was built
    /// with; without entries: estimates alone. Read by make_plan() and not kept.
    const ScheduleTable *table = nullptr;
    /// How float convolutions may round. "exact": by direct kernels, whose error is that of adding
    /// up the products. "fast": by winograd kernels too where these are estimated to be faster,
    /// whose errors are larger by a bounded factor (docs/accuracy.md), and which let a NaN or an
    /// infinity of the input into outputs near those that read it. Where empty, the environment
    /// variable SELVAGE_ACCURACY is read, and where that is unset or empty too, it is "exact". A
    /// winograd kernel that `schedule` names is taken whatever stands here.
    std::string accuracy = {};
    /// Where the plan runs, see Device: the host, or a GPU that open_device() opened. All memory
    /// that the plan is then given but weights and bias is the device's.
    Device device = {};
    /// Where no kernel of a GPU can compute the problem: plan for the host, as Plan::device() and
    /// Plan::kernel() then tell, and Plan::declined() why. Else make_plan() fails.
    bool cpu_fallback = false;
    /// A promise about the whole weights of a filter: those of every channel are the same column
    /// times the same row, as those of a Gaussian or of a mean are, and check_separable() says
    /// `ok`. Then rows can be added up once for all windows, which gives the same values sooner.
    /// pack() refuses other weights where kernels rely on it; without whole weights it is ignored.
    bool separable = false;
};

/// Whether whole weights of a filter (dense, k x taps in the given order) are such as
/// Options::separable promises: `ok`, or the reason why not. `invalid_argument`: they are not the
/// products of a column and a row, the same in every channel. `overflow`: sums of pixels are not
/// exact. The row, divided by what its weights have in common, may add up to 128 (16 bits), and 255
/// times all weights of a channel, and 2^(shift-1), to 2^24 (float); magnitudes are meant.
/// `unsupported`: the kernel has several planes. Safe from any thread.
Status check_separable(const Problem &problem, const std::int16_t *weights, WeightOrder order);

/// A kernel that was considered and not taken, and why.
struct Decline {
    std::string kernel; ///< "op/schedule/isa"
    std::string reason; ///< one line with the values
};

/// A rectangle of the output, and the kernel that computes it.
struct PlannedPart {
    std::string kernel; ///< "op/schedule/isa"
    /// Of the plan's output. A part of a transposed convolution computes every stride-th element.
    Region output;
    Range images;   ///< of the problem's
    Range channels; ///< of the output's
    int share = 0;  ///< parts of different shares may be computed at the same time
};

struct Work; // what a plan has decided, see runtime/work.h

/// A problem, the kernels chosen for it, and the sizes of the memory that they need.
///
/// Most problems are computed by one kernel; where that cannot apply the border, or is not the
/// fastest there, the output is cut into parts. A plan is an immutable value after make_plan()
/// succeeded: any number of threads may use one at the same time, each with scratch memory of its
/// own. Copies share what was decided.
class SELVAGE_API Plan {
public:
    /// What is computed; of a tile, the whole problem.
    const Problem &problem() const;
    /// Where it is computed, and whose memory pack() and run() take.
    const Device &device() const;

    /// The output that run() writes, within that of the whole problem; all of it unless the plan is
    /// a tile().
    const Region &output_region() const;
    /// The input that run() reads, within the problem's input; all of it unless the plan is a
    /// tile().
    const Region &input_region() const;

    /// The kernel that computes the largest part, as "op/schedule/isa"; for example
    /// "conv/direct_14x2_c64/avx512". "none" where the output is empty.
    const std::string &kernel() const;
    /// The schedule text of the largest part, which Options::schedule takes to make this plan
    /// again: the kernel and its instruction set, every number by which it cuts up its work, and
    /// what threads share where there are several shares. Where parts have different kernels,
    /// "auto": only the library's choice mixes them. "" where the output is empty.
    std::string schedule() const;
    /// All parts, share by share, in the order in which they are computed.
    std::vector<PlannedPart> parts() const;
    /// Every other kernel that Options leave for the operator, in the order of the kernel table,
    /// and why the largest part was not given to it. Before these, an entry of the schedule table
    /// that cannot serve, as "schedule table: TEXT".
    const std::vector<Decline> &declined() const;

    /// Bytes of packed weights and bias, a multiple of `alignment`; 0 without weights.
    std::size_t packed_bytes() const;
    /// Bytes of scratch memory for one run(), of all shares and for any views of the problem's
    /// shape; a multiple of `alignment`.
    std::size_t scratch_bytes() const;

    /// The plan of a rectangle of output_region()'s output: it wants the part input_region() of the
    /// input as its input, writes an output of that size, and takes the packed weights of this
    /// plan and as many threads. Each output is computed as by this plan, so tiles meet without
    /// seams, whatever the border: its mode acts at the edges of the whole input only. `output`
    /// counts from the first output of the whole problem. On failure *tile is unchanged:
    /// `invalid_argument` where the rectangle is not within the output. Allocates; safe from any
    /// thread.
    Status tile(const Region &output, Plan *tile) const;

    /// Rearranges weights (and bias, null where problem().bias is false) for run() into `packed`,
    /// packed_bytes() long and aligned to `alignment`. Weights are dense: k x c/g x taps elements
    /// in the given order (see WeightOrder). Needed once; `packed` may be used by any number of
    /// runs. Not for operators without weights. On a GPU `packed` is an address of the device, to
    /// which this copies what it rearranged.
    Status pack(const float *weights, WeightOrder order, const float *bias, void *packed) const;
    /// The same for a filter with whole weights (Problem::shift >= 0). Where Options::separable was
    /// promised, what check_separable() says against them is a failure.
    Status pack(const std::int16_t *weights, WeightOrder order, void *packed) const;

    /// Computes the problem: reads `input` (n images of input_region() x c), writes every element
    /// of `output` (n images of output_region() x k) and nothing else. T is the problem's type:
    /// float, std::uint8_t or std::int8_t. `packed` comes from pack() of an equal plan (null
    /// without weights); `scratch` has scratch_bytes() and is aligned to `alignment` (null where
    /// 0). `indices` has the shape of `output` where the problem has indices, else it is null.
    /// Memory of input and outputs must not overlap (views that interleave without sharing an
    /// element are refused too). `parallel` runs the shares of a plan for several threads (null:
    /// one after the other here). No allocation but for the text of a failure, no system call but
    /// its. On failure nothing was written, unless the code is `internal`, as it is where
    /// `parallel` left out a share, or `device`.
    ///
    /// On a GPU all of these are addresses of the device, whose work is queued behind what was
    /// queued before: the call returns before it is done, so the memory must stay until then
    /// (Device::synchronize()). The first run of a kernel on a device has the driver compile it.
    template <class T>
    Status run(const Tensor<const T> &input, const void *packed, const Tensor<T> &output,
               void *scratch, std::size_t scratch_bytes,
               const Tensor<std::int64_t> *indices = nullptr,
               const Parallel *parallel = nullptr) const;

    /// run() on tensors of the host: copies the input to the device, runs, waits, and copies the
    /// output back. `packed` and `scratch` are the device's as always. Allocates memory for the
    /// copies on both sides, and fails with `too_small` where there is none; what is run often
    /// keeps its tensors on the device. On the host it is run().
    template <class T>
    Status run_on_host_memory(const Tensor<const T> &input, const void *packed,
                              const Tensor<T> &output, void *scratch, std::size_t scratch_bytes,
                              const Tensor<std::int64_t> *indices = nullptr,
                              const Parallel *parallel = nullptr) const;

private:
    friend Status make_plan(const Problem &, const Options &, Plan *);
    friend std::vector<Schedule> candidate_schedules(const Problem &, const Options &);
    const Work &work() const;
    std::shared_ptr<const Work> work_;
};

/// Checks the problem, looks for the fastest kernels that can compute it on this CPU or the device,
/// and fills *plan; a GPU gets a copy of its tables. On failure *plan is unchanged; the code is
/// that of check(problem), or `unsupported` with a text that lists what was considered. Allocates;
/// safe from any thread.
SELVAGE_API Status make_plan(const Problem &problem, const Options &options, Plan *plan);

/// Schedules that compute the problem on this CPU under the options, each of which does something
/// else: first what make_plan() would take, then every kernel but the references as the library
/// cuts up its work, those that are estimated to be the fastest first, then these with other
/// numbers and other splits. For what measures them. Empty where make_plan() would fail. Allocates;
/// safe from any thread.
SELVAGE_API std::vector<Schedule> candidate_schedules(const Problem &problem,
                                                      const Options &options);

/// The instruction sets of the kernel table that this CPU can run, narrowest first.
SELVAGE_API std::vector<std::string> available_isas();

} // namespace selvage
