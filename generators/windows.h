#pragma once

#include "schedules/stages.h"

namespace selvage {

/// What the window operators read: those that treat each channel on its own.
struct WindowInputs {
    Halide::Func input; ///< (c, x, y, z, n)
    Halide::Expr width, height, depth;
    /// (t, i): where tap t of output i lies along the axis, or -1 for the border's value; see
    /// Window::source() in window.h.
    Halide::Func source_x, source_y, source_z;
    Halide::Expr outputs_x; ///< i of source_x
    Halide::Expr kernel_x, kernel_y, kernel_z;
    /// The same by arithmetic: stride*i + dilation*t - left, -1 where that is outside the input.
    Halide::Expr left, top;
    Halide::Expr stride_x, stride_y;
    Halide::Expr dilation_x, dilation_y;
    /// How taps are found, and how those outside the input are kept from counting.
    /// By table, `read`: they read the border's value. `skip`: they are left out, which is the same
    /// where the value is neutral (0 for sums, the lowest for maxima).
    /// By arithmetic in the plane that the table names for the only tap, `skip_rows`: rows are left
    /// out, columns read the value. `none`: no window reads outside the plane, and nothing tests
    /// for it. `lines`: they read the border's value in a padded copy; see below.
    enum class Border { read, skip, skip_rows, none, lines } border;
    /// Of `lines`, see lines.h. There k counts the numbers of a row, `channels` for each pixel, and
    /// tables of one entry per channel repeat themselves up to channels + block. In planar layouts
    /// `channels` is 1 and x counts the planes.
    Halide::Expr channels;
    Halide::Expr planes; ///< extent of x
    /// The tables of rows and columns are (place, remainder) here: the source of position
    /// stride*place + remainder - before. As many places as outputs and how many the last tap lies
    /// behind the first, remainders as far as taps have them. A position inside the input must be
    /// its own source.
    Halide::Expr places_x, places_y;
    Halide::Expr strip_rows, strip_planes; ///< output rows and planes that share a strip
    int lanes;
    int block;      ///< numbers that are computed together
    int line_block; ///< about so many are cut off a line, and the strip's are converted together
    int wide, fill; ///< lanes of the vectors that fill the strip: of long rows, of shorter ones
};

/// Which taps of a plane are summed one after the other. Floats round in that order, so all kernels
/// of an operator have the same.
enum class TapOrder { along_rows, down_columns };

/// Defines s.taps for a kernel of that size.
void define_taps(const Halide::Expr &columns, const Halide::Expr &rows, const Halide::Expr &planes,
                 TapOrder order, WindowStages &s);

/// out(k, x, y, z, n) = activation(bias(k) + sum of in(k / multiplier, ...) * weights(k, kx, ky,
/// kz))
WindowStages depthwise(const WindowInputs &in, const Halide::Func &weights,
                       const Halide::Func &bias, const Halide::Expr &multiplier,
                       const Halide::Expr &value, const Halide::Expr &low,
                       const Halide::Expr &high);

/// The largest tap inside the input; where no tap is inside, -inf or the lowest integer. NaN wins
/// if it is to be kept, else it is passed over. `separable`, with Border::lines, finds the largest
/// of each kernel column first.
WindowStages max_pool(const WindowInputs &in, bool keep_nan, bool separable);

/// How an element of the input is counted: base + x, y, z, c and n times these. 64 bits wide; a
/// plane of the input, all but the terms of c and n, fits in 31.
struct Indexing {
    Halide::Expr base, x, y, z, c, n;
};

/// The same with NaN kept, and the index of that tap: the first in the order z, y, x of several; -1
/// where no tap is inside.
WindowStages max_pool_indices(const WindowInputs &in, const Indexing &index);

/// The sum of the taps inside the input over counted_x(x) * counted_y(y) * counted_z(z), the number
/// of taps that count (Window::counted in window.h); 0 where none counts. With Border::lines
/// counted_x(k).
WindowStages avg_pool(const WindowInputs &in, const Halide::Func &counted_x,
                      const Halide::Func &counted_y, const Halide::Func &counted_z);

/// (sum of |tap|^p)^(1/p) over the taps inside the input; 0 where none is. `fixed_p` 1 or 2 stands
/// for p and needs no powers; others are taken by the target's function of two floats of that name.
WindowStages lp_pool(const WindowInputs &in, int fixed_p, const Halide::Expr &p,
                     const std::string &power_function);

/// Of bytes, out(k, x, y, z, n) = the sum of in(k, ...) * weights(k, kx, ky, kz), limited to
/// 0..255. With weights of float, rounded to the nearest, halves to the even one. With weights of
/// int16, which lie by pairs of kernel rows, (ky % 2, k, kx, ky / 2, kz), summed in 32 bits and
/// divided by 2^shift, halves rounded up. The same where those of every channel are a column
/// times a row, if `weights` has one dimension: the row's and then the column's, the latter divided
/// by 2^shift, as floats. Rows are summed first, in 16 bits, and all sums must be exact.
WindowStages filter(const WindowInputs &in, const Halide::Func &weights, const Halide::Expr &value,
                    const Halide::Expr &shift);

/// out(k, x, y, z, n) = the input at the only tap, or the value.
WindowStages copy(const WindowInputs &in, const Halide::Expr &value);

} // namespace selvage
