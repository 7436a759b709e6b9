// An app's own OpenCL context, queue and memory.

#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "selvage/layer.h"

#include "../hold.h"

using selvage::Code;
using selvage::Device;
using selvage::DeviceOptions;
using selvage::Layer;
using selvage::Options;
using selvage::Status;
using selvage::WeightOrder;

namespace {

/// A function of OpenCL.
template <class Function> Function *function(const char *name) {
    static void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return reinterpret_cast<Function *>(dlsym(library, name));
}

/// What an app has: the first device, with a context and a queue.
class App {
public:
    App() {
        void *platform = nullptr;
        EXPECT_EQ(
            function<int(unsigned, void **, unsigned *)>("clGetPlatformIDs")(1, &platform, nullptr),
            0);
        EXPECT_EQ(function<int(void *, std::uint64_t, unsigned, void **, unsigned *)>(
                      "clGetDeviceIDs")(platform, 0xffffffff, 1, &device, nullptr),
                  0);
        context = function<void *(const void *, unsigned, void **, void *, void *, int *)>(
            "clCreateContext")(nullptr, 1, &device, nullptr, nullptr, nullptr);
        queue = function<void *(void *, void *, std::uint64_t, int *)>("clCreateCommandQueue")(
            context, device, 0, nullptr);
    }
    ~App() {
        function<int(void *)>("clReleaseCommandQueue")(queue);
        function<int(void *)>("clReleaseContext")(context);
    }
    App(const App &) = delete;

    float *allocate(std::size_t numbers) const {
        return static_cast<float *>(function<void *(void *, std::uint64_t, std::size_t, unsigned)>(
            "clSVMAlloc")(context, 1, numbers * sizeof(float), 0));
    }
    void release(float *memory) const {
        function<void(void *, void *)>("clSVMFree")(context, memory);
    }
    void copy(float *to, const float *from, std::size_t numbers) const {
        EXPECT_EQ(function<int(void *, unsigned, void *, const void *, std::size_t, unsigned,
                               const void *, void *)>("clEnqueueSVMMemcpy")(
                      queue, 1, to, from, numbers * sizeof(float), 0, nullptr, nullptr),
                  0);
    }

    void *device = nullptr, *context = nullptr, *queue = nullptr;
};

/// A convolution from memory of the app to memory of the app.
void expect_right(const App &app, const DeviceOptions &wishes) {
    Options options;
    const Status opened = selvage::open_device("opencl", wishes, &options.device);
    ASSERT_TRUE(opened.ok()) << opened.text();
    const float x[] = {1, 2, 3, 4, 5}, w[] = {1, 10, 100};
    Layer layer;
    const Status made = selvage::make_layer("conv1d in=5 kernel=3 same=tf", options, w,
                                            WeightOrder::oihw, nullptr, &layer);
    ASSERT_TRUE(made.ok()) << made.text();
    float *const input = app.allocate(5), *const output = app.allocate(5);
    app.copy(input, x, 5);
    const Status status = layer.run(input, output);
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_TRUE(options.device.synchronize().ok());
    std::vector<float> y(5);
    app.copy(y.data(), output, 5);
    EXPECT_EQ(y, (std::vector<float>{210, 321, 432, 543, 54}));
    app.release(input);
    app.release(output);
}

TEST(OpenclApp, Queue) {
    const App app;
    expect_right(app, {0, nullptr, app.queue});
    // The device held the queue and let it go.
    expect_right(app, {7, nullptr, app.queue});
}

TEST(OpenclApp, Context) {
    const App app;
    expect_right(app, {0, app.context, nullptr});
    Device device;
    EXPECT_EQ(selvage::open_device("opencl", {1, app.context, nullptr}, &device).text(),
              "opencl: there is no device 1, only 1");
}

} // namespace
