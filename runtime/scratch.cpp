#include "scratch.h"

#include <cstdlib>

extern "C" {

void *selvage_scratch_alloc(void *context, std::size_t bytes) {
    auto &scratch = *static_cast<selvage::Scratch *>(context);
    const std::size_t rounded = selvage::scratch_round(bytes);
    if (rounded > scratch.bytes - scratch.used) {
        scratch.exceeded = true;
        return std::aligned_alloc(64, rounded);
    }
    void *memory = scratch.memory + scratch.used;
    scratch.used += rounded;
    return memory;
}

void selvage_scratch_free(void *context, void *memory) {
    auto &scratch = *static_cast<selvage::Scratch *>(context);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(scratch.memory);
    if (address >= begin && address < begin + scratch.bytes)
        scratch.used = address - begin;
    else
        std::free(memory);
}
}
