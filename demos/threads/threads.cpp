// One layer by one thread, by a pool of this program, and by Halide's pool; then a kernel of this
// program's own by ranges of rows. All of them must give the same bits.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <selvage/layer.h>

#include "blur.h"
#include "worker_pool.h"

// Of HalideRuntime.h, which an app with Halide kernels includes.
extern "C" int halide_do_par_for(void *user_context,
                                 int (*task)(void *user_context, int index, std::uint8_t *closure),
                                 int min, int size, std::uint8_t *closure);

namespace {

constexpr int thread_count = 4;

void check(bool ok, const char *what, const char *why) {
    if (ok)
        return;
    std::fprintf(stderr, "threads: %s: %s\n", what, why);
    std::exit(1);
}

/// Real numbers with many digits, so that another order of additions would show.
std::vector<float> numbers(std::size_t count) {
    std::vector<float> result(count);
    for (std::size_t i = 0; i < count; ++i)
        result[i] = std::sin(static_cast<float>(i));
    return result;
}

/// Prints whether both hold the same bits, and ends the program if they do not.
void compare(const char *who, const std::vector<float> &alone, const std::vector<float> &shared) {
    check(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)) == 0, who,
          "other bits than one thread");
    std::printf("%-15s the same bits\n", who);
}

// The library: a run is cut into shares, and a hook hands them to threads.

/// `context` is a WorkerPool.
void run_in_own_pool(void *context, void (*task)(void *data, int index), void *data, int count) {
    static_cast<WorkerPool *>(context)->run(task, data, count);
}

/// Halide's pool passes on one pointer, so it gets one to the task with its data.
void run_in_halide(void * /*context*/, void (*task)(void *data, int index), void *data, int count) {
    struct Call {
        void (*task)(void *data, int index);
        void *data;
    } call = {task, data};
    const auto run_one = [](void *, int index, std::uint8_t *closure) {
        const auto *call = reinterpret_cast<const Call *>(closure);
        call->task(call->data, index);
        return 0;
    };
    halide_do_par_for(nullptr, run_one, 0, count, reinterpret_cast<std::uint8_t *>(&call));
}

/// A convolution, cut into so many shares, which go to `parallel` (null: one after the other).
std::vector<float> convolve(int threads, const selvage::Parallel *parallel) {
    const std::vector<float> x = numbers(60 * 80 * 32), w = numbers(64 * 32 * 3 * 3);
    std::vector<float> y(60 * 80 * 64);
    selvage::Problem problem;
    selvage::Layer layer;
    selvage::Options options;
    options.threads = threads;
    selvage::Status status =
        selvage::parse_problem("conv2d c=32 k=64 in=60x80 kernel=3 pads=1", &problem);
    if (status.ok())
        status = selvage::make_layer(problem, options, w.data(), selvage::WeightOrder::oihw,
                                     nullptr, &layer);
    if (status.ok())
        status = layer.run(x.data(), y.data(), nullptr, parallel);
    check(status.ok(), "convolution", status.text().c_str());
    return y;
}

// A kernel of one's own: each thread computes a range of rows.

/// All tasks read one image and one set of weights, and write rows of one output.
struct Blur {
    int tasks = 1;
    selvage_shape shape = blur_shape(1, 90, 70);
    std::vector<float> x = numbers(90 * 70 * 16), y = std::vector<float>(90 * 70 * 16);
    alignas(64) unsigned char packed[BLUR_PACKED_BYTES] = {};
    selvage_status status[thread_count] = {}; ///< of each task
};

/// The rows of one of the tasks, with scratch memory of its own.
void blur_rows(void *data, int index) {
    Blur &job = *static_cast<Blur *>(data);
    selvage_status &status = job.status[index];
    selvage_shape shape = job.shape;
    const std::int64_t rows = shape.height; // of the output too: stride 1, pads 2 for 5 taps
    shape.first_row = rows * index / job.tasks;
    shape.rows = rows * (index + 1) / job.tasks - shape.first_row;
    if (shape.rows == 0)
        return; // more tasks than rows; to the kernel 0 means all of them
    std::size_t bytes = 0;
    if (blur_scratch_bytes(&shape, &bytes, &status) != SELVAGE_OK)
        return;
    void *scratch = std::aligned_alloc(64, bytes);
    blur(&shape, job.x.data(), job.packed, job.y.data(), scratch, bytes, &status);
    std::free(scratch);
}

std::vector<float> blur_image(int tasks, WorkerPool *pool) {
    Blur job;
    job.tasks = tasks;
    const std::vector<float> weights = numbers(16 * 5 * 5);
    blur_pack(weights.data(), SELVAGE_OIHW, nullptr, job.packed, &job.status[0]);
    check(job.status[0].code == SELVAGE_OK, "blur_pack", job.status[0].text);
    pool->run(blur_rows, &job, tasks);
    for (int index = 0; index < tasks; ++index)
        check(job.status[index].code == SELVAGE_OK, "blur", job.status[index].text);
    return job.y;
}

} // namespace

int main() {
    WorkerPool pool(thread_count);
    const selvage::Parallel own = {run_in_own_pool, &pool};
    const selvage::Parallel halide = {run_in_halide, nullptr};

    const std::vector<float> alone = convolve(1, nullptr);
    compare("own pool", alone, convolve(thread_count, &own));
    compare("Halide's pool", alone, convolve(thread_count, &halide));
    compare("ranges of rows", blur_image(1, &pool), blur_image(thread_count, &pool));
}
