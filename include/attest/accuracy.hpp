// What a kernel declares about its own arithmetic. The error bound is derived from this and from
// the problem alone; nothing is tuned. Symbols in brackets are those of docs/numerics.md.
#pragma once

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
};

struct DeclaredAccuracy {
  Format format = format_of(Dtype::f32);  ///< of every arithmetic operation
  Index dot_roundings = 0;        ///< [h] roundings on the longest path from q, k to a score
  double exp_relative_error = 0;  ///< [eps] of exp, result in the normal range
  double exp_absolute_error = 0;  ///< [eta] of exp below the normal range
  double log_relative_error = 0;  ///< [eps_log] of the natural logarithm on [1, n]
  Index division_roundings = 1;   ///< [r_div] roundings of the final normalisation
  SummaryScope scope = SummaryScope::row;
  bool ordered_sums = true;  ///< keys are added one after the other; false: in any order or tree
};

/// How often a key's contribution is rounded on its way to the end of the row, per visible key.
struct PathCounts {
  Index additions = 0;  ///< [A] additions that it passes through
  Index rescales = 0;   ///< [R] rescale factors that may differ from 1
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
