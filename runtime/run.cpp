#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <string>

#include "check_views.h"
#include "choose.h"
#include "gpu/queue.h"
#include "selvage/core/call.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

/// The memory of one run().
struct Memory {
    View input, output;
    const View *indices; ///< null: none
    const void *packed;
    void *scratch;
    std::size_t scratch_bytes;
    const Parallel *parallel; ///< null: none
};

Status check_run(const Work &work, const Memory &memory) {
    const Problem &p = work.problem;
    const View &input = memory.input, &output = memory.output, *indices = memory.indices;
    if (Status s = check_views(work, input, output, indices); !s.ok())
        return s;
    if (memory.parallel != nullptr && memory.parallel->run == nullptr)
        return {Code::invalid_argument, "run: parallel has no function"};
    if (memory.scratch_bytes < work.scratch_bytes)
        return {Code::too_small, "run: scratch has " + std::to_string(memory.scratch_bytes) +
                                     " bytes, the plan needs " +
                                     std::to_string(work.scratch_bytes)};
    char text[longest_line];
    Line line(text, sizeof text);
    line.add("run: ");
    Code code = check_aligned("packed", memory.packed, work.packed_bytes > 0, line);
    if (code == Code::ok)
        code = check_aligned("scratch", memory.scratch, work.scratch_bytes > 0, line);
    if (code == Code::ok)
        code = check_memory(input, output, indices, line);
    if (code == Code::ok && work.adjacent_pixels && p.layout == Layout::nhwc)
        code = check_adjacent_pixels(input, output, line);
    return code == Code::ok ? Status() : Status(code, text);
}

// Calls.

/// One part of the output for `images` images from `first` on. What the kernel returned.
int run_part(const Work &work, const Part &part, const Memory &memory, std::int64_t first,
             std::int64_t images, Scratch *scratch) {
    const Task &t = part.task;
    const auto written = [&](const View &view) {
        View cut = view.from(first, part.output.z.begin, part.output.y.begin, part.output.x.begin);
        cut.n = images;
        cut.step(part.step_z, part.step_y, part.step_x);
        cut.narrow_channels(part.channels.begin, t.problem.k);
        return cut;
    };
    View input =
        memory.input.from(first, t.z.origin - work.input.z.begin, t.y.origin - work.input.y.begin,
                          t.x.origin - work.input.x.begin);
    input.n = images;
    input.narrow_channels(part.input_channel, t.problem.c);
    const View output = written(memory.output);
    const View indices = memory.indices == nullptr ? output : written(*memory.indices);
    const char *weights = nullptr, *bias = nullptr;
    if (has_weights(t.problem.op)) {
        const PackedWeights &packed = work.weights[part.weights];
        weights = static_cast<const char *>(memory.packed) + packed.offset + part.weights_offset;
        bias = static_cast<const char *>(memory.packed) + packed.bias_offset + part.bias_offset;
    }
    const Call<Task> call = {*part.row,
                             t,
                             part.blocking,
                             part.tables,
                             static_cast<const char *>(work.tables.get()) + part.tables_offset,
                             weights,
                             bias,
                             input,
                             output,
                             memory.indices == nullptr ? nullptr : &indices,
                             first,
                             scratch,
                             is_for_gpu(*part.row)};
    return call();
}

/// How many images one call of a part may span.
std::int64_t images_per_call(const Part &part, std::int64_t addressable) {
    return is_for_gpu(*part.row) ? std::min(addressable, most_blocks / part.task.z.outputs)
                                 : addressable;
}

/// One run of a plan, whose shares are computed at the same time, and how it went.
struct Job {
    const Work &work;
    const Memory &memory;
    std::int64_t images_per_call;
    std::atomic<bool> begun[most_threads] = {}; ///< of each share
    std::atomic<int> shares_done{0};
    std::atomic<bool> exceeded{false};
    std::atomic<const Part *> failed{nullptr};
    std::mutex mutex = {};
    Status failure = {}; ///< of a GPU, in the words of its driver
};

/// A task of Parallel::run: one share of a Job. A share that there is not, or for a second time, is
/// passed over, so that a hook that counts wrongly is told from one that does its work.
void run_share(void *data, int share) {
    Job &job = *static_cast<Job *>(data);
    if (share < 0 || share >= job.work.shares || job.begun[share].exchange(true))
        return;
    const std::size_t bytes = job.work.scratch_bytes / std::size_t(job.work.shares);
    char *const scratch = static_cast<char *>(job.memory.scratch) + std::size_t(share) * bytes;
    const std::vector<Part> &parts = job.work.parts;
    const auto first_part =
        std::lower_bound(parts.begin(), parts.end(), share,
                         [](const Part &part, int of_share) { return part.share < of_share; });
    for (auto each = first_part; each != parts.end() && each->share == share; ++each) {
        const Part &part = *each;
        const std::int64_t end = part.images.begin + part.images.size;
        const std::int64_t step = images_per_call(part, job.images_per_call);
        for (std::int64_t first = part.images.begin; first < end; first += step) {
            DeviceCall call = {{scratch, bytes}, job.work.device.queue()};
            const std::int64_t images = std::min(step, end - first);
            const int result = run_part(job.work, part, job.memory, first, images, &call);
            if (result != 0 || !call.status.ok()) {
                const std::lock_guard<std::mutex> lock(job.mutex);
                job.failed = &part;
                job.failure = std::move(call.status);
            }
            if (call.exceeded)
                job.exceeded = true;
        }
    }
    ++job.shares_done;
}

Status outcome(const Job &job) {
    const Work &work = job.work;
    const Part *const failed = job.failed;
    if (failed != nullptr && !job.failure.ok())
        return {job.failure.code(), "run: " + name(*failed->row) + ": " + job.failure.text()};
    std::string fault;
    if (job.exceeded)
        fault = "some kernel took more scratch than the planned " +
                std::to_string(work.scratch_bytes) + " bytes";
    else if (failed != nullptr)
        fault = name(*failed->row) + " failed";
    else if (job.shares_done != work.shares)
        fault = "parallel ran " + std::to_string(job.shares_done) + " of " +
                std::to_string(work.shares) + " shares";
    else
        return {};
    return {Code::internal, "run: " + fault + " for " + text(work.problem)};
}

Status run_checked(const Work &work, const Memory &memory) try {
    if (Status status = check_run(work, memory); !status.ok() || memory.output.empty())
        return status;
    std::int64_t images = std::min(images_per_call(memory.input), images_per_call(memory.output));
    if (memory.indices != nullptr)
        images = std::min(images, images_per_call(*memory.indices));
    Job job = {work, memory, images};
    if (memory.parallel != nullptr && work.shares > 1)
        memory.parallel->run(memory.parallel->context, run_share, &job, work.shares);
    else
        for (int share = 0; share < work.shares; ++share)
            run_share(&job, share);
    return outcome(job);
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

} // namespace

template <class T>
Status Plan::run(const Tensor<const T> &input, const void *packed, const Tensor<T> &output,
                 void *scratch, std::size_t scratch_bytes, const Tensor<std::int64_t> *indices,
                 const Parallel *parallel) const {
    const View in("input", input), out("output", output);
    if (indices == nullptr)
        return run_checked(work(), {in, out, nullptr, packed, scratch, scratch_bytes, parallel});
    const View index("indices", *indices);
    return run_checked(work(), {in, out, &index, packed, scratch, scratch_bytes, parallel});
}

template Status Plan::run(const Tensor<const float> &, const void *, const Tensor<float> &, void *,
                          std::size_t, const Tensor<std::int64_t> *, const Parallel *) const;
template Status Plan::run(const Tensor<const std::uint8_t> &, const void *,
                          const Tensor<std::uint8_t> &, void *, std::size_t,
                          const Tensor<std::int64_t> *, const Parallel *) const;
template Status Plan::run(const Tensor<const std::int8_t> &, const void *,
                          const Tensor<std::int8_t> &, void *, std::size_t,
                          const Tensor<std::int64_t> *, const Parallel *) const;

} // namespace selvage
