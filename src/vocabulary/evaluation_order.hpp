// In which order a kernel of a declared scope adds the keys of one row, and where its running
// maximum may rise on the way.
#pragma once

#include <vector>

#include "attest/accuracy.hpp"

namespace attest {

/// Interval that holds the computed maximum of a set of scores; empty set: nothing computed.
struct MaxRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = -std::numeric_limits<double>::infinity();

  bool empty() const { return upper == -std::numeric_limits<double>::infinity(); }
  void include(const ScoredKey& key);
  void include(const MaxRange& other);
  /// A set with this maximum, which may lag, may have to be rescaled when it meets `other`.
  bool may_rise_to(const MaxRange& other, double lag = 0) const {
    return !empty() && other.upper > lower - lag;
  }
};

/// The keys that share one running summary.
struct UnitOrder {
  std::size_t first = 0;  ///< positions in the list of keys
  std::size_t last = 0;
  MaxRange max;
  std::vector<std::size_t> raised_at;  ///< first position of each tile that may raise the maximum
  std::vector<double> row_max_upper;   ///< per key of the unit: of the running maximum at its tile
};

/// A node of the merge tree over the units.
struct MergeNode {
  MaxRange max;
  std::size_t left = 0;
  std::size_t right = 0;
  Index unit = -1;  ///< of a leaf

  bool is_leaf() const { return unit >= 0; }
};

struct EvaluationOrder {
  std::vector<UnitOrder> units;
  std::vector<MergeNode> nodes;  ///< in postfix order, the root last
  double lag = 0;                ///< tau ln 2
};

inline constexpr const char* kTreeDoesNotFit = "the merge tree does not fit";

/// Whether the tiling's merge tree joins the units of the declared scope.
/// Precondition: the tiling is valid for `seq_kv`.
bool merge_tree_fits(const DeclaredAccuracy& accuracy, const Tiling& tiling, Index seq_kv);

/// Precondition: the tiling is valid for `seq_kv`; `keys` ascend and hold no sink. Without nodes
/// where the merge tree does not fit.
EvaluationOrder evaluation_order(const DeclaredAccuracy& accuracy, const Tiling& tiling,
                                 Index seq_kv, const std::vector<ScoredKey>& keys);

}  // namespace attest
