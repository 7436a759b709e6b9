#include "selvage/problem.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <initializer_list>
#include <iterator>

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

/// As many numbers as there are, or one that stands for all.
bool read_each(Text value, char separator, std::initializer_list<std::int64_t *> numbers) {
    const bool one = value.find(separator) == value.npos;
    for (std::int64_t *each : numbers) {
        const bool whole = one || each == *std::prev(numbers.end());
        const std::size_t length = whole ? value.size() : value.find(separator);
        if (length == value.npos || !read(value.substr(0, length), *each))
            return false;
        value.remove_prefix(whole ? 0 : length + 1);
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

std::string write_each(char separator, std::initializer_list<std::int64_t> numbers) {
    std::string text;
    for (std::int64_t number : numbers)
        text.append(text.empty() ? 0 : 1, separator).append(write(number));
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

// Fields.

bool any(Op) { return true; }
bool grouped(Op op) { return op == Op::conv2d; }
bool weighted(Op op) { return !is_pool(op); }

struct Field {
    Text name;
    bool (*of)(Op);                         ///< whether an operator has the field
    bool (*read)(Text value, Problem &p);   ///< false where the value is not allowed
    std::string (*write)(const Problem &p); ///< empty where the field says nothing
    Text allowed;
    Code otherwise = Code::invalid_argument;
};

template <auto member> bool read_one(Text value, Problem &p) { return read(value, p.*member); }
template <auto member> std::string write_one(const Problem &p) { return write(p.*member); }

template <auto member, char separator> bool read_axes(Text value, Problem &p) {
    return read_each(value, separator, {&(p.y.*member), &(p.x.*member)});
}
template <auto member, char separator> std::string write_axes(const Problem &p) {
    return write_each(separator, {p.y.*member, p.x.*member});
}

bool read_pads(Text value, Problem &p) {
    return read_each(value, ',', {&p.y.begin, &p.x.begin, &p.y.end, &p.x.end});
}
std::string write_pads(const Problem &p) {
    return write_each(',', {p.y.begin, p.x.begin, p.y.end, p.x.end});
}

std::string write_outputs(const Problem &p) { return is_pool(p.op) ? "" : write(p.k); }
std::string write_include_pad(const Problem &p) {
    return p.op == Op::avg_pool2d ? write(p.include_pad) : "";
}

// Fields with one value so far.
template <const char *only> bool read_only(Text value, Problem &) { return value == only; }
template <const char *only> std::string write_only(const Problem &) { return only; }
constexpr char constant[] = "constant", f32[] = "f32", nhwc[] = "nhwc";

constexpr Text whole = "a whole number of 64 bits";
constexpr Text per_axis = "a whole number or HEIGHTxWIDTH";
constexpr Text flag = "0 or 1";

/// All fields, in the order of canonical texts.
constexpr Field fields[] = {
    {"n", any, read_one<&Problem::n>, write_one<&Problem::n>, whole},
    {"c", any, read_one<&Problem::c>, write_one<&Problem::c>, whole},
    {"k", any, read_one<&Problem::k>, write_outputs, whole},
    {"g", grouped, read_one<&Problem::g>, write_one<&Problem::g>, whole},
    {"in", any, read_axes<&Axis::size, 'x'>, write_axes<&Axis::size, 'x'>, per_axis},
    {"kernel", any, read_axes<&Axis::kernel, 'x'>, write_axes<&Axis::kernel, 'x'>, per_axis},
    {"stride", any, read_axes<&Axis::stride, 'x'>, write_axes<&Axis::stride, 'x'>, per_axis},
    {"dilation", any, read_axes<&Axis::dilation, 'x'>, write_axes<&Axis::dilation, 'x'>, per_axis},
    {"pads", any, read_pads, write_pads, "a whole number or TOP,LEFT,BOTTOM,RIGHT"},
    {"phase", any, read_axes<&Axis::phase, ','>, write_axes<&Axis::phase, ','>,
     "a whole number or Y,X"},
    {"border", any, read_only<constant>, write_only<constant>, constant, Code::unsupported},
    {"value", weighted, read_one<&Problem::value>, write_one<&Problem::value>, "a number"},
    {"type", any, read_only<f32>, write_only<f32>, f32, Code::unsupported},
    {"layout", any, read_only<nhwc>, write_only<nhwc>, nhwc, Code::unsupported},
    {"bias", weighted, read_one<&Problem::bias>, write_one<&Problem::bias>, flag},
    {"act", weighted, read_act, write_act, "none, relu, relu6 or clamp:LOW:HIGH"},
    {"include_pad", is_pool, read_one<&Problem::include_pad>, write_include_pad, flag},
    {"ceil", is_pool, read_one<&Problem::ceil>, write_one<&Problem::ceil>, flag},
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
        if (field.of(op))
            names.append(field.name).append(field.name == "pads" ? ", same, " : ", ");
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

Status read_op(Text word, Op *op) {
    std::string names;
    for (Op each : {Op::conv2d, Op::depthwise2d, Op::max_pool2d, Op::avg_pool2d}) {
        *op = each;
        if (word == name(each))
            return {};
        names.append(names.empty() ? "" : ", ").append(name(each));
    }
    return invalid("a problem begins with an operator, one of " + names + "; not '" +
                   std::string(word) + "'");
}

/// Sizes whose product, times the bytes of a float, fits one buffer.
bool addressable(std::initializer_list<std::int64_t> sizes) {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
        return true;
    std::int64_t bytes = sizeof(float);
    for (std::int64_t size : sizes)
        if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > largest)
            return false;
    return true;
}

Status check_buffer(const char *what, std::initializer_list<std::int64_t> sizes) {
    if (addressable(sizes))
        return {};
    return {Code::overflow, what + (" of " + write_each('x', sizes)) +
                                " numbers of 4 bytes exceeds " + write(largest) +
                                " bytes, the most that kernels address"};
}

Status check_axis(const char *name, const Axis &axis, bool ceil, Window *result) {
    const WindowResult found = window(axis, ceil);
    if (const Status status = selvage::status(axis, found); !status.ok())
        return {status.code(), std::string(name) + ": " + status.text()};
    if (found.window.size < 1)
        return invalid(std::string(name) + ": size " + write(axis.size) + " with pads " +
                       write_each(',', {axis.begin, axis.end}) + " leaves no input");
    *result = found.window;
    return {};
}

Status check_counts(const Problem &p) {
    const std::string op = std::string(name(p.op)) + " ";
    if (p.n < 0)
        return invalid("n=" + write(p.n) + " is less than 0");
    for (auto [field, value] : {std::pair("c", p.c), std::pair("k", p.k), std::pair("g", p.g)})
        if (value < 1)
            return invalid(std::string(field) + "=" + write(value) + " is less than 1");
    if (p.c % p.g != 0 || p.k % p.g != 0)
        return invalid("g=" + write(p.g) + " does not divide both c=" + write(p.c) +
                       " and k=" + write(p.k));
    if (p.g != 1 && p.op != Op::conv2d)
        return invalid(op + "has no groups, but g=" + write(p.g));
    if (p.op == Op::depthwise2d && p.k % p.c != 0)
        return invalid("k=" + write(p.k) + " of depthwise2d is not a multiple of c=" + write(p.c));
    if (is_pool(p.op) && p.k != p.c)
        return invalid("k=" + write(p.k) + " of " + op + "differs from c=" + write(p.c));
    if (is_pool(p.op) && (p.bias || p.act != Activation::none))
        return invalid(op + "has neither bias nor act");
    if (!is_pool(p.op) && (p.ceil || p.include_pad))
        return invalid(op + "has neither ceil nor include_pad");
    if (p.act == Activation::clamp && !(p.act_low <= p.act_high))
        return invalid("act=" + write_act(p) + " needs LOW <= HIGH");
    return {};
}

} // namespace

bool is_pool(Op op) { return op == Op::max_pool2d || op == Op::avg_pool2d; }

const char *name(Op op) {
    switch (op) {
    case Op::conv2d: return "conv2d";
    case Op::depthwise2d: return "depthwise2d";
    case Op::max_pool2d: return "max_pool2d";
    case Op::avg_pool2d: return "avg_pool2d";
    }
    return "unknown";
}

Status parse_problem(std::string_view text, Problem *problem) {
    if (problem == nullptr)
        return {Code::invalid_argument, "parse_problem: problem is null"};
    Problem p;
    if (Status status = read_op(next_word(text), &p.op); !status.ok())
        return status;

    std::bitset<std::size(fields)> seen;
    const Convention *same = nullptr;
    for (Text word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos)
            return invalid("'" + std::string(word) + "' is not of the form NAME=VALUE");
        const Text field = word.substr(0, equals);
        const Text value = word.substr(equals + 1);
        const std::string given(word);
        if (field == "same") {
            if (same)
                return invalid(given + ": same is given twice");
            same = find_convention(value);
            if (!same)
                return invalid(given + ": must be one of " + convention_names());
            continue;
        }
        const std::size_t index = index_of(field);
        if (index == std::size(fields) || !fields[index].of(p.op))
            return invalid(given + ": " + name(p.op) + " has no such field; it has " +
                           names_of(p.op));
        if (seen[index])
            return invalid(given + ": " + std::string(field) + " is given twice");
        seen[index] = true;
        if (!fields[index].read(value, p))
            return {fields[index].otherwise,
                    given + ": must be " + std::string(fields[index].allowed)};
    }

    for (Text needed : {"in", "kernel"})
        if (!seen[index_of(needed)])
            return invalid(std::string(needed) + " is missing");
    if (!seen[index_of("k")] && p.op != Op::conv2d)
        p.k = p.c;
    if (same && seen[index_of("pads")])
        return invalid("same=" + std::string(same->name) + " and pads are both given");
    if (same)
        for (Axis *axis : {&p.y, &p.x})
            *axis = with(*axis, same->pads(*axis));
    if (Status status = check(p); !status.ok())
        return status;
    *problem = p;
    return {};
}

std::string text(const Problem &problem) {
    std::string text = name(problem.op);
    for (const Field &field : fields)
        if (field.of(problem.op))
            if (const std::string value = field.write(problem); !value.empty())
                text.append(" ").append(field.name).append("=").append(value);
    return text;
}

Status check(const Problem &p) {
    if (Status status = check_counts(p); !status.ok())
        return status;
    Window y, x;
    if (Status status = check_axis("rows", p.y, p.ceil, &y); !status.ok())
        return status;
    if (Status status = check_axis("columns", p.x, p.ceil, &x); !status.ok())
        return status;
    // An empty batch does not excuse the size of its images: strides are computed from it.
    const std::int64_t images = std::max<std::int64_t>(1, p.n);
    if (Status status = check_buffer("input", {images, p.y.size, p.x.size, p.c}); !status.ok())
        return status;
    if (Status status = check_buffer("output", {p.n, y.outputs, x.outputs, p.k}); !status.ok())
        return status;
    if (is_pool(p.op))
        return {};
    const std::int64_t inputs = p.op == Op::depthwise2d ? 1 : p.c / p.g;
    return check_buffer("weights", {p.k, inputs, p.y.kernel, p.x.kernel});
}

// Canonical texts are complete, and they leave out what an operator does not use.
bool operator==(const Problem &a, const Problem &b) { return text(a) == text(b); }

} // namespace selvage
