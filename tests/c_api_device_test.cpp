// Devices as C sees them, on the tested device.

#include <vector>

#include <gtest/gtest.h>

#include "selvage/selvage.h"

#include "c_api_trial.h"
#include "tested_device.h"

namespace {

struct Close {
    void operator()(selvage_device *device) const { selvage_device_free(device); }
};
using DeviceHandle = std::unique_ptr<selvage_device, Close>;

DeviceHandle open() {
    selvage_device *device = nullptr;
    EXPECT_OK(selvage_device_open(tested_device().target().c_str(), nullptr, &device, status));
    return DeviceHandle(device);
}

TEST(CApiDevice, LayersRunOnIt) {
    const DeviceHandle device = open();
    EXPECT_STREQ(selvage_device_name(device.get()), tested_device().name().c_str());
    selvage_options options = {};
    options.struct_size = sizeof(options);
    options.device = device.get();
    const float x[] = {1, 2, 3, 4, 5}, w[] = {1, 10, 100};
    const std::vector<float> right = {210, 321, 432, 543, 54};
    selvage_layer *made = nullptr;
    EXPECT_OK(selvage_layer_create("conv1d in=5 kernel=3 same=tf", &options, w, SELVAGE_OIHW,
                                   nullptr, &made, status));
    const LayerHandle layer(made);
    EXPECT_EQ(selvage_plan_target(selvage_layer_plan(layer.get())), tested_device().target());
    std::vector<float> y(5, -1);
    EXPECT_OK(selvage_layer_run_on_host_memory(layer.get(), x, y.data(), nullptr, nullptr, status));
    EXPECT_EQ(y, right);

    void *input = nullptr, *output = nullptr;
    EXPECT_OK(selvage_device_allocate(device.get(), sizeof x, &input, status));
    EXPECT_OK(selvage_device_allocate(device.get(), sizeof x, &output, status));
    EXPECT_OK(selvage_device_copy_in(device.get(), x, input, sizeof x, status));
    EXPECT_OK(selvage_layer_run(layer.get(), input, output, nullptr, nullptr, status));
    EXPECT_OK(selvage_device_synchronize(device.get(), status));
    std::fill(y.begin(), y.end(), -1.f);
    EXPECT_OK(selvage_device_copy_out(device.get(), output, y.data(), sizeof x, status));
    EXPECT_EQ(y, right);
    selvage_device_release(device.get(), input);
    selvage_device_release(device.get(), output);
    selvage_device_release(device.get(), nullptr);
    selvage_device_release(nullptr, nullptr);
    selvage_device_free(nullptr);
}

TEST(CApiDevice, Failures) {
    selvage_device *none = nullptr;
    EXPECT_FAILS(invalid, "target tpu: must be one of host, cuda, opencl",
                 selvage_device_open("tpu", nullptr, &none, status));
    EXPECT_FAILS(invalid, "selvage_device_open: target is null",
                 selvage_device_open(nullptr, nullptr, &none, status));
    EXPECT_FAILS(invalid, "selvage_device_open: device is null",
                 selvage_device_open("host", nullptr, nullptr, status));
    const selvage_device_options older = {8, 0, nullptr, nullptr};
    EXPECT_FAILS(invalid,
                 "options: struct_size is 8, this library's selvage_device_options has " +
                     std::to_string(sizeof(selvage_device_options)) + " bytes",
                 selvage_device_open("host", &older, &none, status));
    EXPECT_EQ(none, nullptr);
    EXPECT_STREQ(selvage_device_name(nullptr), "");
    EXPECT_STREQ(selvage_plan_target(nullptr), "");
    void *memory = nullptr;
    char byte = 0;
    EXPECT_FAILS(invalid, "selvage_device_allocate: device is null",
                 selvage_device_allocate(nullptr, 1, &memory, status));
    EXPECT_FAILS(invalid, "selvage_device_copy_in: device is null",
                 selvage_device_copy_in(nullptr, &byte, &byte, 1, status));
    EXPECT_FAILS(invalid, "selvage_device_copy_out: device is null",
                 selvage_device_copy_out(nullptr, &byte, &byte, 1, status));
    EXPECT_FAILS(invalid, "selvage_device_synchronize: device is null",
                 selvage_device_synchronize(nullptr, status));
    const DeviceHandle device = open();
    EXPECT_FAILS(invalid, "selvage_device_copy_in: host is null",
                 selvage_device_copy_in(device.get(), nullptr, &byte, 1, status));
    EXPECT_FAILS(invalid, "allocate: 0 bytes",
                 selvage_device_allocate(device.get(), 0, &memory, status));
    EXPECT_FAILS(invalid, "selvage_layer_run_on_host_memory: layer is null",
                 selvage_layer_run_on_host_memory(nullptr, &byte, &byte, nullptr, nullptr, status));
}

} // namespace
