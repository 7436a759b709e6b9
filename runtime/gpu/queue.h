#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "selvage/core/scratch.h"
#include "selvage/device.h"

namespace selvage {

/// One launch of a kernel, as Halide's code asks for it.
struct Launch {
    const void *module; ///< the source that load() got
    const char *kernel; ///< its name within the module
    int blocks[3], threads[3], shared_bytes;
    const std::size_t *sizes; ///< of the arguments; 0 ends them
    void *const *arguments;   ///< where each lies; of a buffer its BufferHeader
    const std::int8_t *is_buffer;
};

/// An open GPU: its driver, a context and the queue for work on it. The functions are those of
/// Device, and what kernels need; safe from any thread.
class Queue {
public:
    virtual ~Queue() = default;

    virtual Status allocate(std::size_t bytes, void **memory) = 0;
    virtual void release(void *memory) = 0;
    virtual Status copy_in(const void *host, void *memory, std::size_t bytes) = 0;
    virtual Status copy_out(const void *memory, void *host, std::size_t bytes) = 0;
    virtual Status synchronize() = 0;

    /// Makes the kernels of a module ready: `bytes` of PTX or of OpenCL C, which lives for ever.
    /// Once for each module; later calls find it.
    virtual Status load(const char *source, std::size_t bytes) = 0;
    /// Queues a kernel of a module that is ready.
    virtual Status launch(const Launch &launch) = 0;

    std::string target, name;
    std::vector<std::string> isas;
};

/// Opens the devices of the targets, see open_device().
Status open_cuda(const DeviceOptions &options, std::shared_ptr<Queue> *queue);
Status open_opencl(const DeviceOptions &options, std::shared_ptr<Queue> *queue);

/// What a kernel's hooks get as its `__user_context`: scratch memory of the device that it runs on,
/// and the GPU, if that is one. `status` tells what failed in a hook.
struct DeviceCall : Scratch {
    Queue *queue = nullptr;
    Status status = {};
};

} // namespace selvage
