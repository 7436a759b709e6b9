#include "kernel_weights.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include <selvage/core/engine.h>
#include <selvage/memory.h>

#include "commands.h"
#include "npy.h"

namespace {

using selvage::KernelRow;
using selvage::Op;
using selvage::Problem;

using Shape = std::vector<std::int64_t>;

/// A specialised kernel of one row, described at run time.
struct AnyKernel {
    static const char *name;
    static Problem problem;
    static constexpr selvage::Pads (*same)(const selvage::Axis &) = nullptr;
    static KernelRow rows[1];
    static constexpr selvage::Blocking cuts[1] = {}; ///< makes no difference to weights
    static constexpr bool may_ask = false;
    static constexpr bool may_be(selvage::Family) { return true; }
};
const char *AnyKernel::name;
Problem AnyKernel::problem;
KernelRow AnyKernel::rows[1];

void describe(const std::string &name, const KernelRow &row, const Problem &problem) {
    AnyKernel::name = name.c_str();
    AnyKernel::problem = problem;
    AnyKernel::rows[0] = row;
}

/// The shape of weights in a file.
Shape weights_shape(const Problem &p, const std::string &order) {
    const bool adjoint = p.op == Op::conv_transpose;
    const std::int64_t outer = adjoint ? p.c : p.k;
    const std::int64_t inner = adjoint ? p.k / p.g : p.op == Op::conv ? p.c / p.g : 1;
    const std::int64_t taps[] = {p.z.kernel, p.y.kernel, p.x.kernel};
    Shape shape(taps + 3 - p.rank, taps + 3);
    if (order == "oihw")
        shape.insert(shape.begin(), {outer, inner});
    else
        shape.insert(shape.end(), {adjoint ? outer : inner, adjoint ? inner : outer});
    return shape;
}

template <class T> NpyArray<T> read(const std::string &path, const Shape &shape) {
    NpyArray<T> array = read_npy<T>(path);
    if (array.shape != shape)
        throw BadInput(path + ": has the shape " + shape_text(array.shape) +
                       ", the kernel asks for " + shape_text(shape));
    return array;
}

template <class Number, class Weight>
std::string pack(const std::string &name, const KernelRow &row, const Problem &problem,
                 const WeightFiles &files) {
    describe(name, row, problem);
    const auto weights = read<Weight>(files.weights, weights_shape(problem, files.order));
    NpyArray<float> bias;
    if (problem.bias)
        bias = read<float>(files.bias, {problem.k});
    using Kernel = selvage::Specialised<AnyKernel, Number, Weight>;
    const std::size_t size = Kernel::packed_bytes();
    const selvage::Memory memory = selvage::allocate(size);
    if (memory == nullptr)
        throw std::bad_alloc();
    std::fill_n(memory.get(), size, std::byte());
    selvage_status status;
    if (Kernel::pack_for(
            row, weights.data.data(), files.order == "oihw" ? SELVAGE_OIHW : SELVAGE_HWIO,
            problem.bias ? bias.data.data() : nullptr, memory.get(), &status) != SELVAGE_OK)
        throw BadInput(files.weights + ": " + status.text);
    return std::string(reinterpret_cast<const char *>(memory.get()), size);
}

} // namespace

std::size_t packed_bytes(const std::string &name, const KernelRow &row, const Problem &problem) {
    describe(name, row, problem);
    return problem.shift < 0
               ? selvage::Specialised<AnyKernel>::packed_bytes()
               : selvage::Specialised<AnyKernel, std::uint8_t, std::int16_t>::packed_bytes();
}

std::string packed_weights(const std::string &name, const KernelRow &row, const Problem &problem,
                           const WeightFiles &files) {
    return problem.shift < 0 ? pack<float, float>(name, row, problem, files)
                             : pack<std::uint8_t, std::int16_t>(name, row, problem, files);
}
