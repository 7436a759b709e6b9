// A convolution that reads a part of one tensor and writes a part of another, both of them
// std::vectors. Nothing is copied: a view is an address, sizes and strides.

#include <cstdint>
#include <cstdio>
#include <vector>

#include <selvage/layer.h>

namespace {

using selvage::Range;
using selvage::Tensor;

/// Stands where nothing is to be written; no sum below is as low.
constexpr float unwritten = -10000;

/// A rectangle of a tensor, and some of its channels: another first element and other sizes, but
/// the strides of the whole.
template <class T> Tensor<T> part(Tensor<T> whole, Range rows, Range columns, Range channels) {
    Tensor<T> view = whole;
    view.data += rows.begin * whole.stride_h + columns.begin * whole.stride_w +
                 channels.begin * whole.stride_c;
    view.h = rows.size;
    view.w = columns.size;
    view.c = channels.size;
    return view;
}

template <class T> T &at(const Tensor<T> &t, std::int64_t y, std::int64_t x, std::int64_t c) {
    return t.data[y * t.stride_h + x * t.stride_w + c * t.stride_c];
}

/// What the convolution below shall give, by plain loops: pixels outside the view count as zeros.
float expected(const Tensor<const float> &in, const std::vector<float> &weights, std::int64_t y,
               std::int64_t x, std::int64_t k) {
    float sum = 0;
    for (std::int64_t c = 0; c < in.c; ++c)
        for (std::int64_t v = 0; v < 3; ++v)
            for (std::int64_t u = 0; u < 3; ++u) {
                const std::int64_t row = y + v - 1, column = x + u - 1;
                if (row >= 0 && row < in.h && column >= 0 && column < in.w)
                    sum += at(in, row, column, c) *
                           weights[static_cast<std::size_t>(((k * in.c + c) * 3 + v) * 3 + u)];
            }
    return sum;
}

} // namespace

int main() {
    // 40 x 56 pixels of 24 channels, and room for 32 x 48 pixels of 12 channels. Small whole
    // numbers, so that sums are exact in any order.
    std::vector<float> features(40 * 56 * 24), joined(32 * 48 * 12, unwritten);
    for (std::size_t i = 0; i < features.size(); ++i)
        features[i] = static_cast<float>(i * 7 % 19) - 9;
    std::vector<float> weights(4 * 8 * 3 * 3); // 4 outputs x 8 inputs x 3 x 3
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(i * 5 % 11) - 5;

    // The input: channels 8 to 15 of a rectangle. The output: channels 3 to 6 of another rectangle,
    // as where several layers write into one tensor that the next one reads. Its channels lie 12
    // numbers apart from pixel to pixel, 48 * 12 from row to row; the kernel follows the strides.
    const Tensor<const float> input = part(
        selvage::dense<const float>(features.data(), 1, 40, 56, 24), {10, 24}, {5, 40}, {8, 8});
    const Tensor<float> output =
        part(selvage::dense(joined.data(), 1, 32, 48, 12), {2, 24}, {7, 40}, {3, 4});

    // The sizes in the text are those of the views. The pads lie around the input view: its border
    // is at the edges of the rectangle, whatever pixels are beyond. (To have the neighbours read
    // instead, plan for the whole image and compute a rectangle of its output: Plan::tile().)
    selvage::Problem problem;
    selvage::Layer layer;
    selvage::Status status =
        selvage::parse_problem("conv2d c=8 k=4 in=24x40 kernel=3 pads=1", &problem);
    if (status.ok())
        status = selvage::make_layer(problem, {}, weights.data(), selvage::WeightOrder::oihw,
                                     nullptr, &layer);
    if (status.ok())
        status = layer.run(input, output);
    if (!status.ok()) {
        std::fprintf(stderr, "views: %s\n", status.text().c_str());
        return 1;
    }
    std::printf("kernel %s\n", layer.plan().kernel().c_str());

    // Every element of the view is right, and every other one as it was.
    std::size_t right = 0, untouched = 0;
    for (std::int64_t y = 0; y < output.h; ++y)
        for (std::int64_t x = 0; x < output.w; ++x)
            for (std::int64_t k = 0; k < output.c; ++k)
                right += at(output, y, x, k) == expected(input, weights, y, x, k);
    for (const float element : joined)
        untouched += element == unwritten;
    std::printf("%zu of %d results are right, %zu of %d other elements untouched\n", right,
                24 * 40 * 4, untouched, 32 * 48 * 12 - 24 * 40 * 4);
    return right == 24 * 40 * 4 && untouched == 32 * 48 * 12 - 24 * 40 * 4 ? 0 : 1;
}
