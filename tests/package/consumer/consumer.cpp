// A convolution whose pads differ on all sides; package_test.py has its result.
#include <cstdio>

#include <selvage/layer.h>
#include <selvage/version.h>

int main() {
    const float x[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const float w[2 * 3] = {1, 10, 100, 1000, 10000, 100000};
    float y[3 * 5] = {};
    selvage::Problem problem;
    selvage::Layer layer;
    selvage::Status status =
        selvage::parse_problem("conv2d c=1 k=1 in=3x4 kernel=2x3 pads=1,2,0,1", &problem);
    if (status.ok())
        status = selvage::make_layer(problem, {}, w, selvage::WeightOrder::oihw, nullptr, &layer);
    if (status.ok())
        status = layer.run(x, y);
    std::printf("%s: %s; %.0f %.0f\n", SELVAGE_VERSION, status.ok() ? "ok" : status.text().c_str(),
                y[0], y[14]);
}
