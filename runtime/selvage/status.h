#pragma once

#include <string>
#include <utility>

namespace selvage {

/// What kind of rule a call broke. The text of a Status names the rule and the offending values.
enum class Code {
    ok,
    /// A value that no problem may have: kernel 0, phase >= stride, a view that does not fit.
    invalid_argument,
    /// Arithmetic on the given sizes leaves the range that kernels can address.
    overflow,
    /// A meaningful request that no kernel of this library, or none on this CPU, can serve.
    unsupported,
    /// The caller's memory is smaller than the plan asked for, or the system has no more.
    too_small,
    /// A fault of the library itself; please report it with the text.
    internal,
};

/// The name of a code as it is spelled above, for example "invalid_argument". Never null.
constexpr const char *name(Code code) {
    switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid_argument";
    case Code::overflow: return "overflow";
    case Code::unsupported: return "unsupported";
    case Code::too_small: return "too_small";
    case Code::internal: return "internal";
    }
    return "unknown";
}

/// The outcome of a call: `ok`, or a code with one line of text that holds the offending values
/// and the rule they break. A good status owns no memory, so returning one allocates nothing.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Code code, std::string text) : code_(code), text_(std::move(text)) {}

    bool ok() const { return code_ == Code::ok; }
    Code code() const { return code_; }
    const std::string &text() const { return text_; }

private:
    Code code_ = Code::ok;
    std::string text_;
};

} // namespace selvage
