#include "random_problems.h"

#include <algorithm>

using selvage::Activation;
using selvage::Axis;
using selvage::IndexOrder;
using selvage::Indices;
using selvage::Layout;
using selvage::Mode;
using selvage::Op;
using selvage::Problem;
using selvage::Type;

namespace {

/// The products of one problem; a thousand of these take the oracle a few seconds.
constexpr std::int64_t usual_work = 1500000;
/// The same for the few problems that are too large for caches, which kernels cut into strips.
constexpr std::int64_t large_work = 10000000;

std::int64_t reach(const Axis &axis) { return axis.dilation * (axis.kernel - 1) + 1; }

std::int64_t crop(const Axis &axis) {
    return std::max<std::int64_t>(0, -axis.begin) + std::max<std::int64_t>(0, -axis.end);
}

int pick_channels(Random &random) {
    if (random.one_in(3))
        return random.between(1, 20);
    const int vectors = random.pick({4, 8, 16, 16, 32, 32, 48, 64, 96, 128});
    return std::max(1, vectors + random.pick({0, 0, 0, 0, -1, 1, 3}));
}

void set_channels(Random &random, Problem *p) {
    const bool picture = random.one_in(p->op == Op::filter ? 2 : 8);
    p->c = p->k = picture ? random.pick({1, 3, 4}) : pick_channels(random);
    if (p->op == Op::depthwise && random.one_in(8))
        p->k *= random.pick({2, 3, 4});
    if (p->op == Op::conv || p->op == Op::conv_transpose) {
        p->k = pick_channels(random);
        if (random.one_in(3)) { // whole groups, narrow and wide ones
            p->g = random.pick({2, 3, 4, 8});
            p->c = p->g * random.pick({1, 2, 3, 4, 8, 16, 17});
            p->k = p->g * random.pick({1, 2, 4, 5, 8, 16, 32, 33});
        }
    }
}

void set_windows(Random &random, Problem *p) {
    for (Axis *axis : axes(p)) {
        axis->kernel = random.pick({1, 2, 3, 3, 3, 4, 5, 6, 7});
        axis->stride = random.pick({1, 1, 1, 2, 2, 3, 4, 5});
        axis->dilation = random.pick({1, 1, 1, 1, 2, 3});
    }
    if (p->rank == 3)
        p->z.kernel = std::min<std::int64_t>(p->z.kernel, 4);
    if (random.one_in(2))
        for (Axis *axis : axes(p))
            axis->phase = random.between(0, int(axis->stride) - 1);
}

/// Pads that differ on all sides, as far as there are numbers enough.
void set_pads(Random &random, Problem *p) {
    if (random.one_in(4)) // none
        return;
    const bool usual = random.one_in(10), far = random.one_in(20), crops = random.one_in(5);
    std::vector<std::int64_t> taken;
    for (Axis *axis : axes(p))
        for (std::int64_t *pad : {&axis->begin, &axis->end}) {
            do
                *pad = random.between(0, int(axis->kernel) + (far ? 40 : 2));
            while (taken.size() < 4 && std::count(taken.begin(), taken.end(), *pad) > 0 &&
                   !random.one_in(8));
            taken.push_back(*pad);
            if (usual)
                *pad = reach(*axis) / 2;
            else if (crops && random.one_in(2))
                *pad = -random.between(1, 4);
        }
}

void set_modes(Random &random, Problem *p) {
    if (!random.one_in(3))
        return;
    const auto any = [&] {
        return random.pick({Mode::reflect, Mode::symmetric, Mode::replicate, Mode::circular});
    };
    const Mode mode = any();
    const bool mixed = random.one_in(2);
    for (Axis *axis : axes(p))
        axis->mode = mixed ? random.one_in(3) ? Mode::constant : any() : mode;
}

int pick_outputs(Random &random, bool innermost) {
    if (random.one_in(60))
        return 0;
    if (random.one_in(2) || !innermost)
        return random.between(1, innermost ? 9 : 14);
    return random.pick({1, 7, 8, 13, 14, 15, 16, 17, 28, 29, 33, 65});
}

/// The smallest size that leaves something to read and gives at least 0 outputs.
std::int64_t least_size(const Problem &p, const Axis &axis) {
    if (p.op == Op::conv_transpose) {
        const std::int64_t without_input =
            reach(axis) - axis.stride - axis.begin - axis.end + axis.phase + axis.output_padding;
        return std::max<std::int64_t>(1, (axis.stride - 1 - without_input) / axis.stride);
    }
    return std::max({crop(axis) + 1, axis.phase + reach(axis) - axis.stride - axis.begin - axis.end,
                     std::int64_t(1)});
}

/// A size for which the window rule gives `outputs` places, or as near as a size comes.
void set_size(Random &random, const Problem &p, int outputs, Axis *axis) {
    const std::int64_t needed =
        p.op == Op::conv_transpose
            ? outputs / axis->stride
            : (outputs - 1) * axis->stride + axis->phase + reach(*axis) - axis->begin - axis->end;
    axis->size = std::max(needed + random.between(0, int(axis->stride) - 1), least_size(p, *axis));
}

void set_adaptive(Random &random, Problem *p) {
    const bool global = random.one_in(3);
    for (Axis *axis : axes(p)) {
        axis->size = random.between(1, 17);
        axis->adaptive = global ? 1 : random.between(1, 9);
    }
}

/// Makes the problem smaller until it is cheap; channels last, since they choose the kernels.
void limit_work(std::int64_t limit, Problem *p) {
    const auto work = [p] {
        std::int64_t products =
            p->n * p->k * (p->op == Op::conv || p->op == Op::conv_transpose ? p->c / p->g : 1);
        for (const Axis *axis : axes(p))
            products *=
                axis->adaptive > 0 ? axis->size + axis->adaptive
                : p->op == Op::conv_transpose
                    ? axis->size * axis->kernel
                    : (axis->size + axis->begin + axis->end) / axis->stride * axis->kernel + 1;
        return products;
    };
    const auto shrink = [&](std::int64_t *value, std::int64_t least) {
        while (work() > limit && *value > least)
            --*value;
    };
    shrink(&p->n, 1);
    for (Axis *axis : axes(p))
        shrink(&axis->size, least_size(*p, *axis));
    if (p->g == 1 && work() > limit) {
        shrink(&p->c, 1);
        if (p->op != Op::conv && p->op != Op::conv_transpose)
            p->k = p->c;
    }
}

void set_type(Random &random, Problem *p) {
    if (p->op == Op::max_pool || p->op == Op::stride_sample || p->op == Op::pad)
        p->type = random.pick({Type::f32, Type::u8, Type::i8});
    if (p->op == Op::filter)
        p->type = Type::u8;
}

/// What only some operators have.
void set_extras(Random &random, Problem *p) {
    if (p->op == Op::conv || p->op == Op::depthwise || p->op == Op::conv_transpose) {
        p->bias = random.one_in(2);
        p->act = random.pick({Activation::none, Activation::none, Activation::relu,
                              Activation::relu6, Activation::clamp});
        if (p->act == Activation::clamp) {
            p->act_low = float(random.between(-20, 5));
            p->act_high = p->act_low + float(random.between(0, 30));
        }
    }
    if (p->op == Op::conv || p->op == Op::depthwise)
        p->value = random.one_in(3) ? float(random.between(-3, 3)) : 0;
    if (p->op == Op::filter) {
        p->value = random.one_in(2) ? float(random.between(0, 255)) : 0;
        p->shift = random.one_in(2) ? random.between(0, 12) : -1;
    }
    if (p->op == Op::pad && random.one_in(2))
        p->value =
            float(random.between(p->type == Type::u8 ? 0 : -128, p->type == Type::u8 ? 255 : 127));
    if (is_pool(p->op))
        p->ceil = random.one_in(2) && p->x.adaptive == 0;
    if (p->op == Op::avg_pool)
        p->include_pad = random.one_in(2) && p->x.adaptive == 0;
    if (p->op == Op::lp_pool)
        p->p = random.pick({1.f, 2.f, 2.f, 2.f, 1.5f, 3.f});
    if (p->op == Op::max_pool && random.one_in(3)) {
        p->indices = random.pick({Indices::plane, Indices::tensor});
        p->order = random.pick({IndexOrder::row, IndexOrder::column});
    }
    if (p->op == Op::max_pool && p->type == Type::f32 && p->indices == Indices::none)
        p->keep_nan = random.one_in(2);
}

/// What networks are made of, and what kernels of one size and those without a border take: square
/// windows on pixels of many channels, mostly within the input, with rows of whole register tiles.
void set_usual(Random &random, Problem *p) {
    p->rank = 2;
    p->layout = Layout::nhwc;
    p->type = Type::f32;
    if (p->op != Op::conv)
        p->c = p->k = random.between(32, 130);
    const bool pointwise = p->op == Op::conv && random.one_in(3);
    const int kernel = pointwise ? 1 : random.pick({2, 3, 5, 7}), stride = random.pick({1, 2});
    for (Axis *axis : axes(p)) {
        axis->kernel = kernel;
        axis->stride = stride;
        axis->phase = random.between(0, stride - 1);
    }
    if (random.one_in(2))
        set_pads(random, p);
    set_size(random, *p, random.between(1, 9), &p->y);
    set_size(random, *p, random.pick({5, 7, 12, 14, 28, 28, 30}), &p->x);
}

/// What pictures are filtered with.
void set_picture(Random &random, Problem *p) {
    p->rank = 2;
    p->layout = Layout::nhwc;
    p->type = Type::u8;
    p->c = p->k = random.pick({1, 2, 3, 4});
    const int kernel = random.pick({3, 5, 7});
    for (Axis *axis : axes(p))
        axis->kernel = kernel;
    set_pads(random, p);
    set_modes(random, p);
    set_size(random, *p, random.pick({1, 7, 8, 9, 17}), &p->y);
    set_size(random, *p, random.pick({1, 5, 22, 33, 65, 90}), &p->x);
}

/// Windows of every kind.
void set_unusual(Random &random, bool large, Problem *p) {
    const bool copies = p->op == Op::pad || p->op == Op::stride_sample;
    set_windows(random, p);
    for (Axis *axis : axes(p)) {
        if (p->op == Op::pad)
            axis->stride = 1, axis->phase = 0;
        if (copies)
            axis->kernel = axis->dilation = 1;
        if (p->op == Op::conv_transpose && random.one_in(3))
            axis->output_padding = random.between(0, int(axis->stride) + 1);
    }
    if (p->op != Op::stride_sample)
        set_pads(random, p);
    if (p->op != Op::stride_sample && p->op != Op::conv_transpose)
        set_modes(random, p);
    for (Axis *axis : axes(p))
        set_size(random, *p, large ? random.between(30, 50) : pick_outputs(random, axis == &p->x),
                 axis);
}

} // namespace

std::uint64_t Random::next() {
    // splitmix64: any seed, 0 included, gives a good sequence.
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::vector<Axis *> axes(Problem *p) {
    std::vector<Axis *> all = {&p->z, &p->y, &p->x};
    all.erase(all.begin(), all.end() - p->rank);
    return all;
}

Problem random_problem(Op op, std::uint64_t seed) {
    Random random(seed);
    Problem p;
    p.op = op;
    p.rank = random.pick({1, 2, 2, 2, 3});
    p.layout = random.pick({Layout::nhwc, Layout::nchw});
    p.n = random.one_in(30) ? 0 : random.pick({1, 1, 1, 2, 3});
    set_type(random, &p);
    set_channels(random, &p);
    const bool large = op == Op::conv && p.rank == 2 && random.one_in(25);
    if (large) {
        p.g = 1;
        p.c = random.pick({96, 128, 130});
        p.k = random.between(1, 16);
    }

    const bool in_networks =
        op == Op::conv || op == Op::depthwise || op == Op::max_pool || op == Op::avg_pool;
    if (in_networks && !large && random.one_in(2))
        set_usual(random, &p);
    else if ((op == Op::filter || op == Op::max_pool) && random.one_in(3))
        set_picture(random, &p);
    else if (is_pool(op) && random.one_in(6))
        set_adaptive(random, &p);
    else
        set_unusual(random, large, &p);
    set_extras(random, &p);
    limit_work(large ? large_work : usual_work, &p);
    return p;
}

std::vector<float> random_integers(Random &random, std::size_t count, int low, int high,
                                   double density) {
    const auto limit = std::uint64_t(density * 1024);
    std::vector<float> values(count);
    for (float &value : values) {
        const std::uint64_t bits = random.next();
        if ((bits & 1023) < limit)
            value = float(int((bits >> 10) % std::uint64_t(high - low + 1)) + low);
    }
    return values;
}
