#include "selvage/kernels.h"

#include "kernel_rows.inc"

namespace selvage {

const KernelRow *kernel_rows() { return rows; }

std::size_t kernel_row_count() { return sizeof rows / sizeof rows[0]; }

std::string name(const KernelRow &row) {
    return std::string(name(row.op)) + "/" + row.schedule + "/" + row.isa;
}

} // namespace selvage
