#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload.h"

namespace bench {

/// One of Halide's autoschedulers, with its options.
struct Autoscheduler {
    const char *name; ///< for tables and files
    const char *plugin;
    const char *halide_name;
    const char *options; ///< a generator parameter; may be empty
};

/// Mullapudi2016, Li2018, and Adams2019 twice: with its own beam search, and greedily, which finds
/// a schedule where the search runs out of time.
const std::vector<Autoscheduler> &autoschedulers();

/// Why no plain algorithm of autoscheduled.cpp computes the problem; empty where one does.
std::string no_plain_algorithm(const selvage::Problem &problem);

/// A kernel that an autoscheduler made, or what it said in its place.
struct AutoscheduledKernel {
    std::string library; ///< path of a shared library
    double compile_seconds = 0;
    std::int64_t code_bytes = 0; ///< code and constants, without Halide's runtime
    std::string failure;         ///< empty: there is a kernel
};

/// Where kernels are made and kept.
struct AutoschedulerPlace {
    std::string generators; ///< the program made of autoscheduled.cpp
    std::string plugins;    ///< the folder of the autoschedulers' libraries
    std::string cache;      ///< a folder; what was made once is taken from there
};

/// Makes the kernel of a problem that has a plain algorithm, its numbers fixed, for so many
/// threads. Gives up after `limit` seconds of a processor. Throws std::runtime_error where the
/// means are missing.
AutoscheduledKernel make_autoscheduled(const selvage::Problem &problem,
                                       const Autoscheduler &autoscheduler, int threads, int limit,
                                       const AutoschedulerPlace &place);

/// Such a kernel with all the memory that it needs, as Workload is for the library's.
class AutoscheduledWorkload {
public:
    /// Loads the kernel and runs it once on all threads that Halide's runtime has. The plan tells
    /// the problem and the size of its output. `data` and `output` are used by every run() and
    /// outlive this. Throws std::runtime_error where the kernel cannot be loaded.
    AutoscheduledWorkload(const AutoscheduledKernel &kernel, const selvage::Plan &plan,
                          const Data &data, Floats *output);
    ~AutoscheduledWorkload();
    AutoscheduledWorkload(const AutoscheduledWorkload &) = delete;
    AutoscheduledWorkload &operator=(const AutoscheduledWorkload &) = delete;

    void run();

private:
    struct Buffers;

    void *library_ = nullptr;
    int (*function_)(void **arguments) = nullptr;
    Floats weights_, bias_;
    std::unique_ptr<Buffers> buffers_;
};

/// Loads Halide's runtime, which all kernels of the place share, and sets its number of threads.
/// Its allocations keep their memory. Throws std::runtime_error where it cannot be made.
void use_halide_runtime(const AutoschedulerPlace &place, int threads);

} // namespace bench
