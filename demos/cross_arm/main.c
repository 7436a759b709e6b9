/* Smooths a few numbers, on whatever processor it was compiled for. The weights are in the program
   and packed when it starts; ../hello_c has them in its kernel. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smooth.h"

enum { SIZE = 10 };

int main(void) {
    const float weights[3] = {1, 2, 1};
    const float input[SIZE] = {1, 1, 1, 9, 1, 1, 5, 5, 5, 5};
    const float expected[SIZE] = {4, 4, 12, 20, 12, 8, 16, 20, 20, 20};
    float output[SIZE];

    selvage_shape shape = smooth_shape(1, SIZE);
    selvage_status status;
    size_t bytes;
    void *packed = aligned_alloc(64, SMOOTH_PACKED_BYTES), *scratch = NULL;
    if (smooth_pack(weights, SELVAGE_OIHW, NULL, packed, &status) == SELVAGE_OK &&
        smooth_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK) {
        scratch = aligned_alloc(64, bytes);
        smooth(&shape, input, packed, output, scratch, bytes, &status);
    }
    free(scratch);
    free(packed);
    if (status.code != SELVAGE_OK) {
        fprintf(stderr, "cross_arm: %s\n", status.text);
        return 1;
    }

    printf("%s:", smooth_isa());
    for (int i = 0; i < SIZE; ++i)
        printf(" %g", output[i]);
    puts("");
    return memcmp(output, expected, sizeof output) == 0 ? 0 : 1;
}
