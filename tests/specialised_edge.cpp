#include "specialised_edge.h"

#include <selvage/core/specialised.h>

extern "C" {
#if defined(__aarch64__)
int selvage_conv_direct_6x3_c16_neon_argv(void **);
#else
int selvage_conv_direct_6x2_c16_sse41_argv(void **);
int selvage_conv_direct_4x3_c16_avx2_argv(void **);
int selvage_conv_direct_14x2_c16_avx512_argv(void **);
#endif
}

namespace {

using namespace selvage;

constexpr Problem make_problem() {
    Problem p;
    p.op = Op::conv;
    p.rank = 2;
    p.c = 32;
    p.k = 48;
    p.y.kernel = p.x.kernel = 3;
    p.y.stride = p.x.stride = 2;
    p.y.mode = p.x.mode = Mode::reflect;
    p.bias = true;
    p.act = Activation::relu6;
    return p;
}

struct Kernel {
    static constexpr char name[] = "edge";
    static constexpr Problem problem = make_problem();
    static constexpr Pads (*same)(const Axis &) = convention::tf;
    static constexpr KernelRow rows[] = {
#if defined(__aarch64__)
        {"conv", "direct_6x3_c16", "neon", Family::direct, 4, 6, 3, 16, 1, 0, 0, 0, 0, true, false,
         100, selvage_conv_direct_6x3_c16_neon_argv},
#else
        {"conv", "direct_6x2_c16", "sse41", Family::direct, 4, 6, 2, 16, 1, 0, 0, 0, 0, true, false,
         100, selvage_conv_direct_6x2_c16_sse41_argv},
        {"conv", "direct_4x3_c16", "avx2", Family::direct, 8, 4, 3, 16, 1, 0, 0, 0, 0, true, false,
         100, selvage_conv_direct_4x3_c16_avx2_argv},
        {"conv", "direct_14x2_c16", "avx512", Family::direct, 16, 14, 2, 16, 1, 0, 0, 0, 0, true,
         false, 100, selvage_conv_direct_14x2_c16_avx512_argv},
#endif
    };
    static constexpr bool may_be(Family family) { return family == Family::direct; }
    static constexpr Blocking cuts[std::size(rows)] = {};
    static constexpr bool may_ask = false;
};

using Edge = Specialised<Kernel>;
static_assert(Edge::packed_bytes() == EDGE_PACKED_BYTES);

} // namespace

extern "C" {

selvage_shape edge_shape(int64_t n, int64_t height, int64_t width) {
    return Edge::shape(n, 1, height, width);
}
selvage_code edge_output(const selvage_shape *shape, selvage_extent *output,
                         selvage_status *status) {
    return Edge::output(shape, output, status);
}
selvage_code edge_scratch_bytes(const selvage_shape *shape, size_t *bytes, selvage_status *status) {
    return Edge::scratch_bytes(shape, bytes, status);
}
selvage_code edge_pack(const float *weights, selvage_weight_order order, const float *bias,
                       void *packed, selvage_status *status) {
    return Edge::pack(weights, order, bias, packed, status);
}
selvage_code edge(const selvage_shape *shape, const float *input, const void *packed, float *output,
                  void *scratch, size_t scratch_bytes, selvage_status *status) {
    return Edge::run(shape, input, packed, output, nullptr, scratch, scratch_bytes, status);
}
const char *edge_isa(void) { return Edge::isa(); }
selvage_code edge_force_isa(const char *isa, selvage_status *status) {
    return Edge::force_isa(isa, status);
}
}
