#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "selvage/export.h"
#include "selvage/status.h"

namespace selvage {

class Queue; // an open GPU, see runtime/gpu/queue.h

/// Where a plan runs: the host, which is what a Device is until open_device() makes it a GPU, or a
/// GPU with a context and a queue on it. A value; copies are the same device, which is closed with
/// the last of them. Plans keep theirs.
///
/// *Memory of a device* is an address: of a GPU a CUdeviceptr (CUDA) or an address within shared
/// virtual memory (clSVMAlloc() of OpenCL), as pointers; of the host an ordinary one. An app's own
/// addresses are as good as those of allocate(). Addresses of a GPU are never read by the host.
///
/// Work for a GPU is queued in the order of the calls: Plan::run() returns before it is done.
/// copy_in() and copy_out() wait for what they copy, synchronize() for all; what failed in between
/// they report, with the code `device`. All functions may be called from any thread.
class SELVAGE_API Device {
public:
    /// "host", "cuda" or "opencl".
    const std::string &target() const;
    /// What the driver calls the GPU; "host" of the host.
    const std::string &name() const;
    /// The instruction sets of the kernel table that it runs, narrowest first: "cuda70", "cuda80",
    /// "cuda86" as far as its compute capability goes, or "opencl"; of the host available_isas().
    const std::vector<std::string> &isas() const;

    /// Memory of `bytes` bytes (at least 1), aligned to `alignment`. The caller releases it.
    /// `too_small` where there is none left.
    Status allocate(std::size_t bytes, void **memory) const;
    /// Releases what allocate() gave, once all that is queued is done. Null is allowed.
    void release(void *memory) const;
    /// Copies bytes from the host into memory of the device, behind all that is queued.
    Status copy_in(const void *host, void *memory, std::size_t bytes) const;
    /// Copies bytes from memory of the device to the host, after all that is queued.
    Status copy_out(const void *memory, void *host, std::size_t bytes) const;
    /// Waits until all that is queued is done.
    Status synchronize() const;

    /// The open GPU, for the library itself; null of the host.
    Queue *queue() const { return queue_.get(); }

private:
    friend SELVAGE_API Status open_device(std::string_view, const struct DeviceOptions &, Device *);
    std::shared_ptr<Queue> queue_;
};

/// Which GPU, and what of the app's own is used. The app's context and stream must outlive the
/// device.
struct DeviceOptions {
    /// Which of the target's devices, from 0 on, as the driver counts them (those of all OpenCL
    /// platforms in a row). Not looked at where `context` (CUDA) or `stream` (OpenCL) tells it.
    int index = 0;
    /// CUDA: a CUcontext; null: the device's primary context, which the CUDA runtime uses too.
    /// OpenCL: a cl_context with the device; null: that of `stream`, else a new one.
    void *context = nullptr;
    /// Where work is queued. CUDA: a CUstream (or cudaStream_t) of the context; null: its default
    /// stream. OpenCL: a cl_command_queue that keeps the order; null: a new one.
    void *stream = nullptr;
};

/// Opens the GPU of a target, "cuda" or "opencl"; "host" gives the host. On failure *device is
/// unchanged: `unsupported` where this build has no kernels for the target (SELVAGE_GPU), and where
/// there is no driver, no device, or one that is too old (CUDA: below compute capability 7.0;
/// OpenCL: without shared virtual memory, which is optional from version 2.0 on);
/// `invalid_argument` for an unknown target or an index beyond the last device; `device` where the
/// driver fails. Each text names the target first. Safe from any thread.
SELVAGE_API Status open_device(std::string_view target, const DeviceOptions &options,
                               Device *device);

/// Releases memory of a device.
struct DeviceRelease {
    Device device; ///< whose memory it is
    /// Device::release()
    void operator()(void *memory) const { device.release(memory); }
};

/// Memory of a device with its owner.
using DeviceMemory = std::unique_ptr<void, DeviceRelease>;

/// Device::allocate() for an owner; nothing for 0 bytes.
SELVAGE_API Status allocate(const Device &device, std::size_t bytes, DeviceMemory *memory);

} // namespace selvage
