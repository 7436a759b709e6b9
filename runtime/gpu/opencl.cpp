#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "gpu/library.h"
#include "gpu/queue.h"
#include "selvage/core/buffer.h"

namespace selvage {

namespace {

// The part of OpenCL's interface (CL/cl.h) that is used. Handles are pointers.
using Result = std::int32_t;
using Bits = std::uint64_t;
constexpr Result cl_success = 0, cl_no_memory = -4;
constexpr Bits every_device = 0xffffffff; // CL_DEVICE_TYPE_ALL
constexpr std::uint32_t device_name = 0x102b, device_svm = 0x1053, context_devices = 0x1081,
                        queue_context = 0x1090, queue_device = 0x1091, build_log = 0x1183;
constexpr Bits coarse_grained_svm = 1, read_and_write = 1;

struct Api {
    Library library{"libOpenCL.so.1"};
    Result (*platforms)(std::uint32_t, void **, std::uint32_t *);
    Result (*devices)(void *, Bits, std::uint32_t, void **, std::uint32_t *);
    Result (*of_device)(void *, std::uint32_t, std::size_t, void *, std::size_t *);
    Result (*of_context)(void *, std::uint32_t, std::size_t, void *, std::size_t *);
    Result (*of_queue)(void *, std::uint32_t, std::size_t, void *, std::size_t *);
    Result (*of_build)(void *, void *, std::uint32_t, std::size_t, void *, std::size_t *);
    void *(*create_context)(const void *, std::uint32_t, void *const *, void *, void *, Result *);
    void *(*create_queue)(void *, void *, Bits, Result *);
    void *(*create_program)(void *, std::uint32_t, const char **, const std::size_t *, Result *);
    void *(*create_kernel)(void *, const char *, Result *);
    Result (*retain_context)(void *);
    Result (*retain_queue)(void *);
    Result (*release_context)(void *);
    Result (*release_queue)(void *);
    Result (*release_program)(void *);
    Result (*release_kernel)(void *);
    Result (*build)(void *, std::uint32_t, void *const *, const char *, void *, void *);
    Result (*argument)(void *, std::uint32_t, std::size_t, const void *);
    Result (*address_argument)(void *, std::uint32_t, const void *);
    Result (*launch)(void *, void *, std::uint32_t, const std::size_t *, const std::size_t *,
                     const std::size_t *, std::uint32_t, const void *, void *);
    Result (*finish)(void *);
    void *(*allocate)(void *, Bits, std::size_t, std::uint32_t);
    void (*release)(void *, void *);
    Result (*copy)(void *, std::uint32_t, void *, const void *, std::size_t, std::uint32_t,
                   const void *, void *);

    Api() {
        library.find("clGetPlatformIDs", &platforms);
        library.find("clGetDeviceIDs", &devices);
        library.find("clGetDeviceInfo", &of_device);
        library.find("clGetContextInfo", &of_context);
        library.find("clGetCommandQueueInfo", &of_queue);
        library.find("clGetProgramBuildInfo", &of_build);
        library.find("clCreateContext", &create_context);
        library.find("clCreateCommandQueue", &create_queue);
        library.find("clCreateProgramWithSource", &create_program);
        library.find("clCreateKernel", &create_kernel);
        library.find("clRetainContext", &retain_context);
        library.find("clRetainCommandQueue", &retain_queue);
        library.find("clReleaseContext", &release_context);
        library.find("clReleaseCommandQueue", &release_queue);
        library.find("clReleaseProgram", &release_program);
        library.find("clReleaseKernel", &release_kernel);
        library.find("clBuildProgram", &build);
        library.find("clSetKernelArg", &argument);
        library.find("clSetKernelArgSVMPointer", &address_argument);
        library.find("clEnqueueNDRangeKernel", &launch);
        library.find("clFinish", &finish);
        library.find("clSVMAlloc", &allocate);
        library.find("clSVMFree", &release);
        library.find("clEnqueueSVMMemcpy", &copy);
    }
};

const Api &api() {
    static const Api api;
    return api;
}

Status status(const char *function, Result result, const std::string &more = "") {
    if (result == cl_success)
        return {};
    return {result == cl_no_memory ? Code::too_small : Code::device,
            std::string("opencl: ") + function + ": error " + std::to_string(result) + more};
}

/// All devices, those of one platform after those of another.
std::vector<void *> all_devices() {
    std::uint32_t count = 0;
    if (api().platforms(0, nullptr, &count) != cl_success)
        return {};
    std::vector<void *> platforms(count), all;
    api().platforms(count, platforms.data(), nullptr);
    for (void *platform : platforms) {
        std::uint32_t of_platform = 0;
        if (api().devices(platform, every_device, 0, nullptr, &of_platform) != cl_success)
            continue;
        const std::size_t before = all.size();
        all.resize(before + of_platform);
        api().devices(platform, every_device, of_platform, all.data() + before, nullptr);
    }
    return all;
}

class OpenclQueue final : public Queue {
public:
    ~OpenclQueue() override {
        if (queue_ != nullptr)
            api().finish(queue_);
        for (const auto &each : programs_)
            api().release_program(each.second);
        if (queue_ != nullptr)
            api().release_queue(queue_);
        if (context_ != nullptr)
            api().release_context(context_);
    }

    Status open(const DeviceOptions &options) {
        if (!api().library.missing().empty())
            return {Code::unsupported,
                    "opencl: no driver: this machine has no " + api().library.missing()};
        if (Status status = options.stream != nullptr ? of_queue(options.stream)
                                                      : find(options.index, options.context);
            !status.ok())
            return status;
        if (Status status = describe(); !status.ok())
            return status;
        Result result = cl_success;
        if (context_ == nullptr) {
            context_ = options.context;
            if (context_ == nullptr)
                context_ = api().create_context(nullptr, 1, &device_, nullptr, nullptr, &result);
            else
                result = api().retain_context(context_);
        }
        if (result == cl_success && queue_ == nullptr)
            queue_ = api().create_queue(context_, device_, 0, &result);
        return status("clCreateCommandQueue", result);
    }

    Status allocate(std::size_t bytes, void **memory) override {
        void *const found = api().allocate(context_, read_and_write, bytes, alignment);
        if (found == nullptr)
            return {Code::too_small,
                    "opencl: clSVMAlloc has no " + std::to_string(bytes) + " bytes"};
        *memory = found;
        return {};
    }

    void release(void *memory) override {
        api().finish(queue_);
        api().release(context_, memory);
    }

    Status copy_in(const void *host, void *memory, std::size_t bytes) override {
        return copy(memory, host, bytes);
    }

    Status copy_out(const void *memory, void *host, std::size_t bytes) override {
        return copy(host, memory, bytes);
    }

    Status synchronize() override { return status("clFinish", api().finish(queue_)); }

    Status load(const char *source, std::size_t bytes) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (programs_.count(source) != 0)
            return {};
        // The source's last byte is its 0.
        const std::size_t length = bytes - 1;
        Result result = cl_success;
        void *const program = api().create_program(context_, 1, &source, &length, &result);
        if (result != cl_success)
            return status("clCreateProgramWithSource", result);
        // Inputs are too large for memory of constants.
        constexpr const char *options = "-D MAX_CONSTANT_BUFFER_SIZE=0 -D MAX_CONSTANT_ARGS=0";
        result = api().build(program, 1, &device_, options, nullptr, nullptr);
        if (result == cl_success) {
            programs_[source] = program;
            return {};
        }
        char log[1024] = "";
        api().of_build(program, device_, build_log, sizeof log - 1, log, nullptr);
        api().release_program(program);
        return status("clBuildProgram", result, std::string(" ") + log);
    }

    Status launch(const Launch &launch) override {
        Result result = cl_success;
        // One for each launch, since a kernel holds its arguments.
        void *const kernel = api().create_kernel(program(launch), launch.kernel, &result);
        if (result != cl_success)
            return status("clCreateKernel", result);
        std::uint32_t count = 0;
        for (; result == cl_success && launch.sizes[count] != 0; ++count) {
            void *const argument = launch.arguments[count];
            result =
                launch.is_buffer[count] != 0
                    ? api().address_argument(kernel, count,
                                             reinterpret_cast<void *>(std::uintptr_t(
                                                 static_cast<BufferHeader *>(argument)->device)))
                    : api().argument(kernel, count, launch.sizes[count], argument);
        }
        // Memory of a block comes last, and is at least one byte.
        if (result == cl_success)
            result = api().argument(kernel, count, std::size_t(std::max(1, launch.shared_bytes)),
                                    nullptr);
        std::size_t all[3], each[3];
        for (int i = 0; i < 3; ++i) {
            each[i] = std::size_t(launch.threads[i]);
            all[i] = std::size_t(launch.blocks[i]) * each[i];
        }
        if (result == cl_success)
            result = api().launch(queue_, kernel, 3, nullptr, all, each, 0, nullptr, nullptr);
        api().release_kernel(kernel);
        return status("clEnqueueNDRangeKernel", result, std::string(" for ") + launch.kernel);
    }

private:
    Status of_queue(void *queue) {
        if (const Result result = api().retain_queue(queue); result != cl_success)
            return status("clRetainCommandQueue", result);
        queue_ = queue;
        Result result = api().of_queue(queue, queue_device, sizeof device_, &device_, nullptr);
        void *context = nullptr;
        if (result == cl_success)
            result = api().of_queue(queue, queue_context, sizeof context, &context, nullptr);
        if (result == cl_success)
            result = api().retain_context(context);
        if (result == cl_success)
            context_ = context;
        return status("clGetCommandQueueInfo", result);
    }

    /// A device of the context, else of the machine.
    Status find(int index, void *context) {
        std::vector<void *> all;
        if (context == nullptr) {
            all = all_devices();
        } else {
            std::size_t bytes = 0;
            Result result = api().of_context(context, context_devices, 0, nullptr, &bytes);
            all.resize(bytes / sizeof(void *));
            if (result == cl_success)
                result = api().of_context(context, context_devices, bytes, all.data(), nullptr);
            if (result != cl_success)
                return status("clGetContextInfo", result);
        }
        if (all.empty())
            return {Code::unsupported, "opencl: no device: no platform has one"};
        if (index < 0 || std::size_t(index) >= all.size())
            return {Code::invalid_argument, "opencl: there is no device " + std::to_string(index) +
                                                ", only " + std::to_string(all.size())};
        device_ = all[std::size_t(index)];
        return {};
    }

    Status describe() {
        char text[256] = "";
        Bits svm = 0;
        if (const Result result =
                api().of_device(device_, device_name, sizeof text - 1, text, nullptr);
            result != cl_success)
            return status("clGetDeviceInfo", result);
        target = "opencl";
        name = text;
        isas = {"opencl"};
        // Before version 2.0 the question is unknown, too.
        if (api().of_device(device_, device_svm, sizeof svm, &svm, nullptr) != cl_success ||
            (svm & coarse_grained_svm) == 0)
            return {Code::unsupported,
                    "opencl: device too old: " + name + " has no shared virtual memory"};
        return {};
    }

    Status copy(void *to, const void *from, std::size_t bytes) {
        return status("clEnqueueSVMMemcpy",
                      api().copy(queue_, 1, to, from, bytes, 0, nullptr, nullptr));
    }

    void *program(const Launch &launch) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return programs_[launch.module];
    }

    void *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr;
    std::mutex mutex_;
    std::map<const void *, void *> programs_; ///< by source
};

} // namespace

Status open_opencl(const DeviceOptions &options, std::shared_ptr<Queue> *queue) {
    auto made = std::make_shared<OpenclQueue>();
    const Status status = made->open(options);
    if (status.ok())
        *queue = std::move(made);
    return status;
}

} // namespace selvage
