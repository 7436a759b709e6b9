#pragma once

/// @file
/// How weights are ordered in memory, in all C interfaces; the same as selvage::WeightOrder. C99.

/// Outermost axis first: O outputs, I inputs of a group, taps (planes, rows, columns). For
/// depthwise and filter I is 1.
typedef enum selvage_weight_order {
    /// k x c/g x taps; of conv_transpose c x k/g x taps. PyTorch, ONNX.
    SELVAGE_OIHW = 0,
    /// taps x c/g x k; of conv_transpose taps x c x k/g. For conv TensorFlow's order.
    SELVAGE_HWIO = 1
} selvage_weight_order;
