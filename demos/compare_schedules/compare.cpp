// Which schedule is the fastest for a layer, on this machine? Each result is checked first. Then
// the kernels take turns, so that whatever else the machine does meets all of them alike, and what
// counts is each one's time in a turn relative to the first kernel's in the same turn.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "layer_auto.h"
#include "layer_rows.h"
#include "layer_table.h"
#include "layer_taps.h"

namespace {

constexpr std::int64_t size = 56, channels = 64;
constexpr int turns = 51, calls_of_turn = 20;

/// One of the kernels, by the functions of its header.
struct Kernel {
    const char *schedule;
    std::size_t packed_bytes;
    decltype(&layer_auto_pack) pack;
    decltype(&layer_auto_scratch_bytes) scratch_bytes;
    decltype(&layer_auto) run;
};

constexpr Kernel kernels[] = {
    {"auto", LAYER_AUTO_PACKED_BYTES, layer_auto_pack, layer_auto_scratch_bytes, layer_auto},
    {"rows_3x3_s1_4x1", LAYER_ROWS_PACKED_BYTES, layer_rows_pack, layer_rows_scratch_bytes,
     layer_rows},
    {"taps_4", LAYER_TAPS_PACKED_BYTES, layer_taps_pack, layer_taps_scratch_bytes, layer_taps},
    {"table.json", LAYER_TABLE_PACKED_BYTES, layer_table_pack, layer_table_scratch_bytes,
     layer_table},
};

void check(bool ok, const char *schedule, const char *why) {
    if (ok)
        return;
    std::fprintf(stderr, "compare_schedules: %s: %s\n", schedule, why);
    std::exit(1);
}

/// Small whole numbers, so that sums are exact in any order.
std::vector<float> numbers(std::int64_t count, int step) {
    std::vector<float> result(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<float>(i * static_cast<std::size_t>(step) % 13) - 6;
    return result;
}

/// The layer by plain loops: `x` is height x width x channels, `w` channels x 3 x 3.
std::vector<float> expected(const std::vector<float> &x, const std::vector<float> &w) {
    std::vector<float> y(x.size());
    for (std::int64_t i = 0; i < size * size * channels; ++i) {
        const std::int64_t c = i % channels, column = i / channels % size;
        const std::int64_t row = i / channels / size;
        for (std::int64_t tap = 0; tap < 9; ++tap) {
            const std::int64_t v = row + tap / 3 - 1, u = column + tap % 3 - 1;
            if (v >= 0 && v < size && u >= 0 && u < size)
                y[static_cast<std::size_t>(i)] +=
                    x[static_cast<std::size_t>((v * size + u) * channels + c)] *
                    w[static_cast<std::size_t>(c * 9 + tap)];
        }
    }
    return y;
}

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

/// A kernel, ready to run.
struct Subject {
    const Kernel &kernel;
    selvage_shape shape = {};
    Memory packed = nullptr, scratch = nullptr;
    std::size_t scratch_bytes = 0;
};

Subject prepare(const Kernel &kernel, const std::vector<float> &w) {
    Subject subject{kernel, layer_auto_shape(1, size, size)};
    selvage_status status;
    subject.packed.reset(std::aligned_alloc(64, kernel.packed_bytes));
    kernel.pack(w.data(), SELVAGE_OIHW, nullptr, subject.packed.get(), &status);
    check(status.code == SELVAGE_OK, kernel.schedule, status.text);
    kernel.scratch_bytes(&subject.shape, &subject.scratch_bytes, &status);
    check(status.code == SELVAGE_OK, kernel.schedule, status.text);
    subject.scratch.reset(std::aligned_alloc(64, subject.scratch_bytes));
    return subject;
}

void run(const Subject &subject, const std::vector<float> &x, std::vector<float> *y) {
    selvage_status status;
    subject.kernel.run(&subject.shape, x.data(), subject.packed.get(), y->data(),
                       subject.scratch.get(), subject.scratch_bytes, &status);
    check(status.code == SELVAGE_OK, subject.kernel.schedule, status.text);
}

/// Microseconds of a call, by so many calls in a row.
double time(const Subject &subject, const std::vector<float> &x, std::vector<float> *y) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < calls_of_turn; ++call)
        run(subject, x, y);
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count() / calls_of_turn;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

int main() {
    const std::vector<float> x = numbers(size * size * channels, 5), w = numbers(channels * 9, 7);
    const std::vector<float> right = expected(x, w);
    std::vector<float> y(x.size());

    // Verify, then time.
    std::vector<Subject> subjects;
    for (const Kernel &kernel : kernels) {
        subjects.push_back(prepare(kernel, w));
        std::fill(y.begin(), y.end(), -1000.0F);
        run(subjects.back(), x, &y);
        check(y == right, kernel.schedule, "differs from plain loops");
    }

    std::vector<std::vector<double>> times(subjects.size()), ratios(subjects.size());
    for (int turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            times[i].push_back(time(subjects[i], x, &y));
            ratios[i].push_back(times[i].back() / times[0].back());
        }

    std::size_t fastest = 0;
    std::printf("%s, medians of %d turns\n%-16s %9s %6s\n", layer_auto_isa(), turns, "schedule",
                "us", "ratio");
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        std::printf("%-16s %9.1f %6.2f\n", kernels[i].schedule, median(times[i]),
                    median(ratios[i]));
        if (median(ratios[i]) < median(ratios[fastest]))
            fastest = i;
    }
    std::printf("fastest: %s\n", kernels[fastest].schedule);
}
