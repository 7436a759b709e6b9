#include "selvage/problem.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <new>
#include <type_traits>
#include <vector>

#include "selvage/core/views.h"
#include "selvage/window.h"

namespace selvage {
namespace {

using Text = std::string_view;

// Values. What write() gives, read() takes; a value is read as a whole or not at all.

template <class Number> bool read(Text value, Number &number) {
    const char *const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    return error == std::errc() && stop == end;
}

bool read(Text value, bool &flag) {
    flag = value == "1";
    return flag || value == "0";
}

/// One value of a list of names.
template <class Named, std::size_t count, class Value>
bool read_name(Text text, const std::array<Named, count> &names, Value Named::*member,
               Value &value) {
    for (const Named &each : names)
        if (each.name == text) {
            value = each.*member;
            return true;
        }
    return false;
}

template <class Named, std::size_t count, class Value>
std::string write_name(const std::array<Named, count> &names, Value Named::*member, Value value) {
    for (const Named &each : names)
        if (each.*member == value)
            return std::string(each.name);
    return {};
}

bool read(Text value, Mode &mode) { return read_name(value, modes, &NamedMode::mode, mode); }

/// As many values as there are, or one that stands for all.
template <class Value>
bool read_each(Text text, char separator, const std::vector<Value *> &values) {
    const bool one = text.find(separator) == text.npos;
    for (Value *each : values) {
        const bool whole = one || each == values.back();
        const std::size_t length = whole ? text.size() : text.find(separator);
        if (length == text.npos || !read(text.substr(0, length), *each))
            return false;
        text.remove_prefix(whole ? 0 : length + 1);
    }
    return true;
}

bool read_act(Text value, Problem &problem) {
    const std::size_t colon = value.find(':');
    const Text act = value.substr(0, colon);
    if (act != "clamp") {
        problem.act = act == "relu"    ? Activation::relu
                      : act == "relu6" ? Activation::relu6
                                       : Activation::none;
        return value == "none" || value == "relu" || value == "relu6";
    }
    problem.act = Activation::clamp;
    const Text bounds = value.substr(colon == value.npos ? value.size() : colon + 1);
    const std::size_t between = bounds.find(':');
    return between != bounds.npos && read(bounds.substr(0, between), problem.act_low) &&
           read(bounds.substr(between + 1), problem.act_high);
}

template <class Number> std::string write(Number number) {
    char text[32]; // holds any 64-bit integer, and any float at its shortest
    return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}

std::string write(bool flag) { return flag ? "1" : "0"; }

std::string write(Mode mode) { return write_name(modes, &NamedMode::mode, mode); }

template <class Value> std::string write_each(char separator, const std::vector<Value> &values) {
    std::string text;
    for (const Value &value : values)
        text.append(text.empty() ? 0 : 1, separator).append(write(value));
    return text;
}

std::string write_act(const Problem &problem) {
    switch (problem.act) {
    case Activation::none: return "none";
    case Activation::relu: return "relu";
    case Activation::relu6: return "relu6";
    case Activation::clamp: break;
    }
    return "clamp:" + write(problem.act_low) + ":" + write(problem.act_high);
}

// Axes: as many as the rank, outermost first. Of a rank that no problem has, all.

std::vector<Axis *> axes(Problem &p) {
    const std::vector<Axis *> all = {&p.z, &p.y, &p.x};
    return {all.end() - (p.rank < 1 || p.rank > 3 ? 3 : p.rank), all.end()};
}

std::vector<const Axis *> axes(const Problem &p) {
    const std::vector<const Axis *> all = {&p.z, &p.y, &p.x};
    return {all.end() - (p.rank < 1 || p.rank > 3 ? 3 : p.rank), all.end()};
}

template <class Value> std::vector<Value *> members(Problem &p, Value Axis::*member) {
    std::vector<Value *> found;
    for (Axis *axis : axes(p))
        found.push_back(&(axis->*member));
    return found;
}

template <class Value> std::vector<Value> members(const Problem &p, Value Axis::*member) {
    std::vector<Value> found;
    for (const Axis *axis : axes(p))
        found.push_back(axis->*member);
    return found;
}

bool adaptive(const Problem &p) { return p.x.adaptive > 0; }

// Fields.

bool any(Op) { return true; }
bool grouped(Op op) { return op == Op::conv || op == Op::conv_transpose; }
bool activated(Op op) { return grouped(op) || op == Op::depthwise; }
bool valued(Op op) {
    return op == Op::conv || op == Op::depthwise || op == Op::filter || op == Op::pad;
}
bool bordered(Op op) { return op != Op::stride_sample; }
bool windowed(Op op) { return op != Op::stride_sample && op != Op::pad; }
bool strided(Op op) { return op != Op::pad; }
bool one_each(Op op) { return !activated(op); } ///< as many output channels as input channels
template <Op... ops> bool only(Op op) { return ((op == ops) || ...); }

struct Field {
    Text name;
    bool (*of)(Op);                         ///< whether an operator has the field
    bool (*read)(Text value, Problem &p);   ///< false where the value is not allowed
    std::string (*write)(const Problem &p); ///< empty where the field says nothing
    Text allowed;
};

template <auto member> bool read_one(Text value, Problem &p) { return read(value, p.*member); }
template <auto member> std::string write_one(const Problem &p) { return write(p.*member); }

template <auto member, char separator> bool read_axes(Text value, Problem &p) {
    return read_each(value, separator, members(p, member));
}
template <auto member, char separator> std::string write_axes(const Problem &p) {
    return write_each(separator, members(p, member));
}
/// Of fields that an adaptive pool does not use.
template <auto member, char separator> std::string write_window(const Problem &p) {
    return adaptive(p) ? "" : write_axes<member, separator>(p);
}

bool read_pads(Text value, Problem &p) {
    std::vector<std::int64_t *> pads = members(p, &Axis::begin);
    for (std::int64_t *end : members(p, &Axis::end))
        pads.push_back(end);
    return read_each(value, ',', pads);
}
std::string write_pads(const Problem &p) {
    return adaptive(p) ? ""
                       : write_each(',', members(p, &Axis::begin)) + "," +
                             write_each(',', members(p, &Axis::end));
}

std::string write_outputs(const Problem &p) { return one_each(p.op) ? "" : write(p.k); }
std::string write_border(const Problem &p) {
    if (adaptive(p))
        return "";
    const std::vector<Mode> each = members(p, &Axis::mode);
    return std::all_of(each.begin(), each.end(), [&](Mode mode) { return mode == each[0]; })
               ? write(each[0])
               : write_each(',', each);
}
std::string write_adaptive(const Problem &p) {
    return adaptive(p) ? write_axes<&Axis::adaptive, 'x'>(p) : "";
}

template <class Value> struct Named {
    Text name;
    Value value;
};
constexpr std::array<Named<Type>, 3> types = {
    {{"f32", Type::f32}, {"u8", Type::u8}, {"i8", Type::i8}}};
constexpr std::array<Named<Layout>, 2> layouts = {{{"nhwc", Layout::nhwc}, {"nchw", Layout::nchw}}};
constexpr std::array<Named<Indices>, 3> indices = {
    {{"none", Indices::none}, {"plane", Indices::plane}, {"tensor", Indices::tensor}}};
constexpr std::array<Named<IndexOrder>, 2> orders = {
    {{"row", IndexOrder::row}, {"column", IndexOrder::column}}};

constexpr std::array<Named<bool>, 2> nans = {{{"keep", true}, {"skip", false}}};

template <const auto &names, auto member> bool read_named(Text value, Problem &p) {
    return read_name(value, names, &std::decay_t<decltype(names[0])>::value, p.*member);
}
template <const auto &names, auto member> std::string write_named(const Problem &p) {
    return write_name(names, &std::decay_t<decltype(names[0])>::value, p.*member);
}

bool read_weights(Text value, Problem &p) {
    p.shift = -1;
    constexpr Text fixed = "fixed:";
    return value == "f32" || (value.substr(0, fixed.size()) == fixed &&
                              read(value.substr(fixed.size()), p.shift) && p.shift >= 0);
}
std::string write_weights(const Problem &p) {
    return p.shift < 0 ? "f32" : "fixed:" + write(p.shift);
}

constexpr Text whole = "a whole number of 64 bits";
constexpr Text per_axis = "a whole number or [DEPTHx]HEIGHTxWIDTH, one for each axis";
constexpr Text flag = "0 or 1";

/// All fields, in the order of canonical texts.
constexpr Field fields[] = {
    {"n", any, read_one<&Problem::n>, write_one<&Problem::n>, whole},
    {"c", any, read_one<&Problem::c>, write_one<&Problem::c>, whole},
    {"k", any, read_one<&Problem::k>, write_outputs, whole},
    {"g", grouped, read_one<&Problem::g>, write_one<&Problem::g>, whole},
    {"in", any, read_axes<&Axis::size, 'x'>, write_axes<&Axis::size, 'x'>, per_axis},
    {"adaptive", is_pool, read_axes<&Axis::adaptive, 'x'>, write_adaptive, per_axis},
    {"kernel", windowed, read_axes<&Axis::kernel, 'x'>, write_window<&Axis::kernel, 'x'>, per_axis},
    {"stride", strided, read_axes<&Axis::stride, 'x'>, write_window<&Axis::stride, 'x'>, per_axis},
    {"dilation", windowed, read_axes<&Axis::dilation, 'x'>, write_window<&Axis::dilation, 'x'>,
     per_axis},
    {"pads", bordered, read_pads, write_pads,
     "a whole number or [FRONT,]TOP,LEFT,[BACK,]BOTTOM,RIGHT, two for each axis"},
    {"phase", strided, read_axes<&Axis::phase, ','>, write_window<&Axis::phase, ','>,
     "a whole number or [Z,]Y,X, one for each axis"},
    {"output_padding", only<Op::conv_transpose>, read_axes<&Axis::output_padding, ','>,
     write_axes<&Axis::output_padding, ','>, "a whole number or [Z,]Y,X, one for each axis"},
    {"border", bordered, read_axes<&Axis::mode, ','>, write_border,
     "constant, reflect, symmetric, replicate or circular, or one of these for each axis"},
    {"value", valued, read_one<&Problem::value>, write_one<&Problem::value>, "a number"},
    {"type", any, read_named<types, &Problem::type>, write_named<types, &Problem::type>,
     "f32, u8 or i8"},
    {"layout", any, read_named<layouts, &Problem::layout>, write_named<layouts, &Problem::layout>,
     "nhwc or nchw"},
    {"bias", activated, read_one<&Problem::bias>, write_one<&Problem::bias>, flag},
    {"act", activated, read_act, write_act, "none, relu, relu6 or clamp:LOW:HIGH"},
    {"include_pad", only<Op::avg_pool>, read_one<&Problem::include_pad>,
     write_one<&Problem::include_pad>, flag},
    {"ceil", is_pool, read_one<&Problem::ceil>, write_one<&Problem::ceil>, flag},
    {"p", only<Op::lp_pool>, read_one<&Problem::p>, write_one<&Problem::p>, "a number"},
    {"indices", only<Op::max_pool>, read_named<indices, &Problem::indices>,
     write_named<indices, &Problem::indices>, "none, plane or tensor"},
    {"order", only<Op::max_pool>, read_named<orders, &Problem::order>,
     write_named<orders, &Problem::order>, "row or column"},
    {"nan", only<Op::max_pool>, read_named<nans, &Problem::keep_nan>,
     write_named<nans, &Problem::keep_nan>, "keep or skip"},
    {"weights", only<Op::filter>, read_weights, write_weights,
     "f32, or fixed:SHIFT with SHIFT at least 0"},
};

constexpr std::size_t index_of(Text field) {
    std::size_t index = 0;
    while (index < std::size(fields) && fields[index].name != field)
        ++index;
    return index;
}

/// The names of all fields that an operator has.
std::string names_of(Op op) {
    std::string names;
    for (const Field &field : fields)
        if (field.of(op)) {
            names.append(field.name).append(", ");
            if (field.name == "pads")
                names.append("same, ")
                    .append(op == Op::conv_transpose ? "output_shape, " : "")
                    .append(op == Op::pad ? "to, " : "");
        }
    return names.substr(0, names.size() - 2);
}

constexpr Text blank = " \t\r\n";

/// Takes the next word off the text; empty at its end.
Text next_word(Text &text) {
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    const Text word = text.substr(0, text.find_first_of(blank));
    text.remove_prefix(word.size());
    return word;
}

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

constexpr std::array<Named<Op>, 9> ops = {{{"conv", Op::conv},
                                           {"depthwise", Op::depthwise},
                                           {"conv_transpose", Op::conv_transpose},
                                           {"max_pool", Op::max_pool},
                                           {"avg_pool", Op::avg_pool},
                                           {"lp_pool", Op::lp_pool},
                                           {"filter", Op::filter},
                                           {"stride_sample", Op::stride_sample},
                                           {"pad", Op::pad}}};

Status read_op(Text word, Problem *p) {
    std::string names;
    for (const Named<Op> &each : ops) {
        for (int rank : {1, 2, 3})
            if (word == name(each.value, rank)) {
                p->op = each.value;
                p->rank = rank;
                return {};
            }
        names.append(names.empty() ? "" : ", ").append(each.name);
    }
    return invalid("a problem begins with an operator, one of " + names +
                   ", with its rank, 1d, 2d or 3d; not '" + std::string(word) + "'");
}

Status check_buffer(const char *what, std::int64_t bytes,
                    std::initializer_list<std::int64_t> sizes) {
    if (addressable(bytes, sizes))
        return {};
    return {Code::overflow, what + (" of " + write_each<std::int64_t>('x', sizes)) +
                                " numbers of " + write(bytes) + " bytes exceeds " + write(largest) +
                                " bytes, the most that kernels address"};
}

/// The outputs along an axis.
Status check_axis(const char *name, const Problem &p, const Axis &axis, std::int64_t *outputs) {
    WindowResult found;
    if (p.op == Op::conv_transpose) {
        const TransposedResult result = transposed(axis);
        found.error = result.error;
        found.window.size = axis.size;
        found.window.outputs = result.transposed.outputs;
    } else {
        found = window(axis, p.ceil);
    }
    if (const Status status = selvage::status(axis, found); !status.ok())
        return {status.code(), std::string(name) + ": " + status.text()};
    if (found.window.size < 1)
        return invalid(std::string(name) + ": size " + write(axis.size) + " with pads " +
                       write(axis.begin) + "," + write(axis.end) + " leaves no input");
    *outputs = found.window.outputs;
    return {};
}

/// Whether all fields of an axis but its size have their defaults.
bool is_plain(const Axis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.dilation == 1 && axis.begin == 0 &&
           axis.end == 0 && axis.phase == 0 && axis.output_padding == 0 &&
           axis.mode == Mode::constant;
}

Status check_axes(const Problem &p, const std::string &op) {
    for (const Axis *axis : {&p.z, &p.y})
        if ((axis == &p.z ? p.rank < 3 : p.rank < 2) &&
            (axis->size != 1 || axis->adaptive > 0 || !is_plain(*axis)))
            return invalid(op + "has no " + (axis == &p.z ? "planes" : "rows") +
                           ", but their axis says something");
    for (const Axis *axis : axes(p)) {
        if ((axis->adaptive > 0) != adaptive(p) || (adaptive(p) && !is_pool(p.op)))
            return invalid("adaptive is for all axes of a pool or for none");
        if (adaptive(p) && (!is_plain(*axis) || p.ceil))
            return invalid("adaptive=" + write(axis->adaptive) +
                           " leaves no room for kernel, stride, dilation, pads, phase, border and "
                           "ceil");
        if (axis->output_padding != 0 && p.op != Op::conv_transpose)
            return invalid(op + "has no output_padding");
        if (axis->mode != Mode::constant && p.op == Op::conv_transpose)
            return {Code::unsupported,
                    "border=" + write(axis->mode) +
                        ": pads of conv_transpose crop its output, there is no border to read"};
        if (p.op == Op::stride_sample && (axis->begin != 0 || axis->end != 0))
            return invalid(op + "has no pads");
        if (!windowed(p.op) && (axis->kernel != 1 || axis->dilation != 1))
            return invalid(op + "has neither kernel nor dilation");
        if (!strided(p.op) && (axis->stride != 1 || axis->phase != 0))
            return invalid(op + "has neither stride nor phase");
    }
    return {};
}

Status check_counts(const Problem &p, const std::string &op) {
    if (p.n < 0)
        return invalid("n=" + write(p.n) + " is less than 0");
    for (auto [field, value] : {std::pair("c", p.c), std::pair("k", p.k), std::pair("g", p.g)})
        if (value < 1)
            return invalid(std::string(field) + "=" + write(value) + " is less than 1");
    if (p.c % p.g != 0 || p.k % p.g != 0)
        return invalid("g=" + write(p.g) + " does not divide both c=" + write(p.c) +
                       " and k=" + write(p.k));
    if (p.g != 1 && !grouped(p.op))
        return invalid(op + "has no groups, but g=" + write(p.g));
    if (p.op == Op::depthwise && p.k % p.c != 0)
        return invalid("k=" + write(p.k) + " of " + op + "is not a multiple of c=" + write(p.c));
    if (one_each(p.op) && p.k != p.c)
        return invalid("k=" + write(p.k) + " of " + op + "differs from c=" + write(p.c));
    return {};
}

Status check_options(const Problem &p, const std::string &op) {
    if (!activated(p.op) && (p.bias || p.act != Activation::none))
        return invalid(op + "has neither bias nor act");
    if (p.ceil && !is_pool(p.op))
        return invalid(op + "has no ceil");
    if (p.include_pad && p.op != Op::avg_pool)
        return invalid(op + "has no include_pad");
    if (p.indices != Indices::none && p.op != Op::max_pool)
        return invalid(op + "has no indices");
    if (!p.keep_nan && p.op != Op::max_pool)
        return invalid(op + "has no nan");
    if (!p.keep_nan && (p.type != Type::f32 || p.indices != Indices::none))
        return {Code::unsupported, "nan=skip is for type=f32 without indices"};
    if (p.act == Activation::clamp && !(p.act_low <= p.act_high))
        return invalid("act=" + write_act(p) + " needs LOW <= HIGH");
    if (p.op == Op::lp_pool && !(p.p >= 1 && p.p <= std::numeric_limits<float>::max()))
        return invalid("p=" + write(p.p) + " is not a finite number of at least 1");
    const bool typed = only<Op::max_pool, Op::stride_sample, Op::pad>(p.op);
    if (p.op == Op::filter ? p.type != Type::u8 : p.type != Type::f32 && !typed)
        return {Code::unsupported, "type=" + write_named<types, &Problem::type>(p) + ": " + op +
                                       "computes " + (p.op == Op::filter ? "u8" : "f32") + " only"};
    const float lowest = p.type == Type::i8 ? -128 : 0, highest = p.type == Type::i8 ? 127 : 255;
    if (p.type != Type::f32 && valued(p.op) &&
        !(p.value >= lowest && p.value <= highest && p.value == float(int(p.value))))
        return invalid("value=" + write(p.value) + " is not a whole number in " + write(lowest) +
                       ".." + write(highest) +
                       ", as type=" + write_named<types, &Problem::type>(p) + " needs");
    // Sums of products with 16-bit weights, rounding included, must fit 32 bits.
    if (p.op == Op::filter && p.shift > 24)
        return invalid("weights=fixed:" + write(p.shift) + ": SHIFT is at most 24");
    return {};
}

} // namespace

std::string name(Op op, int rank) {
    return write_name(ops, &Named<Op>::value, op) + write(rank) + "d";
}

namespace {

/// The words that stand for pads: a convention, or a number of outputs.
struct PadWords {
    const Convention *same = nullptr;
    Text output_shape, to; ///< as given
};

/// Turns those words into pads.
Status resolve(const PadWords &words, Problem *p) {
    std::vector<Axis> wanted(3); // their sizes are the numbers of outputs asked for
    const Text outputs = words.output_shape.empty() ? words.to : words.output_shape;
    const std::string given =
        (words.output_shape.empty() ? "to=" : "output_shape=") + std::string(outputs);
    std::vector<std::int64_t *> sizes;
    for (int i = 0; i < p->rank; ++i)
        sizes.push_back(&wanted[std::size_t(i)].size);
    if (!outputs.empty() && !read_each(outputs, 'x', sizes))
        return invalid(given + ": must be " + std::string(per_axis));
    auto size = sizes.begin();
    for (Axis *axis : axes(*p)) {
        const std::int64_t asked = **size++;
        char text[longest_line];
        Line line(text, sizeof text);
        if (resolve_pads(axis, p->op == Op::conv_transpose, words.same,
                         outputs.empty() ? nullptr : &asked, line) != Code::ok)
            return invalid(given + ": " + text);
    }
    return {};
}

} // namespace

Status parse_problem(std::string_view text, Problem *problem) try {
    if (problem == nullptr)
        return {Code::invalid_argument, "parse_problem: problem is null"};
    Problem p;
    if (Status status = read_op(next_word(text), &p); !status.ok())
        return status;
    if (p.op == Op::filter)
        p.type = Type::u8;

    std::bitset<std::size(fields)> seen;
    PadWords pads;
    for (Text word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos)
            return invalid("'" + std::string(word) + "' is not of the form NAME=VALUE");
        const Text field = word.substr(0, equals);
        const Text value = word.substr(equals + 1);
        const std::string given(word);
        const auto twice = [&] {
            return invalid(given + ": " + std::string(field) + " is given twice");
        };
        if (field == "same" && bordered(p.op)) {
            if (pads.same)
                return twice();
            pads.same = find_convention(value);
            if (!pads.same)
                return invalid(given + ": must be one of " + convention_names());
            continue;
        }
        if ((field == "output_shape" && p.op == Op::conv_transpose) ||
            (field == "to" && p.op == Op::pad)) {
            Text &outputs = p.op == Op::pad ? pads.to : pads.output_shape;
            if (!outputs.empty())
                return twice();
            if (value.empty())
                return invalid(given + ": must be " + std::string(per_axis));
            outputs = value;
            continue;
        }
        const std::size_t index = index_of(field);
        if (index == std::size(fields) || !fields[index].of(p.op))
            return invalid(given + ": " + name(p.op, p.rank) + " has no such field; it has " +
                           names_of(p.op));
        if (seen[index])
            return twice();
        seen[index] = true;
        if (!fields[index].read(value, p))
            return invalid(given + ": must be " + std::string(fields[index].allowed));
    }

    if (!seen[index_of("in")])
        return invalid("in is missing");
    const bool given_adaptive = seen[index_of("adaptive")];
    if (windowed(p.op) && !seen[index_of("kernel")] && !given_adaptive)
        return invalid("kernel is missing");
    for (Text field : {"kernel", "stride", "dilation", "pads", "phase", "border"})
        if (given_adaptive && seen[index_of(field)])
            return invalid("adaptive and " + std::string(field) + " are both given");
    for (const Axis *axis : axes(std::as_const(p)))
        if (given_adaptive && axis->adaptive < 1)
            return invalid("adaptive=" + write(axis->adaptive) + " is less than 1");
    if (!seen[index_of("k")] && !grouped(p.op))
        p.k = p.c;
    const bool given_outputs = !pads.to.empty() || !pads.output_shape.empty();
    if ((pads.same || given_outputs) && (seen[index_of("pads")] || given_adaptive))
        return invalid((pads.same ? "same=" + std::string(pads.same->name)
                                  : std::string(pads.to.empty() ? "output_shape" : "to")) +
                       " and " + (given_adaptive ? "adaptive" : "pads") + " are both given");
    if (Status status = resolve(pads, &p); !status.ok())
        return status;
    if (Status status = check(p); !status.ok())
        return status;
    *problem = p;
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

std::string text(const Problem &problem) {
    std::string text = name(problem.op, problem.rank);
    for (const Field &field : fields)
        if (field.of(problem.op))
            if (const std::string value = field.write(problem); !value.empty())
                text.append(" ").append(field.name).append("=").append(value);
    return text;
}

Status check(const Problem &p) try {
    if (p.rank < 1 || p.rank > 3)
        return invalid("rank " + write(p.rank) + " is not 1, 2 or 3");
    const std::string op = name(p.op, p.rank) + " ";
    for (auto *rule : {check_counts, check_axes, check_options})
        if (Status status = rule(p, op); !status.ok())
            return status;
    std::int64_t z, y, x;
    if (Status status = check_axis("planes", p, p.z, &z); !status.ok())
        return status;
    if (Status status = check_axis("rows", p, p.y, &y); !status.ok())
        return status;
    if (Status status = check_axis("columns", p, p.x, &x); !status.ok())
        return status;
    // One image is addressed with 32 bits, whether or not there is one: strides are computed.
    const std::int64_t bytes = p.type == Type::f32 ? 4 : 1;
    if (Status status =
            check_buffer("an image of the input", bytes, {p.z.size, p.y.size, p.x.size, p.c});
        !status.ok())
        return status;
    const std::int64_t written = p.indices == Indices::none ? bytes : 8;
    if (Status status = check_buffer("an image of the output", written, {z, y, x, p.k});
        !status.ok())
        return status;
    if (!has_weights(p.op))
        return {};
    return check_buffer("weights", p.shift < 0 ? 4 : 2,
                        {p.k, grouped(p.op) ? p.c / p.g : 1, p.z.kernel, p.y.kernel, p.x.kernel});
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

// Canonical texts are complete, and they leave out what an operator does not use.
bool operator==(const Problem &a, const Problem &b) { return text(a) == text(b); }

} // namespace selvage
