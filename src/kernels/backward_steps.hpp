// The steps of a backward pass, one virtual function each, so that a mutant (a kernel that is wrong
// on purpose) is a correct pass with one step replaced.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "attest/problem.hpp"
#include "attest/status.hpp"
#include "attest/tiling.hpp"
#include "kernels/score_terms.hpp"

namespace attest::kernels {

/// Consecutive queries of one head.
struct QueryTile {
  Index b = 0;
  Index h = 0;
  Index begin = 0;
  Index end = 0;

  RowIndex row(Index query) const { return {b, h, query}; }
};

/// One score on its way: scale * (q . k), after the softcap, after all additions.
template <class Real>
struct ScoreStages {
  Real scaled_dot = 0;
  Real capped = 0;
  Real finished = 0;
};

/// A row that sees something; good until the next one is read.
template <class Real>
struct QueryRow {
  RowIndex index;
  std::span<const Real> q;
  std::span<const Real> output_gradient;
  Real lse = 0;
  Real delta = 0;  ///< D = dout . out - dlse
};

/// A visible pair; good until the next one is formed.
template <class Real>
struct PairGradient {
  Real weight = 0;         ///< p
  Real bias_gradient = 0;  ///< ds, or dx where the bias is added before the softcap
  Real dot_gradient = 0;   ///< dx, without the scale
  std::span<const Real> k;
};

template <class Real>
class BackwardSteps {
 public:
  BackwardSteps() = default;
  BackwardSteps(const BackwardSteps&) = delete;
  BackwardSteps& operator=(const BackwardSteps&) = delete;
  virtual ~BackwardSteps() = default;

  // Of one row.
  virtual Real delta(Real product, Real lse_gradient) const { return product - lse_gradient; }
  /// The row whose delta, and whose lse, serves a row.
  virtual RowIndex delta_row(const Problem&, const RowIndex& row) const { return row; }
  virtual RowIndex lse_row(const Problem&, const RowIndex& row) const { return row; }
  virtual Real sink_gradient(Real weight, Real delta, Real /*lse_gradient*/) const {
    return -(weight * delta);
  }

  // Of one (query, key) pair.
  virtual bool sees(const Problem& problem, const RowIndex& row, Index key) const {
    return visible(problem, row.batch, row.query, key);
  }
  virtual Real weight(Real score, Real lse) const { return std::exp(score - lse); }
  /// The derivative of the softcap.
  virtual Real slope(const ScoreTerms<Real>& terms, const ScoreStages<Real>& score) const {
    return terms.slope(score.capped);
  }
  /// Called for a pair that is complete.
  virtual void finish(const Problem&, const QueryRow<Real>&, Index /*key*/,
                      PairGradient<Real>&) const {}

  // Of tiles and sums.
  /// Whether a tile of queries is added to the keys.
  virtual bool takes(const Problem&, const QueryTile&) const { return true; }
  /// Whether some query of a tile sees some of the keys.
  virtual bool meet(const Problem& problem, const QueryTile& queries, const KeyRange& keys) const {
    return classify(problem, queries.b, queries.begin, queries.end, keys.begin, keys.end) !=
           TileClass::empty;
  }
  /// Adds a pair to the sum of dv.
  virtual void add_value(std::span<Real> sums, Real weight, std::span<const Real> dout) const {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += weight * dout[c];
  }
  /// Adds the sums of a tile of queries to those of the keys.
  virtual void add_tile(std::span<Real> to, std::span<const Real> sums) const {
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += sums[c];
  }
  virtual void add_bias(Real& sum, Real gradient) const { sum += gradient; }
  virtual Real query_scale(Real scale) const { return scale; }
  virtual Real key_scale(Real scale) const { return scale; }
};

}  // namespace attest::kernels
