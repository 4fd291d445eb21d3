// What a kernel declares about its own arithmetic. The error bound is derived from this and from
// the problem alone; nothing is tuned. Symbols in brackets are those of docs/numerics.md.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/status.hpp"
#include "attest/tiling.hpp"

namespace attest {

/// The unit whose keys share one running summary; summaries of units are merged by the tree.
enum class SummaryScope {
  row,    ///< one summary over all keys, maximum known beforehand: no rescales, no merges
  split,  ///< one running summary a kv split, rescaled tile by tile
  tile,   ///< one summary a tile
  any,    ///< any tiles, splits, order of the keys and tree of merges: see keys_of_a_part
};

/// What becomes of results below the normal range of a format.
enum class Underflow {
  gradual,                   ///< subnormal numbers (IEEE 754)
  flush_results,             ///< FTZ: a result below the normal range may become 0
  flush_results_and_inputs,  ///< FTZ and DAZ: an input there may count as 0, too
};

/// How a weight is formed from a score s and the running maximum m.
enum class ExpForm {
  natural,          ///< exp(fl(s - m))
  folded_base_two,  ///< exp2(fma(s', c, -fl(m' c))), c = fl(|scale| log2 e), s' = +-q.k
};

/// Weights that are rounded to a narrower format before they multiply v.
struct WeightCast {
  Format format = kBf16;
  int offset_log2 = 0;          ///< weights are multiplied by 2^offset before, undone exactly later
  bool sum_of_rounded = false;  ///< row_sum adds the rounded weights
};

struct DeclaredAccuracy {
  Format format = format_of(Dtype::f32);  ///< of every arithmetic operation not named below
  Underflow underflow = Underflow::gradual;

  Index dot_roundings = 0;           ///< [h] roundings on the longest path from q, k to a score
  std::optional<Format> dot_format;  ///< [u_s] of the dot product, where it is not `format`
  /// [u_b] relative error of q * scale, if q is scaled first; below the normal range of `format` it
  /// is absolute.
  double scaled_query_error = 0;
  Index softcap_roundings = 2;     ///< roundings in cap * tanh(x / cap) beside the one of tanh
  double tanh_relative_error = 0;  ///< of the softcap
  double bias_relative_error = 0;  ///< of a bias that the kernel computes itself (ALiBi)
  double value_relative_error =
      0;  ///< [u_v] of v as the kernel reads it: a descale that it applies

  ExpForm exp_form = ExpForm::natural;
  double exp_relative_error = 0;  ///< [eps] of exp (or exp2), result in the normal range
  double exp_absolute_error = 0;  ///< [eta] of exp below the normal range
  /// [tau] A rise of the maximum by at most this much is never taken over within a unit, a larger
  /// one always is; weights reach 2^tau.
  double lag_log2 = 0;
  std::optional<WeightCast> weight_cast;

  double log_relative_error = 0;         ///< [eps_log] of the natural logarithm on [1, n]
  double log_absolute_error = 0;         ///< of a fast logarithm, in natural units
  Index division_roundings = 1;          ///< [r_div] roundings of the final normalisation
  double reciprocal_relative_error = 0;  ///< of 1 / row_sum, beside division_roundings
  std::optional<Format> output_format;   ///< of `out`, where it is not `format`

  SummaryScope scope = SummaryScope::row;
  /// What the kernel works by instead of the tiling of the call; valid for seq_kv of the problem.
  std::optional<Tiling> own_tiling;
  /// [b] Instead of rounding the sums of a row of n keys, a kernel may move each of their terms by
  /// at most n 2^-b, times the largest |v_jc| of its column in a numerator. 0: it rounds sums.
  Index grid_bits = 0;
  /// Scope `split`: where tile_kv is larger, tiles have this many keys; 0: never.
  Index longest_tile = 0;
  /// Scope `any`: keys are in parts (tiles or kv splits) whose maximum is known before their first
  /// weight; beside that of a key there are ceil(seq_kv / keys_of_a_part) at most, and the sink.
  Index keys_of_a_part = 1;
  /// Keys are added one after the other; false: in any order or tree. Tiles of a unit are taken in
  /// ascending order in both cases. Not looked at with scope `any`.
  bool ordered_sums = true;
};

/// How often a key's contribution is rounded on its way to the end of the row, per visible key.
struct PathCounts {
  Index additions = 0;  ///< [A] additions that it passes through
  Index rescales = 0;   ///< [R] rescale factors that may differ from 1
  /// Upper bound of the running maximum that the key's weight is relative to.
  double row_max_upper = std::numeric_limits<double>::infinity();
};

/// The part of a visible row that decides which rescales can happen.
struct ScoredKey {
  Index key = 0;
  double score = 0;
  double score_error = 0;  ///< absolute; of the kernel's score and of `score` itself, together
};

/// Counts the roundings of every key of one row (ascending in `key`) under a tiling.
/// Precondition: the tiling is valid for `seq_kv` and its merge tree fits.
std::vector<PathCounts> count_paths(const DeclaredAccuracy& accuracy, const Tiling& tiling,
                                    Index seq_kv, const std::vector<ScoredKey>& keys);

}  // namespace attest
