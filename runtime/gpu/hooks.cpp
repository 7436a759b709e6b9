#include <new>

#include "gpu/queue.h"
#include "selvage/core/buffer.h"

// What Halide's code for GPUs calls, in place of Halide's own runtime: cmake/SelvageKernel.cmake
// gives the functions these names. A Plan's memory is on the device already, so buffers are never
// copied; temporaries are taken from the plan's scratch memory.

using selvage::BufferHeader;
using selvage::DeviceCall;
using selvage::Status;

namespace {

/// Kernels are called with the scratch memory of a DeviceCall.
DeviceCall *of(void *context) {
    return static_cast<DeviceCall *>(static_cast<selvage::Scratch *>(context));
}

/// Does a step of a kernel, unless one before it failed: kernels are compiled without checks, and
/// go on whatever a hook returns.
template <class Step> int attempt(DeviceCall *call, Step step) {
    if (!call->status.ok() || call->exceeded)
        return 1;
    try {
        call->status = step();
    } catch (const std::bad_alloc &) {
        call->status = {selvage::Code::too_small, "out of memory"}; // short enough to take none
    }
    return call->status.ok() ? 0 : 1;
}

std::size_t bytes_of(const BufferHeader &buffer) {
    std::int64_t elements = 1;
    for (int i = 0; i < buffer.dimensions; ++i)
        elements += (buffer.dim[i].extent - 1) * std::int64_t(buffer.dim[i].stride);
    return std::size_t(elements * buffer.type.bytes());
}

} // namespace

extern "C" {

int selvage_gpu_load(void *context, void **state, const char *source, int bytes) {
    DeviceCall *const call = of(context);
    // The module's own variable: all threads store the same.
    __atomic_store_n(state, const_cast<char *>(source), __ATOMIC_RELAXED);
    return attempt(call, [&] { return call->queue->load(source, std::size_t(bytes)); });
}

int selvage_gpu_launch(void *context, void *state, const char *kernel, int blocks_x, int blocks_y,
                       int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                       std::size_t *sizes, void **arguments, std::int8_t *is_buffer) {
    DeviceCall *const call = of(context);
    return attempt(call, [&] {
        return call->queue->launch({state,
                                    kernel,
                                    {blocks_x, blocks_y, blocks_z},
                                    {threads_x, threads_y, threads_z},
                                    shared_bytes,
                                    sizes,
                                    arguments,
                                    is_buffer});
    });
}

/// Modules stay until the device is closed.
void selvage_gpu_unload(void *, void *) {}

/// Halide's code hands it to the functions below, which need none.
const void *selvage_gpu_interface() { return nullptr; }

int selvage_gpu_copy(void *, BufferHeader *, const void *) { return 0; }

int selvage_gpu_alloc(void *context, BufferHeader *buffer, const void *) {
    if (buffer->device != 0)
        return 0;
    // Where the stack is too small there is no other memory, and run() tells so.
    void *const memory = take(*of(context), bytes_of(*buffer));
    buffer->device = reinterpret_cast<std::uintptr_t>(memory);
    return memory == nullptr;
}

int selvage_gpu_free(void *context, BufferHeader *buffer) {
    if (buffer->device != 0)
        give_back(*of(context), reinterpret_cast<void *>(buffer->device));
    buffer->device = 0;
    return 0;
}

void selvage_gpu_free_at_exit(void *context, void *buffer) {
    selvage_gpu_free(context, static_cast<BufferHeader *>(buffer));
}
}
