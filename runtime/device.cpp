#include "selvage/device.h"

#include <cstring>
#include <new>

#include "gpu/queue.h"
#include "selvage/memory.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

/// A target that is not the host.
struct GpuTarget {
    std::string_view name;
    /// Null where this build has no kernels for it.
    Status (*open)(const DeviceOptions &, std::shared_ptr<Queue> *);
};

constexpr GpuTarget gpu_targets[] = {
#ifdef SELVAGE_CUDA
    {"cuda", open_cuda},
#else
    {"cuda", nullptr},
#endif
#ifdef SELVAGE_OPENCL
    {"opencl", open_opencl},
#else
    {"opencl", nullptr},
#endif
};

} // namespace

const std::string &Device::target() const {
    static const std::string host = "host";
    return queue_ != nullptr ? queue_->target : host;
}

const std::string &Device::name() const { return queue_ != nullptr ? queue_->name : target(); }

const std::vector<std::string> &Device::isas() const {
    static const std::vector<std::string> host = available_isas();
    return queue_ != nullptr ? queue_->isas : host;
}

Status Device::allocate(std::size_t bytes, void **memory) const try {
    if (memory == nullptr || bytes == 0)
        return {Code::invalid_argument,
                memory == nullptr ? "allocate: memory is null" : "allocate: 0 bytes"};
    if (queue_ != nullptr)
        return queue_->allocate(bytes, memory);
    Memory found = selvage::allocate(bytes);
    if (found == nullptr)
        return {Code::too_small, "out of memory"};
    *memory = found.release();
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

void Device::release(void *memory) const {
    if (memory == nullptr)
        return;
    if (queue_ != nullptr)
        queue_->release(memory);
    else
        FreeMemory()(static_cast<std::byte *>(memory));
}

Status Device::copy_in(const void *host, void *memory, std::size_t bytes) const try {
    if (bytes == 0)
        return {};
    if (queue_ != nullptr)
        return queue_->copy_in(host, memory, bytes);
    std::memcpy(memory, host, bytes);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status Device::copy_out(const void *memory, void *host, std::size_t bytes) const try {
    if (bytes == 0)
        return {};
    if (queue_ != nullptr)
        return queue_->copy_out(memory, host, bytes);
    std::memcpy(host, memory, bytes);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status Device::synchronize() const try {
    return queue_ != nullptr ? queue_->synchronize() : Status();
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status open_device(std::string_view target, const DeviceOptions &options, Device *device) try {
    if (device == nullptr)
        return {Code::invalid_argument, "open_device: device is null"};
    if (target == "host") {
        *device = Device();
        return {};
    }
    std::string known = "host";
    for (const GpuTarget &each : gpu_targets) {
        known += ", " + std::string(each.name);
        if (each.name != target)
            continue;
        if (each.open == nullptr)
            return {Code::unsupported, std::string(target) +
                                           ": this build of selvage has no kernels for it; "
                                           "configure and build it with -DSELVAGE_GPU=" +
                                           std::string(target)};
        return each.open(options, &device->queue_);
    }
    return {Code::invalid_argument, "target " + std::string(target) + ": must be one of " + known};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

Status allocate(const Device &device, std::size_t bytes, DeviceMemory *memory) {
    if (bytes == 0)
        return {};
    void *found = nullptr;
    if (Status status = device.allocate(bytes, &found); !status.ok())
        return status;
    *memory = DeviceMemory(found, {device});
    return {};
}

} // namespace selvage
