#include "selvage/selvage.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "selvage/kernels.h"
#include "selvage/layer.h"
#include "selvage/plan.h"
#include "selvage/problem.h"
#include "selvage/version.h"
#include "selvage/window.h"

using selvage::Axis;
using selvage::Code;
using selvage::Layer;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Range;
using selvage::Region;
using selvage::Status;
using selvage::Tensor;
using selvage::Type;
using selvage::WeightOrder;

/// A plan with what the interface hands out pointers to.
struct selvage_plan {
    explicit selvage_plan(Plan made)
        : plan(std::move(made)), problem(text(plan.problem())), schedule(plan.schedule()),
          parts(plan.parts()) {}

    Plan plan;
    std::string problem, schedule;
    std::vector<selvage::PlannedPart> parts;
};

struct selvage_device {
    selvage::Device device;
};

struct selvage_layer {
    explicit selvage_layer(Layer made) : layer(std::move(made)), plan(layer.plan()) {}

    Layer layer;
    selvage_plan plan;
};

namespace {

static_assert(SELVAGE_OK == int(Code::ok) &&
              SELVAGE_INVALID_ARGUMENT == int(Code::invalid_argument) &&
              SELVAGE_OVERFLOW == int(Code::overflow) &&
              SELVAGE_UNSUPPORTED == int(Code::unsupported) &&
              SELVAGE_TOO_SMALL == int(Code::too_small) &&
              SELVAGE_INTERNAL == int(Code::internal) &&
              SELVAGE_DEVICE_FAILURE == int(Code::device));
static_assert(SELVAGE_F32 == int(Type::f32) && SELVAGE_U8 == int(Type::u8) &&
              SELVAGE_I8 == int(Type::i8));
static_assert(SELVAGE_OIHW == int(WeightOrder::oihw) && SELVAGE_HWIO == int(WeightOrder::hwio));
static_assert(SELVAGE_ALIGNMENT == selvage::alignment);

// Statuses.

selvage_code tell(selvage_status *status, Code code, std::string_view text) {
    if (status != nullptr) {
        std::size_t length = std::min(text.size(), sizeof(status->text) - 1);
        // Bytes 10xxxxxx continue a character, of at most 4 bytes; a cut before one would halve it.
        for (int step = 0; step < 3 && length < text.size() && (text[length] & 0xc0) == 0x80;
             ++step)
            --length;
        status->code = selvage_code(code);
        std::memcpy(status->text, text.data(), length);
        status->text[length] = '\0';
    }
    return selvage_code(code);
}

/// Runs the body of a function, from which no exception may pass into C.
template <class Body> selvage_code guarded(selvage_status *status, Body body) {
    try {
        const Status result = body();
        return tell(status, result.code(), result.text());
    } catch (const std::bad_alloc &) {
        return tell(status, Code::too_small, "out of memory");
    } catch (...) {
        return tell(status, Code::internal, "an exception in the library");
    }
}

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

std::string str(std::int64_t value) { return std::to_string(value); }

/// The first of the arguments that is null, as a status.
struct Argument {
    const char *name;
    const void *value;
};
Status check_null(const char *function, std::initializer_list<Argument> arguments) {
    for (const Argument &each : arguments)
        if (each.value == nullptr)
            return invalid(std::string(function) + ": " + each.name + " is null");
    return {};
}

Status check_index(const char *function, std::size_t index, std::size_t count) {
    if (index < count)
        return {};
    return invalid(std::string(function) + ": index " + std::to_string(index) +
                   " is not below the count " + std::to_string(count));
}

// What callers hand in.

/// An enumerator as a number: C may have put any there, which C++ must not load as the enumeration.
template <class Enum> int number(const Enum &asked) {
    static_assert(sizeof(Enum) == sizeof(int));
    int value;
    std::memcpy(&value, &asked, sizeof(value));
    return value;
}

std::string_view given(const char *text) { return text == nullptr ? "" : text; }

/// Whether options are those of this library's header; `name` is that of their type.
template <class Asked> Status check_size(const Asked &asked, const char *name) {
    if (asked.struct_size == sizeof(Asked))
        return {};
    return invalid("options: struct_size is " + std::to_string(asked.struct_size) +
                   ", this library's " + name + " has " + std::to_string(sizeof(Asked)) + " bytes");
}

Status read_options(const selvage_options *asked, Options *options) {
    if (asked == nullptr)
        return {};
    if (Status s = check_size(*asked, "selvage_options"); !s.ok())
        return s;
    options->isa = given(asked->isa);
    options->schedule = given(asked->schedule);
    options->adjacent_pixels = asked->adjacent_pixels != 0;
    options->threads = asked->threads == 0 ? 1 : asked->threads;
    options->table = asked->table;
    options->accuracy = given(asked->accuracy);
    if (asked->device != nullptr)
        options->device = asked->device->device;
    options->cpu_fallback = asked->cpu_fallback != 0;
    options->separable = asked->separable != 0;
    return {};
}

Status read_problem(const char *asked, const selvage_options *wishes, Problem *problem,
                    Options *options) {
    if (Status s = read_options(wishes, options); !s.ok())
        return s;
    return selvage::parse_problem(asked, problem);
}

Status read_order(const selvage_weight_order &asked, WeightOrder *order) {
    switch (number(asked)) {
    case SELVAGE_OIHW: *order = WeightOrder::oihw; return {};
    case SELVAGE_HWIO: *order = WeightOrder::hwio; return {};
    }
    return invalid("pack: order is " + str(number(asked)) +
                   ", neither SELVAGE_OIHW (0) nor SELVAGE_HWIO (1)");
}

Range range(const selvage_range &r) { return {r.begin, r.size}; }
selvage_range range(const Range &r) { return {r.begin, r.size}; }
Region region(const selvage_region &r) { return {range(r.z), range(r.y), range(r.x)}; }
selvage_region region(const Region &r) { return {range(r.z), range(r.y), range(r.x)}; }

template <class T> Tensor<T> view(const selvage_tensor &t) {
    T *const data = static_cast<T *>(t.data);
    return {data,       t.n,        t.h, t.w,        t.c,       t.stride_n,
            t.stride_h, t.stride_w, t.d, t.stride_d, t.stride_c};
}

selvage_tensor dense(const Problem &p, const Region &r, std::int64_t channels, selvage_type type,
                     const void *memory) {
    void *const data = const_cast<void *>(memory);
    const auto t = selvage::dense(data, p.n, r.z.size, r.y.size, r.x.size, channels, p.layout);
    return {data, type,       t.n,        t.d,        t.h,        t.w,
            t.c,  t.stride_n, t.stride_d, t.stride_h, t.stride_w, t.stride_c};
}

/// Calls `run` with the views in the problem's type.
template <class Run>
Status run_views(const char *function, const selvage_tensor *input, const selvage_tensor *output,
                 const selvage_tensor *indices, Run run) {
    if (Status s = check_null(function, {{"input", input}, {"output", output}}); !s.ok())
        return s;
    const int type = number(input->type);
    if (type != number(output->type))
        return invalid("run: input has type " + str(type) + ", output has type " +
                       str(number(output->type)) + " (selvage_type)");
    if (indices != nullptr && number(indices->type) != SELVAGE_I64)
        return invalid("run: indices has type " + str(number(indices->type)) +
                       ", not SELVAGE_I64 (" + str(SELVAGE_I64) + ")");
    Tensor<std::int64_t> index;
    if (indices != nullptr)
        index = view<std::int64_t>(*indices);
    const auto typed = [&](auto zero) {
        using T = decltype(zero);
        return run(view<const T>(*input), view<T>(*output), indices == nullptr ? nullptr : &index);
    };
    switch (type) {
    case SELVAGE_F32: return typed(float());
    case SELVAGE_U8: return typed(std::uint8_t());
    case SELVAGE_I8: return typed(std::int8_t());
    }
    return invalid("run: input has type " + str(type) +
                   ", which is none of SELVAGE_F32 (0), SELVAGE_U8 (1), SELVAGE_I8 (2)");
}

/// The tensors of a layer over dense memory.
struct DenseTensors {
    selvage_tensor input, output, indices;
    const selvage_tensor *given_indices; ///< null: none

    DenseTensors(const selvage_layer &layer, const void *in, void *out, int64_t *index)
        : input(selvage_plan_input(&layer.plan, in)), output(selvage_plan_output(&layer.plan, out)),
          indices(selvage_plan_indices(&layer.plan, index)),
          given_indices(index == nullptr ? nullptr : &indices) {}
    DenseTensors(const DenseTensors &) = delete;
};

Status run_layer(selvage_layer *layer, const selvage_tensor *input, const selvage_tensor *output,
                 const selvage_tensor *indices, const selvage_parallel *parallel) {
    return run_views("selvage_layer_run_views", input, output, indices,
                     [&](const auto &in, const auto &out, const auto *index) {
                         return layer->layer.run(in, out, index, parallel);
                     });
}

bool is_transposed(const selvage_axis &axis) { return axis.transposed != 0 && axis.adaptive == 0; }

/// The axis that is asked about, its pads resolved.
Status read_axis(const selvage_axis &asked, Axis *axis) {
    axis->size = asked.size;
    if (asked.adaptive != 0) {
        axis->adaptive = asked.adaptive;
        return {};
    }
    axis->kernel = asked.kernel;
    axis->stride = asked.stride;
    axis->dilation = asked.dilation;
    axis->phase = asked.phase;
    axis->output_padding = asked.output_padding;
    *axis = with(*axis, {asked.begin, asked.end});

    const std::string_view border = given(asked.border), same = given(asked.same);
    if (!border.empty()) {
        const auto *const mode =
            std::find_if(selvage::modes.begin(), selvage::modes.end(),
                         [&](const selvage::NamedMode &each) { return each.name == border; });
        if (mode == selvage::modes.end())
            return invalid("border " + std::string(border) + ": must be one of " +
                           selvage::mode_names());
        axis->mode = mode->mode;
    }
    const selvage::Convention *const convention = selvage::find_convention(same);
    if (!same.empty() && convention == nullptr)
        return invalid("same " + std::string(same) + ": must be one of " +
                       selvage::convention_names());

    const bool transposed = asked.transposed != 0;
    if (transposed && (asked.ceil != 0 || axis->mode != selvage::Mode::constant))
        return invalid(
            "a transposed convolution has neither ceil nor a border other than constant");
    if (!transposed && asked.output_padding != 0)
        return invalid("output_padding " + str(asked.output_padding) +
                       " is for transposed convolutions");
    char text[selvage::longest_line];
    selvage::Line line(text, sizeof text);
    if (const Code code = resolve_pads(axis, transposed, convention,
                                       asked.outputs == 0 ? nullptr : &asked.outputs, line);
        code != Code::ok)
        return {code, text};
    return {};
}

} // namespace

// The library and its kernels.

const char *selvage_version(void) { return SELVAGE_VERSION; }

const char *selvage_code_name(selvage_code code) { return name(Code(number(code))); }

const char *selvage_isa(size_t index) try {
    const std::vector<std::string> names = selvage::available_isas();
    // The table's names have static lifetime.
    for (std::size_t i = 0; index < names.size() && i < selvage::kernel_row_count(); ++i)
        if (names[index] == selvage::kernel_rows()[i].isa)
            return selvage::kernel_rows()[i].isa;
    return nullptr;
} catch (...) {
    return nullptr;
}

size_t selvage_kernel_count(void) { return selvage::kernel_row_count(); }

selvage_code selvage_kernel_at(size_t index, selvage_kernel *kernel, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_kernel_at";
        if (Status s = check_null(function, {{"kernel", kernel}}); !s.ok())
            return s;
        if (Status s = check_index(function, index, selvage::kernel_row_count()); !s.ok())
            return s;
        const selvage::KernelRow &row = selvage::kernel_rows()[index];
        *kernel = {row.op, row.schedule, row.isa};
        return {};
    });
}

selvage_code selvage_canonical(const char *problem, char *canonical, size_t bytes,
                               selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_canonical";
        if (Status s = check_null(function, {{"problem", problem}, {"canonical", canonical}});
            !s.ok())
            return s;
        Problem parsed;
        if (Status s = selvage::parse_problem(problem, &parsed); !s.ok())
            return s;
        const std::string text = selvage::text(parsed);
        if (bytes <= text.size())
            return {Code::too_small, std::string(function) + ": the text takes " +
                                         std::to_string(text.size() + 1) + " bytes, not " +
                                         std::to_string(bytes)};
        std::memcpy(canonical, text.c_str(), text.size() + 1);
        return {};
    });
}

// Devices.

selvage_code selvage_device_open(const char *target, const selvage_device_options *options,
                                 selvage_device **device, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_device_open", {{"target", target}, {"device", device}});
            !s.ok())
            return s;
        selvage::DeviceOptions wishes;
        if (options != nullptr) {
            if (Status s = check_size(*options, "selvage_device_options"); !s.ok())
                return s;
            wishes = {options->index, options->context, options->stream};
        }
        selvage_device made;
        if (Status s = selvage::open_device(target, wishes, &made.device); !s.ok())
            return s;
        *device = new selvage_device(std::move(made));
        return {};
    });
}

void selvage_device_free(selvage_device *device) { delete device; }

const char *selvage_device_name(const selvage_device *device) {
    return device == nullptr ? "" : device->device.name().c_str();
}

selvage_code selvage_device_allocate(const selvage_device *device, size_t bytes, void **memory,
                                     selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_device_allocate", {{"device", device}}); !s.ok())
            return s;
        return device->device.allocate(bytes, memory);
    });
}

void selvage_device_release(const selvage_device *device, void *memory) {
    if (device != nullptr)
        device->device.release(memory);
}

selvage_code selvage_device_copy_in(const selvage_device *device, const void *host, void *memory,
                                    size_t bytes, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_device_copy_in",
                                  {{"device", device}, {"host", host}, {"memory", memory}});
            !s.ok())
            return s;
        return device->device.copy_in(host, memory, bytes);
    });
}

selvage_code selvage_device_copy_out(const selvage_device *device, const void *memory, void *host,
                                     size_t bytes, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_device_copy_out",
                                  {{"device", device}, {"memory", memory}, {"host", host}});
            !s.ok())
            return s;
        return device->device.copy_out(memory, host, bytes);
    });
}

selvage_code selvage_device_synchronize(const selvage_device *device, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_device_synchronize", {{"device", device}}); !s.ok())
            return s;
        return device->device.synchronize();
    });
}

// Plans.

selvage_code selvage_plan_create(const char *problem, const selvage_options *options,
                                 selvage_plan **plan, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_plan_create", {{"problem", problem}, {"plan", plan}});
            !s.ok())
            return s;
        Options wishes;
        Problem parsed;
        if (Status s = read_problem(problem, options, &parsed, &wishes); !s.ok())
            return s;
        Plan made;
        if (Status s = selvage::make_plan(parsed, wishes, &made); !s.ok())
            return s;
        *plan = new selvage_plan(std::move(made));
        return {};
    });
}

selvage_code selvage_plan_tile(const selvage_plan *plan, const selvage_region *output,
                               selvage_plan **tile, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_plan_tile",
                                  {{"plan", plan}, {"output", output}, {"tile", tile}});
            !s.ok())
            return s;
        Plan made;
        if (Status s = plan->plan.tile(region(*output), &made); !s.ok())
            return s;
        *tile = new selvage_plan(std::move(made));
        return {};
    });
}

void selvage_plan_free(selvage_plan *plan) { delete plan; }

const char *selvage_plan_problem(const selvage_plan *plan) {
    return plan == nullptr ? "" : plan->problem.c_str();
}

const char *selvage_plan_target(const selvage_plan *plan) {
    return plan == nullptr ? "" : plan->plan.device().target().c_str();
}

const char *selvage_plan_kernel(const selvage_plan *plan) {
    return plan == nullptr ? "" : plan->plan.kernel().c_str();
}

const char *selvage_plan_schedule(const selvage_plan *plan) {
    return plan == nullptr ? "" : plan->schedule.c_str();
}

size_t selvage_plan_part_count(const selvage_plan *plan) {
    return plan == nullptr ? 0 : plan->parts.size();
}

selvage_code selvage_plan_part(const selvage_plan *plan, size_t index, selvage_part *part,
                               selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_plan_part";
        if (Status s = check_null(function, {{"plan", plan}, {"part", part}}); !s.ok())
            return s;
        if (Status s = check_index(function, index, plan->parts.size()); !s.ok())
            return s;
        const selvage::PlannedPart &found = plan->parts[index];
        *part = {found.kernel.c_str(), region(found.output), range(found.images),
                 range(found.channels), found.share};
        return {};
    });
}

size_t selvage_plan_decline_count(const selvage_plan *plan) {
    return plan == nullptr ? 0 : plan->plan.declined().size();
}

selvage_code selvage_plan_decline(const selvage_plan *plan, size_t index, selvage_decline *decline,
                                  selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_plan_decline";
        if (Status s = check_null(function, {{"plan", plan}, {"decline", decline}}); !s.ok())
            return s;
        const std::vector<selvage::Decline> &all = plan->plan.declined();
        if (Status s = check_index(function, index, all.size()); !s.ok())
            return s;
        *decline = {all[index].kernel.c_str(), all[index].reason.c_str()};
        return {};
    });
}

size_t selvage_plan_packed_bytes(const selvage_plan *plan) {
    return plan == nullptr ? 0 : plan->plan.packed_bytes();
}

size_t selvage_plan_scratch_bytes(const selvage_plan *plan) {
    return plan == nullptr ? 0 : plan->plan.scratch_bytes();
}

selvage_region selvage_plan_input_region(const selvage_plan *plan) {
    return plan == nullptr ? selvage_region() : region(plan->plan.input_region());
}

selvage_region selvage_plan_output_region(const selvage_plan *plan) {
    return plan == nullptr ? selvage_region() : region(plan->plan.output_region());
}

selvage_tensor selvage_plan_input(const selvage_plan *plan, const void *data) {
    if (plan == nullptr)
        return {};
    const Problem &p = plan->plan.problem();
    return dense(p, plan->plan.input_region(), p.c, selvage_type(p.type), data);
}

selvage_tensor selvage_plan_output(const selvage_plan *plan, void *data) {
    if (plan == nullptr)
        return {};
    const Problem &p = plan->plan.problem();
    return dense(p, plan->plan.output_region(), p.k, selvage_type(p.type), data);
}

selvage_tensor selvage_plan_indices(const selvage_plan *plan, int64_t *data) {
    if (plan == nullptr)
        return {};
    const Problem &p = plan->plan.problem();
    return dense(p, plan->plan.output_region(), p.k, SELVAGE_I64, data);
}

selvage_code selvage_plan_pack(const selvage_plan *plan, const float *weights,
                               selvage_weight_order order, const float *bias, void *packed,
                               selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_plan_pack", {{"plan", plan}}); !s.ok())
            return s;
        WeightOrder known;
        if (Status s = read_order(order, &known); !s.ok())
            return s;
        return plan->plan.pack(weights, known, bias, packed);
    });
}

selvage_code selvage_plan_pack_fixed(const selvage_plan *plan, const int16_t *weights,
                                     selvage_weight_order order, void *packed,
                                     selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_plan_pack_fixed", {{"plan", plan}}); !s.ok())
            return s;
        WeightOrder known;
        if (Status s = read_order(order, &known); !s.ok())
            return s;
        return plan->plan.pack(weights, known, packed);
    });
}

selvage_code selvage_plan_run(const selvage_plan *plan, const selvage_tensor *input,
                              const void *packed, const selvage_tensor *output,
                              const selvage_tensor *indices, void *scratch, size_t scratch_bytes,
                              const selvage_parallel *parallel, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_plan_run";
        if (Status s = check_null(function, {{"plan", plan}}); !s.ok())
            return s;
        return run_views(function, input, output, indices,
                         [&](const auto &in, const auto &out, const auto *index) {
                             return plan->plan.run(in, packed, out, scratch, scratch_bytes, index,
                                                   parallel);
                         });
    });
}

// Layers.

selvage_code selvage_layer_create(const char *problem, const selvage_options *options,
                                  const float *weights, selvage_weight_order order,
                                  const float *bias, selvage_layer **layer,
                                  selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_layer_create", {{"problem", problem}, {"layer", layer}});
            !s.ok())
            return s;
        Options wishes;
        Problem parsed;
        if (Status s = read_problem(problem, options, &parsed, &wishes); !s.ok())
            return s;
        WeightOrder known;
        if (Status s = read_order(order, &known); !s.ok())
            return s;
        Layer made;
        if (Status s = selvage::make_layer(parsed, wishes, weights, known, bias, &made); !s.ok())
            return s;
        *layer = new selvage_layer(std::move(made));
        return {};
    });
}

void selvage_layer_free(selvage_layer *layer) { delete layer; }

const selvage_plan *selvage_layer_plan(const selvage_layer *layer) {
    return layer == nullptr ? nullptr : &layer->plan;
}

selvage_code selvage_layer_run(selvage_layer *layer, const void *input, void *output,
                               int64_t *indices, const selvage_parallel *parallel,
                               selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_layer_run", {{"layer", layer}}); !s.ok())
            return s;
        const DenseTensors dense(*layer, input, output, indices);
        return run_layer(layer, &dense.input, &dense.output, dense.given_indices, parallel);
    });
}

selvage_code selvage_layer_run_on_host_memory(selvage_layer *layer, const void *input, void *output,
                                              int64_t *indices, const selvage_parallel *parallel,
                                              selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_layer_run_on_host_memory";
        if (Status s = check_null(function, {{"layer", layer}}); !s.ok())
            return s;
        const DenseTensors dense(*layer, input, output, indices);
        return run_views(function, &dense.input, &dense.output, dense.given_indices,
                         [&](const auto &in, const auto &out, const auto *index) {
                             return layer->layer.run_on_host_memory(in, out, index, parallel);
                         });
    });
}

selvage_code selvage_layer_run_views(selvage_layer *layer, const selvage_tensor *input,
                                     const selvage_tensor *output, const selvage_tensor *indices,
                                     const selvage_parallel *parallel, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_layer_run_views", {{"layer", layer}}); !s.ok())
            return s;
        return run_layer(layer, input, output, indices, parallel);
    });
}

// Windows.

selvage_code selvage_axis_window(const selvage_axis *axis, selvage_window *window,
                                 selvage_status *status) {
    return guarded(status, [&]() -> Status {
        if (Status s = check_null("selvage_axis_window", {{"axis", axis}, {"window", window}});
            !s.ok())
            return s;
        Axis asked;
        if (Status s = read_axis(*axis, &asked); !s.ok())
            return s;
        if (is_transposed(*axis)) {
            const selvage::TransposedResult found = selvage::transposed(asked);
            if (Status s = selvage::status(asked, {{}, found.error}); !s.ok())
                return s;
            const selvage::Transposed &t = found.transposed;
            *window = {asked.begin, asked.end, t.before, 0, t.outputs, 0, t.kernel};
            return {};
        }
        const selvage::WindowResult found = selvage::window(asked, axis->ceil != 0);
        if (Status s = selvage::status(asked, found); !s.ok())
            return s;
        const selvage::Window &w = found.window;
        // Positions of the whole input, so that a crop of 2 shows as before -2.
        *window = {asked.begin, asked.end, w.before - w.origin, w.after(), w.outputs,
                   w.unused(),  w.kernel};
        return {};
    });
}

selvage_code selvage_axis_source(const selvage_axis *axis, int64_t output, int64_t tap,
                                 int64_t *element, selvage_status *status) {
    return guarded(status, [&]() -> Status {
        const char *const function = "selvage_axis_source";
        if (Status s = check_null(function, {{"axis", axis}, {"element", element}}); !s.ok())
            return s;
        Axis asked;
        if (Status s = read_axis(*axis, &asked); !s.ok())
            return s;
        if (is_transposed(*axis))
            return invalid(std::string(function) + ": not for transposed convolutions");
        const selvage::WindowResult found = selvage::window(asked, axis->ceil != 0);
        if (Status s = selvage::status(asked, found); !s.ok())
            return s;
        const selvage::Window &w = found.window;
        if (output < 0 || output >= w.outputs || tap < 0 || tap >= w.kernel)
            return invalid(std::string(function) + ": output " + str(output) + " and tap " +
                           str(tap) + " are not in 0.." + str(w.outputs - 1) + " and 0.." +
                           str(w.kernel - 1));
        const std::int64_t source = w.source(output, tap);
        *element = source < 0 ? -1 : source + w.origin;
        return {};
    });
}
