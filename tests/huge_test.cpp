// Images together may exceed what 32 bits address; only each of them must not. Memory that is never
// touched costs nothing, and a stride of 0 repeats one image.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "selvage/layer.h"

#include "hold.h"

using selvage::Tensor;

namespace {

/// So many floats, of which only those that are written take memory.
class SparseMemory {
public:
    explicit SparseMemory(std::size_t floats) : bytes_(floats * sizeof(float)) {
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~SparseMemory() {
        if (reserved())
            munmap(memory_, bytes_);
    }
    SparseMemory(const SparseMemory &) = delete;
    SparseMemory &operator=(const SparseMemory &) = delete;

    bool reserved() const { return memory_ != MAP_FAILED; }
    float *data() const { return static_cast<float *>(memory_); }

private:
    std::size_t bytes_;
    void *memory_;
};

selvage::Layer layer_of(const char *text, const float *weights) {
    selvage::Layer layer;
    const selvage::Status status =
        selvage::make_layer(parse(text), {}, weights, selvage::WeightOrder::oihw, nullptr, &layer);
    EXPECT_TRUE(status.ok()) << status.text();
    return layer;
}

TEST(Huge, PC_152_images_far_apart) {
    constexpr std::int64_t images = 3, far = (std::int64_t(1) << 30) + 12345;
    const SparseMemory x(images * far), y(images * far);
    ASSERT_TRUE(x.reserved() && y.reserved());
    const float weights[] = {1, 10, 100};
    for (const char *text :
         {"conv1d n=3 in=3 kernel=3 pads=1", "conv1d n=3 in=3 kernel=3 pads=1 layout=nchw",
          "depthwise1d n=3 in=3 kernel=3 pads=1"}) {
        for (int n = 0; n < images; ++n)
            for (int i = 0; i < 3; ++i)
                x.data()[n * far + i] = float(n + i);
        selvage::Layer layer = layer_of(text, weights);
        Tensor<const float> input = selvage::dense<const float>(x.data(), images, 1, 3, 1);
        Tensor<float> output = selvage::dense(y.data(), images, 1, 3, 1);
        input.stride_n = output.stride_n = far;
        const selvage::Status status = layer.run(input, output);
        ASSERT_TRUE(status.ok()) << status.text();
        for (int n = 0; n < images; ++n) {
            const float a = float(n), b = a + 1, c = a + 2;
            const float *row = y.data() + n * far;
            EXPECT_EQ((std::vector<float>(row, row + 3)),
                      (std::vector<float>{10 * a + 100 * b, a + 10 * b + 100 * c, b + 10 * c}))
                << text << " image " << n;
        }
    }
}

TEST(Huge, IndicesCountThroughImagesFarApart) {
    constexpr std::int64_t images = 3, far = (std::int64_t(1) << 29) + 12345;
    const SparseMemory x(images * far);
    ASSERT_TRUE(x.reserved());
    for (int n = 0; n < images; ++n)
        for (int i = 0; i < 4; ++i)
            x.data()[n * far + i] = float((i * 3 + n) % 4);
    selvage::Layer layer = layer_of("max_pool1d n=3 in=4 kernel=4 indices=tensor", nullptr);
    Tensor<const float> input = selvage::dense<const float>(x.data(), images, 1, 4, 1);
    input.stride_n = far;
    float maxima[images];
    std::int64_t places[images];
    const Tensor<std::int64_t> indices = selvage::dense(places, images, 1, 1, 1);
    const selvage::Status status =
        layer.run(input, selvage::dense(maxima, images, 1, 1, 1), &indices);
    ASSERT_TRUE(status.ok()) << status.text();
    // Images are 0 3 2 1, then 1 0 3 2, then 2 1 0 3.
    EXPECT_EQ((std::vector<std::int64_t>(places, places + images)),
              (std::vector<std::int64_t>{1, 4 + 2, 8 + 3}));
}

TEST(Huge, PC_152_more_than_2g_elements_by_a_stride_of_0) {
    // 190 x 64 x 64 x 2933 elements, of which every image is the same.
    std::vector<float> x(64 * 64 * 2933), y(190 * 2933);
    for (int c = 0; c < 2933; ++c)
        x[c] = float(c);
    selvage::Layer layer = layer_of("max_pool2d n=190 c=2933 in=64x64 kernel=1 stride=64", nullptr);
    Tensor<const float> input = selvage::dense<const float>(x.data(), 190, 64, 64, 2933);
    input.stride_n = 0;
    const selvage::Status status = layer.run(input, selvage::dense(y.data(), 190, 1, 1, 2933));
    ASSERT_TRUE(status.ok()) << status.text();
    for (int n = 0; n < 190; ++n)
        for (int c = 0; c < 2933; ++c)
            ASSERT_EQ(y[n * 2933 + c], float(c)) << n;
}

} // namespace
