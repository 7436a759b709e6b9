/* Runs the app's kernels with each instruction set that they have here, compares with plain loops,
   and prints a line for each: kernel and set. Whole numbers, so results are equal or wrong. C and
   C++. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <blur.h>
#include <edge.h>
#include <norm.h>
#include <pool.h>

static selvage_status status;

static void need(int condition, const char *what) {
    if (!condition) {
        printf("%s: %s\n", what, status.text);
        exit(1);
    }
}

static void *memory(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

/* Small numbers in which no pattern of rows or channels repeats. */
static float number(int i) { return (float)((i * 7 + i / 5) % 11 - 5); }

static void fill(float *values, int count) {
    for (int i = 0; i < count; ++i)
        values[i] = number(i);
}

static int reflected(int i, int size) { return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i; }

static void run_edge(void) {
    enum { height = 9, width = 11, c = 8, k = 16 };
    static float x[height * width * c], w[k * c * 3 * 3], bias[k], y[4 * 7 * k];
    fill(x, height * width * c);
    fill(w, k * c * 3 * 3);
    fill(bias, k);

    const selvage_shape shape = edge_shape(1, height, width);
    selvage_extent output;
    need(edge_output(&shape, &output, &status) == SELVAGE_OK, "edge_output");
    need(output.height == 4 && output.width == 7 && output.channels == k, "edge's output");
    size_t bytes;
    need(edge_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK, "edge_scratch_bytes");
    void *packed = memory(EDGE_PACKED_BYTES), *scratch = memory(bytes);
    need(edge_pack(w, SELVAGE_OIHW, bias, packed, &status) == SELVAGE_OK, "edge_pack");
    need(edge(&shape, x, packed, y, scratch, bytes, &status) == SELVAGE_OK, "edge");
    free(packed);
    free(scratch);

    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 7; ++j)
            for (int o = 0; o < k; ++o) {
                float sum = bias[o];
                for (int ch = 0; ch < c; ++ch)
                    for (int ty = 0; ty < 3; ++ty)
                        for (int tx = 0; tx < 3; ++tx) {
                            const int row = reflected(2 * i + ty + 1, height);
                            const int column = reflected(2 * j + tx - 1, width);
                            sum += x[(row * width + column) * c + ch] *
                                   w[((o * c + ch) * 3 + ty) * 3 + tx];
                        }
                const float expected = sum < 0 ? 0 : sum;
                need(y[(i * 7 + j) * k + o] == expected, "a value of edge");
            }
}

static void run_pool(void) {
    enum { height = 5, width = 6, c = 4 };
    static float x[height * width * c], y[height * width * c];
    static int64_t at[height * width * c];
    fill(x, height * width * c);

    const selvage_shape shape = pool_shape(1, height, width);
    size_t bytes;
    need(pool_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK, "pool_scratch_bytes");
    void *scratch = memory(bytes);
    need(pool(&shape, x, y, at, scratch, bytes, &status) == SELVAGE_OK, "pool");
    free(scratch);

    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
            for (int ch = 0; ch < c; ++ch) {
                float most = -INFINITY;
                int where = -1;
                for (int row = i; row < i + 2 && row < height; ++row)
                    for (int column = j - 1; column < j + 2; ++column)
                        if (column >= 0 && column < width &&
                            x[(row * width + column) * c + ch] > most) {
                            where = row * width + column;
                            most = x[where * c + ch];
                        }
                const int here = (i * width + j) * c + ch;
                need(y[here] == most && at[here] == where, "a maximum of pool");
            }
}

/* Its weights are in the archive: tap t of channel ch is ch + 1 + 10*t, the bias 100*ch. */
static void run_blur(void) {
    enum { width = 6, c = 3 };
    static float x[width * c], y[(width + 1) * c];
    fill(x, width * c);

    const selvage_shape shape = blur_shape(1, width);
    size_t bytes;
    need(blur_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK, "blur_scratch_bytes");
    void *scratch = memory(bytes);
    need(blur(&shape, x, y, scratch, bytes, &status) == SELVAGE_OK, "blur");
    free(scratch);

    for (int j = 0; j < width + 1; ++j)
        for (int ch = 0; ch < c; ++ch) {
            float sum = 100 * (float)ch;
            for (int t = 0; t < 3; ++t) {
                const int column = j + t - 2;
                const int inside = column < 0 ? 0 : column >= width ? width - 1 : column;
                sum += x[inside * c + ch] * (float)(ch + 1 + 10 * t);
            }
            need(y[j * c + ch] == sum, "a value of blur");
        }
}

/* It calls powf, whose powers of 0 and 1 are exact. */
static void run_norm(void) {
    enum { width = 6, c = 3 };
    static float x[width * c], y[width / 2 * c];
    for (int i = 0; i < width * c; ++i)
        x[i] = (float)(i % 2);

    const selvage_shape shape = norm_shape(1, width);
    size_t bytes;
    need(norm_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK, "norm_scratch_bytes");
    void *scratch = memory(bytes);
    need(norm(&shape, x, y, scratch, bytes, &status) == SELVAGE_OK, "norm");
    free(scratch);

    for (int i = 0; i < width / 2 * c; ++i)
        need(y[i] == 1, "a value of norm");
}

int main(void) {
    static const char *const isas[] = {"sse41", "avx2", "avx512", "neon"};
    for (int i = 0; i < 4; ++i) {
        if (edge_force_isa(isas[i], &status) != SELVAGE_OK)
            continue; /* not of this CPU; the test knows which must be there */
        need(pool_force_isa(isas[i], &status) == SELVAGE_OK, "pool_force_isa");
        need(blur_force_isa(isas[i], &status) == SELVAGE_OK, "blur_force_isa");
        need(norm_force_isa(isas[i], &status) == SELVAGE_OK, "norm_force_isa");
        run_edge();
        printf("edge %s\n", edge_isa());
        run_pool();
        printf("pool %s\n", pool_isa());
        run_blur();
        printf("blur %s\n", blur_isa());
        run_norm();
        printf("norm %s\n", norm_isa());
    }
    return 0;
}
