// Winograd kernels: who takes them, what they round, and the same bits however the output is cut.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "selvage/kernels.h"
#include "selvage/plan.h"

#include "hold.h"
#include "random_problems.h"
#include "winograd_bound.h"

using selvage::Family;
using selvage::KernelRow;
using selvage::Op;
using selvage::Options;
using selvage::Plan;
using selvage::Problem;
using selvage::Range;
using selvage::Region;

namespace {

std::vector<const KernelRow *> winograd_rows() {
    std::vector<const KernelRow *> rows;
    for (const KernelRow *row : kernels_of("conv"))
        if (row->family == Family::winograd)
            rows.push_back(row);
    return rows;
}

/// Runs a plan on dense data, a part of the whole output.
void run(const Plan &plan, const Data &data, const Region &whole, const std::byte *packed,
         std::vector<float> *output) {
    const Problem &p = plan.problem();
    const GuardedMemory scratch(plan.scratch_bytes());
    const selvage::Status status = plan.run(
        cut(selvage::dense(data.input.data(), p.n, p.z.size, p.y.size, p.x.size, p.c, p.layout),
            plan.input_region()),
        packed,
        cut(selvage::dense(output->data(), p.n, whole.z.size, whole.y.size, whole.x.size, p.k,
                           p.layout),
            plan.output_region()),
        scratch.begin<std::byte>(), plan.scratch_bytes());
    ASSERT_TRUE(status.ok()) << status.text();
}

// The matrices.

TEST(WinogradMatrices, GiveTheSumsOfAConvolution) {
    for (const auto &[outputs, taps] : {std::pair(2, 3), {3, 3}, {4, 3}, {3, 2}}) {
        const WinogradMatrices &of = winograd_matrices(outputs, taps);
        // Whatever is linear in each number is right for all if it is for each alone.
        for (int t = 0; t < taps; ++t)
            for (int q = 0; q < outputs + taps - 1; ++q)
                for (int i = 0; i < outputs; ++i) {
                    double sum = 0;
                    for (std::size_t u = 0; u < of.b.size(); ++u)
                        sum += of.a[i][u] * of.g[u][t] * of.b[u][q];
                    EXPECT_NEAR(sum, q == i + t ? 1 : 0, 1e-15) << outputs << " " << taps;
                }
    }
}

/// docs/accuracy.md tells these: the largest magnitude of a result over channels, the largest input
/// and the largest weight, with which errors are multiplied.
TEST(WinogradMatrices, MagnifyAsDocumented) {
    for (const auto &[outputs, taps, magnified] :
         {std::tuple(2, 3, 64), {3, 2, 36}, {3, 3, 592}, {4, 3, 2304}}) {
        const WinogradMatrices &of = winograd_matrices(outputs, taps);
        const auto sum = [](const std::vector<double> &numbers) {
            double result = 0;
            for (const double number : numbers)
                result += std::abs(number);
            return result;
        };
        double most = 0;
        for (const std::vector<double> &row : of.a) {
            double along = 0;
            for (std::size_t u = 0; u < of.b.size(); ++u)
                along += std::abs(row[u]) * sum(of.g[u]) * sum(of.b[u]);
            most = std::max(most, along);
        }
        EXPECT_NEAR(most * most, magnified, 0.5) << outputs << " " << taps;
    }
}

// Errors.

class Winograd : public testing::TestWithParam<const KernelRow *> {
protected:
    static Options options() { return {GetParam()->isa, GetParam()->schedule}; }

    /// A random problem that the kernel takes.
    static Problem problem(std::uint64_t seed) {
        Random random(seed ^ 0x7119);
        Problem p = random_problem(Op::conv, seed);
        while (p.n == 0 || p.rank == 1)
            p = random_problem(Op::conv, seed += 1000);
        p.layout = selvage::Layout::nhwc;
        p.z.kernel = 1;
        for (selvage::Axis *axis : {&p.y, &p.x}) {
            axis->kernel = GetParam()->kernel;
            axis->stride = 1;
            axis->phase = 0;
            axis->dilation = random.pick({1, 1, 1, 2, 3});
            axis->size = axis->dilation * random.pick({3, 5, 8, 9, 12, 14, 17}) +
                         std::max<std::int64_t>(0, -axis->begin) +
                         std::max<std::int64_t>(0, -axis->end);
        }
        return p;
    }
};

/// Every sum of whole numbers is whole where the weights are multiples of G's divisors: then there
/// is nothing to round, and one wrong place of a matrix shows.
TEST_P(Winograd, IsExactOnWholeNumbers) {
    const int divisor = winograd_matrices(GetParam()->output_tile, GetParam()->kernel).divisor;
    const std::uint64_t seed = seed_from_environment();
    int exact = 0;
    for (std::uint64_t each = seed; each < seed + sample(60); ++each) {
        Problem p = problem(each);
        p.c = p.g * std::min<std::int64_t>(p.c / p.g, 4);
        Random random(each);
        Data data = random_data(p, each); // for its sizes
        for (float &number : data.input)
            number = float(random.between(-1, 1));
        for (float &weight : data.weights)
            weight = float(random.between(-1, 1) * divisor * divisor);
        p.value = float(random.between(-1, 1));
        const std::vector<double> bounds = winograd_bound(p, data, GetParam()->output_tile);
        exact += std::all_of(bounds.begin(), bounds.end(), [](double each) { return each == 0; });
        Plan plan;
        const selvage::Status status = make_plan(p, options(), &plan);
        ASSERT_TRUE(status.ok()) << status.text();
        ASSERT_TRUE(Trial(p, data, each).holds(plan));
    }
    EXPECT_GE(exact, sample(50));
}

/// Numbers whose sums are rounded.
Data random_reals(const Problem &p, std::uint64_t seed) {
    Random random(seed);
    Data data = random_data(p, seed); // for its sizes
    for (std::vector<float> *numbers : {&data.input, &data.weights, &data.bias})
        for (float &number : *numbers)
            number = float(random.between(-16777216, 16777216)) / 16777216;
    return data;
}

TEST_P(Winograd, RoundsNoMoreThanTheBound) {
    const std::uint64_t seed = seed_from_environment();
    for (std::uint64_t each = seed; each < seed + sample(60); ++each) {
        const Problem p = problem(each);
        Plan plan;
        ASSERT_TRUE(make_plan(p, options(), &plan).ok()) << text(p);
        ASSERT_TRUE(Trial(p, random_reals(p, each), each).holds(plan));
    }
}

/// The largest error of a kernel, relative to the sum of magnitudes of the products in each result.
double largest_error(const Problem &p, const Data &data, const Options &options) {
    Plan plan;
    EXPECT_TRUE(make_plan(p, options, &plan).ok());
    Data magnitudes = data;
    for (std::vector<float> *numbers : {&magnitudes.input, &magnitudes.weights})
        for (float &number : *numbers)
            number = std::abs(number);
    const std::vector<float> right = expected_output(p, data).values,
                             all = expected_output(p, magnitudes).values;
    std::vector<float> found(right.size());
    const GuardedMemory packed(plan.packed_bytes());
    EXPECT_TRUE(plan.pack(data.weights.data(), selvage::WeightOrder::oihw, nullptr,
                          packed.begin<std::byte>())
                    .ok());
    run(plan, data, plan.output_region(), packed.begin<std::byte>(), &found);
    double most = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
        most = std::max(most, std::abs(double(found[i]) - double(right[i])) / double(all[i]));
    return most;
}

/// For docs/accuracy.md, of the widest instruction set.
TEST(WinogradErrors, AreMeasured) {
    const std::string isa = selvage::available_isas().back();
    for (const int taps : {3, 2}) {
        const std::string size = std::to_string(taps);
        for (const char *channels : {"c=64 k=64", "c=512 k=16"}) {
            const Problem p = parse("conv2d " + std::string(channels) + " in=28x28 kernel=" + size);
            const Data data = random_reals(p, 1);
            std::printf("%s %sx%s: direct %.1e", channels, size.c_str(), size.c_str(),
                        largest_error(p, data, {isa, ""}));
            for (const KernelRow *row : winograd_rows())
                if (row->isa == isa && row->kernel == taps)
                    std::printf(", %s %.1e", row->schedule,
                                largest_error(p, data, {isa, row->schedule}));
            std::printf("\n");
        }
    }
}

// Pieces.

/// The bits of an output do not tell which thread, or which tile of what origin, computed it.
TEST_P(Winograd, HasTheSameBitsInPieces) {
    const std::uint64_t seed = seed_from_environment();
    for (std::uint64_t each = seed; each < seed + sample(40); ++each) {
        const Problem p = problem(each);
        const Data data = random_reals(p, each);
        Plan plan;
        ASSERT_TRUE(make_plan(p, options(), &plan).ok()) << text(p);
        const Region all = plan.output_region();
        if (all.y.size * all.x.size * all.z.size == 0)
            continue;
        const GuardedMemory memory(plan.packed_bytes());
        auto *const packed = memory.begin<std::byte>();
        ASSERT_TRUE(plan.pack(data.weights.data(), selvage::WeightOrder::oihw,
                              p.bias ? data.bias.data() : nullptr, packed)
                        .ok());
        std::vector<float> once(std::size_t(p.n * all.z.size * all.y.size * all.x.size * p.k));
        run(plan, data, all, packed, &once);
        const auto same = [&](const std::vector<float> &pieces) {
            return std::memcmp(once.data(), pieces.data(), once.size() * sizeof(float)) == 0;
        };
        Random random(each);
        std::vector<float> tiled(once.size(), -12345);
        for (std::int64_t y = 0, rows; y < all.y.size; y += rows)
            for (std::int64_t x = rows = 0, columns; x < all.x.size; x += columns) {
                rows = rows > 0 ? rows : random.between(1, int(all.y.size - y));
                columns = random.between(1, int(all.x.size - x));
                Plan tile;
                ASSERT_TRUE(plan.tile({all.z, {y, rows}, {x, columns}}, &tile).ok());
                EXPECT_EQ(tile.kernel(), plan.kernel());
                run(tile, data, all, packed, &tiled);
            }
        EXPECT_TRUE(same(tiled)) << "tiles of " << text(p) << " seed " << each;
        for (int threads : {2, 3, 7}) {
            Options shared = options();
            shared.threads = threads;
            Plan shares;
            ASSERT_TRUE(make_plan(p, shared, &shares).ok()) << text(p);
            std::vector<float> apart(once.size(), -12345);
            run(shares, data, all, packed, &apart);
            EXPECT_TRUE(same(apart)) << threads << " threads, " << text(p) << " seed " << each;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Winograd, testing::ValuesIn(winograd_rows()), [](const auto &info) {
    return std::string(info.param->schedule) + "_" + info.param->isa;
});

// Who takes them.

std::string kernel_of(const std::string &problem, const std::string &accuracy) {
    Options options;
    options.accuracy = accuracy;
    options.adjacent_pixels = true;
    Plan plan;
    const selvage::Status status = make_plan(parse(problem), options, &plan);
    EXPECT_TRUE(status.ok()) << status.text();
    return plan.kernel();
}

bool is_winograd(const std::string &kernel) { return kernel.find("/winograd_") != kernel.npos; }

TEST(Accuracy, OnlyFastTakesWinograd) {
    const std::string layer = "conv2d c=64 k=64 in=56x56 kernel=3 pads=1";
    EXPECT_FALSE(is_winograd(kernel_of(layer, "")));
    EXPECT_FALSE(is_winograd(kernel_of(layer, "exact")));
    EXPECT_TRUE(is_winograd(kernel_of(layer, "fast")));
    setenv("SELVAGE_ACCURACY", "fast", 1);
    EXPECT_TRUE(is_winograd(kernel_of(layer, "")));
    EXPECT_FALSE(is_winograd(kernel_of(layer, "exact")));
    unsetenv("SELVAGE_ACCURACY");
}

TEST(Accuracy, FastTakesWinogradWhereItIsFaster) {
    for (const char *layer : {"c=64 k=64 in=56x56 kernel=3 pads=1", "c=512 k=512 in=28x28 kernel=3",
                              "c=256 k=256 in=28x28 kernel=3 pads=2 dilation=2"})
        EXPECT_TRUE(is_winograd(kernel_of(std::string("conv2d ") + layer, "fast"))) << layer;
    // Small maps of many channels, whose transformed weights are read from memory; first layers;
    // other strides and kernels.
    for (const char *layer :
         {"c=512 k=512 in=7x7 kernel=3 pads=1", "c=3 k=32 in=56x56 kernel=3 pads=1",
          "c=64 k=64 in=56x56 kernel=3 pads=1 stride=2", "c=64 k=64 in=56x56 kernel=1"})
        EXPECT_FALSE(is_winograd(kernel_of(std::string("conv2d ") + layer, "fast"))) << layer;
}

TEST(Accuracy, EveryDeclineHasAReason) {
    const auto reason = [](const std::string &problem) {
        Plan plan;
        Options options;
        options.schedule = winograd_rows().front()->schedule;
        return make_plan(parse(problem), options, &plan).text();
    };
    const auto expect = [&](const char *problem, const char *part) {
        const std::string text = reason(problem);
        EXPECT_NE(text.find(part), text.npos) << text;
    };
    if (winograd_rows().empty())
        return;
    expect("conv2d c=16 k=16 in=9x9 kernel=5", "takes kernel");
    expect("conv2d c=16 k=16 in=9x9 kernel=3 stride=2", "takes taps as far apart as outputs");
    expect("conv2d c=16 k=16 in=9x9 kernel=3 layout=nchw", "takes layout nhwc");
    expect("conv2d c=16 k=16 in=9x9 kernel=3 pads=1 value=inf", "takes a finite value");
    expect("conv_transpose2d c=16 k=16 in=9x9 kernel=3", "takes no transposed convolutions");
}

} // namespace
