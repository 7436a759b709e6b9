#pragma once

#include <string>
#include <utility>

#include "selvage/core/code.h"
#include "selvage/core/line.h"

namespace selvage {

/// The name of a code as it is spelled above, for example "invalid_argument". Never null.
constexpr const char *name(Code code) {
    switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid_argument";
    case Code::overflow: return "overflow";
    case Code::unsupported: return "unsupported";
    case Code::too_small: return "too_small";
    case Code::internal: return "internal";
    case Code::device: return "device";
    }
    return "unknown";
}

/// The outcome of a call: `ok`, or a code with one line of text that holds the offending values
/// and the rule they break. A good status owns no memory, so returning one allocates nothing.
class [[nodiscard]] Status {
public:
    Status() = default;
    /// A failure, with one line of text; `?` stands for control characters that it quotes.
    Status(Code code, std::string text) : code_(code), text_(std::move(text)) {
        for (char &each : text_)
            each = printable(each);
    }

    /// Whether the call did what it was asked to.
    bool ok() const { return code_ == Code::ok; }
    /// What kind of rule was broken.
    Code code() const { return code_; }
    /// The values and the rule, in one line; empty where the call succeeded.
    const std::string &text() const { return text_; }

private:
    Code code_ = Code::ok;
    std::string text_;
};

} // namespace selvage
