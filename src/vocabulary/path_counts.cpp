#include <algorithm>

#include "attest/accuracy.hpp"
#include "attest/any_order.hpp"
#include "attest/error_bound.hpp"
#include "evaluation_order.hpp"

namespace attest {
namespace {

void count_within_unit(const UnitOrder& unit, bool ordered_sums, std::vector<PathCounts>& counts) {
  auto next_raise = unit.raised_at.begin();
  for (std::size_t j = unit.first; j < unit.last; ++j) {
    while (next_raise != unit.raised_at.end() && *next_raise <= j) ++next_raise;
    counts[j].additions = static_cast<Index>(unit.last - (ordered_sums ? j : unit.first));
    counts[j].rescales = unit.raised_at.end() - next_raise;
    counts[j].row_max_upper = unit.row_max_upper[j - unit.first];
  }
}

/// What happens above a node, from what happens above its parent.
PathCounts descend(PathCounts above, const MergeNode& child, const MergeNode& sibling, double lag) {
  if (sibling.max.empty()) return above;  // the identity on the other side rounds nothing
  ++above.additions;
  if (child.max.may_rise_to(sibling.max, lag)) ++above.rescales;
  return above;
}

void count_merges(const EvaluationOrder& order, std::vector<PathCounts>& counts) {
  std::vector<PathCounts> above(order.nodes.size());
  for (std::size_t at = order.nodes.size(); at-- > 0;) {
    const MergeNode& node = order.nodes[at];
    if (!node.is_leaf()) {
      const MergeNode& left = order.nodes[node.left];
      const MergeNode& right = order.nodes[node.right];
      above[node.left] = descend(above[at], left, right, order.lag);
      above[node.right] = descend(above[at], right, left, order.lag);
      continue;
    }
    const UnitOrder& unit = order.units[static_cast<std::size_t>(node.unit)];
    for (std::size_t j = unit.first; j < unit.last; ++j) {
      counts[j].additions += above[at].additions;
      counts[j].rescales += above[at].rescales;
    }
  }
}

/// The sink may be added at any moment: before the first key, or after the last.
PathCounts count_sink(const EvaluationOrder& order, const ScoredKey& sink,
                      std::vector<PathCounts>& counts) {
  MaxRange sink_max;
  sink_max.include(sink);
  MaxRange row_max;
  for (const UnitOrder& unit : order.units) {
    row_max.include(unit.max);
    // A path meets the sink once: in its own unit, or in the merge with the unit that holds it.
    const Index raise = unit.max.may_rise_to(sink_max, order.lag) ? 1 : 0;
    for (std::size_t j = unit.first; j < unit.last; ++j) counts[j].rescales += raise;
  }
  PathCounts path{static_cast<Index>(counts.size() + order.units.size()) + 1, 0, {}};
  for (const UnitOrder& unit : order.units)
    path.rescales += static_cast<Index>(unit.raised_at.size()) + 1;
  row_max.include(sink_max);
  path.row_max_upper = row_max.upper;
  for (PathCounts& count : counts) {
    ++count.additions;
    count.row_max_upper = std::max(count.row_max_upper, sink_max.upper);
  }
  return path;
}

/// A rescale on the path of a key is a part that joins and has a larger maximum: at most every
/// other part, and at most every key that may have a larger score.
void count_any_order(Index other_parts, double lag, const std::vector<ScoredKey>& keys,
                     std::vector<PathCounts>& counts) {
  std::vector<double> uppers;
  for (const ScoredKey& key : keys) uppers.push_back(key.score + key.score_error);
  std::sort(uppers.begin(), uppers.end());
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double lower = keys[j].score - keys[j].score_error - lag;
    const auto larger = uppers.end() - std::upper_bound(uppers.begin(), uppers.end(), lower);
    counts[j].rescales = std::min<Index>(other_parts, larger);
  }
}

}  // namespace

std::vector<PathCounts> count_paths(const DeclaredAccuracy& accuracy, const Tiling& tiling,
                                    Index seq_kv, const std::vector<ScoredKey>& keys) {
  const bool has_sink = !keys.empty() && keys.back().key == RowFacts::kSinkKey;
  const std::vector<ScoredKey> visible(keys.begin(), keys.end() - (has_sink ? 1 : 0));
  const EvaluationOrder order = evaluation_order(accuracy, tiling, seq_kv, visible);
  std::vector<PathCounts> counts(visible.size());
  for (const UnitOrder& unit : order.units) count_within_unit(unit, accuracy.ordered_sums, counts);
  count_merges(order, counts);
  const bool any_order = accuracy.own_tiling && is_any_order(*accuracy.own_tiling);
  const Index others = any_order ? other_parts(*accuracy.own_tiling, seq_kv) : 0;
  if (any_order) count_any_order(others, order.lag, visible, counts);
  if (has_sink) counts.push_back(count_sink(order, keys.back(), counts));
  if (has_sink) counts.back().rescales += others;
  return counts;
}

}  // namespace attest
