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

/// What Halide's code returns at once, so that the caller of the kernel sees it.
int outcome(DeviceCall *call, Status status) {
    if (status.ok())
        return 0;
    call->status = std::move(status);
    return 1;
}

std::size_t bytes_of(const BufferHeader &buffer) {
    std::int64_t elements = 1;
    for (int i = 0; i < buffer.dimensions; ++i)
        elements += (buffer.dim[i].extent - 1) * std::int64_t(buffer.dim[i].stride);
    return std::size_t(elements * buffer.type.bytes());
}

} // namespace

extern "C" {

int selvage_device_load(void *context, void **state, const char *source, int bytes) try {
    DeviceCall *const call = of(context);
    // The module's own variable: all threads store the same.
    __atomic_store_n(state, const_cast<char *>(source), __ATOMIC_RELAXED);
    return outcome(call, call->queue->load(source, std::size_t(bytes)));
} catch (const std::bad_alloc &) {
    return 1;
}

int selvage_device_launch(void *context, void *state, const char *kernel, int blocks_x,
                          int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z,
                          int shared_bytes, std::size_t *sizes, void **arguments,
                          std::int8_t *is_buffer) try {
    DeviceCall *const call = of(context);
    return outcome(call, call->queue->launch({state,
                                              kernel,
                                              {blocks_x, blocks_y, blocks_z},
                                              {threads_x, threads_y, threads_z},
                                              shared_bytes,
                                              sizes,
                                              arguments,
                                              is_buffer}));
} catch (const std::bad_alloc &) {
    return 1;
}

/// Modules stay until the device is closed.
void selvage_device_unload(void *, void *) {}

/// Halide's code hands it to the functions below, which need none.
const void *selvage_device_interface() { return nullptr; }

int selvage_device_copy(void *, BufferHeader *, const void *) { return 0; }

int selvage_device_alloc(void *context, BufferHeader *buffer, const void *) {
    if (buffer->device != 0)
        return 0;
    // Where the stack is too small there is no other memory, and run() tells so.
    void *const memory = take(*of(context), bytes_of(*buffer));
    buffer->device = reinterpret_cast<std::uintptr_t>(memory);
    return memory == nullptr;
}

int selvage_device_free(void *context, BufferHeader *buffer) {
    if (buffer->device != 0)
        give_back(*of(context), reinterpret_cast<void *>(buffer->device));
    buffer->device = 0;
    return 0;
}

void selvage_device_free_at_exit(void *context, void *buffer) {
    selvage_device_free(context, static_cast<BufferHeader *>(buffer));
}
}
