#pragma once

#include <vector>

#include "selvage/problem.h"

#include "trial.h"

/// Winograd convolution F(m, r) as numbers: what a kernel of the family may round. The matrices are
/// written down, from the literature, and not those of the library.
struct WinogradMatrices {
    int outputs, taps;                        ///< m, r
    std::vector<std::vector<double>> a, g, b; ///< A^T, G, B^T
    int divisor;                              ///< G times this is whole
};

/// F(2, 3), F(3, 3), F(4, 3) or F(3, 2).
const WinogradMatrices &winograd_matrices(int outputs, int taps);

/// For each output channel of a convolution, how far a result of F(m, r) may be from the exact one.
///
/// A sum of n products computed in floating point, in any order, is off by at most gamma(n) times
/// the sum of their magnitudes, gamma(n) = n u / (1 - n u), u = 2^-24 (N. Higham, Accuracy and
/// Stability of Numerical Algorithms, 2002, ch. 3). A result is a sum of sums: over the products of
/// a tile of the transformed input, the transformed weights summed over channels, and the bias, so
/// with N roundings on the way of each number
///
///     |error| <= gamma(N) (|A^T| (sum over channels of |G||w||G^T| * |B^T||d||B|) |A| + |bias|)
///
/// where here d is as large as the largest number of the input or border. N counts 1 for weights,
/// as many for each of two steps of a transform as a row of the matrix has terms, the channels, the
/// bias, and the rounding of what is held against it. Where weights are such that the transformed
/// ones are whole, and all sums are below 2^24, nothing is rounded, and the bound is 0.
std::vector<double> winograd_bound(const selvage::Problem &problem, const Data &data, int outputs);
