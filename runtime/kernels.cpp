#include "selvage/kernels.h"

#include <iterator>

#include "kernel_sources.h"
#include "selvage/core/task.h"

#include "kernel_rows.inc"

namespace selvage {

const KernelRow *kernel_rows() { return rows; }

std::size_t kernel_row_count() { return sizeof rows / sizeof rows[0]; }

std::string kernel_op(const Problem &problem) {
    const char *type = problem.type == Type::u8 ? "_u8" : problem.type == Type::i8 ? "_i8" : "";
    if (is_conv(problem))
        return "conv";
    switch (problem.op) {
    case Op::conv:
    case Op::conv_transpose:
    case Op::depthwise: return "depthwise";
    case Op::max_pool:
        return std::string("max_pool") + (problem.indices == Indices::none ? "" : "_indices") +
               (problem.keep_nan ? "" : "_skip_nan") + type;
    case Op::avg_pool: return "avg_pool";
    case Op::lp_pool: return problem.p == 1 ? "l1_pool" : problem.p == 2 ? "l2_pool" : "lp_pool";
    case Op::filter: return problem.shift < 0 ? "filter" : "filter_fixed";
    case Op::stride_sample:
    case Op::pad: return std::string("copy") + type;
    }
    return "unknown";
}

const KernelGenerator *kernel_generator(std::string_view op) {
    for (const KernelGenerator &each : generators)
        if (op == each.op)
            return &each;
    return nullptr;
}

const std::vector<KernelTarget> &kernel_targets() {
    static const std::vector<KernelTarget> all(std::begin(targets), std::end(targets));
    return all;
}

std::string name(const KernelRow &row) {
    return std::string(row.op) + "/" + row.schedule + "/" + row.isa;
}

} // namespace selvage
