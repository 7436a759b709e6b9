#pragma once

/// @file
/// The outcome of a call, as all C interfaces tell it: those of the library (selvage/selvage.h) and
/// those of specialised kernels (selvage/kernel.h). C99.

/// What kind of rule a call broke; the same codes as selvage::Code.
typedef enum selvage_code {
    SELVAGE_OK = 0, ///< done
    /// A value that no problem may have: kernel 0, phase >= stride, a null pointer, a view that
    /// does not fit.
    SELVAGE_INVALID_ARGUMENT = 1,
    /// Arithmetic on the given sizes leaves the range that kernels can address.
    SELVAGE_OVERFLOW = 2,
    /// A meaningful request that no kernel, or none on this CPU, can serve.
    SELVAGE_UNSUPPORTED = 3,
    /// The caller's memory is smaller than what was asked for, or the system has no more.
    SELVAGE_TOO_SMALL = 4,
    /// A fault of the library itself; please report it with the text.
    SELVAGE_INTERNAL = 5,
    /// A GPU or its driver failed; the text has the driver's function and its reason.
    SELVAGE_DEVICE_FAILURE = 6
} selvage_code;

/// The code that a function returned, with its text. The caller owns it, and no function reads what
/// it holds before. Wherever a function takes a pointer to one, null means that no text is wanted.
typedef struct selvage_status {
    selvage_code code; ///< what the function returned
    /// One line, ended by a 0, with the offending values and the rule they break; empty for
    /// SELVAGE_OK. A longer line is cut at the end, never within a UTF-8 sequence (texts are ASCII
    /// but for what they quote of the caller's).
    char text[500];
} selvage_status;
