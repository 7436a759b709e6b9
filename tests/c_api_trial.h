#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/region.h"
#include "selvage/selvage.h"

#include "hold.h"

// What the tests of the C API share.

constexpr selvage_code invalid = SELVAGE_INVALID_ARGUMENT;

/// PC-025's numbers: x = 1..12 as 3x4, w = 1..6 as 2x3, pads top 1, left 2, bottom 0, right 3.
inline const char *const conv = "conv2d in=3x4 kernel=2x3 pads=1,2,0,3";
inline const std::vector<float> conv_x = count_up(1, 12), conv_w = count_up(1, 6);
inline const std::vector<float> conv_y = {6,  17, 32, 47, 32,  16,  0,   33,  69, 106, 127,
                                          79, 36, 0,  69, 133, 190, 211, 127, 56, 0};

struct FreePlan {
    void operator()(selvage_plan *plan) const { selvage_plan_free(plan); }
};
using PlanHandle = std::unique_ptr<selvage_plan, FreePlan>;

struct FreeLayer {
    void operator()(selvage_layer *layer) const { selvage_layer_free(layer); }
};
using LayerHandle = std::unique_ptr<selvage_layer, FreeLayer>;

/// A status that holds what no function leaves in it.
inline selvage_status dirty() {
    selvage_status status;
    status.code = selvage_code(77);
    std::memset(status.text, '#', sizeof(status.text));
    return status;
}

// A call that has to succeed, and to say so to `status`.
#define EXPECT_OK(call)                                                                            \
    do {                                                                                           \
        selvage_status told = dirty(), *const status = &told;                                      \
        EXPECT_EQ(call, SELVAGE_OK) << told.text;                                                  \
        EXPECT_EQ(told.code, SELVAGE_OK);                                                          \
        EXPECT_STREQ(told.text, "");                                                               \
    } while (false)

// A call that has to fail with this code and (as far as there is room) text, with or without a
// `status`.
#define EXPECT_FAILS(expected, line, call)                                                         \
    do {                                                                                           \
        selvage_status told = dirty(), *status = &told;                                            \
        EXPECT_EQ(call, expected);                                                                 \
        EXPECT_EQ(told.code, expected);                                                            \
        EXPECT_EQ(told.text, std::string(line).substr(0, sizeof(told.text) - 1));                  \
        status = nullptr;                                                                          \
        EXPECT_EQ(call, expected);                                                                 \
    } while (false)

inline PlanHandle plan_of(const std::string &problem, const selvage_options *options = nullptr) {
    selvage_plan *plan = nullptr;
    EXPECT_OK(selvage_plan_create(problem.c_str(), options, &plan, status));
    return PlanHandle(plan);
}

inline LayerHandle layer_of(const std::string &problem, const std::vector<float> &weights = {},
                            selvage_weight_order order = SELVAGE_OIHW,
                            const selvage_options *options = nullptr) {
    selvage_layer *layer = nullptr;
    EXPECT_OK(selvage_layer_create(problem.c_str(), options,
                                   weights.empty() ? nullptr : weights.data(), order, nullptr,
                                   &layer, status));
    return LayerHandle(layer);
}

/// Memory as runs want it, with other bytes in it than 0.
class Memory {
public:
    explicit Memory(std::size_t bytes)
        : bytes_(bytes), data_(::operator new(bytes, std::align_val_t(SELVAGE_ALIGNMENT))) {
        std::memset(data_, 0xa5, bytes);
    }
    ~Memory() { ::operator delete(data_, std::align_val_t(SELVAGE_ALIGNMENT)); }
    Memory(const Memory &) = delete;
    void *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t bytes_;
    void *data_;
};

inline bool same(const selvage_range &a, const selvage::Range &b) {
    return a.begin == b.begin && a.size == b.size;
}
inline bool same(const selvage_region &a, const selvage::Region &b) {
    return same(a.z, b.z) && same(a.y, b.y) && same(a.x, b.x);
}

/// Sizes and strides: n, d, h, w, c of both.
inline std::array<std::int64_t, 10> numbers(const selvage_tensor &t) {
    return {t.n, t.d, t.h, t.w, t.c, t.stride_n, t.stride_d, t.stride_h, t.stride_w, t.stride_c};
}

/// An axis with the fields that most tests set.
inline selvage_axis axis_of(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                            std::int64_t dilation = 1) {
    selvage_axis axis = {};
    axis.size = size;
    axis.kernel = kernel;
    axis.stride = stride;
    axis.dilation = dilation;
    return axis;
}
