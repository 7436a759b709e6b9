#pragma once

#include <cstdint>

/// Memory as kernels take it: the ABI of Halide 21, whose compiler made them. A test holds these
/// types to HalideRuntime.h, which is then not needed to call a kernel.

namespace selvage {

/// `halide_type_t`: the type of an element.
struct NumberType {
    std::uint8_t code; ///< 0: whole, 1: whole and not negative, 2: floating point
    std::uint8_t bits;
    std::uint16_t lanes = 1;

    constexpr std::int64_t bytes() const { return bits / 8; }
};

constexpr NumberType number_type(float) { return {2, 32}; }
constexpr NumberType number_type(std::uint8_t) { return {1, 8}; }
constexpr NumberType number_type(std::int8_t) { return {0, 8}; }
constexpr NumberType number_type(std::int16_t) { return {0, 16}; }
constexpr NumberType number_type(std::int32_t) { return {0, 32}; }
constexpr NumberType number_type(std::int64_t) { return {0, 64}; }

/// `halide_dimension_t`: one dimension, counted in elements.
struct Dimension {
    std::int32_t min, extent, stride;
    std::uint32_t flags;
};

/// `halide_buffer_t`.
struct BufferHeader {
    std::uint64_t device;
    const void *device_interface;
    std::uint8_t *host;
    std::uint64_t flags;
    NumberType type;
    std::int32_t dimensions;
    Dimension *dim;
    void *padding;
};

} // namespace selvage
