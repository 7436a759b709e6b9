#include "trial.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include <unistd.h>

#include "selvage/kernels.h"

#include "device_subject.h"
#include "random_problems.h"
#include "typed_view.h"
#include "winograd_bound.h"

using selvage::Activation;
using selvage::Layout;
using selvage::Op;
using selvage::Plan;
using selvage::Problem;
using selvage::Range;
using selvage::Region;
using selvage::Status;
using selvage::Tensor;
using selvage::Type;
using selvage::WeightOrder;

namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// What memory holds that must not be written. No result is this number where there is room for
/// such a one, and a NaN could not be told from one.
template <class T> constexpr T sentinel = T(-98765432);
template <> constexpr std::uint8_t sentinel<std::uint8_t> = 0xa5;
template <> constexpr std::int8_t sentinel<std::int8_t> = 0x5a;

/// What an element holds before it is written: never what it must become.
template <class T, class Expected> T unwritten(Expected expected) {
    if constexpr (sizeof(T) == 1)
        return T(int(expected) ^ 0x55);
    return sentinel<T>;
}

/// What lies around the elements of an input: it must not get into any result.
template <class T> T poison() {
    return std::is_same_v<T, float> ? T(quiet_nan) : std::numeric_limits<T>::max();
}

bool convolves(Op op) { return op == Op::conv || op == Op::conv_transpose; }

/// The products of one output, at most.
std::int64_t taps_of_output(const Problem &p) {
    return (convolves(p.op) ? p.c / p.g : 1) * p.z.kernel * p.y.kernel * p.x.kernel;
}

oracle::Axis axis_of(const selvage::Axis &a) {
    return {int(a.size),     int(a.kernel),
            int(a.stride),   int(a.dilation),
            int(a.begin),    int(a.end),
            int(a.phase),    oracle::Mode(int(a.mode)), // both are declared in the same order
            int(a.adaptive), int(a.output_padding)};
}

oracle::Problem oracle_problem(const Problem &p) {
    oracle::Problem result;
    result.op = oracle::Op(int(p.op)); // both are declared in the same order
    result.n = int(p.n);
    result.c = int(p.c);
    result.k = int(p.k);
    result.groups = int(p.g);
    result.z = axis_of(p.z);
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
    if (p.type != Type::f32)
        result.lowest = p.type == Type::u8 ? 0 : -128;
    result.include_pad = p.include_pad;
    result.ceil = p.ceil;
    result.p = p.p;
    result.fixed = p.shift >= 0;
    result.shift = std::max(0, p.shift);
    result.skip_nan = !p.keep_nan;
    result.tensor_index = p.indices == selvage::Indices::tensor;
    result.column_index = p.order == selvage::IndexOrder::column;
    return result;
}

/// From the order `oihw` to `hwio`; the library's documentation of WeightOrder is the source. In
/// both orders of conv_transpose inputs come before outputs.
std::vector<float> hwio(const Problem &p, const std::vector<float> &oihw) {
    std::vector<float> result(oihw.size());
    const std::size_t taps = p.z.kernel * p.y.kernel * p.x.kernel;
    const std::size_t outer = p.op == Op::conv_transpose ? p.c : p.k;
    const std::size_t inner = oihw.size() / taps / outer;
    auto next = oihw.begin();
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t i = 0; i < inner; ++i)
            for (std::size_t tap = 0; tap < taps; ++tap)
                result[tap * outer * inner +
                       (p.op == Op::conv_transpose ? o * inner + i : i * outer + o)] = *next++;
    return result;
}

/// The elements from the first of a view to its last.
std::int64_t span(const Tensor<void> &v) {
    if (v.n == 0 || v.d == 0 || v.h == 0 || v.w == 0)
        return 0;
    return (v.n - 1) * v.stride_n + (v.d - 1) * v.stride_d + (v.h - 1) * v.stride_h +
           (v.w - 1) * v.stride_w + (v.c - 1) * v.stride_c + 1;
}

/// Calls visit(element, index) for every element of a view in NDHWC order, where the view is a part
/// of a whole; `index` is the element's place in the dense whole.
template <class T, class Visit>
void for_each(const Tensor<T> &view, const Region &part, const Region &whole, Visit visit) {
    for (std::int64_t n = 0; n < view.n; ++n)
        for (std::int64_t z = 0; z < view.d; ++z)
            for (std::int64_t y = 0; y < view.h; ++y)
                for (std::int64_t x = 0; x < view.w; ++x)
                    for (std::int64_t c = 0; c < view.c; ++c) {
                        const std::int64_t plane = n * whole.z.size + part.z.begin + z;
                        const std::int64_t row = plane * whole.y.size + part.y.begin + y;
                        const std::int64_t pixel = row * whole.x.size + part.x.begin + x;
                        visit(view.data[n * view.stride_n + z * view.stride_d + y * view.stride_h +
                                        x * view.stride_w + c * view.stride_c],
                              std::size_t(pixel * view.c + c));
                    }
}

/// The shape of a part of a tensor; it has no memory and no strides yet.
Tensor<void> shape(std::int64_t n, const Region &part, std::int64_t c) {
    return {nullptr, n, part.y.size, part.x.size, c, 0, 0, 0, part.z.size, 0, 0};
}

/// Half of the views are dense, the others have gaps along every axis but the innermost of the
/// layout. Only what is read may have its outer axes in another order than the layout's.
Tensor<void> with_strides(Tensor<void> view, Layout layout, bool in_any_order, Random &random) {
    struct Step {
        std::int64_t extent, *stride;
        std::vector<int> gaps;
    };
    const Step n = {view.n, &view.stride_n, {0, 2, 7}}, d = {view.d, &view.stride_d, {0, 1, 9}},
               h = {view.h, &view.stride_h, {0, 1, 5, 32}},
               w = {view.w, &view.stride_w, {0, 0, 1, 3, 16}},
               c = {view.c, &view.stride_c, {0, 0, 3, 17}};
    std::vector<Step> steps = layout == Layout::nhwc ? std::vector<Step>{c, w, h, d, n}
                                                     : std::vector<Step>{w, h, d, c, n};
    const bool gaps = random.one_in(2);
    if (gaps && in_any_order && random.one_in(3))
        std::swap(steps[random.between(1, 4)], steps[random.between(1, 4)]);
    std::int64_t stride = 1;
    for (const Step &step : steps) {
        const bool innermost = &step == &steps.front();
        const std::size_t gap = random.next() % step.gaps.size();
        *step.stride = stride + (gaps && !innermost ? step.gaps[gap] : 0);
        stride = std::max<std::int64_t>(1, step.extent) * *step.stride;
    }
    return view;
}

template <class T> void fill(const GuardedMemory &memory, T value) {
    std::fill(memory.begin<T>(), memory.end<T>(), value);
}

/// A kernel's own memory starts as NaN, and outside of it these bytes must survive.
void fill_with_ones(const GuardedMemory &memory) { fill(memory, std::byte(0xff)); }

bool survived_outside(const GuardedMemory &memory, const std::byte *data, std::size_t bytes) {
    const auto is_ones = [](std::byte value) { return value == std::byte(0xff); };
    const std::byte *begin = memory.begin<std::byte>(), *end = memory.end<std::byte>();
    return std::all_of(begin, data, is_ones) && std::all_of(data + bytes, end, is_ones);
}

/// A copy of some numbers that ends at a guard page and can only be read.
template <class T> void keep(const GuardedMemory &memory, const std::vector<float> &numbers) {
    std::copy(numbers.begin(), numbers.end(), memory.last<T>(numbers.size()));
    memory.make_read_only();
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

std::string describe(const Region &r) {
    const auto range = [](const char *name, const Range &range) {
        return std::string(" ") + name + " " + std::to_string(range.begin) + ".." +
               std::to_string(range.begin + range.size - 1);
    };
    return range("z", r.z) + range("y", r.y) + range("x", r.x);
}

/// The largest magnitudes of random data: of norms small, since powers add up.
constexpr int largest_number = 100, largest_of_norms = 30;

/// How far a float result may be from the expected one: relative to it, 0 but for norms that need
/// powers; and for each channel, empty where that is 0.
struct Tolerance {
    double relative = 0;
    std::vector<double> of_channel;
};

/// The relative one.
///
/// In units of half a last place: the C library's powf is right to 2, and the sum of `taps` powers
/// to as many as it has terms. The root divides the relative error of the sum by p, adds 2, and
/// that of its rounded exponent 1/p, which counts log(sum)/p times.
double relative_tolerance(const Problem &p) {
    if (p.op != Op::lp_pool || p.p == 1 || p.p == 2)
        return 0;
    const auto taps = [](const selvage::Axis &axis) {
        return double(axis.adaptive > 0 ? axis.size : axis.kernel);
    };
    const double terms = taps(p.z) * taps(p.y) * taps(p.x);
    const double log_of_sum = std::log(terms) + p.p * std::log(largest_of_norms);
    const double units = (2 + terms) / p.p + 2 + log_of_sum / p.p;
    return units * std::numeric_limits<float>::epsilon() / 2;
}

/// A view of outputs: which part of them it is, and of what.
template <class T, class Expected> struct Outputs {
    const char *what;
    Tensor<T> view;
    const GuardedMemory &memory;
    Region part, whole;
    const std::vector<Expected> &expected;

    /// Sentinels everywhere, and in the view what no result is.
    void blank() const {
        fill(memory, sentinel<T>);
        for_each(view, part, whole,
                 [&](T &element, std::size_t index) { element = unwritten<T>(expected[index]); });
    }

    /// Right elements turn back into sentinels, and after that there must be nothing else.
    testing::AssertionResult check(const Tolerance &tolerance) const {
        std::size_t wrong = 0, first_wrong = 0;
        T found = 0;
        for_each(view, part, whole, [&](T &element, std::size_t index) {
            const auto is = double(element), should = double(expected[index]);
            const double bound =
                tolerance.relative * std::abs(should) +
                (tolerance.of_channel.empty() ? 0 : tolerance.of_channel[index % view.c]);
            const bool right = is == should || (std::isnan(is) && std::isnan(should)) ||
                               std::abs(is - should) <= bound;
            if (!right && wrong++ == 0) {
                first_wrong = index;
                found = element;
            }
            element = sentinel<T>;
        });
        if (wrong > 0) {
            const std::size_t k = view.c, w = whole.x.size, h = whole.y.size, d = whole.z.size;
            return testing::AssertionFailure()
                   << wrong << " of " << expected.size() << " " << what << " are wrong; first at n "
                   << first_wrong / k / w / h / d << " z " << first_wrong / k / w / h % d << " y "
                   << first_wrong / k / w % h << " x " << first_wrong / k % w << " channel "
                   << first_wrong % k << ": " << double(found)
                   << (found == unwritten<T>(expected[first_wrong]) ? " (never written)" : "")
                   << " instead of " << expected[first_wrong];
        }
        if (std::any_of(memory.begin<T>(), memory.end<T>(),
                        [](T value) { return value != sentinel<T>; }))
            return testing::AssertionFailure()
                   << "memory outside the view of the " << what << " was written";
        return testing::AssertionSuccess();
    }
};

/// Of the kernel of a plan.
int output_tile(const Plan &plan) {
    for (std::size_t i = 0; i < selvage::kernel_row_count(); ++i)
        if (name(selvage::kernel_rows()[i]) == plan.kernel())
            return selvage::kernel_rows()[i].output_tile;
    return 1;
}

/// Makes the weights those of a column times those of a row, where Options::separable is for that.
void separate(Random &random, const Problem &p, Data *data) {
    if (p.op != Op::filter || p.shift < 0 || p.z.kernel != 1)
        return;
    // Products in units of 2^-shift; most sums should lie in 0..255.
    const auto line = [&](std::int64_t taps, int unit) {
        return random_integers(random, taps, -unit / 2 - 1, unit, std::min(1., 4. / double(taps)));
    };
    const int row_shift = std::min(p.shift / 2, 4);
    const std::vector<float> row = line(p.x.kernel, 1 << row_shift);
    const std::vector<float> column = line(p.y.kernel, 1 << (p.shift - row_shift));
    data->weights.clear();
    for (std::int64_t k = 0; k < p.k; ++k)
        for (float y : column)
            for (float x : row)
                data->weights.push_back(y * x);
    // Then sums of a row have 16 bits, and all sums, in units of 2^-shift and with half of one, are
    // exact in float.
    const auto magnitude = [](const std::vector<float> &line) {
        return std::accumulate(line.begin(), line.end(), 0.,
                               [](double sum, float each) { return sum + std::abs(each); });
    };
    data->separable =
        255 * magnitude(row) < std::ldexp(1, 15) &&
        255 * magnitude(row) * magnitude(column) + std::ldexp(0.5, p.shift) <= std::ldexp(1, 24);
}

} // namespace

Data random_data(const Problem &p, std::uint64_t seed) {
    Random random(seed ^ 0xda7a); // not the sequence that random_problem() drew from
    Data data;
    const std::size_t input_size = p.n * p.z.size * p.y.size * p.x.size * p.c;
    const std::int64_t taps = taps_of_output(p);
    if (p.op == Op::filter) {
        data.input = random_integers(random, input_size, 0, 255);
        // Most sums should lie in 0..255.
        const double density = std::min(1., 12. / double(taps));
        const int unit = p.shift < 0 ? 8 : 1 << p.shift;
        data.weights = random_integers(random, p.k * taps, -unit / 2 - 1, unit, density);
        for (float &weight : data.weights)
            weight /= p.shift < 0 ? 8 : 1;
        if (random.one_in(2))
            separate(random, p, &data);
        return data;
    }
    if (!has_weights(p.op)) {
        // Few different numbers tie often. Where all are negative, a border of 0 would win.
        const bool ties = random.one_in(3);
        const bool negative = p.op == Op::max_pool && p.type == Type::f32 && random.one_in(2);
        const int most = p.op == Op::lp_pool ? largest_of_norms : largest_number;
        const int low = p.type == Type::u8 ? 0 : p.type == Type::i8 ? -128 : -most;
        const int range = ties ? 3 : p.type == Type::f32 ? 2 * most : 255;
        data.input = random_integers(random, input_size, low, low + range);
        const bool with_nan =
            p.type == Type::f32 && p.op != Op::lp_pool && random.one_in(p.keep_nan ? 4 : 2);
        for (float &value : data.input) {
            value -= negative ? largest_number + 1 : 0;
            if (with_nan && random.one_in(100))
                value = quiet_nan;
        }
        return data;
    }
    // Sums of many products would nearly all lie outside the bounds of relu6 and clamp.
    const bool bounded = p.act == Activation::relu6 || p.act == Activation::clamp;
    const double density = bounded ? std::min(1., 3. / double(taps)) : 1;
    const int most = bounded ? 4 : 8;
    data.input = random_integers(random, input_size, -most, most);
    const std::size_t outer = p.op == Op::conv_transpose ? p.c * (p.k / p.g) : p.k * taps;
    const std::size_t weights =
        p.op == Op::conv_transpose ? outer * p.z.kernel * p.y.kernel * p.x.kernel : outer;
    data.weights = random_integers(random, weights, -most / 2, most / 2, density);
    if (p.bias)
        data.bias = random_integers(random, p.k, bounded ? -5 : -40, bounded ? 5 : 40);
    return data;
}

Data separable_data(const Problem &p, std::uint64_t seed) {
    Random random(seed ^ 0x5e9a);
    Data data = random_data(p, seed);
    separate(random, p, &data);
    return data;
}

bool same_number(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

oracle::Result expected_output(const Problem &problem, const Data &data) {
    return oracle::compute(oracle_problem(problem), data.input, data.weights, data.bias);
}

/// A view in fresh memory, against the front or the back guard page.
template <class T> Trial::Placed Trial::place(Tensor<void> view, std::uint64_t seed) {
    Placed placed{view, std::make_unique<GuardedMemory>(span(view) * sizeof(T))};
    placed.view.data =
        Random(seed).one_in(3) ? placed.memory->begin<T>() : placed.memory->last<T>(span(view));
    return placed;
}

Trial::Trial(const Problem &problem, const Data &data, std::uint64_t seed, bool alike)
    : problem_(problem), data_(data), seed_(seed), expected_(expected_output(problem, data)),
      weights_(data.weights.size() * sizeof(float)), bias_(data.bias.size() * sizeof(float)) {
    Random random(seed ^ 0x1a707);
    order_ = random.pick({WeightOrder::oihw, WeightOrder::hwio});
    const std::vector<float> ordered =
        order_ == WeightOrder::oihw ? data.weights : hwio(problem, data.weights);
    if (problem.shift < 0)
        keep<float>(weights_, ordered);
    else
        keep<std::int16_t>(weights_, ordered);
    keep<float>(bias_, data.bias);

    const Region whole = output_region();
    const Tensor<void> written = shape(problem.n, whole, problem.k);
    input_.view =
        with_strides(shape(problem.n, input_region(), problem.c), problem.layout, true, random);
    with_type(problem.type, [&](auto number) {
        using T = decltype(number);
        input_ = place_input<T>(input_region());
        output_ = place<T>(with_strides(written, problem.layout, false, random), random.next());
    });
    if (problem.indices != selvage::Indices::none)
        indices_ = place<std::int64_t>(alike ? output_.view
                                             : with_strides(written, problem.layout, false, random),
                                       random.next());
}

/// A part of the input, alone in memory of its own, with the strides of the whole input.
template <class T> Trial::Placed Trial::place_input(const Region &part) const {
    Tensor<void> view = input_.view; // for its strides
    view.d = part.z.size;
    view.h = part.y.size;
    view.w = part.x.size;
    Placed placed = place<T>(view, seed_);
    fill(*placed.memory, poison<T>());
    for_each(as<T>(placed.view), part, input_region(),
             [&](T &element, std::size_t index) { element = T(data_.input[index]); });
    placed.memory->make_read_only();
    return placed;
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

Subject subject(const Plan &whole, const Plan &part) {
    const Problem &p = whole.problem();
    if (whole.device().queue() != nullptr)
        return device_subject(whole, part);
    Subject result = {part.kernel(),
                      part.output_region(),
                      part.input_region(),
                      whole.packed_bytes(),
                      part.scratch_bytes(),
                      nullptr,
                      nullptr,
                      output_tile(part)};
    result.pack = [=](const void *weights, WeightOrder order, const float *bias, void *packed) {
        return (p.shift < 0 ? whole.pack(static_cast<const float *>(weights), order, bias, packed)
                            : whole.pack(static_cast<const std::int16_t *>(weights), order, packed))
            .text();
    };
    result.run = [=](const Tensor<const void> &input, const void *packed,
                     const Tensor<void> &output, const Tensor<std::int64_t> *indices,
                     void *scratch) {
        return with_type(p.type, [&](auto number) {
            using T = decltype(number);
            return part
                .run(as<const T>(input), packed, as<T>(output), scratch, part.scratch_bytes(),
                     indices)
                .text();
        });
    };
    return result;
}

testing::AssertionResult Trial::holds(const Plan &plan) const {
    if (!(plan.output_region() == output_region()))
        return testing::AssertionFailure()
               << repro(problem_, seed_, plan.kernel()) << "\n  the output is"
               << describe(plan.output_region()) << " instead of" << describe(output_region());
    return holds(subject(plan, plan));
}

testing::AssertionResult Trial::holds(const Subject &subject) const {
    const testing::AssertionResult result = run(subject);
    if (result)
        return result;
    const bool part = !(subject.output == output_region());
    return testing::AssertionFailure()
           << repro(problem_, seed_, subject.name) << "\n  "
           << (part ? "tile" + describe(subject.output) + ": " : "") << result.message();
}

testing::AssertionResult Trial::holds(const Plan &plan, const Region &tile) const {
    const auto failure = [&] {
        return testing::AssertionFailure()
               << repro(problem_, seed_, plan.kernel()) << "\n  tile" << describe(tile) << ": ";
    };
    Plan part;
    if (const Status status = plan.tile(tile, &part); !status.ok())
        return failure() << status.text();
    if (!(part.output_region() == tile))
        return failure() << "computes" << describe(part.output_region());
    return holds(subject(plan, part));
}

testing::AssertionResult Trial::run(const Subject &subject) const {
    announce(subject.name);
    const GuardedMemory memory(subject.packed_bytes);
    std::byte *packed = nullptr;
    if (has_weights(problem_.op)) {
        fill_with_ones(memory);
        packed = memory.last<std::byte>(subject.packed_bytes, selvage::alignment);
        const std::size_t count = data_.weights.size();
        const void *weights = problem_.shift < 0
                                  ? static_cast<const void *>(weights_.last<float>(count))
                                  : weights_.last<std::int16_t>(count);
        const std::string failure =
            subject.pack(weights, order_,
                         problem_.bias ? bias_.last<float>(data_.bias.size()) : nullptr, packed);
        if (!failure.empty())
            return testing::AssertionFailure() << "pack: " << failure;
        if (!survived_outside(memory, packed, subject.packed_bytes))
            return testing::AssertionFailure() << "pack() wrote outside packed_bytes()";
        memory.make_read_only();
    }
    return with_type(problem_.type,
                     [&](auto number) { return run<decltype(number)>(subject, packed); });
}

template <class T>
testing::AssertionResult Trial::run(const Subject &subject, const std::byte *packed) const {
    const Region &in = subject.input, &out = subject.output, all = output_region();
    const bool reads_all = in == input_region();
    const Placed part = reads_all ? Placed() : place_input<T>(in);
    const Tensor<void> &input = reads_all ? input_.view : part.view;

    const Outputs<T, float> output = {
        "values", cut(as<T>(output_.view), out), *output_.memory, out, all, expected_.values};
    output.blank();
    const GuardedMemory scratch_memory(subject.scratch_bytes);
    fill_with_ones(scratch_memory);
    auto *scratch = scratch_memory.last<std::byte>(subject.scratch_bytes, selvage::alignment);
    std::string failure;
    testing::AssertionResult right_indices = testing::AssertionSuccess();
    const auto run = [&](const Tensor<std::int64_t> *indices) {
        failure =
            subject.run(as<const void>(input), packed, as<void>(output.view), indices, scratch);
    };
    if (problem_.indices == selvage::Indices::none) {
        run(nullptr);
    } else {
        const Outputs<std::int64_t, std::int64_t> indices = {
            "indices",        cut(as<std::int64_t>(indices_.view), out), *indices_.memory, out, all,
            expected_.indices};
        indices.blank();
        run(&indices.view);
        if (failure.empty())
            right_indices = indices.check({});
    }
    if (!failure.empty())
        return testing::AssertionFailure() << "run: " << failure;
    const Tolerance tolerance = {relative_tolerance(problem_),
                                 subject.output_tile == 1
                                     ? std::vector<double>()
                                     : winograd_bound(problem_, data_, subject.output_tile)};
    if (const testing::AssertionResult right = output.check(tolerance); !right)
        return right;
    if (!survived_outside(scratch_memory, scratch, subject.scratch_bytes))
        return testing::AssertionFailure() << "run() wrote outside scratch_bytes()";
    return right_indices;
}

bool Trial::adjacent_pixels() const {
    if (problem_.layout != Layout::nhwc)
        return true;
    for (const Placed *each : {&input_, &output_, &indices_})
        if (each->view.stride_w != each->view.c)
            return false;
    return true;
}

Region Trial::input_region() const {
    return {{0, problem_.z.size}, {0, problem_.y.size}, {0, problem_.x.size}};
}

Region Trial::output_region() const {
    return {{0, expected_.d}, {0, expected_.h}, {0, expected_.w}};
}
