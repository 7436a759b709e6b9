#include "wishes.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "candidates.h"

namespace selvage {

namespace {

struct Wish {
    std::string value; ///< empty: anything
    std::string source;
};

/// The caller's wish, else the environment's, else none.
Wish wish(const std::string &option, const char *option_name, const char *variable) {
    if (!option.empty())
        return {option, option_name};
    const char *value = std::getenv(variable);
    return {value != nullptr ? value : "", variable};
}

/// The distinct values of a column among the rows of an operator that are part of this build.
std::vector<std::string> known(const std::string &op, const char *const KernelRow::*column) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < kernel_row_count(); ++i) {
        const KernelRow &row = kernel_rows()[i];
        if (row.function != nullptr && row.op == op &&
            std::find(values.begin(), values.end(), row.*column) == values.end())
            values.emplace_back(row.*column);
    }
    return values;
}

} // namespace

Status check_known(const std::string &source, const std::string &value, const std::string &op,
                   const char *const KernelRow::*column) {
    const std::vector<std::string> values = known(op, column);
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end())
        return {};
    std::string text = source + ": " + op + " has ";
    for (const std::string &each : values)
        text += (&each == &values.front() ? "" : ", ") + each;
    return {Code::invalid_argument, text};
}

Status read_wishes(const std::string &op, const Options &options, Wishes *wishes) {
    const Wish isa = wish(options.isa, "isa", "SELVAGE_ISA");
    const Wish text = wish(options.schedule, "schedule", "SELVAGE_SCHEDULE");
    const Wish accuracy = wish(options.accuracy, "accuracy", "SELVAGE_ACCURACY");
    if (!accuracy.value.empty() && accuracy.value != "exact" && accuracy.value != "fast")
        return {Code::invalid_argument,
                accuracy.source + "=" + accuracy.value + ": must be exact or fast"};
    wishes->fast = accuracy.value == "fast";
    const std::string of_isa = isa.source + "=" + isa.value;
    const std::string of_text = text.source + "=" + text.value;
    Schedule &asked = wishes->schedule;
    if (Status status = parse_schedule(text.value, &asked); !status.ok())
        return {status.code(), text.source + "=" + text.value + ": " + status.text()};
    if (!text.value.empty())
        wishes->of_whom = of_text;
    if (!asked.isa.empty() && !isa.value.empty() && asked.isa != isa.value)
        return {Code::invalid_argument, of_text + ": contradicts " + of_isa};
    const std::string &of_set = asked.isa.empty() ? of_isa : of_text;
    if (asked.isa.empty())
        asked.isa = isa.value;
    if (Status status = check_known(of_set, asked.isa, op, &KernelRow::isa); !status.ok())
        return status;
    if (Status status = check_known(of_text, asked.kernel, op, &KernelRow::schedule); !status.ok())
        return status;
    if (!asked.isa.empty() && !runs(options.device, asked.isa))
        return {Code::unsupported, of_set + ": " + who(options.device) + " lacks it"};
    // A GPU's widest set has all of the others; of a CPU each is a candidate.
    if (asked.isa.empty() && options.device.queue() != nullptr)
        asked.isa = options.device.isas().back();
    return {};
}

} // namespace selvage
