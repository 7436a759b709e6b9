#include "tested_device.h"

#include <cstdio>
#include <cstdlib>

using selvage::Device;

const Device &tested_device() {
    static const Device device = [] {
        const char *target = std::getenv("SELVAGE_TARGET");
        Device opened;
        const selvage::Status status =
            selvage::open_device(target == nullptr ? "host" : target, {}, &opened);
        if (!status.ok()) {
            std::fprintf(stderr, "SELVAGE_TARGET=%s: %s\n", target, status.text().c_str());
            std::exit(1);
        }
        return opened;
    }();
    return device;
}

std::vector<std::string> tested_isas() { return tested_device().isas(); }
