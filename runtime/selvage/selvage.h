#pragma once

#include <stddef.h>
#include <stdint.h>

#include "selvage/export.h"
#include "selvage/parallel.h"
#include "selvage/schedule_table_c.h"
#include "selvage/status_c.h"
#include "selvage/weight_order_c.h"

/// @file
/// The library in C99: convolution and pooling in one to three dimensions, with exact borders.
///
///     float x[5] = {1, 2, 3, 4, 5}, w[3] = {1, 10, 100}, y[5];
///     const char *problem = "conv1d in=5 kernel=3 same=tf";
///     selvage_layer *layer = NULL;
///     selvage_status why;
///     selvage_layer_create(problem, NULL, w, SELVAGE_OIHW, NULL, &layer, &why);
///     if (why.code == SELVAGE_OK)
///         selvage_layer_run(layer, x, y, NULL, NULL, &why);
///     if (why.code != SELVAGE_OK)
///         fprintf(stderr, "%s: %s\n", selvage_code_name(why.code), why.text);
///     selvage_layer_free(layer); // y is 210, 321, 432, 543, 54
///
/// What is computed is said by a problem text, one line such as "max_pool2d c=64 in=56x56 kernel=3
/// stride=2 pads=1", whose grammar is that of selvage::parse_problem() (selvage/problem.h). A plan
/// is a problem with the kernels chosen for it, and works in memory of the caller; a layer is a
/// plan that owns the memory it needs.
///
/// Common to all functions:
/// - Sizes and strides are counted in elements, memory in bytes. Regions and shapes are ordered
///   planes, rows, columns; below rank 3 (2) there is one plane (row).
/// - Functions that can fail return a code and write it with a text to `status`, which may be null.
///   On failure all other results are unchanged. Nothing is printed, and no C++ exception leaves
///   the library.
/// - Null is refused with SELVAGE_INVALID_ARGUMENT wherever it is not allowed by the comment.
///   Functions that cannot fail take a null plan for an empty one: texts are "", all numbers 0.
/// - Texts end with a 0. Those that a function returns or writes as `const char *` belong to the
///   library: they live as long as the plan that they come from, and for ever if they come from
///   none.
/// - Any thread may call any function. One plan may be used by any number of threads at the same
///   time, one layer by one thread at a time. Nothing may be used while or after it is freed.

#ifdef __cplusplus
extern "C" {
#endif

/* The library and its kernels. */

/// The version of the library that is running, for example "0.2.0"; SELVAGE_VERSION of
/// selvage/version.h is that of the headers.
SELVAGE_API const char *selvage_version(void);

/// The name of a code, for example "invalid_argument"; "unknown" for other numbers.
SELVAGE_API const char *selvage_code_name(selvage_code code);

/// The instruction sets of the kernel table that this CPU can run, narrowest first, for example
/// "sse41", "avx2", "avx512", or "neon"; null for an index beyond the last.
SELVAGE_API const char *selvage_isa(size_t index);

/// A row of the kernel table: an operator with its type of number, a schedule, an instruction set.
typedef struct selvage_kernel {
    const char *op;       ///< what it computes, for example "conv" or "max_pool_u8"
    const char *schedule; ///< how; unique among kernels of one op and isa
    const char *isa;      ///< the instruction set that it needs
} selvage_kernel;

/// How many rows the kernel table has, whether this CPU can run them or not.
SELVAGE_API size_t selvage_kernel_count(void);

/// The row with that index.
SELVAGE_API selvage_code selvage_kernel_at(size_t index, selvage_kernel *kernel,
                                           selvage_status *status);

/// Room for any canonical text, with its 0.
#define SELVAGE_TEXT_BYTES 1024

/// Reads a problem text and writes its canonical form to `canonical`, which has `bytes` bytes:
/// every field that the operator uses, in a fixed order, with conventions resolved to pads. Two
/// problems are equal if their canonical texts are. Fails as selvage_plan_create() does for a text
/// that is no problem, and with SELVAGE_TOO_SMALL where `bytes` are not enough.
SELVAGE_API selvage_code selvage_canonical(const char *problem, char *canonical, size_t bytes,
                                           selvage_status *status);

/* Tensors and regions. */

/// The type of a tensor's numbers.
typedef enum selvage_type {
    SELVAGE_F32 = 0,
    SELVAGE_U8 = 1,
    SELVAGE_I8 = 2,
    SELVAGE_I64 = 3 ///< of indices only
} selvage_type;

/// A view of n images of d planes, h rows, w columns and c channels over memory that the caller
/// owns. selvage_plan_input() and its siblings give dense ones.
///
/// The strides are free and not negative, except that neighbours lie next to each other along the
/// innermost axis of the problem's layout: stride_c is 1 for nhwc, stride_w for nchw. A stride of 0
/// repeats an input; elements of an output must not share memory. Strides of axes of size 1 do not
/// matter. One image must lie within 2^31 - 1 bytes.
typedef struct selvage_tensor {
    void *data;        ///< the first element; memory of an input is only read
    selvage_type type; ///< of its numbers
    int64_t n;         ///< images
    int64_t d;         ///< planes; 1 below rank 3
    int64_t h;         ///< rows; 1 below rank 2
    int64_t w;         ///< columns
    int64_t c;         ///< channels
    int64_t stride_n;  ///< elements from one image to the next
    int64_t stride_d;  ///< from one plane to the next
    int64_t stride_h;  ///< from one row to the next
    int64_t stride_w;  ///< from one column to the next
    int64_t stride_c;  ///< from one channel to the next
} selvage_tensor;

/// The elements begin .. begin + size - 1 of an axis.
typedef struct selvage_range {
    int64_t begin; ///< the first element
    int64_t size;  ///< how many
} selvage_range;

/// A rectangle of an image or volume: planes, rows and columns, of all images and channels.
typedef struct selvage_region {
    selvage_range z; ///< planes
    selvage_range y; ///< rows
    selvage_range x; ///< columns
} selvage_region;

/* Devices. */

/// Where plans run: a GPU with a context and a queue on it, or the host.
///
/// Memory of a device is an address: of a GPU a CUdeviceptr (CUDA) or an address within shared
/// virtual memory (OpenCL), as pointers, of the host an ordinary one. An app's own are as good as
/// those of selvage_device_allocate(). Work for a GPU is queued in the order of the calls: runs
/// return before it is done, copies wait for what they copy, selvage_device_synchronize() for all.
typedef struct selvage_device selvage_device;

/// Which GPU, and what of the app's own is used. The first one with all of its own, unless more is
/// set than in
///     selvage_device_options options = {.struct_size = sizeof(options)};
typedef struct selvage_device_options {
    size_t struct_size; ///< as of selvage_options
    /// Which of the target's devices, from 0 on, as the driver counts them (those of all OpenCL
    /// platforms in a row). Not looked at where `context` (CUDA) or `stream` (OpenCL) tells it.
    int index;
    /// CUDA: a CUcontext; null: the device's primary context, which the CUDA runtime uses too.
    /// OpenCL: a cl_context with the device; null: that of `stream`, else a new one.
    void *context;
    /// Where work is queued. CUDA: a CUstream (or cudaStream_t) of the context; null: its default
    /// stream. OpenCL: a cl_command_queue that keeps the order; null: a new one.
    void *stream;
} selvage_device_options;

/// Opens a device of a target: "cuda", "opencl" or "host". `options` may be null. Fails with
/// SELVAGE_UNSUPPORTED where this build has no kernels for the target, and where there is no
/// driver, no device, or one that is too old (CUDA: below compute capability 7.0; OpenCL: without
/// shared virtual memory). The caller closes it with selvage_device_free().
SELVAGE_API selvage_code selvage_device_open(const char *target,
                                             const selvage_device_options *options,
                                             selvage_device **device, selvage_status *status);

/// Closes a device; plans and layers for it keep it open for themselves. Null is allowed.
SELVAGE_API void selvage_device_free(selvage_device *device);

/// What the driver calls the device. "" for null.
SELVAGE_API const char *selvage_device_name(const selvage_device *device);

/// Memory of the device, at least 1 byte; SELVAGE_TOO_SMALL where there is none left. Released with
/// selvage_device_release().
SELVAGE_API selvage_code selvage_device_allocate(const selvage_device *device, size_t bytes,
                                                 void **memory, selvage_status *status);

/// Releases memory of selvage_device_allocate(), once all that is queued is done. Null is allowed.
SELVAGE_API void selvage_device_release(const selvage_device *device, void *memory);

/// Copies bytes from the host into memory of the device, behind all that is queued.
SELVAGE_API selvage_code selvage_device_copy_in(const selvage_device *device, const void *host,
                                                void *memory, size_t bytes, selvage_status *status);

/// Copies bytes from memory of the device to the host, after all that is queued.
SELVAGE_API selvage_code selvage_device_copy_out(const selvage_device *device, const void *memory,
                                                 void *host, size_t bytes, selvage_status *status);

/// Waits until all that is queued is done. What failed in between is reported with
/// SELVAGE_DEVICE_FAILURE.
SELVAGE_API selvage_code selvage_device_synchronize(const selvage_device *device,
                                                    selvage_status *status);

/* Plans. */

/// What a caller may insist on. Nothing, unless more is set than in
///     selvage_options options = {.struct_size = sizeof(options)};
typedef struct selvage_options {
    /// sizeof(selvage_options) of the caller's header. Another size is refused with
    /// SELVAGE_INVALID_ARGUMENT, so that headers and library of different versions do not go wrong
    /// in silence.
    size_t struct_size;
    /// An instruction set, see selvage_isa(): only kernels of exactly this set are taken. Null or
    /// "": the environment variable SELVAGE_ISA, and where that is unset, every set of the CPU.
    const char *isa;
    /// A schedule text, `[KERNEL] [KEY=VALUE]...`: the name of a kernel (see selvage_kernel), by
    /// which the whole output is computed, numbers by which that cuts up its work, what threads
    /// share, an instruction set; selvage/schedule.h has the grammar. What does not apply is
    /// refused. Null or "": the environment variable SELVAGE_SCHEDULE; where that is unset, the
    /// schedule table, and what that does not have, the library estimates. "auto": the estimate.
    const char *schedule;
    /// Not 0 is a promise about nhwc: in every view that is run, neighbouring pixels of a row lie
    /// next to each other (stride_w == c), as in any dense image. Kernels for images of few
    /// channels need it.
    int adjacent_pixels;
    /// How many threads may compute one run: it is cut into at most so many shares, for a
    /// selvage_parallel. Up to 1024; 0 means 1. The results are the same, to the bit, for any.
    int threads;
    /// Schedules that were measured. Null: those that the library was built with; without entries:
    /// estimates alone. Read by selvage_plan_create() and not kept.
    const selvage_schedule_table *table;
    /// How float convolutions may round: "exact", or "fast" with larger, bounded errors
    /// (docs/accuracy.md). Null or "": the environment variable SELVAGE_ACCURACY, and where that is
    /// unset, "exact". A winograd schedule may be named with either.
    const char *accuracy;
    /// Where the plan runs. Null: the host. Kept by the plan. All memory that runs of a plan for a
    /// GPU are given, packed weights and scratch too, is the device's.
    const selvage_device *device;
    /// Not 0: plan for the host where no kernel of the GPU can compute the problem, as
    /// selvage_plan_target() and selvage_plan_kernel() then tell.
    int cpu_fallback;
    /// Not 0 is a promise about the whole weights of a filter: those of every channel are the same
    /// column times the same row, as those of a Gaussian or of a mean are. The magnitudes of the
    /// row, divided by what its weights have in common, add up to at most 128; 255 times those of
    /// all weights of a channel, and 2^(SHIFT-1), to at most 2^24. The values are the same, sooner;
    /// selvage_plan_pack_fixed() refuses other weights where kernels rely on it.
    int separable;
} selvage_options;

/// A problem, the kernels chosen for it, and the sizes of the memory that they need. Immutable.
typedef struct selvage_plan selvage_plan;

/// Packed weights and scratch memory begin at a multiple of this many bytes. Tensors need not.
#define SELVAGE_ALIGNMENT 64

/// Reads a problem text, chooses the kernels that compute it on this CPU, and makes *plan, which
/// the caller frees. `options` may be null. Fails with SELVAGE_INVALID_ARGUMENT for a text that is
/// no problem or for unknown options, with SELVAGE_OVERFLOW where an image or the weights exceed
/// 2^31 - 1 bytes, and with SELVAGE_UNSUPPORTED where no kernel can serve.
SELVAGE_API selvage_code selvage_plan_create(const char *problem, const selvage_options *options,
                                             selvage_plan **plan, selvage_status *status);

/// Makes *tile, which the caller frees: the plan of a rectangle of `plan`'s output. Its input is
/// only the part selvage_plan_input_region() of the whole input; its weights are those packed for
/// `plan`. Each output is computed as by `plan`, so tiles meet without seams, whatever the border.
/// `output` counts from the first output of the whole problem, and must lie within the output
/// region of `plan`. `plan` may be freed before *tile.
SELVAGE_API selvage_code selvage_plan_tile(const selvage_plan *plan, const selvage_region *output,
                                           selvage_plan **tile, selvage_status *status);

/// Frees a plan and the texts that it owns. Null is allowed.
SELVAGE_API void selvage_plan_free(selvage_plan *plan);

/// The canonical text of the problem; of a tile, that of the whole problem.
SELVAGE_API const char *selvage_plan_problem(const selvage_plan *plan);

/// Where the plan runs, and whose memory it takes: "host", "cuda" or "opencl".
SELVAGE_API const char *selvage_plan_target(const selvage_plan *plan);

/// The kernel that computes the largest part, as "op/schedule/isa"; for example
/// "conv/direct_14x2_c64/avx512". "none" where the output is empty.
SELVAGE_API const char *selvage_plan_kernel(const selvage_plan *plan);

/// The schedule text of the largest part, which selvage_options.schedule takes to make this plan
/// again: kernel, instruction set, every number by which the kernel cuts up its work, and what
/// threads share where there are several shares. "auto" stands for a kernel where parts have
/// different ones. "" where the output is empty.
SELVAGE_API const char *selvage_plan_schedule(const selvage_plan *plan);

/// A rectangle of the output of some images, and the kernel that computes it.
typedef struct selvage_part {
    const char *kernel; ///< "op/schedule/isa"
    /// Of the plan's output. A part of a transposed convolution computes every stride-th element.
    selvage_region output;
    selvage_range images;   ///< of the problem's
    selvage_range channels; ///< of the output's
    int share;              ///< parts of different shares may be computed at the same time
} selvage_part;

/// How many parts the plan has.
SELVAGE_API size_t selvage_plan_part_count(const selvage_plan *plan);

/// The part with that index, share by share, in the order in which they are computed.
SELVAGE_API selvage_code selvage_plan_part(const selvage_plan *plan, size_t index,
                                           selvage_part *part, selvage_status *status);

/// A kernel that was considered for the largest part and not taken, and why.
typedef struct selvage_decline {
    const char *kernel; ///< "op/schedule/isa"
    const char *reason; ///< one line with the values
} selvage_decline;

/// How many kernels of the operator were not taken.
SELVAGE_API size_t selvage_plan_decline_count(const selvage_plan *plan);

/// The decline with that index, in the order of the kernel table.
SELVAGE_API selvage_code selvage_plan_decline(const selvage_plan *plan, size_t index,
                                              selvage_decline *decline, selvage_status *status);

/// Bytes of packed weights and bias, a multiple of SELVAGE_ALIGNMENT; 0 without weights.
SELVAGE_API size_t selvage_plan_packed_bytes(const selvage_plan *plan);

/// Bytes of scratch memory of one run on any views, a multiple of SELVAGE_ALIGNMENT; may be 0.
SELVAGE_API size_t selvage_plan_scratch_bytes(const selvage_plan *plan);

/// The input that a run reads, within that of the whole problem; all of it unless the plan is a
/// tile.
SELVAGE_API selvage_region selvage_plan_input_region(const selvage_plan *plan);

/// The output that a run writes, within that of the whole problem; all of it unless the plan is a
/// tile.
SELVAGE_API selvage_region selvage_plan_output_region(const selvage_plan *plan);

/// The input of a run as a dense tensor over `data`: in the problem's type and layout, with the
/// sizes of the plan's input region. For a view into more, change the strides. `data` may be null,
/// to learn the shape alone.
SELVAGE_API selvage_tensor selvage_plan_input(const selvage_plan *plan, const void *data);

/// The same of the output.
SELVAGE_API selvage_tensor selvage_plan_output(const selvage_plan *plan, void *data);

/// The same of the indices of a max pool, which have the output's shape.
SELVAGE_API selvage_tensor selvage_plan_indices(const selvage_plan *plan, int64_t *data);

/// Rearranges weights and bias for runs into `packed`, which has selvage_plan_packed_bytes() and is
/// aligned to SELVAGE_ALIGNMENT. Weights are dense and finite, k x c/g x taps elements in the given
/// order; `bias` has k elements, and is null where the problem has no bias. Needed once; `packed`
/// serves any number of runs and threads. Not for operators without weights.
SELVAGE_API selvage_code selvage_plan_pack(const selvage_plan *plan, const float *weights,
                                           selvage_weight_order order, const float *bias,
                                           void *packed, selvage_status *status);

/// The same for a filter with `weights=fixed:SHIFT`: whole weights in units of 2^-SHIFT. Fails with
/// SELVAGE_OVERFLOW where sums of pixels would leave 32 bits, and where weights are not as
/// selvage_options.separable promised.
SELVAGE_API selvage_code selvage_plan_pack_fixed(const selvage_plan *plan, const int16_t *weights,
                                                 selvage_weight_order order, void *packed,
                                                 selvage_status *status);

/// Computes the plan: reads `input`, writes every element of `output` and nothing else. `packed`
/// was filled for this plan or one of the same problem and options, and is null for operators
/// without weights. `indices` is null unless the problem has indices. `scratch` has
/// `scratch_bytes`, at least selvage_plan_scratch_bytes(), is aligned to SELVAGE_ALIGNMENT, and may
/// be null where that is 0; no two runs may share it at the same time. Memory of input, output and
/// indices must not overlap. `parallel` runs the shares; where null, they run one after the other.
/// No allocation, no system call. On failure nothing was written, unless the code is
/// SELVAGE_INTERNAL or SELVAGE_DEVICE_FAILURE. On a GPU all memory is the device's, and the call
/// returns before the work is done.
SELVAGE_API selvage_code selvage_plan_run(const selvage_plan *plan, const selvage_tensor *input,
                                          const void *packed, const selvage_tensor *output,
                                          const selvage_tensor *indices, void *scratch,
                                          size_t scratch_bytes, const selvage_parallel *parallel,
                                          selvage_status *status);

/* Layers. */

/// A plan with memory of its own: packed weights and scratch.
typedef struct selvage_layer selvage_layer;

/// Makes a plan as selvage_plan_create() does, with memory for it, and packs the weights as
/// selvage_plan_pack() does; they are read once. Weights and bias are null for operators without
/// weights; `order` is one of the enumerators even then. The caller frees *layer. Filters with
/// `weights=fixed` need a plan.
SELVAGE_API selvage_code selvage_layer_create(const char *problem, const selvage_options *options,
                                              const float *weights, selvage_weight_order order,
                                              const float *bias, selvage_layer **layer,
                                              selvage_status *status);

/// Frees a layer with its memory and its plan. Null is allowed.
SELVAGE_API void selvage_layer_free(selvage_layer *layer);

/// The layer's plan, which lives as long as the layer and must not be freed. Null for null.
SELVAGE_API const selvage_plan *selvage_layer_plan(const selvage_layer *layer);

/// selvage_plan_run() on dense memory of the problem's type, shape and layout: see
/// selvage_plan_input(). `indices` is null unless the problem has indices.
SELVAGE_API selvage_code selvage_layer_run(selvage_layer *layer, const void *input, void *output,
                                           int64_t *indices, const selvage_parallel *parallel,
                                           selvage_status *status);

/// The same on memory of the host, whatever the layer's device: copies the input to the device,
/// runs, waits, and copies the output back. Allocates memory for the copies on both sides; what is
/// run often keeps its tensors on the device.
SELVAGE_API selvage_code selvage_layer_run_on_host_memory(selvage_layer *layer, const void *input,
                                                          void *output, int64_t *indices,
                                                          const selvage_parallel *parallel,
                                                          selvage_status *status);

/// selvage_plan_run() on views.
SELVAGE_API selvage_code selvage_layer_run_views(selvage_layer *layer, const selvage_tensor *input,
                                                 const selvage_tensor *output,
                                                 const selvage_tensor *indices,
                                                 const selvage_parallel *parallel,
                                                 selvage_status *status);

/* Windows. */

/// One axis of a problem, in the words of problem texts. Set size, kernel, stride and dilation; all
/// else may be 0.
typedef struct selvage_axis {
    int64_t size;     ///< elements of the input
    int64_t kernel;   ///< taps, at least 1
    int64_t stride;   ///< input elements from one output to the next, at least 1
    int64_t dilation; ///< input elements from one tap to the next, at least 1
    int64_t begin;    ///< pad before the first element; a negative one crops
    int64_t end;      ///< pad after the last element; a negative one crops
    int64_t phase;    ///< which of the stride's samplings: 0 <= phase < stride
    /// A convention in place of begin and end, for example "tf" or "torch"; null or "": as given.
    /// All of them, with their sources: namespace convention of selvage/window.h.
    const char *same;
    /// Above 0: so many outputs, in place of begin and end. Of a forward window at stride 1, the
    /// input in their middle (`to` of pad). Of a transposed one, what is too much is cropped
    /// (`output_shape`), by halves of which the larger is the begin's, but the end's with
    /// same="onnx-upper"; of the conventions only this one and "onnx-lower" go with it.
    int64_t outputs;
    /// What is read outside the input: "constant" (or null or ""), "reflect", "symmetric",
    /// "replicate" or "circular".
    const char *border;
    int ceil; ///< not 0: the number of outputs is rounded up (`ceil_mode` of pools)
    /// Above 0: an adaptive pool with so many outputs. No field but size counts then.
    int64_t adaptive;
    /// Not 0: a transposed convolution. Its pads crop the result; ceil and border are not for it.
    int transposed;
    int64_t output_padding; ///< transposed only: outputs that are added at the end
} selvage_axis;

/// Where the windows of an axis lie.
typedef struct selvage_window {
    int64_t begin; ///< pad before the first element, as given or as `same` or `outputs` lead to
    int64_t end;   ///< pad after the last element
    /// Where the first window starts, this many elements before the input; negative if inside. Of a
    /// transposed convolution, how far into the full result the output starts.
    int64_t before;
    int64_t after;   ///< how far windows really reach past the end; 0 if transposed
    int64_t outputs; ///< how many windows there are; may be 0
    int64_t unused;  ///< elements at the end that no window reads; 0 if transposed
    int64_t kernel;  ///< taps of the longest window
} selvage_window;

/// Works out the windows of an axis: the numbers that `selvage window` prints. Fails with
/// SELVAGE_INVALID_ARGUMENT where the axis breaks a rule of selvage/window.h, and with
/// SELVAGE_OVERFLOW where positions leave 32 bits.
SELVAGE_API selvage_code selvage_axis_window(const selvage_axis *axis, selvage_window *window,
                                             selvage_status *status);

/// Which element of the input tap `tap` of output `output` reads, counted from the first element
/// before any crop; -1 for the border's value, and for taps beyond an adaptive window. Not for
/// transposed convolutions. Fails as selvage_axis_window() does, and for an output or a tap that
/// the window does not have.
SELVAGE_API selvage_code selvage_axis_source(const selvage_axis *axis, int64_t output, int64_t tap,
                                             int64_t *element, selvage_status *status);

#ifdef __cplusplus
}
#endif
