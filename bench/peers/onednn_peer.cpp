// One layer as oneDNN primitives behind a small C interface, loaded with ctypes by backends.py.
//
// Activations: "any" hands oneDNN data in the layout it asks for, "plain" makes it work on NCHW,
// "reorder" goes from NCHW to the layout it asks for and back on every run. The weights are always
// in the layout oneDNN asks for; they are reordered once, in peer_create. Only peer_run is timed.
#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(DNNL_CPU_THREADING_RUNTIME) && DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_TBB
#include <oneapi/tbb/global_control.h>
#define PEER_USES_TBB 1
#endif

extern "C" {

enum PeerOp : int32_t { kConvolution = 0, kDeconvolution = 1, kMaxPool = 2, kAveragePool = 3 };
enum PeerActivations : int32_t { kAny = 0, kPlain = 1, kReorder = 2 };

// Mirrored field by field in backends.py.
struct PeerLayer {
    int32_t op;
    int32_t batch, inChannels, inHeight, inWidth;
    int32_t outChannels, outHeight, outWidth;
    int32_t kernelHeight, kernelWidth, strideHeight, strideWidth;
    int32_t dilationHeight, dilationWidth, groups;
    int32_t padTop, padLeft, padBottom, padRight;
    int32_t hasBias, countIncludePad, activations;
};

} // extern "C"

namespace {

using dnnl::algorithm;
using dnnl::engine;
using dnnl::memory;
using dnnl::prop_kind;
using dnnl::stream;
using Arguments = std::unordered_map<int, memory>;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;

thread_local std::string lastError;

memory::desc plainSource(const PeerLayer &layer) {
    return {{layer.batch, layer.inChannels, layer.inHeight, layer.inWidth}, kFloat, Tag::nchw};
}

memory::desc plainTarget(const PeerLayer &layer) {
    return {{layer.batch, layer.outChannels, layer.outHeight, layer.outWidth}, kFloat, Tag::nchw};
}

memory::desc plainWeights(const PeerLayer &layer, Tag ungrouped, Tag grouped) {
    const memory::dim in = layer.inChannels / layer.groups;
    const memory::dim out = layer.outChannels / layer.groups;
    if (layer.groups > 1) {
        return {{layer.groups, out, in, layer.kernelHeight, layer.kernelWidth}, kFloat, grouped};
    }
    return {{out, in, layer.kernelHeight, layer.kernelWidth}, kFloat, ungrouped};
}

memory::desc withTag(const memory::desc &desc, Tag tag) { return {desc.get_dims(), kFloat, tag}; }

#ifdef PEER_USES_TBB
struct ThreadLimit {
    explicit ThreadLimit(int threads)
        : control(tbb::global_control::max_allowed_parallelism, threads) {}
    tbb::global_control control;
};
constexpr const char *kRuntime = "SYCL runtime, TBB threads";
#else
struct ThreadLimit {
    explicit ThreadLimit(int) { // OMP_NUM_THREADS, set before this library is loaded, decides
    }
};
constexpr const char *kRuntime = "OpenMP threads";
#endif

} // namespace

struct Peer {
    explicit Peer(int threads) : limit(threads) {}

    ThreadLimit limit;
    engine cpu{engine::kind::cpu, 0};
    stream queue{cpu};
    std::vector<std::pair<dnnl::primitive, Arguments>> steps;
    memory target; // what the last step writes
    std::string info;

    void run() {
        for (const auto &[primitive, arguments] : steps) {
            primitive.execute(queue, arguments);
        }
        queue.wait();
    }

    memory reordered(const memory::desc &wanted, memory plain) {
        memory result(wanted, cpu);
        dnnl::reorder(plain, result).execute(queue, plain, result);
        queue.wait();
        return result;
    }

    memory wrap(const memory::desc &desc, const float *values) {
        return memory(desc, cpu, const_cast<float *>(values));
    }

    // Adds the main primitive, between two reorders where the layer asks for them.
    template <typename PrimitiveDesc>
    void addSteps(const PrimitiveDesc &desc, dnnl::primitive primitive, const PeerLayer &layer,
                  const float *values, Arguments arguments) {
        memory source = reordered(desc.src_desc(), wrap(plainSource(layer), values));
        target = memory(desc.dst_desc(), cpu);
        arguments.emplace(DNNL_ARG_SRC, source);
        arguments.emplace(DNNL_ARG_DST, target);
        const bool reorders = layer.activations == kReorder;
        if (reorders && desc.src_desc() != plainSource(layer)) {
            addReorder(reordered(plainSource(layer), source), source);
        }
        steps.emplace_back(std::move(primitive), std::move(arguments));
        if (reorders && desc.dst_desc() != plainTarget(layer)) {
            memory plain(plainTarget(layer), cpu);
            addReorder(target, plain);
            target = plain;
        }
        info = desc.impl_info_str();
    }

    void addReorder(const memory &from, const memory &to) {
        steps.emplace_back(dnnl::reorder(from, to),
                           Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    }
};

namespace {

// Convolution is dnnl::convolution_forward or dnnl::deconvolution_forward.
template <typename Convolution>
void buildConvolution(Peer &peer, const PeerLayer &layer, algorithm kind, const float *source,
                      const float *weights, const float *bias) {
    const Tag activations = layer.activations == kPlain ? Tag::nchw : Tag::any;
    const memory::desc weightsDesc = plainWeights(layer, Tag::oihw, Tag::goihw);
    const memory::desc biasDesc =
        layer.hasBias ? memory::desc({layer.outChannels}, kFloat, Tag::x) : memory::desc();
    const typename Convolution::primitive_desc desc(
        peer.cpu, prop_kind::forward_inference, kind, withTag(plainSource(layer), activations),
        plainWeights(layer, Tag::any, Tag::any), biasDesc, withTag(plainTarget(layer), activations),
        {layer.strideHeight, layer.strideWidth},
        {layer.dilationHeight - 1, layer.dilationWidth - 1}, {layer.padTop, layer.padLeft},
        {layer.padBottom, layer.padRight});
    Arguments arguments{
        {DNNL_ARG_WEIGHTS, peer.reordered(desc.weights_desc(), peer.wrap(weightsDesc, weights))}};
    if (layer.hasBias) {
        arguments.emplace(DNNL_ARG_BIAS,
                          peer.reordered(desc.bias_desc(), peer.wrap(biasDesc, bias)));
    }
    peer.addSteps(desc, Convolution(desc), layer, source, std::move(arguments));
}

void buildPooling(Peer &peer, const PeerLayer &layer, const float *source) {
    const algorithm kind = layer.op == kMaxPool    ? algorithm::pooling_max
                           : layer.countIncludePad ? algorithm::pooling_avg_include_padding
                                                   : algorithm::pooling_avg_exclude_padding;
    // Pooling asks for no layout of its own but takes what a network hands it: blocked data.
    const Tag activations = layer.activations == kPlain ? Tag::nchw : Tag::nChw16c;
    const dnnl::pooling_forward::primitive_desc desc(
        peer.cpu, prop_kind::forward_inference, kind, withTag(plainSource(layer), activations),
        withTag(plainTarget(layer), Tag::any), {layer.strideHeight, layer.strideWidth},
        {layer.kernelHeight, layer.kernelWidth},
        {layer.dilationHeight - 1, layer.dilationWidth - 1}, {layer.padTop, layer.padLeft},
        {layer.padBottom, layer.padRight});
    peer.addSteps(desc, dnnl::pooling_forward(desc), layer, source, {});
}

// Runs `action`; a failure leaves its message for peer_last_error.
template <typename Action> bool succeeds(Action action) {
    try {
        action();
        return true;
    } catch (const std::exception &error) {
        lastError = error.what();
        return false;
    }
}

} // namespace

extern "C" {

const char *peer_last_error() { return lastError.c_str(); }

const char *peer_version() {
    static std::string text;
    const dnnl_version_t *version = dnnl_version();
    std::ostringstream out;
    out << version->major << '.' << version->minor << '.' << version->patch << " (" << kRuntime
        << ')';
    text = out.str();
    return text.c_str();
}

Peer *peer_create(const PeerLayer *layer, int threads, const float *source, const float *weights,
                  const float *bias) {
    std::unique_ptr<Peer> peer;
    const bool built = succeeds([&] {
        peer = std::make_unique<Peer>(threads);
        switch (layer->op) {
        case kConvolution:
            buildConvolution<dnnl::convolution_forward>(*peer, *layer, algorithm::convolution_auto,
                                                        source, weights, bias);
            break;
        case kDeconvolution:
            buildConvolution<dnnl::deconvolution_forward>(
                *peer, *layer, algorithm::deconvolution_direct, source, weights, bias);
            break;
        default: buildPooling(*peer, *layer, source);
        }
    });
    return built ? peer.release() : nullptr;
}

int peer_run(Peer *peer, int calls) {
    return succeeds([&] {
        for (int call = 0; call < calls; ++call) {
            peer->run();
        }
    });
}

int peer_read_output(Peer *peer, const PeerLayer *layer, float *values) {
    return succeeds([&] {
        memory plain(plainTarget(*layer), peer->cpu, values);
        dnnl::reorder(peer->target, plain).execute(peer->queue, peer->target, plain);
        peer->queue.wait();
    });
}

const char *peer_info(Peer *peer) { return peer->info.c_str(); }

void peer_destroy(Peer *peer) { delete peer; }

} // extern "C"
