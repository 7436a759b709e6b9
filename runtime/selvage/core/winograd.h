#pragma once

/// The matrices of Winograd convolution, of which weights are packed and kernels are made.
///
/// F(m, r) gives m neighbouring outputs of a kernel of r taps with m + r - 1 multiplications, F(m x
/// m, r x r) those of a tile with (m + r - 1)^2:
///
///     tile = A^T [ (G w G^T) * (B^T d B) ] A       (* number by number, summed over channels)
///
/// Source: the transpose of Toom and Cook's multiplication of polynomials at m + r - 2 points and
/// at infinity (S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray,
/// Fast Algorithms for Convolutional Neural Networks, 2015). With points p[i]:
///
///     A^T  row i is (p[u]^i)                                the powers of the points
///     B^T  row u is the coefficients of prod_{q != u} (x - p[q])
///     G    row u is (p[u]^t) / prod_{q != u} (p[u] - p[q])
///
/// At infinity a polynomial is its highest coefficient: the last columns of A^T and of G's powers
/// are 1 for the highest power and 0 for the others, and the last row of B^T is the product over
/// all points. The points are the smallest whole numbers, so that A^T and B^T hold small whole
/// numbers, exact in float; all fractions are in G, which is applied once, when weights are packed.
///
/// This header includes nothing.

namespace selvage::winograd {

/// The points besides infinity, of which F(m, r) takes the first m + r - 2.
constexpr int points[] = {0, 1, -1, 2, -2};

/// The most outputs and taps together.
constexpr int most_points = 6;

/// Multiplications of F(m, r).
constexpr int size(int m, int r) { return m + r - 1; }

/// p[u]^i, of `count` powers.
constexpr int power(int u, int i, int count, int size) {
    if (u == size - 1)
        return i == count - 1 ? 1 : 0;
    int result = 1;
    for (int each = 0; each < i; ++each)
        result *= points[u];
    return result;
}

/// A^T: what product u counts in output i.
constexpr int of_output(int m, int r, int i, int u) { return power(u, i, m, size(m, r)); }

/// B^T: what input q counts in product u.
constexpr int of_input(int m, int r, int u, int q) {
    int coefficients[most_points] = {1};
    int degree = 0;
    for (int each = 0; each < size(m, r) - 1; ++each) {
        if (each == u)
            continue;
        ++degree;
        for (int i = degree; i >= 0; --i)
            coefficients[i] = (i > 0 ? coefficients[i - 1] : 0) -
                              points[each] * (i < degree ? coefficients[i] : 0);
    }
    return q <= degree ? coefficients[q] : 0;
}

/// G: what tap t counts in product u, times divisor(u).
constexpr int of_weight(int m, int r, int u, int t) { return power(u, t, r, size(m, r)); }

/// What the row of G for product u is divided by.
constexpr int divisor(int m, int r, int u) {
    int result = 1;
    if (u < size(m, r) - 1)
        for (int each = 0; each < size(m, r) - 1; ++each)
            result *= each == u ? 1 : points[u] - points[each];
    return result;
}

} // namespace selvage::winograd
