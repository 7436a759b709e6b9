#pragma once

#include <stddef.h>
#include <stdint.h>

#include "selvage/status_c.h"
#include "selvage/weight_order_c.h"

/// @file
/// What the functions of a specialised kernel take and tell. C99, no library needed.
///
/// A specialised kernel has its operator, kernel, stride, dilation, channels and groups fixed; what
/// is left to run time is a selvage_shape. Everything is counted in elements.

/// One problem of a specialised kernel, and where its tensors lie in memory.
///
/// NAME_shape() fills the sizes and what the kernel was declared with (pads, phase); change any
/// field after that. What the kernel's operator or rank does not have is ignored: planes below rank
/// 3, rows below rank 2, pads and phases of adaptive pools, pads of stride_sample, output padding
/// of all but conv_transpose. Tensors are handed over as the address of their first element, that
/// of image 0, plane 0, row 0, column 0 and channel 0, whatever rows are computed.
///
/// Pads that are negative crop. Of conv_transpose, pads crop the result, and negative ones add to
/// it.
///
/// Strides of the input that are all 0 stand for a dense input in the kernel's layout. Otherwise
/// the channel's is 1 for nhwc, the column's 1 for nchw, and the rest are 0 (which repeats) or
/// more. The same goes for the output and the indices beside it, except that no two elements may
/// share memory; dense means as the whole output is, whatever rows are computed.
typedef struct selvage_shape {
    int64_t n;      ///< images; 0 gives an empty result
    int64_t depth;  ///< planes of the input
    int64_t height; ///< rows of the input
    int64_t width;  ///< columns of the input

    int64_t front;  ///< pad before the first plane
    int64_t top;    ///< pad above the first row
    int64_t left;   ///< pad before the first column
    int64_t back;   ///< pad after the last plane
    int64_t bottom; ///< pad below the last row
    int64_t right;  ///< pad after the last column

    int64_t phase_z; ///< which of the stride's samplings of planes: 0 <= phase < stride
    int64_t phase_y; ///< the same of rows
    int64_t phase_x; ///< the same of columns

    int64_t output_padding_z; ///< conv_transpose: planes added at the end, at least 0
    int64_t output_padding_y; ///< rows added at the end
    int64_t output_padding_x; ///< columns added at the end

    /// The first output that a call computes, along the outermost axis of the kernel's rank: planes
    /// of rank 3, rows of rank 2, columns of rank 1.
    int64_t first_row;
    /// How many of these outputs; 0 means all, and first_row is 0 then, so a thread that has none
    /// left to compute must not call. Calls for different rows
    /// may run at the same time, each with scratch memory of its own, and give the same bits as one
    /// call for all. They touch no elements but those that their rows read and write.
    int64_t rows;

    int64_t input_stride_n; ///< elements from one image of the input to the next
    int64_t input_stride_d; ///< from one plane to the next
    int64_t input_stride_h; ///< from one row to the next
    int64_t input_stride_w; ///< from one column to the next
    int64_t input_stride_c; ///< from one channel to the next

    int64_t output_stride_n; ///< elements from one image of the output to the next
    int64_t output_stride_d; ///< from one plane to the next
    int64_t output_stride_h; ///< from one row to the next
    int64_t output_stride_w; ///< from one column to the next
    int64_t output_stride_c; ///< from one channel to the next
} selvage_shape;

/// Sizes of one image of an output.
typedef struct selvage_extent {
    int64_t depth;    ///< planes; 1 below rank 3
    int64_t height;   ///< rows; 1 below rank 2
    int64_t width;    ///< columns
    int64_t channels; ///< output channels
} selvage_extent;
