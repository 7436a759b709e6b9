#include "selvage/schedule.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace selvage {

namespace {

constexpr std::string_view automatic = "auto";

Status invalid(std::string_view word, const std::string &fault) {
    return {Code::invalid_argument, "'" + std::string(word) + "' " + fault};
}

/// A whole number of at least 1; 0 where it is none.
std::int64_t number(std::string_view digits) {
    std::int64_t value = 0;
    for (const char digit : digits) {
        if (digit < '0' || digit > '9')
            return 0;
        value = 10 * value + (digit - '0');
        if (value > std::numeric_limits<std::int32_t>::max())
            return 0;
    }
    return value;
}

std::string keys() {
    std::string names;
    for (const BlockingKey &key : blocking_keys)
        names += std::string(key.name) + ", ";
    return names + "split, isa";
}

std::string split_names() {
    std::string names;
    for (const auto &[split, name] : splits)
        names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
}

Status read_key(std::string_view word, std::string_view key, std::string_view value,
                Schedule *schedule) {
    for (const BlockingKey &each : blocking_keys) {
        if (key != each.name)
            continue;
        schedule->blocking.*each.number = number(value);
        return schedule->blocking.*each.number > 0
                   ? Status()
                   : invalid(word, "must be a whole number of at least 1 and below 2^31");
    }
    if (key == "isa") {
        schedule->isa = value;
        return value.empty() ? invalid(word, "names no instruction set") : Status();
    }
    if (key == "split") {
        for (const auto &[split, name] : splits)
            if (value == name) {
                schedule->split = split;
                return {};
            }
        return invalid(word, "must be one of " + split_names());
    }
    return invalid(word, "is no key; the keys are " + keys());
}

std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view blanks = " \t\n";
    std::vector<std::string_view> words;
    for (std::size_t begin; (begin = text.find_first_not_of(blanks)) != text.npos;) {
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(blanks), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return words;
}

} // namespace

Status parse_schedule(std::string_view text, Schedule *schedule) try {
    if (schedule == nullptr)
        return {Code::invalid_argument, "parse_schedule: schedule is null"};
    Schedule read;
    std::vector<std::string_view> seen;
    std::vector<std::string_view> words = words_of(text);
    if (!words.empty() && words.front().find('=') == std::string_view::npos) {
        read.kernel = words.front() == automatic ? "" : words.front();
        words.erase(words.begin());
    }
    for (const std::string_view word : words) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos)
            return invalid(word, "is not KEY=VALUE; the kernel comes first");
        const std::string_view key = word.substr(0, equals);
        if (std::find(seen.begin(), seen.end(), key) != seen.end())
            return invalid(key, "is given twice");
        seen.push_back(key);
        if (Status status = read_key(word, key, word.substr(equals + 1), &read); !status.ok())
            return status;
    }
    *schedule = std::move(read);
    return {};
} catch (const std::bad_alloc &) {
    return {Code::too_small, "out of memory"};
}

std::string text(const Schedule &schedule) {
    std::string text(schedule.kernel.empty() ? automatic : schedule.kernel);
    for (const BlockingKey &key : blocking_keys)
        if (const std::int64_t number = schedule.blocking.*key.number; number != 0)
            text += " " + std::string(key.name) + "=" + std::to_string(number);
    if (schedule.split != Split::automatic)
        text += " split=" + std::string(name(schedule.split));
    if (!schedule.isa.empty())
        text += " isa=" + schedule.isa;
    return text;
}

} // namespace selvage
