#include "selvage/scratch.h"

#include <cstdlib>

#include "selvage/core/scratch.h"

extern "C" {

void *selvage_scratch_alloc(void *context, std::size_t bytes) {
    void *memory = selvage::take(*static_cast<selvage::Scratch *>(context), bytes);
    // Where the stack was too small, the heap serves, so that the result is right.
    return memory != nullptr
               ? memory
               : std::aligned_alloc(selvage::alignment, selvage::scratch_round(bytes));
}

void selvage_scratch_free(void *context, void *memory) {
    if (!selvage::give_back(*static_cast<selvage::Scratch *>(context), memory))
        std::free(memory);
}
}
