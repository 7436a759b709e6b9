#include "random_problems.h"

#include <algorithm>
#include <tuple>
#include <utility>

using selvage::Activation;
using selvage::Axis;
using selvage::Op;
using selvage::Problem;

namespace {

/// The products of one problem; a thousand of these take the oracle a few seconds.
constexpr std::int64_t usual_work = 1500000;
/// The same for the few problems that are too large for caches, which kernels cut into strips.
constexpr std::int64_t large_work = 10000000;

std::int64_t reach(const Axis &axis) { return axis.dilation * (axis.kernel - 1) + 1; }

/// Two different pads for a side pair, taken out of 0..kernel+2.
std::pair<int, int> distinct_pads(Random &random, std::int64_t kernel) {
    const int first = random.between(0, int(kernel) + 2);
    const int second = random.between(0, int(kernel) + 1);
    return {first, second + (second >= first)};
}

void set_pads(Random &random, Problem *p) {
    if (random.one_in(4)) { // none
        p->y.begin = p->y.end = p->x.begin = p->x.end = 0;
    } else if (random.one_in(10)) { // the usual symmetric ones
        p->y.begin = p->y.end = reach(p->y) / 2;
        p->x.begin = p->x.end = reach(p->x) / 2;
    } else { // distinct, and now and then a crop
        for (Axis *axis : {&p->y, &p->x})
            std::tie(axis->begin, axis->end) = distinct_pads(random, axis->kernel);
        for (int tries = 0; tries < 8 && (p->x.begin == p->y.begin || p->x.begin == p->y.end ||
                                          p->x.end == p->y.begin || p->x.end == p->y.end);
             ++tries)
            std::tie(p->x.begin, p->x.end) = distinct_pads(random, p->x.kernel);
        if (random.one_in(5)) {
            for (std::int64_t *pad : {&p->y.begin, &p->y.end, &p->x.begin, &p->x.end})
                if (random.one_in(2))
                    *pad = -random.between(1, 4);
        }
    }
}

/// A size for which the window rule gives `outputs` places, or as near as a size comes of which the
/// crops leave something.
void set_size(Random &random, int outputs, Axis *axis) {
    const std::int64_t crop =
        std::max<std::int64_t>(0, -axis->begin) + std::max<std::int64_t>(0, -axis->end);
    const std::int64_t needed =
        (outputs - 1) * axis->stride + axis->phase + reach(*axis) - axis->begin - axis->end;
    axis->size = std::max(needed + random.between(0, int(axis->stride) - 1), crop + 1);
}

int pick_channels(Random &random) {
    if (random.one_in(3))
        return random.between(1, 20);
    const int vectors = random.pick({4, 8, 16, 16, 32, 32, 48, 64, 96, 128});
    return std::max(1, vectors + random.pick({0, 0, 0, 0, -1, 1, 3}));
}

int pick_outputs(Random &random) {
    if (random.one_in(40))
        return 0;
    return random.one_in(2) ? random.between(1, 9)
                            : random.pick({1, 7, 8, 13, 14, 15, 16, 17, 28, 29, 33});
}

void set_channels(Random &random, Problem *p) {
    if (p->op == Op::conv2d) {
        p->g = random.one_in(3) ? random.pick({2, 3, 4, 8}) : 1;
        p->c = pick_channels(random);
        p->k = pick_channels(random);
        if (p->g > 1) { // whole groups, narrow and wide ones
            p->c = p->g * random.pick({1, 2, 3, 4, 8, 16, 17});
            p->k = p->g * random.pick({1, 2, 4, 5, 8, 16, 32, 33});
        }
    } else {
        p->c = pick_channels(random);
        p->k = p->c;
        if (p->op == Op::depthwise2d && random.one_in(8))
            p->k *= random.pick({2, 3, 4});
    }
}

/// Half of the windows are the usual square ones, which kernels are specialised for.
void set_window(Random &random, Problem *p) {
    if (random.one_in(2)) {
        p->y.kernel = p->x.kernel = random.pick({2, 3, 3, 5});
        p->y.stride = p->x.stride = random.pick({1, 2});
        return;
    }
    p->y.kernel = random.pick({1, 2, 3, 3, 3, 4, 5, 7});
    p->x.kernel = random.one_in(3) ? random.pick({1, 2, 3, 4, 5, 6, 7}) : p->y.kernel;
    p->y.stride = random.pick({1, 1, 1, 2, 2, 3, 4});
    p->x.stride = random.one_in(3) ? random.pick({1, 2, 3, 5}) : p->y.stride;
    p->y.dilation = random.pick({1, 1, 1, 1, 2, 3});
    p->x.dilation = random.one_in(3) ? random.pick({1, 2, 3}) : p->y.dilation;
}

/// Makes the problem smaller until it is cheap; channels last, since they choose the kernels.
void limit_work(std::int64_t limit, Problem *p) {
    const auto work = [p] {
        const std::int64_t taps =
            p->y.kernel * p->x.kernel * p->k * (p->op == Op::conv2d ? p->c / p->g : 1);
        return p->n * (p->y.size / p->y.stride + 1) * (p->x.size / p->x.stride + 1) * taps;
    };
    const auto shrink = [&](std::int64_t *value, std::int64_t least) {
        while (work() > limit && *value > least)
            --*value;
    };
    const auto least_size = [](const Axis &axis) {
        return std::max<std::int64_t>(
            {1, 1 - std::min<std::int64_t>(0, axis.begin) - std::min<std::int64_t>(0, axis.end),
             axis.phase + reach(axis) - axis.begin - axis.end});
    };
    shrink(&p->n, 1);
    shrink(&p->y.size, least_size(p->y));
    shrink(&p->x.size, least_size(p->x));
}

} // namespace

std::uint64_t Random::next() {
    // splitmix64: any seed, 0 included, gives a good sequence.
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

Problem random_problem(Op op, std::uint64_t seed) {
    Random random(seed);
    Problem p;
    p.op = op;
    p.n = random.one_in(30) ? 0 : random.pick({1, 1, 1, 2, 3});
    set_channels(random, &p);
    const bool large = op == Op::conv2d && random.one_in(40);
    if (large) {
        p.g = 1;
        p.c = random.pick({96, 128, 130});
        p.k = random.between(1, 16);
    }

    set_window(random, &p);
    if (random.one_in(2)) {
        p.y.phase = random.between(0, int(p.y.stride) - 1);
        p.x.phase = random.between(0, int(p.x.stride) - 1);
    }
    set_pads(random, &p);
    for (Axis *axis : {&p.y, &p.x})
        set_size(random, large ? random.between(30, 50) : pick_outputs(random), axis);
    limit_work(large ? large_work : usual_work, &p);

    if (is_pool(op)) {
        p.ceil = random.one_in(2);
        p.include_pad = op == Op::avg_pool2d && random.one_in(2);
    } else {
        p.value = random.one_in(3) ? float(random.between(-3, 3)) : 0;
        p.bias = random.one_in(2);
        p.act = random.pick({Activation::none, Activation::none, Activation::relu,
                             Activation::relu6, Activation::clamp});
        if (p.act == Activation::clamp) {
            p.act_low = float(random.between(-20, 5));
            p.act_high = p.act_low + float(random.between(0, 30));
        }
    }
    return p;
}

std::vector<float> random_integers(Random &random, std::size_t count, int magnitude,
                                   double density) {
    const auto limit = std::uint64_t(density * 1024);
    std::vector<float> values(count);
    for (float &value : values) {
        const std::uint64_t bits = random.next();
        if ((bits & 1023) < limit)
            value = float(int((bits >> 10) % (2 * magnitude + 1)) - magnitude);
    }
    return values;
}
