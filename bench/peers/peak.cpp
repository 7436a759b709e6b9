// What this machine can do at most: float32 FMA throughput and memory bandwidth, printed as JSON.
//
// usage: peak [seconds per burst, default 0.003]
//
// Each figure is the best of many short bursts, in each of which all threads start together and the
// slowest one counts. Bandwidths count the bytes that the kernel names: read n, copy 2n, triad
// (a = b + s*c) 3n; the lines that a store fetches before it overwrites them are not counted.
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMinBursts = 5;
constexpr int kMaxBursts = 25;
constexpr double kBurstsSeconds = 0.1; // for all bursts together, where kMinBursts fit in
constexpr std::size_t kKibi = 1024;
constexpr std::size_t kMebi = 1024 * kKibi;

// --- FMA -----------------------------------------------------------------------------------------

// Enough independent sums to cover latency times ports, few enough to stay in registers.
constexpr int kSumsAvx512 = 20;
constexpr int kSumsAvx2 = 12;

__attribute__((target("avx512f"))) void fmaAvx512(long rounds) {
    __m512 sums[kSumsAvx512];
    for (int i = 0; i < kSumsAvx512; ++i) {
        sums[i] = _mm512_set1_ps(static_cast<float>(i));
    }
    __m512 factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(0.001f);
    __asm__ volatile("" : "+v"(factor), "+v"(addend));
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
        for (int i = 0; i < kSumsAvx512; ++i) {
            sums[i] = _mm512_fmadd_ps(sums[i], factor, addend);
        }
    }
#pragma GCC unroll 32
    for (int i = 0; i < kSumsAvx512; ++i) {
        __asm__ volatile("" : : "v"(sums[i])); // counts as a use
    }
}

__attribute__((target("avx2,fma"))) void fmaAvx2(long rounds) {
    __m256 sums[kSumsAvx2];
    for (int i = 0; i < kSumsAvx2; ++i) {
        sums[i] = _mm256_set1_ps(static_cast<float>(i));
    }
    __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(0.001f);
    __asm__ volatile("" : "+x"(factor), "+x"(addend));
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
        for (int i = 0; i < kSumsAvx2; ++i) {
            sums[i] = _mm256_fmadd_ps(sums[i], factor, addend);
        }
    }
#pragma GCC unroll 32
    for (int i = 0; i < kSumsAvx2; ++i) {
        __asm__ volatile("" : : "x"(sums[i]));
    }
}

// --- memory --------------------------------------------------------------------------------------

enum class Traffic { kRead, kCopy, kTriad };

int arraysOf(Traffic traffic) {
    return traffic == Traffic::kRead ? 1 : traffic == Traffic::kCopy ? 2 : 3;
}

// The kernels below move a multiple of this many floats, so that they need no remainder loops.
constexpr std::size_t kBlock = 64;

__attribute__((target("avx512f"))) void moveAvx512(Traffic traffic, float *a, const float *b,
                                                   const float *c, std::size_t count) {
    if (traffic == Traffic::kRead) {
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 4
            for (std::size_t j = i; j < i + kBlock; j += 16) {
                __asm__ volatile("" : : "v"(_mm512_load_ps(a + j)));
            }
        }
    } else if (traffic == Traffic::kCopy) {
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 4
            for (std::size_t j = i; j < i + kBlock; j += 16) {
                _mm512_store_ps(a + j, _mm512_load_ps(b + j));
            }
        }
    } else {
        const __m512 scale = _mm512_set1_ps(0.5f);
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 4
            for (std::size_t j = i; j < i + kBlock; j += 16) {
                _mm512_store_ps(
                    a + j, _mm512_fmadd_ps(scale, _mm512_load_ps(c + j), _mm512_load_ps(b + j)));
            }
        }
    }
}

__attribute__((target("avx2,fma"))) void moveAvx2(Traffic traffic, float *a, const float *b,
                                                  const float *c, std::size_t count) {
    if (traffic == Traffic::kRead) {
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 8
            for (std::size_t j = i; j < i + kBlock; j += 8) {
                __asm__ volatile("" : : "x"(_mm256_load_ps(a + j)));
            }
        }
    } else if (traffic == Traffic::kCopy) {
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 8
            for (std::size_t j = i; j < i + kBlock; j += 8) {
                _mm256_store_ps(a + j, _mm256_load_ps(b + j));
            }
        }
    } else {
        const __m256 scale = _mm256_set1_ps(0.5f);
        for (std::size_t i = 0; i < count; i += kBlock) {
#pragma GCC unroll 8
            for (std::size_t j = i; j < i + kBlock; j += 8) {
                _mm256_store_ps(
                    a + j, _mm256_fmadd_ps(scale, _mm256_load_ps(c + j), _mm256_load_ps(b + j)));
            }
        }
    }
}

// Page-aligned floats, in huge pages where the system gives them.
class Buffer {
public:
    explicit Buffer(std::size_t bytes) : bytes_(bytes) {
        void *memory =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            std::perror("mmap");
            std::exit(1);
        }
        madvise(memory, bytes_, MADV_HUGEPAGE);
        values_ = static_cast<float *>(memory);
        std::fill(values_, values_ + bytes_ / sizeof(float), 1.0f);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { munmap(values_, bytes_); }
    float *values() const { return values_; }

private:
    std::size_t bytes_;
    float *values_ = nullptr;
};

// --- measuring -----------------------------------------------------------------------------------

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Runs the work of thread `index` `rounds` times.
using Kernel = std::function<void(int index, long rounds)>;

// Best rounds per second of each of `threads` threads that work at once.
double roundsPerSecond(int threads, double seconds, const Kernel &kernel) {
    std::atomic<int> arrived{0};
    std::atomic<long> agreedRounds{0};
    std::atomic<int> agreedBursts{0};
    std::vector<std::vector<double>> elapsed(threads);
    const auto meet = [&](int meeting) { // spins until all threads have come for the nth time
        ++arrived;
        while (arrived < threads * meeting) {
        }
    };
    const auto work = [&](int index) {
        long rounds = 1; // doubled until it takes a while, which also warms up
        for (;;) {
            const auto begin = Clock::now();
            kernel(index, rounds);
            const double spent = secondsSince(begin);
            if (spent > seconds / 4) {
                if (index == 0) {
                    const double scale = std::max(seconds / spent, 1.0 / rounds);
                    agreedRounds = static_cast<long>(rounds * scale);
                    agreedBursts = std::clamp(static_cast<int>(kBurstsSeconds / (spent * scale)),
                                              kMinBursts, kMaxBursts);
                }
                break;
            }
            rounds *= 2;
        }
        meet(1);
        for (int burst = 0; burst < agreedBursts; ++burst) {
            meet(2 + burst);
            const auto begin = Clock::now();
            kernel(index, agreedRounds);
            elapsed[index].push_back(secondsSince(begin));
        }
    };
    std::vector<std::thread> pool;
    for (int index = 0; index < threads; ++index) {
        pool.emplace_back(work, index);
    }
    for (auto &thread : pool) {
        thread.join();
    }
    double best = 1e30;
    for (int burst = 0; burst < agreedBursts; ++burst) {
        double slowest = 0;
        for (const auto &times : elapsed) {
            slowest = std::max(slowest, times[burst]);
        }
        best = std::min(best, slowest);
    }
    return static_cast<double>(agreedRounds) / best;
}

double fmaGflops(int threads, double seconds, bool avx512) {
    const int lanes = avx512 ? 16 : 8, sums = avx512 ? kSumsAvx512 : kSumsAvx2;
    const auto fma = avx512 ? fmaAvx512 : fmaAvx2;
    const double rate = roundsPerSecond(threads, seconds, [=](int, long rounds) { fma(rounds); });
    return rate * lanes * sums * 2 * threads * 1e-9;
}

// One buffer for each thread, `bytes` large, shared out among the arrays of the kernel.
double bandwidth(int threads, double seconds, Traffic traffic, std::size_t bytes,
                 const std::vector<std::unique_ptr<Buffer>> &buffers, bool avx512) {
    const int arrays = arraysOf(traffic);
    const std::size_t count = bytes / arrays / sizeof(float) / kBlock * kBlock;
    const auto move = avx512 ? moveAvx512 : moveAvx2;
    const double rate = roundsPerSecond(threads, seconds, [&](int index, long rounds) {
        float *a = buffers[index]->values();
        for (long round = 0; round < rounds; ++round) {
            move(traffic, a, a + (arrays > 1 ? count : 0), a + (arrays > 2 ? 2 * count : 0), count);
            __asm__ volatile("" : : : "memory");
        }
    });
    return rate * static_cast<double>(count * sizeof(float)) * arrays * threads * 1e-9;
}

int allowedCpus() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::size_t cacheBytes(int name, std::size_t fallback) {
    const long bytes = sysconf(name);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : fallback;
}

// {"1": x, "2": y}
std::string perThreads(int maxThreads, const std::function<double(int)> &measure) {
    std::string text = "{";
    for (int threads = 1; threads <= maxThreads; ++threads) {
        char entry[64];
        std::snprintf(entry, sizeof(entry), "%s\"%d\": %.1f", threads > 1 ? ", " : "", threads,
                      measure(threads));
        text += entry;
    }
    return text + "}";
}

} // namespace

int main(int argc, char **argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0.003;
    const bool avx512 = __builtin_cpu_supports("avx512f");
    const int maxThreads = std::clamp(allowedCpus(), 1, 2);
    const std::size_t l1 = cacheBytes(_SC_LEVEL1_DCACHE_SIZE, 32 * kKibi);
    const std::size_t l2 = cacheBytes(_SC_LEVEL2_CACHE_SIZE, kMebi);
    const std::size_t l3 = cacheBytes(_SC_LEVEL3_CACHE_SIZE, 32 * kMebi);

    std::printf("{\n  \"cache_bytes\": {\"L1\": %zu, \"L2\": %zu, \"L3\": %zu},\n", l1, l2, l3);
    std::printf("  \"fma_gflops\": {\n");
    for (const bool wide : {true, false}) {
        if (!wide || avx512) {
            std::printf("    \"%s\": %s%s\n", wide ? "avx512" : "avx2",
                        perThreads(maxThreads,
                                   [&](int threads) { return fmaGflops(threads, seconds, wide); })
                            .c_str(),
                        wide ? "," : "");
        }
    }
    std::printf("  },\n  \"bandwidth_gbs\": {\n");

    // Working sets of one thread: half of a private cache, a share of L3 well beyond L2 (a virtual
    // machine shares L3 with others), and memory several times L3.
    const struct {
        const char *name;
        std::size_t bytes;
    } levels[] = {
        {"L1", l1 / 2},
        {"L2", l2 / 2},
        {"L3", std::min(4 * l2, std::max(l3 / 4, kMebi))},
        {"DRAM", std::clamp(3 * l3, 256 * kMebi, 512 * kMebi)},
    };
    const struct {
        const char *name;
        Traffic traffic;
    } kinds[] = {{"read", Traffic::kRead}, {"copy", Traffic::kCopy}, {"triad", Traffic::kTriad}};
    const char *separator = "";
    for (const auto &level : levels) {
        std::vector<std::unique_ptr<Buffer>> buffers;
        for (int index = 0; index < maxThreads; ++index) {
            buffers.push_back(std::make_unique<Buffer>(level.bytes));
        }
        std::printf("%s    \"%s\": {\"bytes_per_thread\": %zu", separator, level.name, level.bytes);
        separator = ",\n";
        for (const auto &kind : kinds) {
            std::printf(", \"%s\": %s", kind.name, perThreads(maxThreads, [&](int threads) {
                                                       return bandwidth(threads, seconds,
                                                                        kind.traffic, level.bytes,
                                                                        buffers, avx512);
                                                   }).c_str());
        }
        std::printf("}");
    }
    std::printf("\n  }\n}\n");
    return 0;
}
