// What the library asks of CUDA's driver, and what it says where that fails: on a stand-in for the
// driver (fake_cuda.h), which the environment puts in its place.

#include <algorithm>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "selvage/layer.h"

#include "../hold.h"
#include "fake_cuda.h"

using selvage::Code;
using selvage::Device;
using selvage::DeviceOptions;
using selvage::Layer;
using selvage::Options;
using selvage::Status;
using selvage::WeightOrder;

namespace {

class CudaDriver : public testing::Test {
protected:
    void SetUp() override {
        void *const library = dlopen("libcuda.so.1", RTLD_NOW);
        ASSERT_NE(library, nullptr);
        fake = static_cast<FakeCuda *>(dlsym(library, "fake_cuda"));
        ASSERT_NE(fake, nullptr) << "LD_LIBRARY_PATH must lead to the stand-in";
        *fake = FakeCuda();
    }

    void TearDown() override { EXPECT_EQ(fake->contexts, 0) << "a context is left current"; }

    static Status open(Device *device, const DeviceOptions &options = {}) {
        return selvage::open_device("cuda", options, device);
    }

    void expect_failure(Code code, const std::string &text, const DeviceOptions &options = {}) {
        Device device;
        const Status status = open(&device, options);
        EXPECT_EQ(status.code(), code);
        EXPECT_EQ(status.text(), text);
        EXPECT_EQ(device.target(), "host");
        EXPECT_EQ(fake->retained, 0);
    }

    FakeCuda *fake = nullptr;
};

/// A layer whose kernel takes more than 64 registers, and one run of it.
struct Convolution {
    std::vector<float> input = std::vector<float>(14 * 14 * 64, 1),
                       weights = std::vector<float>(64 * 64 * 9, 1),
                       output = std::vector<float>(14 * 14 * 64);
    Layer layer;

    Status make(const Device &device) {
        Options options;
        options.device = device;
        return selvage::make_layer("conv2d c=64 k=64 in=14x14 kernel=3 pads=1", options,
                                   weights.data(), WeightOrder::oihw, nullptr, &layer);
    }
    Status run() { return layer.run_on_host_memory(input.data(), output.data()); }
};

TEST_F(CudaDriver, NoDevice) {
    fake->devices = 0;
    expect_failure(Code::unsupported, "cuda: no device: the driver finds none");
    fake->init = 100; // CUDA_ERROR_NO_DEVICE
    expect_failure(Code::unsupported, "cuda: no device: the driver finds none");
}

TEST_F(CudaDriver, ThatDoesNotStart) {
    fake->init = 999;
    expect_failure(Code::device, "cuda: cuInit: CUDA_ERROR_OF_THE_FAKE");
}

TEST_F(CudaDriver, DeviceTooOld) {
    fake->major = 6;
    fake->minor = 1;
    expect_failure(Code::unsupported,
                   "cuda: device too old: Fake GPU has capability 6.1, needs 7.0");
}

TEST_F(CudaDriver, NoSuchDevice) {
    expect_failure(Code::invalid_argument, "cuda: there is no device 1, only 1", {1});
    expect_failure(Code::invalid_argument, "cuda: there is no device -1, only 1", {-1});
}

TEST_F(CudaDriver, SetsFollowTheCapability) {
    const auto isas = [&](int major, int minor) {
        fake->major = major;
        fake->minor = minor;
        Device device;
        EXPECT_TRUE(open(&device).ok());
        return device.isas();
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(isas(7, 0), Names({"cuda70"}));
    EXPECT_EQ(isas(7, 5), Names({"cuda70"}));
    EXPECT_EQ(isas(8, 0), Names({"cuda70", "cuda80"}));
    EXPECT_EQ(isas(8, 6), Names({"cuda70", "cuda80", "cuda86"}));
    EXPECT_EQ(isas(12, 0), Names({"cuda70", "cuda80", "cuda86"}));
}

TEST_F(CudaDriver, ModulesAreLoadedWithoutALimitOfRegisters) {
    constexpr int max_registers = 0, target = 9; // CU_JIT_MAX_REGISTERS, CU_JIT_TARGET
    Device device;
    ASSERT_TRUE(open(&device).ok());
    Convolution conv;
    ASSERT_TRUE(conv.make(device).ok());
    EXPECT_EQ(conv.layer.plan().kernel().rfind("conv/", 0), 0u);
    ASSERT_TRUE(conv.run().ok());
    ASSERT_TRUE(conv.run().ok());
    // Once for each kernel, as PTX, which newer devices compile too.
    ASSERT_EQ(fake->sources.size(), 1u);
    EXPECT_NE(std::strstr(fake->sources[0], ".target sm_86"), nullptr);
    ASSERT_FALSE(fake->jit_options.empty());
    for (int option : fake->jit_options) {
        EXPECT_NE(option, max_registers);
        EXPECT_NE(option, target);
    }
    EXPECT_GE(fake->launches.size(), 2u);
    for (const FakeCuda::Launch &each : fake->launches)
        EXPECT_EQ(each.stream, nullptr);
}

TEST_F(CudaDriver, AllIsGivenBack) {
    {
        Device device;
        ASSERT_TRUE(open(&device).ok());
        Convolution conv;
        ASSERT_TRUE(conv.make(device).ok());
        ASSERT_TRUE(conv.run().ok());
        device = Device(); // the plan keeps its own
        ASSERT_TRUE(conv.run().ok());
        EXPECT_EQ(fake->retained, 1);
        EXPECT_GT(fake->modules, 0);
    }
    EXPECT_EQ(fake->retained, 0);
    EXPECT_EQ(fake->modules, 0);
    EXPECT_EQ(fake->allocations, 0);
}

TEST_F(CudaDriver, AnAppsContextAndStream) {
    int context = 0, stream = 0;
    Device device;
    ASSERT_TRUE(open(&device, {0, &context, &stream}).ok());
    EXPECT_EQ(fake->retained, 0);
    Convolution conv;
    ASSERT_TRUE(conv.make(device).ok());
    ASSERT_TRUE(conv.run().ok());
    ASSERT_FALSE(fake->launches.empty());
    for (const FakeCuda::Launch &each : fake->launches)
        EXPECT_EQ(each.stream, &stream);
}

TEST_F(CudaDriver, AnAppsMemoryIsTakenAsItIs) {
    Device device;
    ASSERT_TRUE(open(&device).ok());
    Convolution conv;
    ASSERT_TRUE(conv.make(device).ok());
    const int allocations = fake->allocations;
    ASSERT_TRUE(conv.layer.run(conv.input.data(), conv.output.data()).ok());
    EXPECT_EQ(fake->allocations, allocations);
    EXPECT_FALSE(fake->launches.empty());
}

TEST_F(CudaDriver, FailuresAreStatuses) {
    const std::string reason = "CUDA_ERROR_OF_THE_FAKE";
    Device device;
    ASSERT_TRUE(open(&device).ok());
    Convolution conv;
    ASSERT_TRUE(conv.make(device).ok());
    const std::string kernel = conv.layer.plan().kernel();

    fake->load = 218; // CUDA_ERROR_INVALID_PTX
    Status status = conv.run();
    EXPECT_EQ(status.code(), Code::device);
    EXPECT_EQ(status.text(), "run: " + kernel + ": cuda: cuModuleLoadDataEx: " + reason + " ");
    fake->load = 0;
    fake->launch = 701; // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    status = conv.run();
    EXPECT_EQ(status.code(), Code::device);
    EXPECT_EQ(status.text(), "run: " + kernel + ": cuda: cuLaunchKernel: " + reason);
    fake->launch = 0;
    // What fails on the device is told by the next call that waits.
    ASSERT_TRUE(conv.layer.run(conv.input.data(), conv.output.data()).ok());
    fake->synchronize = 700; // CUDA_ERROR_ILLEGAL_ADDRESS
    status = device.synchronize();
    EXPECT_EQ(status.code(), Code::device);
    EXPECT_EQ(status.text(), "cuda: cuStreamSynchronize: " + reason);
    fake->synchronize = 0;
    EXPECT_TRUE(conv.run().ok());

    fake->room = 0;
    EXPECT_EQ(conv.run().code(), Code::too_small);
    Convolution none;
    EXPECT_EQ(none.make(device).code(), Code::too_small);
}

TEST_F(CudaDriver, GridsAreWithinWhatDevicesHave) {
    constexpr unsigned most = 65535;
    Device device;
    ASSERT_TRUE(open(&device).ok());
    Options options;
    options.device = device;
    for (const char *text :
         {"max_pool1d n=70000 in=2 kernel=2", "pad3d n=300 in=300x1x1 pads=1",
          "conv1d c=1 k=65535 in=2 kernel=2", "conv2d in=1000x1000 kernel=2x1",
          "conv2d in=1000x1000 kernel=2x1 layout=nchw", "depthwise2d in=1000x1000 kernel=2x1"}) {
        const selvage::Problem problem = parse(text);
        Layer layer;
        const std::vector<float> weights(65535 * 2);
        const bool pools = !has_weights(problem.op);
        const Status made = selvage::make_layer(problem, options, pools ? nullptr : weights.data(),
                                                WeightOrder::oihw, nullptr, &layer);
        ASSERT_TRUE(made.ok()) << made.text();
        constexpr std::size_t enough = 1 << 23; // bytes
        selvage::DeviceMemory input, output;
        ASSERT_TRUE(allocate(device, enough, &input).ok());
        ASSERT_TRUE(allocate(device, enough, &output).ok());
        ASSERT_TRUE(
            layer.run(static_cast<const float *>(input.get()), static_cast<float *>(output.get()))
                .ok());
    }
    ASSERT_FALSE(fake->launches.empty());
    for (const FakeCuda::Launch &each : fake->launches) {
        EXPECT_LE(each.blocks[1], most);
        EXPECT_LE(each.blocks[2], most);
    }
    selvage::Plan plan;
    EXPECT_EQ(make_plan(parse("pad3d in=70000x1x1"), options, &plan).code(), Code::unsupported);
}

} // namespace
