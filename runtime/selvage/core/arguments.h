#pragma once

#include <cstdint>

#include "selvage/core/buffer.h"

namespace selvage {

/// The arguments of one call of a kernel, added in the order of its generator's inputs. A buffer is
/// followed by its dimensions, innermost first. All functions are out of line, since a call has
/// many arguments, and its code should be small.
class Arguments {
public:
    Arguments() = default;
    Arguments(const Arguments &) = delete;

    [[gnu::noinline]] void buffer(const void *data, NumberType type) {
        buffer_ = &buffers_[buffer_count_++];
        *buffer_ = {};
        buffer_->host = static_cast<std::uint8_t *>(const_cast<void *>(data));
        buffer_->type = type;
        buffer_->dim = &dimensions_[dimension_count_];
        add(buffer_);
    }
    /// A stride that is never taken need not fit.
    [[gnu::noinline]] void dimension(std::int64_t extent, std::int64_t stride) {
        stride_of(extent, extent == 1 ? 0 : stride);
    }
    /// One whose elements lie together, of which kernels expect to be told.
    [[gnu::noinline]] void together(std::int64_t extent) { stride_of(extent, 1); }
    /// One without gaps to what is within.
    [[gnu::noinline]] void outer(std::int64_t extent) {
        const Dimension &inner = dimensions_[dimension_count_ - 1];
        stride_of(extent, std::int64_t(inner.extent) * inner.stride);
    }

    [[gnu::noinline]] void number(std::int64_t value) { next()->whole = std::int32_t(value); }
    [[gnu::noinline]] void real(float value) { next()->real = value; }
    [[gnu::noinline]] void wide(std::int64_t value) { next()->wide = value; }
    [[gnu::noinline]] void pointer(void *value) { next()->pointer = value; }

    /// Has kernels find all addresses where those of GPUs are.
    void move_to_gpu() {
        for (int i = 0; i < buffer_count_; ++i)
            buffers_[i].device = reinterpret_cast<std::uintptr_t>(buffers_[i].host);
    }

    void **pointers() { return pointers_; }

private:
    union Word {
        std::int32_t whole;
        float real;
        std::int64_t wide;
        void *pointer;
    };

    void add(void *argument) { pointers_[count_++] = argument; }
    Word *next() {
        Word *const word = &words_[word_count_++];
        add(word);
        return word;
    }
    void stride_of(std::int64_t extent, std::int64_t stride) {
        dimensions_[dimension_count_++] = {0, std::int32_t(extent), std::int32_t(stride), 0};
        ++buffer_->dimensions;
    }

    int count_ = 0, buffer_count_ = 0, dimension_count_ = 0, word_count_ = 0;
    BufferHeader *buffer_ = nullptr;
    // As many as convolutions have, and max pools with indices.
    void *pointers_[24];
    Word words_[16];
    BufferHeader buffers_[8];
    Dimension dimensions_[32];
};

} // namespace selvage
