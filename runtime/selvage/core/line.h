#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "selvage/core/code.h"

namespace selvage {

/// The longest text of a status, the 0 at its end included.
constexpr std::size_t longest_line = 500;

/// A character that keeps a line one line: `?` in place of those that control a terminal.
constexpr char printable(char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte < 0x20 || byte == 0x7f ? '?' : character;
}

/// One line of text, written into memory of the caller and cut where that ends. It always ends
/// with a 0. A Line without memory takes every text and keeps none.
class Line {
public:
    Line() = default;
    Line(char *memory, std::size_t bytes) : at_(memory), last_(memory + bytes - 1) { *at_ = 0; }

    /// Adds a text with the values in their order: whole numbers in place of `%`, texts in place of
    /// `$`.
    template <class... Values> Line &add(const char *format, Values... values) {
        write(format, word(values)...);
        return *this;
    }
    /// The same as the reason of a code.
    template <class... Values> Code fail(Code code, const char *format, Values... values) {
        write(format, word(values)...);
        return code;
    }

private:
    static const char *word(const char *text) { return text; }
    template <class Number> static std::int64_t word(Number number) { return std::int64_t(number); }

    void put(const char *text) {
        for (; at_ != last_ && *text != 0; ++text)
            *at_++ = printable(*text);
    }
    void write(const char *format, ...) {
        std::va_list words;
        va_start(words, format);
        for (; *format != 0; ++format) {
            char text[21] = {*format};
            if (*format == '%')
                put(spell(va_arg(words, std::int64_t), text + sizeof text));
            else
                put(*format == '$' ? va_arg(words, const char *) : text);
        }
        va_end(words);
        if (at_ != nullptr)
            *at_ = 0;
    }
    /// Writes the number before `end`, and tells where it begins.
    static const char *spell(std::int64_t number, char *end) {
        *--end = 0;
        // Negative numbers have one more.
        std::int64_t rest = number < 0 ? number : -number;
        do
            *--end = char('0' - rest % 10);
        while ((rest /= 10) != 0);
        if (number < 0)
            *--end = '-';
        return end;
    }

    char *at_ = nullptr, *last_ = nullptr;
};

} // namespace selvage
