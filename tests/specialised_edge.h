#ifndef EDGE_H
#define EDGE_H

#include <selvage/kernel.h>
#include <selvage/status_c.h>
#include <selvage/weight_order_c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* conv2d c=32 k=48 kernel=3 stride=2 border=reflect bias=1 act=relu6, written by hand. */

/* Bytes of packed weights, aligned to 64: the most of any instruction set. */
#if defined(__aarch64__)
#define EDGE_PACKED_BYTES 55552
#else
#define EDGE_PACKED_BYTES 74048
#endif

selvage_shape edge_shape(int64_t n, int64_t height, int64_t width);
selvage_code edge_output(const selvage_shape *shape, selvage_extent *output,
                         selvage_status *status);
selvage_code edge_scratch_bytes(const selvage_shape *shape, size_t *bytes, selvage_status *status);
selvage_code edge_pack(const float *weights, selvage_weight_order order, const float *bias,
                       void *packed, selvage_status *status);
selvage_code edge(const selvage_shape *shape, const float *input, const void *packed, float *output,
                  void *scratch, size_t scratch_bytes, selvage_status *status);
const char *edge_isa(void);
selvage_code edge_force_isa(const char *isa, selvage_status *status);

#ifdef __cplusplus
}
#endif

#endif
