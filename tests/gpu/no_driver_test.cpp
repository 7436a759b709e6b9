// Where there is no driver: the environment leads to files that are none.

#include <gtest/gtest.h>

#include "selvage/device.h"

using selvage::Code;
using selvage::Device;
using selvage::Status;

namespace {

void expect(const char *target, const char *text) {
    Device device;
    const Status status = selvage::open_device(target, {}, &device);
    EXPECT_EQ(status.code(), Code::unsupported);
    EXPECT_EQ(status.text(), text);
    EXPECT_EQ(device.target(), "host");
}

TEST(NoDriver, cuda) { expect("cuda", "cuda: no driver: this machine has no libcuda.so.1"); }
TEST(NoDriver, opencl) {
    expect("opencl", "opencl: no driver: this machine has no libOpenCL.so.1");
}
TEST(NoDevice, opencl) { expect("opencl", "opencl: no device: no platform has one"); }

} // namespace
