/* Finds the edges in a small picture: a convolution by a kernel made for this program alone. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edge.h"

enum { HEIGHT = 7, WIDTH = 20 };

/* A shape that leaves the picture at the right. */
static const char picture[] = "....................\n"
                              "......##############\n"
                              "......##############\n"
                              "......##############\n"
                              "......####..........\n"
                              "......####..........\n"
                              "....................\n";

/* How much each pixel is brighter than its four neighbours, where it is. With zeros beyond the
   picture there would be an edge along the right; BORDER reflect lets the shape go on there. */
static const char expected[] = "....................\n"
                               "......21111111111111\n"
                               "......1.............\n"
                               "......1...1111111111\n"
                               "......1..1..........\n"
                               "......2112..........\n"
                               "....................\n";

int main(void) {
    float pixels[HEIGHT][WIDTH], edges[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            pixels[y][x] = picture[y * (WIDTH + 1) + x] == '#';

    /* The sizes are free; kernel, channels, border and weights are those of CMakeLists.txt. */
    selvage_shape shape = edge_shape(1, HEIGHT, WIDTH);
    selvage_status status;
    size_t bytes;
    void *scratch = NULL;
    if (edge_scratch_bytes(&shape, &bytes, &status) == SELVAGE_OK) {
        scratch = aligned_alloc(64, bytes);
        edge(&shape, &pixels[0][0], &edges[0][0], scratch, bytes, &status);
    }
    free(scratch);
    if (status.code != SELVAGE_OK) {
        fprintf(stderr, "hello_c: %s\n", status.text);
        return 1;
    }

    char drawn[sizeof picture];
    strcpy(drawn, picture);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            drawn[y * (WIDTH + 1) + x] = edges[y][x] > 0 ? (char)('0' + (int)edges[y][x]) : '.';
    fputs(drawn, stdout);
    return strcmp(drawn, expected) == 0 ? 0 : 1;
}
