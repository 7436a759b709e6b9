#pragma once

#include <cstdint>
#include <vector>

/// A stand-in for CUDA's driver, to be loaded in place of it: devices of any age, on which kernels
/// compute nothing, and which notes what it is asked for. Test and library find it as `fake_cuda`
/// in the shared library libcuda.so.1.
struct FakeCuda {
    // What the next calls answer.
    int init = 0;                 ///< of cuInit
    int devices = 1;              ///< how many there are
    int major = 9, minor = 0;     ///< their compute capability
    int load = 0;                 ///< of cuModuleLoadDataEx
    int launch = 0;               ///< of cuLaunchKernel
    int synchronize = 0;          ///< of cuStreamSynchronize
    std::uint64_t room = 1 << 30; ///< bytes that one cuMemAlloc can have

    // What was asked for.
    std::vector<int> jit_options; ///< of all modules
    std::vector<const char *> sources;
    struct Launch {
        unsigned blocks[3], threads[3], shared_bytes;
        void *stream;
    };
    std::vector<Launch> launches;
    int contexts = 0;    ///< that are current now
    int retained = 0;    ///< primary contexts that are held now
    int modules = 0;     ///< that are loaded now
    int allocations = 0; ///< that are not released yet
};
