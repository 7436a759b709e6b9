#include <new>
#include <vector>

#include "check_views.h"
#include "selvage/plan.h"

namespace selvage {

namespace {

/// Copies the elements of a view to those of another of the same shape.
template <class T> void copy(const Tensor<const T> &from, const Tensor<T> &to) {
    for (std::int64_t n = 0; n < from.n; ++n)
        for (std::int64_t z = 0; z < from.d; ++z)
            for (std::int64_t y = 0; y < from.h; ++y)
                for (std::int64_t x = 0; x < from.w; ++x) {
                    const T *const in = from.data + n * from.stride_n + z * from.stride_d +
                                        y * from.stride_h + x * from.stride_w;
                    T *const out = to.data + n * to.stride_n + z * to.stride_d + y * to.stride_h +
                                   x * to.stride_w;
                    for (std::int64_t c = 0; c < from.c; ++c)
                        out[c * to.stride_c] = in[c * from.stride_c];
                }
}

/// The same view of memory that is only read.
template <class T> Tensor<const T> read(const Tensor<T> &t) {
    return {t.data,     t.n,        t.h, t.w,        t.c,       t.stride_n,
            t.stride_h, t.stride_w, t.d, t.stride_d, t.stride_c};
}

/// A dense tensor on a device, in place of a view of the host's.
template <class T> class Copy {
public:
    /// The view is null where the problem has no such tensor.
    Status make(const Device &device, const Tensor<const T> *view, Layout layout) {
        if (view == nullptr)
            return {};
        host_.resize(std::size_t(view->n * view->d * view->h * view->w * view->c));
        on_host_ = dense(host_.data(), view->n, view->d, view->h, view->w, view->c, layout);
        on_device = on_host_;
        const Status status = allocate(device, bytes(), &memory_);
        on_device.data = static_cast<T *>(memory_.get());
        return status;
    }

    Status send(const Tensor<const T> &from) {
        copy(from, on_host_);
        return memory_.get_deleter().device.copy_in(host_.data(), memory_.get(), bytes());
    }

    Status fetch(const Tensor<T> &to) {
        const Status status =
            memory_.get_deleter().device.copy_out(memory_.get(), host_.data(), bytes());
        if (status.ok())
            copy(read(on_host_), to);
        return status;
    }

    Tensor<T> on_device;

private:
    std::size_t bytes() const { return host_.size() * sizeof(T); }

    std::vector<T> host_;
    Tensor<T> on_host_;
    DeviceMemory memory_;
};

} // namespace

template <class T>
Status Plan::run_on_host_memory(const Tensor<const T> &input, const void *packed,
                                const Tensor<T> &output, void *scratch, std::size_t scratch_bytes,
                                const Tensor<std::int64_t> *indices, const Parallel *parallel) const
    try {
    if (device().queue() == nullptr)
        return run(input, packed, output, scratch, scratch_bytes, indices, parallel);
    const View in("input", input), out("output", output);
    const View index = indices == nullptr ? out : View("indices", *indices);
    if (Status s = check_views(work(), in, out, indices == nullptr ? nullptr : &index); !s.ok())
        return s;
    if (out.empty())
        return {};
    const Layout layout = problem().layout;
    const Tensor<const T> result = read(output);
    Tensor<const std::int64_t> places;
    if (indices != nullptr)
        places = read(*indices);
    Copy<T> from, to;
    Copy<std::int64_t> to_indices;
    Status status = from.make(device(), &input, layout);
    if (status.ok())
        status = to.make(device(), &result, layout);
    if (status.ok())
        status = to_indices.make(device(), indices == nullptr ? nullptr : &places, layout);
    if (status.ok())
        status = from.send(input);
    if (status.ok())
        status = run(read(from.on_device), packed, to.on_device, scratch, scratch_bytes,
                     indices == nullptr ? nullptr : &to_indices.on_device, parallel);
    if (status.ok())
        status = to.fetch(output);
    if (status.ok() && indices != nullptr)
        status = to_indices.fetch(*indices);
    return status;
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

template Status Plan::run_on_host_memory(const Tensor<const float> &, const void *,
                                         const Tensor<float> &, void *, std::size_t,
                                         const Tensor<std::int64_t> *, const Parallel *) const;
template Status Plan::run_on_host_memory(const Tensor<const std::uint8_t> &, const void *,
                                         const Tensor<std::uint8_t> &, void *, std::size_t,
                                         const Tensor<std::int64_t> *, const Parallel *) const;
template Status Plan::run_on_host_memory(const Tensor<const std::int8_t> &, const void *,
                                         const Tensor<std::int8_t> &, void *, std::size_t,
                                         const Tensor<std::int64_t> *, const Parallel *) const;

} // namespace selvage
