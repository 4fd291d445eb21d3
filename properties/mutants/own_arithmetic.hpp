// A tiled kernel whose additions, products, exp and choice of keys can be replaced one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {

template <class Real>
struct OwnArithmetic : kernels::TiledSteps<Real> {
  using Summary = RowSummary<Real>;

  virtual Real add(Real left, Real right) const { return left + right; }
  virtual Real product(Real weight, Real value) const { return weight * value; }
  /// exp of an argument <= 0.
  virtual Real exp_of(Real argument) const { return std::exp(argument); }
  /// Weight of a score under a maximum.
  virtual Real weight_under(Real score, Real row_max) const { return exp_of(score - row_max); }
  virtual bool takes(Real /*score*/) const { return true; }

  void raise_row_max(Summary& summary, Real row_max) const override {
    if (summary.row_max != row_max && !summary.is_identity()) {
      const Real factor = exp_of(summary.row_max - row_max);
      summary.row_sum *= factor;
      for (Real& element : summary.numerator) element *= factor;
    }
    summary.row_max = row_max;
  }
  void absorb_tile(Summary& summary, const kernels::ScoredTile<Real>& tile) const override {
    Real tile_max = Summary::minus_infinity;
    for (const Real score : tile.scores)
      if (takes(score) && !(score <= tile_max)) tile_max = score;
    if (tile_max == Summary::minus_infinity) return;
    raise_row_max(summary, this->next_row_max(summary.row_max, tile_max));
    for (std::size_t j = 0; j < tile.scores.size(); ++j) {
      if (!takes(tile.scores[j])) continue;
      const Real own = weight_under(tile.scores[j], summary.row_max);
      summary.row_sum = add(summary.row_sum, own);
      for (std::size_t c = 0; c < summary.numerator.size(); ++c)
        summary.numerator[c] = add(summary.numerator[c], product(own, tile.values[j][c]));
    }
  }
  Summary merge(const Summary& left, const Summary& right) const override {
    if (right.is_identity()) return left;
    if (left.is_identity()) return right;
    Summary sum = left.row_max < right.row_max ? right : left;
    Summary other = left.row_max < right.row_max ? left : right;
    raise_row_max(other, sum.row_max);
    sum.row_sum = add(sum.row_sum, other.row_sum);
    for (std::size_t c = 0; c < sum.numerator.size(); ++c)
      sum.numerator[c] = add(sum.numerator[c], other.numerator[c]);
    return sum;
  }
};

/// Half an ulp of 1.
template <class Real>
constexpr Real kUnit = std::numeric_limits<Real>::epsilon() / 2;

/// x with `bits` significant bits, to nearest even.
template <class Real>
Real rounded_to_bits(Real x, int bits) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  const Real mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

}  // namespace attest::mutants
