#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data.h"
#include "selvage/device.h"
#include "selvage/problem.h"

namespace bench {

/// A convolution by cuDNN, looked for on this machine: float32 without TF32, in NCHW, its own
/// layout, by the algorithm that cuDNN measures to be the fastest. Queued on the device's default
/// stream.
class CudnnConvolution {
public:
    /// Null, with the reason, where there is no cuDNN or it has no such convolution: it takes
    /// `conv` and `depthwise` in two dimensions with the same pads on both sides, without phase,
    /// border and activation. Throws std::runtime_error where cuDNN fails.
    static std::unique_ptr<CudnnConvolution> make(const selvage::Device &device,
                                                  const selvage::Problem &problem, const Data &data,
                                                  std::string *reason);
    virtual ~CudnnConvolution() = default;
    /// Queues one run.
    virtual void run() = 0;
    /// Waits, and gives the output in the order of NHWC.
    virtual Floats output() = 0;
};

} // namespace bench
