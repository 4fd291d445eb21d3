// The largest error that a conforming kernel can make, per output element, derived from what the
// kernel declares and from the exact row. Never tuned; every bound is an upper bound.
//
// Theorem numbers are those of docs/numerics.md, which has the assumptions and the proofs.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/enclosure.hpp"

namespace attest {

/// A number added to every score of a row: a bias, an ALiBi term or an additive mask.
struct ScoreAddend {
  std::vector<double> value;  ///< per visible key, exact; in RowFacts also 0 for a sink
  bool before_softcap = false;
  bool computed =
      false;  ///< the kernel forms it itself, with DeclaredAccuracy::bias_relative_error

  friend bool operator==(const ScoreAddend&, const ScoreAddend&) = default;
};

/// What the exact row looks like: the bound's only knowledge of q, k and v.
/// All vectors over keys hold the visible keys in ascending order, and after them the sink, if
/// there is one, as a key kSinkKey with score_magnitude 0 and value 0.
struct RowFacts {
  static constexpr Index kSinkKey = std::numeric_limits<Index>::max();

  std::vector<Index> keys;
  std::vector<double> score;            ///< s_j after softcap and addends, nearest double
  std::vector<double> score_radius;     ///< |score - exact score|, upper bound
  std::vector<double> score_magnitude;  ///< S_j = |scale| sum_c |q_c k_jc|, upper bound
  std::vector<ScoreAddend> addends;     ///< in any order: the bound holds for every one
  std::vector<double> probability;      ///< p_j, upper bound, relative slack below 2^-40
  std::vector<double> value;            ///< v_jc, exact, row-major (keys x head_dim_v)
  std::vector<Enclosure> output;        ///< o_c
  Enclosure lse;
  double score_max = 0;            ///< M, nearest double
  double log_sum = 0;              ///< log L, L = sum exp(s_j - M), in [0, log n], upper bound
  double dot_magnitude_max = 0;    ///< largest sum_c |q_c k_jc|, before the scale, upper bound
  double input_magnitude_max = 0;  ///< largest sum_c (|q_c| + |k_jc|), upper bound
  double scale = 1;                ///< the problem's factor on the dot product
  double softcap = 0;  ///< s = softcap tanh((x + before) / softcap) + after; 0: s = x + all of them
  Index head_dim = 1;

  bool has_sink() const { return !keys.empty() && keys.back() == kSinkKey; }
  Index visible_keys() const { return static_cast<Index>(keys.size()) - (has_sink() ? 1 : 0); }
  Index head_dim_v() const { return static_cast<Index>(output.size()); }
};

/// Admissible |computed - exact|, absolute, in the units of the output.
struct RowBound {
  std::vector<double> output;  ///< per output column
  double lse = 0;
  /// Why no bound can be given (a precondition fails); all numbers are then infinite.
  std::string unproven;
  /// Of the lse divided by ln 2, whether the kernel converts its natural lse or works in base two.
  double lse_base_two = 0;

  bool proven() const { return unproven.empty(); }
};

/// How sharp a bound is made. Both are proven; a verdict may use either.
enum class BoundTier {
  component_wise,  ///< tier 1: every rounding is charged with the sum of the magnitudes
  order_aware,  ///< tier 2: and with the signed partial sum of its moment, where the order is known
};

/// Theorem 1 (output), Theorem 2 (lse) and, through `paths`, Theorem 3 (any merge tree), tier 1.
/// Precondition: facts has at least one key, paths has one entry a key.
RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                     std::span<const PathCounts> paths);

/// The same, with the paths that the declared scope gives under a tiling of `seq_kv` keys. Tier 2
/// is the smaller of both tiers, per element; without ordered_sums it is tier 1. Unproven where the
/// tiling's merge tree does not fit the units of that scope; so is the bound of a summary.
RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const Tiling& tiling,
                     Index seq_kv, BoundTier tier = BoundTier::order_aware);

/// Tier 3: what the error of an output exceeds with a probability of about 2 exp(-lambda^2 / 2) for
/// each sum, if the roundings are independent and have no bias (Hoeffding 1963; Higham and Mary
/// 2019). They are neither, so this is a level for warnings, never a verdict. Infinite where the
/// bound of tiers 1 and 2 is unproven beforehand.
std::vector<double> probable_error(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                   const Tiling& tiling, Index seq_kv, double lambda = 6);

/// Admissible error of the dot product times the scale, absolute.
double score_error_bound(const DeclaredAccuracy& accuracy, double scale, Index head_dim,
                         double score_magnitude);

/// [delta_j] of Theorem 1: admissible error of the score of key j after softcap and addends,
/// absolute.
double score_error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, std::size_t j);

/// Admissible errors of a row's summary (Theorem 3), absolute, of row_sum and numerator against
/// their exact values relative to the row_max that the kernel gives.
struct SummaryBound {
  double row_max = 0;  ///< against the exact maximum
  double row_sum = 0;
  std::vector<double> numerator;
  std::string unproven;

  bool proven() const { return unproven.empty(); }
};

/// `row_sum_upper` is an upper bound of the exact row_sum relative to the kernel's row_max.
SummaryBound summary_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                           std::span<const PathCounts> paths, double row_sum_upper);
SummaryBound summary_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                           const Tiling& tiling, Index seq_kv, double row_sum_upper);

/// One side of a merge of normalised rows: its exact row and the error it already has.
struct NormalisedPart {
  const RowFacts* facts = nullptr;
  const RowBound* bound = nullptr;
};

/// Theorem 4: bound of the merge of normalised rows (output, lse) in one step, from the bounds of
/// the parts. `whole` is the exact row over all keys of all parts. A tree is bounded node by node:
/// the bound of a node is that of a part of its parent.
RowBound normalised_merge_bound(const DeclaredAccuracy& accuracy, const RowFacts& whole,
                                std::span<const NormalisedPart> parts);

}  // namespace attest
