#include <map>
#include <mutex>
#include <utility>

#include "gpu/library.h"
#include "gpu/queue.h"
#include "selvage/core/buffer.h"

namespace selvage {

namespace {

// The part of CUDA's driver interface (cuda.h) that is used. Handles are pointers, and addresses of
// the device 64-bit numbers.
using Result = int;
using Address = std::uint64_t;
constexpr Result cuda_success = 0, cuda_out_of_memory = 2, cuda_no_device = 100;
constexpr int capability_major = 75, capability_minor = 76; // CU_DEVICE_ATTRIBUTE_*
constexpr int error_log = 5, error_log_bytes = 6;           // CU_JIT_*

struct Api {
    Library library{"libcuda.so.1"};
    Result (*init)(unsigned);
    Result (*device_count)(int *);
    Result (*device)(int *, int);
    Result (*device_name)(char *, int, int);
    Result (*device_attribute)(int *, int, int);
    Result (*retain_primary)(void **, int);
    Result (*release_primary)(int);
    Result (*push)(void *);
    Result (*pop)(void **);
    Result (*device_of_context)(int *);
    Result (*allocate)(Address *, std::size_t);
    Result (*release)(Address);
    Result (*copy_in)(Address, const void *, std::size_t, void *);
    Result (*copy_out)(void *, Address, std::size_t, void *);
    Result (*synchronize)(void *);
    Result (*load)(void **, const void *, unsigned, int *, void **);
    Result (*unload)(void *);
    Result (*function)(void **, void *, const char *);
    Result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);
    Result (*error_name)(Result, const char **);

    Api() {
        library.find("cuInit", &init);
        library.find("cuDeviceGetCount", &device_count);
        library.find("cuDeviceGet", &device);
        library.find("cuDeviceGetName", &device_name);
        library.find("cuDeviceGetAttribute", &device_attribute);
        library.find("cuDevicePrimaryCtxRetain", &retain_primary);
        library.find("cuDevicePrimaryCtxRelease_v2", &release_primary);
        library.find("cuCtxPushCurrent_v2", &push);
        library.find("cuCtxPopCurrent_v2", &pop);
        library.find("cuCtxGetDevice", &device_of_context);
        library.find("cuMemAlloc_v2", &allocate);
        library.find("cuMemFree_v2", &release);
        library.find("cuMemcpyHtoDAsync_v2", &copy_in);
        library.find("cuMemcpyDtoHAsync_v2", &copy_out);
        library.find("cuStreamSynchronize", &synchronize);
        library.find("cuModuleLoadDataEx", &load);
        library.find("cuModuleUnload", &unload);
        library.find("cuModuleGetFunction", &function);
        library.find("cuLaunchKernel", &launch);
        library.find("cuGetErrorName", &error_name);
    }
};

const Api &api() {
    static const Api api;
    return api;
}

Status status(const char *function, Result result, const std::string &more = "") {
    if (result == cuda_success)
        return {};
    const char *name = nullptr;
    if (api().error_name(result, &name) != cuda_success || name == nullptr)
        name = "an unknown error";
    return {result == cuda_out_of_memory ? Code::too_small : Code::device,
            std::string("cuda: ") + function + ": " + name + more};
}

Address address(const void *memory) { return reinterpret_cast<std::uintptr_t>(memory); }

/// A compute capability as one number.
constexpr int capability(int major, int minor) { return 10 * major + minor; }

/// The sets of the kernel table, see cmake/Kernels.cmake.
struct Set {
    const char *isa;
    int capability;
};
constexpr Set sets[] = {{"cuda70", 70}, {"cuda80", 80}, {"cuda86", 86}};

class CudaQueue final : public Queue {
public:
    ~CudaQueue() override {
        if (context_ != nullptr) {
            const Current current(context_);
            api().synchronize(stream_);
            for (const auto &each : modules_)
                api().unload(each.second);
        }
        if (primary_)
            api().release_primary(device_);
    }

    Status open(const DeviceOptions &options) {
        if (!api().library.missing().empty())
            return {Code::unsupported,
                    "cuda: no driver: this machine has no " + api().library.missing()};
        int devices = 0;
        Result result = api().init(0);
        if (result == cuda_success)
            result = api().device_count(&devices);
        if (result == cuda_no_device || (result == cuda_success && devices == 0))
            return {Code::unsupported, "cuda: no device: the driver finds none"};
        if (result != cuda_success)
            return status("cuInit", result);
        context_ = options.context;
        stream_ = options.stream;
        if (Status status =
                context_ != nullptr ? device_of_context() : find(options.index, devices);
            !status.ok())
            return status;
        if (Status status = describe(); !status.ok())
            return status;
        if (context_ != nullptr)
            return {};
        result = api().retain_primary(&context_, device_);
        primary_ = result == cuda_success;
        return status("cuDevicePrimaryCtxRetain", result);
    }

    Status allocate(std::size_t bytes, void **memory) override {
        const Current current(context_);
        Address found = 0;
        const Result result = api().allocate(&found, bytes);
        if (result == cuda_success)
            *memory = reinterpret_cast<void *>(found);
        return status("cuMemAlloc", result, " for " + std::to_string(bytes) + " bytes");
    }

    void release(void *memory) override {
        const Current current(context_);
        api().synchronize(stream_);
        api().release(address(memory));
    }

    Status copy_in(const void *host, void *memory, std::size_t bytes) override {
        const Current current(context_);
        const Result result = api().copy_in(address(memory), host, bytes, stream_);
        return result == cuda_success ? wait() : status("cuMemcpyHtoDAsync", result);
    }

    Status copy_out(const void *memory, void *host, std::size_t bytes) override {
        const Current current(context_);
        const Result result = api().copy_out(host, address(memory), bytes, stream_);
        return result == cuda_success ? wait() : status("cuMemcpyDtoHAsync", result);
    }

    Status synchronize() override {
        const Current current(context_);
        return wait();
    }

    Status load(const char *source, std::size_t) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (modules_.count(source) != 0)
            return {};
        const Current current(context_);
        // No limit of registers is given, so that the driver's compiler takes what the kernel
        // needs. Halide's own runtime gives 64, with which convolutions would spill.
        char log[1024] = "";
        int options[] = {error_log, error_log_bytes};
        void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
        void *module = nullptr;
        const Result result = api().load(&module, source, 2, options, values);
        if (result == cuda_success)
            modules_[source] = module;
        log[sizeof log - 1] = 0;
        return status("cuModuleLoadDataEx", result, std::string(" ") + log);
    }

    Status launch(const Launch &launch) override {
        const Current current(context_);
        void *function = nullptr;
        if (Status status = find(launch, &function); !status.ok())
            return status;
        // More than any kernel has: its buffers and scalars, and what the compiler adds to them.
        constexpr int most_arguments = 128;
        Address addresses[most_arguments];
        void *arguments[most_arguments];
        int count = 0;
        for (; launch.sizes[count] != 0; ++count) {
            if (count == most_arguments)
                return {Code::internal,
                        "cuda: " + std::string(launch.kernel) + " has too many arguments"};
            arguments[count] = launch.arguments[count];
            if (launch.is_buffer[count] == 0)
                continue;
            addresses[count] = static_cast<const BufferHeader *>(arguments[count])->device;
            arguments[count] = &addresses[count];
        }
        const auto size = [](int number) { return unsigned(number); };
        return status("cuLaunchKernel",
                      api().launch(function, size(launch.blocks[0]), size(launch.blocks[1]),
                                   size(launch.blocks[2]), size(launch.threads[0]),
                                   size(launch.threads[1]), size(launch.threads[2]),
                                   size(launch.shared_bytes), stream_, arguments, nullptr));
    }

private:
    /// Makes a context the thread's, and gives the thread back what it had.
    class Current {
    public:
        explicit Current(void *context) { pushed_ = api().push(context) == cuda_success; }
        ~Current() {
            void *context = nullptr;
            if (pushed_)
                api().pop(&context);
        }
        Current(const Current &) = delete;

    private:
        bool pushed_;
    };

    Status device_of_context() {
        const Current current(context_);
        return status("cuCtxGetDevice", api().device_of_context(&device_));
    }

    Status find(int index, int devices) {
        if (index < 0 || index >= devices)
            return {Code::invalid_argument, "cuda: there is no device " + std::to_string(index) +
                                                ", only " + std::to_string(devices)};
        return status("cuDeviceGet", api().device(&device_, index));
    }

    Status describe() {
        char text[256] = "";
        int major = 0, minor = 0;
        Result result = api().device_name(text, sizeof text, device_);
        if (result == cuda_success)
            result = api().device_attribute(&major, capability_major, device_);
        if (result == cuda_success)
            result = api().device_attribute(&minor, capability_minor, device_);
        target = "cuda";
        name = text;
        for (const Set &set : sets)
            if (capability(major, minor) >= set.capability)
                isas.emplace_back(set.isa);
        if (result == cuda_success && isas.empty())
            return {Code::unsupported, "cuda: device too old: " + name + " has capability " +
                                           std::to_string(major) + "." + std::to_string(minor) +
                                           ", needs 7.0"};
        return status("cuDeviceGetAttribute", result);
    }

    /// Waits, in the current context.
    Status wait() { return status("cuStreamSynchronize", api().synchronize(stream_)); }

    Status find(const Launch &launch, void **function) {
        const std::lock_guard<std::mutex> lock(mutex_);
        void *&found = functions_[{launch.module, launch.kernel}];
        if (found == nullptr)
            if (Status s = status("cuModuleGetFunction",
                                  api().function(&found, modules_[launch.module], launch.kernel));
                !s.ok())
                return s;
        *function = found;
        return {};
    }

    void *context_ = nullptr, *stream_ = nullptr;
    int device_ = 0;
    bool primary_ = false;
    std::mutex mutex_;
    std::map<const void *, void *> modules_;                            ///< by source
    std::map<std::pair<const void *, const char *>, void *> functions_; ///< by source and name
};

} // namespace

Status open_cuda(const DeviceOptions &options, std::shared_ptr<Queue> *queue) {
    auto made = std::make_shared<CudaQueue>();
    const Status status = made->open(options);
    if (status.ok())
        *queue = std::move(made);
    return status;
}

} // namespace selvage
