// Devices: memory, runs on it in the order of the calls, what falls back to the host; on the tested
// device, which is the host unless SELVAGE_TARGET says otherwise.

#include "selvage/device.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/layer.h"

#include "hold.h"

using selvage::Code;
using selvage::Device;
using selvage::DeviceMemory;
using selvage::Layer;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;
using selvage::WeightOrder;

namespace {

Options on_tested_device() {
    Options options;
    options.device = tested_device();
    return options;
}

bool is_gpu() { return tested_device().queue() != nullptr; }

/// Numbers in memory of the tested device.
class Numbers {
public:
    explicit Numbers(const std::vector<float> &values) : count_(values.size()) {
        EXPECT_TRUE(allocate(tested_device(), bytes(), &memory_).ok());
        EXPECT_TRUE(tested_device().copy_in(values.data(), data(), bytes()).ok());
    }

    float *data() const { return static_cast<float *>(memory_.get()); }

    std::vector<float> fetch() const {
        std::vector<float> values(count_);
        EXPECT_TRUE(tested_device().copy_out(data(), values.data(), bytes()).ok());
        return values;
    }

private:
    std::size_t bytes() const { return count_ * sizeof(float); }

    std::size_t count_;
    DeviceMemory memory_;
};

TEST(Device, IsTheHostUntilOpened) {
    Device device;
    EXPECT_EQ(device.target(), "host");
    EXPECT_EQ(device.isas(), selvage::available_isas());
    EXPECT_TRUE(device.synchronize().ok());
    EXPECT_TRUE(selvage::open_device("host", {}, &device).ok());
    EXPECT_EQ(device.target(), "host");
}

TEST(Device, TargetsThatThereAreNot) {
    Device device;
    Status status = selvage::open_device("tpu", {}, &device);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(status.text(), "target tpu: must be one of host, cuda, opencl");
    EXPECT_EQ(selvage::open_device("host", {}, nullptr).code(), Code::invalid_argument);
    const std::string built = SELVAGE_GPU; // "opencl;cuda"
    for (const std::string target : {"cuda", "opencl"}) {
        if (built.find(target) != std::string::npos)
            continue;
        status = selvage::open_device(target, {}, &device);
        EXPECT_EQ(status.code(), Code::unsupported);
        EXPECT_EQ(status.text(), target +
                                     ": this build of selvage has no kernels for it; configure and "
                                     "build it with -DSELVAGE_GPU=" +
                                     target);
    }
}

TEST(Device, MemoryHoldsWhatIsCopied) {
    const Device &device = tested_device();
    const std::vector<float> values = count_up(1, 1000);
    EXPECT_EQ(Numbers(values).fetch(), values);
    void *memory = nullptr;
    EXPECT_EQ(device.allocate(0, &memory).code(), Code::invalid_argument);
    EXPECT_EQ(device.allocate(1, nullptr).code(), Code::invalid_argument);
    EXPECT_EQ(device.allocate(~std::size_t(0) / 2, &memory).code(), Code::too_small);
    EXPECT_EQ(memory, nullptr);
    device.release(nullptr);
    ASSERT_TRUE(device.allocate(1, &memory).ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % selvage::alignment, 0u);
    device.release(memory);
}

// Each layer reads what the one before it wrote, and the host waits once.
TEST(Device, WorkIsDoneInTheOrderOfTheCalls) {
    Layer add, maximum;
    const float ones[] = {1, 1};
    ASSERT_TRUE(selvage::make_layer("conv1d in=1000 kernel=2 pads=0,1", on_tested_device(), ones,
                                    WeightOrder::oihw, nullptr, &add)
                    .ok());
    ASSERT_TRUE(selvage::make_layer("max_pool1d in=1000 kernel=2 pads=0,1", on_tested_device(),
                                    nullptr, WeightOrder::oihw, nullptr, &maximum)
                    .ok());
    std::vector<float> right = count_up(1, 1000);
    const Numbers a(right), b(right), c(right);
    const Numbers *from = &a;
    for (int step = 0; step < 5; ++step) {
        const Numbers *const to = from == &b ? &c : &b;
        const float *const input = from->data();
        const Status status =
            step % 2 == 0 ? add.run(input, to->data()) : maximum.run(input, to->data());
        ASSERT_TRUE(status.ok()) << status.text();
        from = to;
        for (std::size_t i = 0; i < right.size(); ++i) {
            const float next = i + 1 < right.size() ? right[i + 1] : 0;
            if (step % 2 == 0)
                right[i] += next;
            else if (i + 1 < right.size())
                right[i] = std::max(right[i], next);
        }
    }
    EXPECT_EQ(from->fetch(), right);
    EXPECT_TRUE(tested_device().synchronize().ok());
}

TEST(Device, ThreadsShareAPlan) {
    const Problem problem = parse("conv2d c=8 k=16 in=9x7 kernel=3 pads=1,2,0,3");
    const Data data = random_data(problem, 1);
    Plan plan;
    ASSERT_TRUE(selvage::make_plan(problem, on_tested_device(), &plan).ok());
    DeviceMemory packed;
    ASSERT_TRUE(allocate(plan.device(), plan.packed_bytes(), &packed).ok());
    ASSERT_TRUE(plan.pack(data.weights.data(), WeightOrder::oihw, nullptr, packed.get()).ok());
    const std::vector<float> right = expected_output(problem, data).values;
    const auto work = [&] {
        DeviceMemory scratch;
        ASSERT_TRUE(allocate(plan.device(), plan.scratch_bytes(), &scratch).ok());
        for (int run = 0; run < 5; ++run) {
            std::vector<float> output(right.size(), -1);
            const auto &out = plan.output_region();
            const Status status = plan.run_on_host_memory<float>(
                selvage::dense<const float>(data.input.data(), 1, 9, 7, 8), packed.get(),
                selvage::dense(output.data(), 1, out.y.size, out.x.size, 16), scratch.get(),
                plan.scratch_bytes());
            ASSERT_TRUE(status.ok()) << status.text();
            EXPECT_EQ(output, right);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(work);
    for (std::thread &each : threads)
        each.join();
}

// Views with gaps, and tensors that are not all there.
TEST(Device, RunsOnHostMemory) {
    Layer layer;
    ASSERT_TRUE(selvage::make_layer("max_pool1d c=2 in=4 kernel=2 indices=plane",
                                    on_tested_device(), nullptr, WeightOrder::oihw, nullptr, &layer)
                    .ok());
    // Pixels are 3 numbers apart in the input and 4 in the output.
    const float x[] = {1, 8, -1, 2, 7, -1, 3, 6, -1, 4, 5, -1};
    std::vector<float> y(12, -1);
    std::vector<std::int64_t> places(6, -1);
    const selvage::Tensor<const float> in = {x, 1, 1, 4, 2, 12, 12, 3, 1, 12, 1};
    const selvage::Tensor<float> out = {y.data(), 1, 1, 3, 2, 12, 12, 4, 1, 12, 1};
    const auto index = selvage::dense(places.data(), 1, 1, 3, 2);
    ASSERT_TRUE(layer.run_on_host_memory(in, out, &index).ok());
    EXPECT_EQ(y, (std::vector<float>{2, 8, -1, -1, 3, 7, -1, -1, 4, 6, -1, -1}));
    EXPECT_EQ(places, (std::vector<std::int64_t>{1, 0, 2, 1, 3, 2}));
    EXPECT_EQ(layer.run_on_host_memory(in, out).code(), Code::invalid_argument);
    selvage::Tensor<const float> wrong = in;
    wrong.w = 5;
    EXPECT_EQ(layer.run_on_host_memory(wrong, out, &index).code(), Code::invalid_argument);
}

// More planes than a grid of a GPU has blocks.
TEST(Device, FallsBackToTheHostOnlyWhereAsked) {
    const Problem problem = parse("pad3d in=70000x1x1 pads=1");
    Options options = on_tested_device();
    Plan plan;
    EXPECT_EQ(selvage::make_plan(problem, options, &plan).ok(), !is_gpu());
    options.cpu_fallback = true;
    ASSERT_TRUE(selvage::make_plan(problem, options, &plan).ok());
    EXPECT_EQ(plan.device().target(), "host");
    EXPECT_TRUE(Trial(problem, random_data(problem, 1), 1).holds(plan));
    if (is_gpu()) {
        EXPECT_EQ(plan.declined().front().kernel, tested_device().name());
        EXPECT_NE(plan.declined().front().reason.find("takes at most 65535 planes"),
                  std::string::npos);
    }
    // What the device can compute stays there.
    ASSERT_TRUE(selvage::make_plan(parse("pad3d in=70x1x1 pads=1"), options, &plan).ok());
    EXPECT_EQ(plan.device().target(), tested_device().target());
}

// A set that the device lacks is no reason to go elsewhere.
TEST(Device, TakesItsOwnSetsAlone) {
    Options options = on_tested_device();
    options.isa = is_gpu() ? selvage::available_isas()[0] : "opencl";
    Plan plan;
    EXPECT_FALSE(selvage::make_plan(parse("pad1d in=3 pads=1"), options, &plan).ok());
    for (const std::string &isa : tested_isas()) {
        options.isa = isa;
        ASSERT_TRUE(selvage::make_plan(parse("pad1d in=3 pads=1"), options, &plan).ok());
        for (const selvage::Decline &each : plan.declined())
            EXPECT_EQ(each.kernel.substr(each.kernel.rfind('/') + 1), isa);
    }
}

} // namespace
