#include "cudnn.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <dlfcn.h>

namespace bench {
namespace {

using selvage::Device;
using selvage::DeviceMemory;
using selvage::Problem;

// The part of cudnn.h that is used, the same in versions 8 and 9. Descriptors are pointers.
constexpr int nchw = 0, float32 = 0, cross_correlation = 1, fma_math = 3;

/// cudnnConvolutionFwdAlgoPerf_t.
struct Found {
    int algorithm, status;
    float milliseconds;
    std::size_t memory;
    int determinism, math, reserved[3];
};

struct Api {
    void *library = nullptr;
    int (*create)(void **);
    int (*create_tensor)(void **);
    int (*create_filter)(void **);
    int (*create_convolution)(void **);
    int (*set_tensor)(void *, int, int, int, int, int, int);
    int (*set_filter)(void *, int, int, int, int, int, int);
    int (*set_convolution)(void *, int, int, int, int, int, int, int, int);
    int (*set_groups)(void *, int);
    int (*set_math)(void *, int);
    int (*find)(void *, void *, void *, void *, void *, int, int *, Found *);
    int (*forward)(void *, const void *, void *, const void *, void *, const void *, void *, int,
                   void *, std::size_t, const void *, void *, void *);

    Api() {
        for (const char *name : {"libcudnn.so.9", "libcudnn.so.8"}) {
            if (library == nullptr) {
                library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            }
        }
        load("cudnnCreate", &create);
        load("cudnnCreateTensorDescriptor", &create_tensor);
        load("cudnnCreateFilterDescriptor", &create_filter);
        load("cudnnCreateConvolutionDescriptor", &create_convolution);
        load("cudnnSetTensor4dDescriptor", &set_tensor);
        load("cudnnSetFilter4dDescriptor", &set_filter);
        load("cudnnSetConvolution2dDescriptor", &set_convolution);
        load("cudnnSetConvolutionGroupCount", &set_groups);
        load("cudnnSetConvolutionMathType", &set_math);
        load("cudnnFindConvolutionForwardAlgorithm", &find);
        load("cudnnConvolutionForward", &forward);
    }

    template <class Function> void load(const char *name, Function **function) {
        if (library != nullptr) {
            *function = reinterpret_cast<Function *>(dlsym(library, name));
        }
        if (library != nullptr && *function == nullptr) {
            library = nullptr;
        }
    }
};

const Api &api() {
    static const Api api;
    return api;
}

void check(int result, const char *what) {
    if (result != 0) {
        throw std::runtime_error(std::string("cuDNN: ") + what + ": status " +
                                 std::to_string(result));
    }
}

void check(const selvage::Status &status) {
    if (!status.ok()) {
        throw std::runtime_error(status.text());
    }
}

/// One for all convolutions.
void *handle() {
    static void *const made = [] {
        void *handle = nullptr;
        check(api().create(&handle), "create");
        return handle;
    }();
    return made;
}

std::string not_taken(const Problem &p) {
    if (api().library == nullptr) {
        return "no cuDNN on this machine";
    }
    const bool plain = p.bias == false && p.act == selvage::Activation::none && p.value == 0;
    for (const selvage::Axis *axis : {&p.y, &p.x}) {
        if (axis->begin != axis->end || axis->begin < 0 || axis->phase != 0 ||
            axis->mode != selvage::Mode::constant) {
            return "pads that cuDNN has not";
        }
    }
    if ((p.op != selvage::Op::conv && p.op != selvage::Op::depthwise) || p.rank != 2 || !plain) {
        return "not a plain convolution";
    }
    return "";
}

class Convolution final : public CudnnConvolution {
public:
    Convolution(const Device &device, const Problem &p, const Data &data)
        : device_(device), n_(int(p.n)), k_(int(p.k)), h_(outputs(p.y)), w_(outputs(p.x)) {
        const int groups = int(p.op == selvage::Op::depthwise ? p.c : p.g);
        check(api().create_tensor(&in_), "tensor");
        check(api().create_tensor(&out_), "tensor");
        check(api().create_filter(&filter_), "filter");
        check(api().create_convolution(&convolution_), "convolution");
        check(api().set_tensor(in_, nchw, float32, n_, int(p.c), int(p.y.size), int(p.x.size)),
              "tensor");
        check(api().set_tensor(out_, nchw, float32, n_, k_, h_, w_), "tensor");
        check(api().set_filter(filter_, float32, nchw, k_, int(p.c) / groups, int(p.y.kernel),
                               int(p.x.kernel)),
              "filter");
        check(api().set_convolution(convolution_, int(p.y.begin), int(p.x.begin), int(p.y.stride),
                                    int(p.x.stride), int(p.y.dilation), int(p.x.dilation),
                                    cross_correlation, float32),
              "convolution");
        check(api().set_groups(convolution_, groups), "groups");
        check(api().set_math(convolution_, fma_math), "math");
        send(transposed(data.input, int(p.y.size * p.x.size), int(p.c)), &input_);
        send(data.weights, &weights_);
        check(allocate(device_, count() * sizeof(float), &output_));
        std::array<Found, 8> found = {};
        int number = 0;
        check(api().find(handle(), in_, filter_, convolution_, out_, int(found.size()), &number,
                         found.data()),
              "find");
        // The fastest first; what failed has a status.
        check(number == 0 ? -1 : found[0].status, "no algorithm");
        algorithm_ = found[0].algorithm;
        workspace_bytes_ = found[0].memory;
        check(allocate(device_, workspace_bytes_, &workspace_));
    }

    void run() override {
        const float one = 1, zero = 0;
        check(api().forward(handle(), &one, in_, input_.get(), filter_, weights_.get(),
                            convolution_, algorithm_, workspace_.get(), workspace_bytes_, &zero,
                            out_, output_.get()),
              "forward");
    }

    Floats output() override {
        Floats planes(count());
        check(device_.copy_out(output_.get(), planes.data(), count() * sizeof(float)));
        return transposed(planes, k_, h_ * w_);
    }

private:
    static int outputs(const selvage::Axis &axis) {
        return int(selvage::window(axis, false).window.outputs);
    }

    std::size_t count() const { return std::size_t(n_) * k_ * h_ * w_; }

    /// Of every image, rows x columns to columns x rows.
    Floats transposed(const Floats &from, int rows, int columns) const {
        Floats to(from.size());
        const std::size_t image = std::size_t(rows) * columns;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::size_t within = i % image;
            to[i - within + within % columns * rows + within / columns] = from[i];
        }
        return to;
    }

    void send(const Floats &numbers, DeviceMemory *memory) {
        const std::size_t bytes = numbers.size() * sizeof(float);
        check(allocate(device_, bytes, memory));
        check(device_.copy_in(numbers.data(), memory->get(), bytes));
    }

    Device device_;
    int n_, k_, h_, w_, algorithm_ = 0;
    void *in_ = nullptr, *out_ = nullptr, *filter_ = nullptr, *convolution_ = nullptr;
    DeviceMemory input_, weights_, output_, workspace_;
    std::size_t workspace_bytes_ = 0;
};

} // namespace

std::unique_ptr<CudnnConvolution> CudnnConvolution::make(const Device &device,
                                                         const Problem &problem, const Data &data,
                                                         std::string *reason) {
    *reason = device.target() == "cuda" ? not_taken(problem) : "cuDNN is for CUDA";
    return reason->empty() ? std::make_unique<Convolution>(device, problem, data) : nullptr;
}

} // namespace bench
