/* The C interfaces as a C program sees them: the headers are C99, and every function can be called.
 * What the functions do in detail is held to the C++ interface in c_api_test.cpp. */

#include "selvage/kernel.h"
#include "selvage/selvage.h"
#include "selvage/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        selvage_status why_ = {SELVAGE_INTERNAL, "?"};                                             \
        selvage_status *status = &why_;                                                            \
        if ((call) != SELVAGE_OK || why_.code != SELVAGE_OK || why_.text[0] != '\0') {             \
            fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,                      \
                    selvage_code_name(why_.code), why_.text);                                      \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

static void *aligned(size_t bytes) { /* malloc's memory, moved to the next line; never freed */
    static char memory[1 << 16];
    static size_t used = 0;
    char *start = memory + (SELVAGE_ALIGNMENT - (uintptr_t)memory % SELVAGE_ALIGNMENT);
    void *result = start + used;
    used += bytes;
    return used < sizeof(memory) - SELVAGE_ALIGNMENT ? result : NULL;
}

static void library(void) {
    selvage_kernel kernel = {NULL, NULL, NULL};
    char text[SELVAGE_TEXT_BYTES];
    CHECK(strcmp(selvage_version(), SELVAGE_VERSION) == 0);
    CHECK(strcmp(selvage_code_name(SELVAGE_TOO_SMALL), "too_small") == 0);
#if defined(__aarch64__)
    CHECK(selvage_isa(0) != NULL && strcmp(selvage_isa(0), "neon") == 0);
#else
    CHECK(selvage_isa(0) != NULL && strcmp(selvage_isa(0), "sse41") == 0);
#endif
    CHECK(selvage_kernel_count() > 0);
    CHECK_OK(selvage_kernel_at(0, &kernel, status));
    CHECK(strcmp(kernel.schedule, "reference") == 0);
    CHECK_OK(selvage_canonical("pad1d in=3 to=6 border=reflect", text, sizeof(text), status));
    CHECK(strcmp(text, "pad1d n=1 c=1 in=3 pads=1,2 border=reflect value=0 type=f32 layout=nhwc") ==
          0);
}

/* x = 1..12 as 3x4, w = 1..6 as 2x3, pads top 1, left 2, bottom 0, right 3. */
static const char *const problem = "conv2d in=3x4 kernel=2x3 pads=1,2,0,3";
static const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, w[6] = {1, 2, 3, 4, 5, 6};
static const float right[21] = {6,  17, 32, 47, 32,  16,  0,   33,  69, 106, 127,
                                79, 36, 0,  69, 133, 190, 211, 127, 56, 0};

static void plan(void) {
    const selvage_options options = {.struct_size = sizeof(options), .schedule = "reference"};
    const selvage_region last_row = {{0, 1}, {2, 1}, {0, 7}};
    selvage_plan *whole = NULL, *tile = NULL;
    selvage_part part;
    selvage_decline decline;
    selvage_tensor in, out;
    void *packed, *scratch;
    float y[21];
    int i;
    CHECK_OK(selvage_plan_create(problem, &options, &whole, status));
    CHECK_OK(selvage_plan_create("conv2d in=1x1 kernel=1", NULL, &tile, status));
    selvage_plan_free(tile);
    CHECK_OK(selvage_plan_tile(whole, &last_row, &tile, status));

    CHECK(strncmp(selvage_plan_problem(whole), "conv2d n=1 c=1 k=1 g=1 in=3x4", 29) == 0);
    CHECK(strncmp(selvage_plan_kernel(whole), "conv/reference/", 15) == 0);
    CHECK(selvage_plan_part_count(whole) == 1);
    CHECK_OK(selvage_plan_part(whole, 0, &part, status));
    CHECK(part.output.y.size == 3 && part.output.x.size == 7);
    if (selvage_plan_decline_count(whole) > 0)
        CHECK_OK(selvage_plan_decline(whole, 0, &decline, status));
    CHECK(selvage_plan_input_region(tile).y.begin == 1 &&
          selvage_plan_input_region(tile).y.size == 2);
    CHECK(selvage_plan_output_region(tile).y.begin == 2);

    packed = aligned(selvage_plan_packed_bytes(whole));
    scratch = aligned(selvage_plan_scratch_bytes(whole));
    CHECK_OK(selvage_plan_pack(whole, w, SELVAGE_OIHW, NULL, packed, status));
    in = selvage_plan_input(whole, x);
    out = selvage_plan_output(whole, y);
    CHECK_OK(selvage_plan_run(whole, &in, packed, &out, NULL, scratch,
                              selvage_plan_scratch_bytes(whole), NULL, status));
    CHECK(memcmp(y, right, sizeof(right)) == 0);

    for (i = 0; i < 21; ++i)
        y[i] = -1;
    in = selvage_plan_input(tile, x + 4);
    out = selvage_plan_output(tile, y + 14);
    CHECK_OK(selvage_plan_run(tile, &in, packed, &out, NULL, scratch,
                              selvage_plan_scratch_bytes(tile), NULL, status));
    CHECK(y[13] == -1 && memcmp(y + 14, right + 14, 7 * sizeof(float)) == 0);
    selvage_plan_free(tile);
    selvage_plan_free(whole);
}

static void filter(void) {
    const uint8_t bytes[3] = {10, 20, 30};
    const int16_t weights[3] = {64, 128, 64};
    uint8_t y[3] = {0, 0, 0};
    selvage_plan *plan = NULL;
    selvage_tensor in, out;
    void *packed, *scratch;
    CHECK_OK(selvage_plan_create("filter1d in=3 kernel=3 pads=1 border=replicate weights=fixed:8",
                                 NULL, &plan, status));
    packed = aligned(selvage_plan_packed_bytes(plan));
    scratch = aligned(selvage_plan_scratch_bytes(plan));
    CHECK_OK(selvage_plan_pack_fixed(plan, weights, SELVAGE_HWIO, packed, status));
    in = selvage_plan_input(plan, bytes);
    out = selvage_plan_output(plan, y);
    CHECK(in.type == SELVAGE_U8);
    CHECK_OK(selvage_plan_run(plan, &in, packed, &out, NULL, scratch,
                              selvage_plan_scratch_bytes(plan), NULL, status));
    CHECK(y[0] == 13 && y[1] == 20 && y[2] == 28); /* 12.5, 20, 27.5 */
    selvage_plan_free(plan);
}

/* A hook that runs all shares itself, the last one first. */
static void backwards(void *context, void (*task)(void *data, int index), void *data, int count) {
    *(int *)context += count;
    while (count-- > 0)
        task(data, count);
}

static void layer(void) {
    int shares = 0;
    const selvage_parallel hook = {backwards, &shares};
    const selvage_options options = {.struct_size = sizeof(options), .threads = 2};
    selvage_layer *conv = NULL, *pool = NULL;
    selvage_tensor in, out, indices;
    const float numbers[4] = {3, 7, 7, 5};
    float y[21], maxima[2];
    int64_t where[2];
    CHECK_OK(selvage_layer_create(problem, &options, w, SELVAGE_OIHW, NULL, &conv, status));
    CHECK_OK(selvage_layer_run(conv, x, y, NULL, &hook, status));
    CHECK(shares == 2);
    CHECK(memcmp(y, right, sizeof(right)) == 0);
    selvage_layer_free(conv);

    CHECK_OK(selvage_layer_create("max_pool1d in=4 kernel=2 stride=2 indices=plane", NULL, NULL,
                                  SELVAGE_OIHW, NULL, &pool, status));
    in = selvage_plan_input(selvage_layer_plan(pool), numbers);
    out = selvage_plan_output(selvage_layer_plan(pool), maxima);
    indices = selvage_plan_indices(selvage_layer_plan(pool), where);
    CHECK_OK(selvage_layer_run_views(pool, &in, &out, &indices, NULL, status));
    CHECK(maxima[0] == 7 && maxima[1] == 7 && where[0] == 1 && where[1] == 2);
    selvage_layer_free(pool);
}

static void axis(void) {
    const selvage_axis axis = {.size = 224, .kernel = 3, .stride = 2, .dilation = 1, .same = "tf"};
    selvage_window window;
    int64_t element = 7;
    CHECK_OK(selvage_axis_window(&axis, &window, status));
    CHECK(window.begin == 0 && window.end == 1 && window.outputs == 112);
    CHECK_OK(selvage_axis_source(&axis, 111, 2, &element, status));
    CHECK(element == -1);
}

/* What a specialised kernel takes, as its callers write it. */
static void shape(void) {
    const selvage_shape shape = {.n = 1, .height = 56, .width = 56, .top = 1, .left = 1};
    const selvage_extent extent = {1, 2, 3, 4};
    CHECK(shape.rows == 0 && shape.input_stride_w == 0 && extent.channels == 4);
}

int main(void) {
    selvage_plan *none = NULL;
    selvage_status status;
    CHECK(selvage_plan_create("conv2d in=3 kernel=0", NULL, &none, &status) ==
          SELVAGE_INVALID_ARGUMENT);
    CHECK(status.code == SELVAGE_INVALID_ARGUMENT && strstr(status.text, "kernel") != NULL);
    CHECK(none == NULL);
    library();
    plan();
    filter();
    layer();
    axis();
    shape();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
