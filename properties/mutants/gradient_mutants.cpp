// Mistakes in a backward pass: one wrong step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attest/element.hpp"
#include "mutants/gradient_mutant.hpp"

namespace attest::mutants {
namespace {

using kernels::PairGradient;
using kernels::QueryRow;
using kernels::QueryTile;
using kernels::ScoreStages;
using kernels::ScoreTerms;

template <class Real>
using Steps = kernels::BackwardSteps<Real>;

template <class Real>
struct DeltaWithoutLse : Steps<Real> {
  Real delta(Real product, Real) const override { return product; }
};

template <class Real>
struct AddsLseGradientToDelta : Steps<Real> {
  Real delta(Real product, Real lse_gradient) const override { return product + lse_gradient; }
};

template <class Real>
struct NoDelta : Steps<Real> {
  Real delta(Real, Real lse_gradient) const override { return -lse_gradient; }
};

template <class Real>
struct DeltaOfTheNextRow : Steps<Real> {
  RowIndex delta_row(const Problem& problem, const RowIndex& row) const override {
    return {row.batch, row.head, (row.query + 1) % problem.query_length(row.batch)};
  }
};

template <class Real>
struct LseOfAnotherHead : Steps<Real> {
  RowIndex lse_row(const Problem& problem, const RowIndex& row) const override {
    return {row.batch, (row.head + 1) % problem.heads_q, row.query};
  }
};

template <class Real>
struct NoSoftcapSlope : Steps<Real> {
  Real slope(const ScoreTerms<Real>&, const ScoreStages<Real>&) const override { return 1; }
};

template <class Real>
struct SlopeAfterBias : Steps<Real> {
  Real slope(const ScoreTerms<Real>& terms, const ScoreStages<Real>& score) const override {
    return terms.slope(score.finished);
  }
};

template <class Real>
struct SlopeOfUncappedScore : Steps<Real> {
  Real slope(const ScoreTerms<Real>& terms, const ScoreStages<Real>& score) const override {
    return terms.slope(score.scaled_dot);
  }
};

template <class Real>
struct ForgetsLastHeadOfGroup : Steps<Real> {
  bool takes(const Problem& problem, const QueryTile& tile) const override {
    const Index group = problem.heads_q / problem.heads_kv;
    return group == 1 || tile.h % group != group - 1;
  }
};

template <class Real>
struct OverwritesTileSums : Steps<Real> {
  void add_tile(std::span<Real> to, std::span<const Real> sums) const override {
    std::copy(sums.begin(), sums.end(), to.begin());
  }
};

template <class Real>
struct SkipsLastQueryTile : Steps<Real> {
  bool takes(const Problem& problem, const QueryTile& tile) const override {
    return tile.begin == 0 || tile.end != problem.query_length(tile.b);
  }
};

template <class Real>
struct KeysWithoutScale : Steps<Real> {
  Real key_scale(Real) const override { return 1; }
};

template <class Real>
struct QueriesScaledTwice : Steps<Real> {
  Real query_scale(Real scale) const override { return scale * scale; }
};

/// Looks at every pair; what is not visible is to be made harmless at the end.
template <class Real>
struct LooksAtEveryPair : Steps<Real> {
  bool meet(const Problem&, const QueryTile&, const KeyRange& keys) const override {
    return keys.begin < keys.end;
  }
  bool sees(const Problem&, const RowIndex&, Index) const override { return true; }
  void finish(const Problem& problem, const QueryRow<Real>& row, Index key,
              PairGradient<Real>& pair) const override {
    if (visible(problem, row.index.batch, row.index.query, key)) return;
    pair.weight = weight_of_excluded(row, pair.weight);
    pair.bias_gradient = pair.dot_gradient = 0;
  }
  virtual Real weight_of_excluded(const QueryRow<Real>& row, Real weight) const = 0;
};

template <class Real>
struct MultipliesMaskedPairsByZero : LooksAtEveryPair<Real> {
  Real weight_of_excluded(const QueryRow<Real>&, Real) const override { return 0; }
};

template <class Real>
struct MasksByMinusInfinity : LooksAtEveryPair<Real> {
  Real weight_of_excluded(const QueryRow<Real>& row, Real) const override {
    return std::exp(-std::numeric_limits<Real>::infinity() - row.lse);
  }
};

template <class Real>
struct ValuesFromUnmaskedKeys : LooksAtEveryPair<Real> {
  bool meet(const Problem& problem, const QueryTile& queries, const KeyRange& keys) const override {
    return Steps<Real>::meet(problem, queries, keys);
  }
  Real weight_of_excluded(const QueryRow<Real>&, Real weight) const override { return weight; }
};

template <class Real>
struct TakesOneKeyMore : Steps<Real> {
  bool sees(const Problem& problem, const RowIndex& row, Index key) const override {
    return Steps<Real>::sees(problem, row, key) ||
           (key > 0 && Steps<Real>::sees(problem, row, key - 1));
  }
};

template <class Real>
struct ClipsScoreGradients : Steps<Real> {
  void finish(const Problem&, const QueryRow<Real>&, Index,
              PairGradient<Real>& pair) const override {
    pair.dot_gradient = std::clamp(pair.dot_gradient, Real(-0.25), Real(0.25));
  }
};

template <class Real>
struct RoundsWeightsToBf16 : Steps<Real> {
  void add_value(std::span<Real> sums, Real weight, std::span<const Real> dout) const override {
    const auto rounded = static_cast<Real>(rounded_to(Dtype::bf16, static_cast<double>(weight)));
    Steps<Real>::add_value(sums, rounded, dout);
  }
};

template <class Real>
struct SinkGradientOfOtherSign : Steps<Real> {
  Real sink_gradient(Real weight, Real delta, Real) const override { return weight * delta; }
};

template <class Real>
struct SinkGradientWithoutLse : Steps<Real> {
  Real sink_gradient(Real weight, Real delta, Real lse_gradient) const override {
    return -(weight * (delta + lse_gradient));
  }
};

template <class Real>
struct BiasGradientOfTheLastRow : Steps<Real> {
  void add_bias(Real& sum, Real gradient) const override { sum = gradient; }
};

}  // namespace

void append_gradient_mutants(std::vector<Mutant>& mutants) {
  const auto add = [&]<template <class> class Wrong>(
                       std::string_view name, std::string_view mistake, std::string_view killed_by,
                       std::vector<Feature> features = {}) {
    mutants.push_back(
        gradient_mutant<Wrong>(describe_gradients(name, mistake, std::move(features)), killed_by));
  };
  add.operator()<DeltaWithoutLse>("delta_without_dlse", "the gradient of the lse is left out",
                                  "gradient.dq");
  add.operator()<AddsLseGradientToDelta>(
      "dlse_sign", "the gradient of the lse is added to delta instead of subtracted",
      "gradient.score_sum", {Feature::bias, Feature::dbias});
  add.operator()<NoDelta>("no_delta", "delta, the row sum of dout * out, is left out",
                          "gradient.constant_values");
  add.operator()<DeltaOfTheNextRow>("delta_of_the_next_row", "delta is that of the next query",
                                    "gradient.dk");
  add.operator()<LseOfAnotherHead>(
      "lse_of_another_head", "weights are formed from the lse of another head", "gradient.dv");
  add.operator()<NoSoftcapSlope>("no_softcap_slope", "the derivative of the softcap is left out",
                                 "gradient.dq", {Feature::softcap});
  add.operator()<SlopeAfterBias>("softcap_slope_after_bias",
                                 "the derivative of the softcap is taken after the bias",
                                 "gradient.dk", {Feature::softcap, Feature::bias});
  add.operator()<SlopeOfUncappedScore>(
      "softcap_slope_of_uncapped_score",
      "the derivative of the softcap is formed from the score before it", "gradient.dq",
      {Feature::softcap});
  add.operator()<ForgetsLastHeadOfGroup>("group_sum_forgets_last_head",
                                         "the last query head of a group adds nothing to dk and dv",
                                         "gradient.group_sum");
  add.operator()<OverwritesTileSums>("tile_sums_overwrite",
                                     "each tile of queries replaces dk and dv", "gradient.dv");
  add.operator()<SkipsLastQueryTile>("skips_last_query_tile",
                                     "the last of several tiles of queries adds nothing to dk, dv",
                                     "gradient.tiling");
  add.operator()<KeysWithoutScale>("dk_without_scale", "dk is not multiplied by the scale",
                                   "gradient.adjoint");
  add.operator()<QueriesScaledTwice>("dq_scaled_twice", "dq is multiplied by the scale twice",
                                     "gradient.dq");
  add.operator()<MultipliesMaskedPairsByZero>("masked_pairs_times_zero",
                                              "masked pairs are multiplied by 0 and added",
                                              "gradient.masked_rows");
  add.operator()<MasksByMinusInfinity>("empty_row_inf_minus_inf",
                                       "the lse of an empty row is subtracted from a score of -inf",
                                       "gradient.dv");
  add.operator()<ValuesFromUnmaskedKeys>("dv_from_unmasked_keys",
                                         "dv has terms of keys that the row does not see",
                                         "gradient.value_sum");
  add.operator()<TakesOneKeyMore>("takes_one_key_more",
                                  "the key after a visible one has gradients, too", "gradient.dk");
  add.operator()<ClipsScoreGradients>("clips_score_gradients",
                                      "gradients of scores are clipped to a quarter",
                                      "gradient.linear_in_dout");
  add.operator()<RoundsWeightsToBf16>("backward_weights_to_bf16",
                                      "weights are rounded to bf16 before they multiply dout",
                                      "gradient.dv");
  add.operator()<SinkGradientOfOtherSign>("dsink_sign", "the gradient of the sink has no minus",
                                          "gradient.dsink", {Feature::sink, Feature::dsink});
  add.operator()<SinkGradientWithoutLse>("dsink_without_dlse",
                                         "the gradient of the sink leaves out that of the lse",
                                         "gradient.dsink", {Feature::sink, Feature::dsink});
  add.operator()<BiasGradientOfTheLastRow>("dbias_of_the_last_row",
                                           "dbias is not summed over what the bias is broadcast",
                                           "gradient.dbias", {Feature::bias, Feature::dbias});
}

}  // namespace attest::mutants
