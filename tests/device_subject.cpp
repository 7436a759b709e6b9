#include "device_subject.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "selvage/core/views.h"

#include "typed_view.h"

using selvage::Device;
using selvage::Plan;
using selvage::Status;
using selvage::Tensor;
using selvage::View;
using selvage::WeightOrder;

namespace {

/// Memory of a device between sentinels.
class Sentinels {
public:
    /// `bytes` of which the first lies `shift` bytes behind a multiple of 64.
    Status make(const Device &device, std::size_t bytes, std::size_t shift) {
        device_ = device;
        bytes_ = bytes;
        before_ = margin + shift;
        const std::vector<char> all(before_ + bytes + margin, sentinel);
        Status status = allocate(device, all.size(), &memory_);
        return status.ok() ? device.copy_in(all.data(), memory_.get(), all.size()) : status;
    }

    char *address() const { return static_cast<char *>(memory_.get()) + before_; }

    bool survived() const {
        std::vector<char> all(before_ + bytes_ + margin);
        return device_.copy_out(memory_.get(), all.data(), all.size()).ok() &&
               count(all.begin(), all.begin() + before_) == before_ &&
               count(all.end() - margin, all.end()) == margin;
    }

private:
    static constexpr std::size_t margin = 256;
    static constexpr char sentinel = '\x5a';

    template <class At> static std::size_t count(At begin, At end) {
        return std::size_t(std::count(begin, end, sentinel));
    }

    Device device_;
    selvage::DeviceMemory memory_;
    std::size_t bytes_ = 0, before_ = 0;
};

/// A view of the host's with a twin on the device, of the same strides.
class Twin {
public:
    Status make(const Device &device, const View &host) {
        host_ = static_cast<char *>(const_cast<void *>(host.data));
        bytes_ = std::size_t(host.span() * host.type.bytes());
        device_ = device;
        const Status status = memory_.make(device, bytes_, std::size_t(host.type.bytes()));
        return status.ok() ? device.copy_in(host_, memory_.address(), bytes_) : status;
    }

    char *address() const { return memory_.address(); }

    Status fetch() const { return device_.copy_out(memory_.address(), host_, bytes_); }

    bool survived() const { return memory_.survived(); }

private:
    Device device_;
    Sentinels memory_;
    char *host_ = nullptr;
    std::size_t bytes_ = 0;
};

/// The view at another address.
template <class T> Tensor<T> at(char *address, Tensor<T> view) {
    view.data = reinterpret_cast<T *>(address);
    return view;
}

template <class T>
std::string run(const Plan &plan, const Tensor<const T> &input, void *packed,
                const Tensor<T> &output, const Tensor<std::int64_t> *indices) {
    const Device &device = plan.device();
    Twin in, out, index;
    Sentinels scratch;
    Status status = in.make(device, View("input", input));
    if (status.ok())
        status = out.make(device, View("output", output));
    if (status.ok() && indices != nullptr)
        status = index.make(device, View("indices", *indices));
    if (status.ok())
        status = scratch.make(device, plan.scratch_bytes(), 0);
    if (!status.ok())
        return status.text();
    Tensor<std::int64_t> places;
    if (indices != nullptr)
        places = at(index.address(), *indices);
    status = plan.run(at(in.address(), input), packed, at(out.address(), output), scratch.address(),
                      plan.scratch_bytes(), indices == nullptr ? nullptr : &places);
    if (status.ok())
        status = out.fetch();
    if (status.ok() && indices != nullptr)
        status = index.fetch();
    if (!status.ok())
        return status.text();
    if (!in.survived() || !out.survived() || !scratch.survived() ||
        (indices != nullptr && !index.survived()))
        return "memory of the device was written outside the views and scratch_bytes()";
    return {};
}

} // namespace

Subject device_subject(const Plan &whole, const Plan &part) {
    const auto packed = std::make_shared<Sentinels>();
    Subject result = {
        part.kernel(), part.output_region(), part.input_region(), 0, 0, nullptr, nullptr, 1};
    result.pack = [=](const void *weights, WeightOrder order, const float *bias,
                      void *) -> std::string {
        Status status = packed->make(whole.device(), whole.packed_bytes(), 0);
        if (status.ok())
            status = whole.problem().shift < 0
                         ? whole.pack(static_cast<const float *>(weights), order, bias,
                                      packed->address())
                         : whole.pack(static_cast<const std::int16_t *>(weights), order,
                                      packed->address());
        if (!status.ok())
            return status.text();
        return packed->survived() ? "" : "pack() wrote outside packed_bytes()";
    };
    result.run = [=](const Tensor<const void> &input, const void *, const Tensor<void> &output,
                     const Tensor<std::int64_t> *indices, void *) {
        char *const weights = has_weights(whole.problem().op) ? packed->address() : nullptr;
        return with_type(whole.problem().type, [&](auto number) {
            using T = decltype(number);
            return run<T>(part, as<const T>(input), weights, as<T>(output), indices);
        });
    };
    return result;
}
