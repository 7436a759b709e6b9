#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <data.h>
#include <selvage/kernel.h>

/// A kernel that may compute a layer: the functions of its header, alike for all operators.
struct Candidate {
    const char *schedule;
    std::size_t packed_bytes; ///< 0 without weights
    selvage_shape (*shape)(); ///< of the layer
    selvage_code (*scratch_bytes)(const selvage_shape *, std::size_t *, selvage_status *);
    selvage_code (*pack)(const bench::Data &, void *packed, selvage_status *);
    selvage_code (*run)(const selvage_shape *, const void *input, const void *packed, void *output,
                        void *scratch, std::size_t scratch_bytes, selvage_status *);
};

/// A layer for one instruction set.
struct ExportedLayer {
    const char *name, *problem, *isa;
    bool image;             ///< its numbers are bytes, not floats
    bench::DataSizes sizes; ///< of what bench::integer_data() makes
    std::size_t outputs;
    std::uint64_t checksum;            ///< of the output, see bench::checksum()
    std::vector<Candidate> candidates; ///< the first is the one to beat
};

/// What is measured, in layers.cpp.
extern const std::vector<ExportedLayer> layers;
