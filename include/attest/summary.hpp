// The summary of one row over a set of visible keys, and its monoid.
//
//   row_max   = max over the set of score_j                      (-inf for the empty set)
//   row_sum   = sum over the set of exp(score_j - row_max)       (0 for the empty set)
//   numerator = sum over the set of exp(score_j - row_max) v_j   (0 for the empty set)
//
// Summaries of disjoint key sets form a commutative monoid under `merge`, with `identity()` as
// the neutral element. In exact arithmetic order and grouping change nothing; in floating point
// they change rounding only, by at most Theorem 3 of docs/numerics.md. A normalised output alone
// cannot be merged, for it has forgotten its mass; the pair (output, lse) can.
//
// A row_max that absorb, raise_row_max or merge made is never -0, so that it does not tell which of
// two equal scores came first.
//
// Special values: a score of -inf is an exclusion and leaves the summary as it is. A NaN score, or
// a score of +inf, makes row_sum and numerator NaN, so that it stays visible.
// From: Milakov and Gimelshein 2018 (online softmax); Rabe and Staats 2021 (summaries of chunks).
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "attest/status.hpp"

namespace attest {

template <std::floating_point Real>
struct RowSummary {
  static constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

  Real row_max = minus_infinity;
  Real row_sum = 0;
  std::vector<Real> numerator;

  /// The empty summary: one bit pattern (-inf, +0, +0 ...).
  static RowSummary identity(Index head_dim_v) {
    RowSummary summary;
    summary.numerator.assign(static_cast<std::size_t>(head_dim_v), Real(0));
    return summary;
  }
  /// No key has been absorbed. A NaN score leaves a NaN row_sum, so it is not the identity.
  bool is_identity() const { return row_sum == Real(0); }
};

/// Factor on a part that is relative to `from` when it becomes relative to `to` >= from:
/// exp(from - to), in [0, 1]; 0 for an empty part, without computing inf - inf.
template <std::floating_point Real>
Real rescale(Real from, Real to) {
  if (from == RowSummary<Real>::minus_infinity) return Real(0);
  return std::exp(from - to);
}

/// Makes the summary relative to `row_max` >= summary.row_max. A factor of 1 is not multiplied.
/// `factor_of(from, to)` is the kernel's own form of `rescale`.
template <std::floating_point Real, class FactorOf>
void raise_row_max(RowSummary<Real>& summary, Real row_max, FactorOf&& factor_of) {
  if (summary.row_max == row_max) return;
  if (!summary.is_identity()) {
    const Real factor = factor_of(summary.row_max, row_max);
    summary.row_sum *= factor;
    for (Real& element : summary.numerator) element *= factor;
  }
  summary.row_max = row_max + Real(0);  // +0 for -0
}
template <std::floating_point Real>
void raise_row_max(RowSummary<Real>& summary, Real row_max) {
  raise_row_max(summary, row_max, rescale<Real>);
}

/// Adds a key of known weight exp(score - row_max).
template <std::floating_point Real>
void add_weighted(RowSummary<Real>& summary, Real weight, std::span<const Real> value) {
  summary.row_sum += weight;
  for (std::size_t c = 0; c < value.size(); ++c) summary.numerator[c] += weight * value[c];
}

/// Takes in one key.
template <std::floating_point Real>
void absorb(RowSummary<Real>& summary, Real score, std::span<const Real> value) {
  if (score == RowSummary<Real>::minus_infinity) return;
  if (!(score <= summary.row_max)) raise_row_max(summary, score);
  add_weighted(summary, std::exp(score - summary.row_max), value);
}

/// Joins the summaries of two disjoint key sets. Commutes bit for bit (without contraction), and
/// the identity on either side returns the other side bit for bit.
template <std::floating_point Real, class FactorOf>
RowSummary<Real> merge(RowSummary<Real> left, RowSummary<Real> right, FactorOf&& factor_of) {
  if (right.is_identity()) return left;
  if (left.is_identity()) return right;
  if (left.row_max < right.row_max) std::swap(left, right);
  raise_row_max(right, left.row_max, factor_of);
  left.row_sum += right.row_sum;
  for (std::size_t c = 0; c < left.numerator.size(); ++c) left.numerator[c] += right.numerator[c];
  left.row_max +=
      Real(0);  // +0 for -0: the maxima of the sides may be equal, but not in their bits
  return left;
}
template <std::floating_point Real>
RowSummary<Real> merge(RowSummary<Real> left, RowSummary<Real> right) {
  return merge(std::move(left), std::move(right), rescale<Real>);
}

/// Natural log-sum-exp of the absorbed scores; -inf for the identity.
template <std::floating_point Real>
Real lse(const RowSummary<Real>& summary) {
  if (summary.is_identity()) return RowSummary<Real>::minus_infinity;
  return summary.row_max + std::log(summary.row_sum);
}

/// Writes numerator / row_sum, one division an element; 0 for the identity (AllMaskedPolicy::zero;
/// a kernel under `reject` never finalises an identity).
template <std::floating_point Real>
void finalize(const RowSummary<Real>& summary, std::span<Real> output) {
  for (std::size_t c = 0; c < output.size(); ++c)
    output[c] = summary.is_identity() ? Real(0) : summary.numerator[c] / summary.row_sum;
}

/// The other mergeable form of a row: normalised output with its log-sum-exp.
template <std::floating_point Real>
struct NormalisedRow {
  Real lse = RowSummary<Real>::minus_infinity;
  std::vector<Real> output;

  static NormalisedRow identity(Index head_dim_v) {
    return {RowSummary<Real>::minus_infinity,
            std::vector<Real>(static_cast<std::size_t>(head_dim_v))};
  }
  bool is_identity() const { return lse == RowSummary<Real>::minus_infinity; }
};

template <std::floating_point Real>
NormalisedRow<Real> normalise(const RowSummary<Real>& summary) {
  NormalisedRow<Real> row{lse(summary), std::vector<Real>(summary.numerator.size())};
  finalize(summary, std::span<Real>(row.output));
  return row;
}

/// Joins two normalised rows of disjoint key sets:
///   lse_max = max(lse), w = exp(lse - lse_max), output = sum w output / sum w,
///   lse = lse_max + ln(sum w).
/// Less accurate than `merge` of summaries: the weights carry an error of u * abs(lse)
/// (Theorem 4 of docs/numerics.md).
template <std::floating_point Real>
NormalisedRow<Real> merge(const NormalisedRow<Real>& left, const NormalisedRow<Real>& right) {
  if (right.is_identity()) return left;
  if (left.is_identity()) return right;
  const Real lse_max = left.lse < right.lse ? right.lse : left.lse;
  RowSummary<Real> sum = RowSummary<Real>::identity(static_cast<Index>(left.output.size()));
  sum.row_max = lse_max;
  add_weighted(sum, std::exp(left.lse - lse_max), std::span<const Real>(left.output));
  add_weighted(sum, std::exp(right.lse - lse_max), std::span<const Real>(right.output));
  return normalise(sum);
}

}  // namespace attest
