#include "trial.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>

#include <unistd.h>

#include "oracle.h"
#include "random_problems.h"

using selvage::Activation;
using selvage::Op;
using selvage::Plan;
using selvage::Problem;
using selvage::Status;
using selvage::Tensor;
using selvage::WeightOrder;

namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
/// No result is this number, and a NaN could not be told from one.
constexpr float sentinel = -98765432.f;

std::int64_t inputs_of_output(const Problem &p) { return p.op == Op::conv2d ? p.c / p.g : 1; }

oracle::Axis axis_of(const selvage::Axis &a) {
    return {int(a.size),  int(a.kernel), int(a.stride), int(a.dilation),
            int(a.begin), int(a.end),    int(a.phase)};
}

oracle::Problem oracle_problem(const Problem &p) {
    oracle::Problem result;
    result.op = p.op == Op::conv2d        ? oracle::Op::conv
                : p.op == Op::depthwise2d ? oracle::Op::depthwise
                : p.op == Op::max_pool2d  ? oracle::Op::max_pool
                                          : oracle::Op::avg_pool;
    result.n = int(p.n);
    result.c = int(p.c);
    result.k = int(p.k);
    result.groups = int(p.g);
    result.y = axis_of(p.y);
    result.x = axis_of(p.x);
    result.border = p.value;
    if (p.act == Activation::relu || p.act == Activation::relu6)
        result.low = 0;
    if (p.act == Activation::relu6)
        result.high = 6;
    if (p.act == Activation::clamp) {
        result.low = p.act_low;
        result.high = p.act_high;
    }
    result.include_pad = p.include_pad;
    result.ceil = p.ceil;
    return result;
}

/// OIHW to HWIO; the library's documentation of WeightOrder is the source.
std::vector<float> hwio(const Problem &p, const std::vector<float> &oihw) {
    std::vector<float> result(oihw.size());
    const std::int64_t inputs = inputs_of_output(p), taps = p.y.kernel * p.x.kernel;
    for (std::int64_t o = 0; o < p.k; ++o)
        for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t tap = 0; tap < taps; ++tap)
                result[(tap * inputs + i) * p.k + o] = oihw[(o * inputs + i) * taps + tap];
    return result;
}

/// The elements from the first of a view to its last.
template <class T> std::int64_t span(const Tensor<T> &view) {
    if (view.n == 0 || view.h == 0 || view.w == 0)
        return 0;
    return (view.n - 1) * view.stride_n + (view.h - 1) * view.stride_h +
           (view.w - 1) * view.stride_w + view.c;
}

/// Calls visit(element) for every element of a view in NHWC order.
template <class T, class Visit> void for_each(const Tensor<T> &view, Visit visit) {
    for (std::int64_t n = 0; n < view.n; ++n)
        for (std::int64_t h = 0; h < view.h; ++h)
            for (std::int64_t w = 0; w < view.w; ++w)
                for (std::int64_t c = 0; c < view.c; ++c)
                    visit(view.data[n * view.stride_n + h * view.stride_h + w * view.stride_w + c]);
}

/// A view of the given sizes in fresh memory: dense or with gaps between pixels, rows and images,
/// and against the front or the back guard page.
std::unique_ptr<GuardedMemory> place(Random &random, Tensor<float> *view) {
    *view = selvage::dense<float>(nullptr, view->n, view->h, view->w, view->c);
    if (random.one_in(2)) {
        view->stride_w += random.pick({0, 0, 1, 3, 16});
        view->stride_h = view->w * view->stride_w + random.pick({0, 1, 5, 32});
        view->stride_n = view->h * view->stride_h + random.pick({0, 2, 7});
    }
    auto memory = std::make_unique<GuardedMemory>(span(*view) * sizeof(float));
    view->data = random.one_in(3) ? memory->begin<float>() : memory->last<float>(span(*view));
    return memory;
}

void fill(const GuardedMemory &memory, float value) {
    std::fill(memory.begin<float>(), memory.end<float>(), value);
}

/// A kernel's own memory starts as NaN, and outside of it these bytes must survive.
void fill_with_ones(const GuardedMemory &memory) {
    std::fill(memory.begin<std::byte>(), memory.end<std::byte>(), std::byte(0xff));
}

bool survived_outside(const GuardedMemory &memory, const std::byte *data, std::size_t bytes) {
    const auto is_ones = [](std::byte value) { return value == std::byte(0xff); };
    const std::byte *begin = memory.begin<std::byte>(), *end = memory.end<std::byte>();
    return std::all_of(begin, data, is_ones) && std::all_of(data + bytes, end, is_ones);
}

char running[4096]; // what the signal handler prints

void print_running(int) {
    // Only calls that are safe in a handler. It runs once, then the fault kills the process.
    if (write(STDERR_FILENO, running, std::strlen(running)) < 0)
        _exit(1);
}

std::string repro(const Problem &problem, std::uint64_t seed, const std::string &kernel) {
    const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
    return kernel + "\n  SELVAGE_SEED=" + std::to_string(seed) + " SELVAGE_PROBLEM='" +
           text(problem) + "' " + program_invocation_name +
           " --gtest_filter=" + test.test_suite_name() + "." + test.name();
}

} // namespace

Data random_data(const Problem &p, std::uint64_t seed) {
    Random random(seed ^ 0xda7a); // not the sequence that random_problem() drew from
    Data data;
    const std::size_t input_size = p.n * p.y.size * p.x.size * p.c;
    if (is_pool(p.op)) {
        data.input = random_integers(random, input_size, 100);
        if (p.op == Op::max_pool2d) {
            // Where all is negative, a border of 0 would win.
            const bool negative = random.one_in(2), with_nan = random.one_in(4);
            for (float &value : data.input) {
                if (negative)
                    value -= 101;
                if (with_nan && random.one_in(100))
                    value = quiet_nan;
            }
        }
        return data;
    }
    const std::int64_t taps = inputs_of_output(p) * p.y.kernel * p.x.kernel;
    // Sums of many products would nearly all lie outside the bounds of relu6 and clamp.
    const bool bounded = p.act == Activation::relu6 || p.act == Activation::clamp;
    const double density = bounded ? std::min(1., 3. / double(taps)) : 1;
    data.input = random_integers(random, input_size, bounded ? 4 : 8);
    data.weights = random_integers(random, p.k * taps, bounded ? 2 : 4, density);
    if (p.bias)
        data.bias = random_integers(random, p.k, bounded ? 5 : 40);
    return data;
}

bool same_number(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<float> expected_output(const Problem &problem, const Data &data) {
    return oracle::compute(oracle_problem(problem), data.input, data.weights, data.bias);
}

Trial::Trial(const Problem &problem, const Data &data, std::uint64_t seed)
    : problem_(problem), seed_(seed), expected_(expected_output(problem, data)),
      weights_memory_(data.weights.size() * sizeof(float)),
      bias_memory_(data.bias.size() * sizeof(float)) {
    Random random(seed ^ 0x1a707);

    if (!data.weights.empty()) {
        order_ = random.pick({WeightOrder::oihw, WeightOrder::hwio});
        float *weights = weights_memory_.last<float>(data.weights.size());
        const std::vector<float> ordered =
            order_ == WeightOrder::oihw ? data.weights : hwio(problem, data.weights);
        std::copy(ordered.begin(), ordered.end(), weights);
        weights_memory_.make_read_only();
        weights_ = weights;
    }
    if (!data.bias.empty()) {
        float *bias = bias_memory_.last<float>(data.bias.size());
        std::copy(data.bias.begin(), data.bias.end(), bias);
        bias_memory_.make_read_only();
        bias_ = bias;
    }

    Tensor<float> input = {nullptr, problem.n, problem.y.size, problem.x.size, problem.c, 0, 0, 0};
    input_memory_ = place(random, &input);
    fill(*input_memory_, quiet_nan);
    auto next = data.input.begin();
    for_each(input, [&](float &element) { element = *next++; });
    input_memory_->make_read_only();
    input_ = {input.data, input.n,        input.h,        input.w,
              input.c,    input.stride_n, input.stride_h, input.stride_w};

    const oracle::Problem o = oracle_problem(problem);
    output_ = {nullptr,
               problem.n,
               oracle::outputs(o.y, o.ceil),
               oracle::outputs(o.x, o.ceil),
               problem.k,
               0,
               0,
               0};
    output_memory_ = place(random, &output_);
}

void Trial::announce(const std::string &kernel) const {
    std::snprintf(running, sizeof running, "\nfault in %s\n",
                  repro(problem_, seed_, kernel).c_str());
    struct sigaction action = {};
    action.sa_handler = print_running;
    action.sa_flags = int(SA_RESETHAND);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
        sigaction(signal, &action, nullptr);
}

testing::AssertionResult Trial::holds(const Plan &plan) const {
    announce(plan.kernel());
    const auto failure = [&] {
        return testing::AssertionFailure() << repro(problem_, seed_, plan.kernel()) << "\n  ";
    };

    const GuardedMemory packed_memory(plan.packed_bytes());
    std::byte *packed = nullptr;
    if (weights_) {
        fill_with_ones(packed_memory);
        packed = packed_memory.last<std::byte>(plan.packed_bytes(), selvage::alignment);
        const Status status = plan.pack(weights_, order_, bias_, packed);
        if (!status.ok())
            return failure() << "pack: " << status.text();
        if (!survived_outside(packed_memory, packed, plan.packed_bytes()))
            return failure() << "pack() wrote outside packed_bytes()";
        packed_memory.make_read_only();
    }

    const GuardedMemory scratch_memory(plan.scratch_bytes());
    fill_with_ones(scratch_memory);
    auto *scratch = scratch_memory.last<std::byte>(plan.scratch_bytes(), selvage::alignment);
    fill(*output_memory_, sentinel);
    const Status status = plan.run(input_, packed, output_, scratch, plan.scratch_bytes());
    if (!status.ok())
        return failure() << "run: " << status.text();
    if (const testing::AssertionResult right = output_is_right(); !right)
        return failure() << right.message();
    if (!survived_outside(scratch_memory, scratch, plan.scratch_bytes()))
        return failure() << "run() wrote outside scratch_bytes()";
    return testing::AssertionSuccess();
}

bool Trial::adjacent_pixels() const {
    return input_.stride_w == input_.c && output_.stride_w == output_.c;
}

testing::AssertionResult Trial::output_is_right() const {
    // Right elements turn back into sentinels, and after that there must be nothing else.
    std::size_t index = 0, wrong = 0, first_wrong = 0;
    float found = 0;
    for_each(output_, [&](float &element) {
        const float expected = expected_[index];
        if (!same_number(element, expected) && wrong++ == 0) {
            first_wrong = index;
            found = element;
        }
        element = sentinel;
        ++index;
    });
    if (wrong > 0) {
        const std::size_t k = output_.c, w = output_.w, h = output_.h;
        return testing::AssertionFailure()
               << wrong << " of " << expected_.size() << " values are wrong; first at n "
               << first_wrong / k / w / h << " y " << first_wrong / k / w % h << " x "
               << first_wrong / k % w << " channel " << first_wrong % k << ": " << found
               << (found == sentinel ? " (never written)" : "") << " instead of "
               << expected_[first_wrong];
    }
    if (std::any_of(output_memory_->begin<float>(), output_memory_->end<float>(),
                    [](float value) { return value != sentinel; }))
        return testing::AssertionFailure() << "memory outside the output view was written";
    return testing::AssertionSuccess();
}
