#pragma once

namespace selvage {

/// What kind of rule a call broke. The text beside it names the rule and the offending values.
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
    /// A GPU or its driver failed; the text has the driver's function and its reason.
    device,
};

} // namespace selvage
