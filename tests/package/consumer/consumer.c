/* The same in C. */
#include <stdio.h>

#include <selvage/selvage.h>

int main(void) {
    const float x[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const float w[2 * 3] = {1, 10, 100, 1000, 10000, 100000};
    float y[3 * 5] = {0};
    selvage_layer *layer = NULL;
    selvage_status status = {SELVAGE_OK, "ok"};
    if (selvage_layer_create("conv2d c=1 k=1 in=3x4 kernel=2x3 pads=1,2,0,1", NULL, w, SELVAGE_OIHW,
                             NULL, &layer, &status) == SELVAGE_OK)
        selvage_layer_run(layer, x, y, NULL, NULL, &status);
    printf("%s: %s; %.0f %.0f\n", selvage_version(), status.code == SELVAGE_OK ? "ok" : status.text,
           y[0], y[14]);
    selvage_layer_free(layer);
    return 0;
}
