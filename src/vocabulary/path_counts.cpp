#include <algorithm>

#include "attest/accuracy.hpp"
#include "attest/error_bound.hpp"
#include "evaluation_order.hpp"
#include "problem_checks.hpp"

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

/// Without an order: every maximum that a path meets is higher than the one before, and a key on it
/// starts at its own score. So it is rescaled at most once for each key that may be above it, and
/// at most once for each other part.
std::vector<PathCounts> count_any_paths(Index other_parts, const std::vector<ScoredKey>& keys) {
  MaxRange row_max;
  std::vector<double> uppers;
  for (const ScoredKey& key : keys) {
    row_max.include(key);
    uppers.push_back(key.score + key.score_error);
  }
  std::sort(uppers.begin(), uppers.end());
  std::vector<PathCounts> counts;
  for (const ScoredKey& key : keys) {
    const double lower = key.score - key.score_error;
    const auto above = std::upper_bound(uppers.begin(), uppers.end(), lower);
    const Index itself = key.score + key.score_error > lower ? 1 : 0;
    counts.push_back({static_cast<Index>(keys.size()),
                      std::min<Index>(other_parts, uppers.end() - above - itself), row_max.upper});
  }
  return counts;
}

}  // namespace

std::vector<PathCounts> count_paths(const DeclaredAccuracy& accuracy, const Tiling& tiling,
                                    Index seq_kv, const std::vector<ScoredKey>& keys) {
  const bool has_sink = !keys.empty() && keys.back().key == RowFacts::kSinkKey;
  if (accuracy.scope == SummaryScope::any)
    return count_any_paths(ceil_divide(seq_kv, accuracy.keys_of_a_part) + (has_sink ? 1 : 0), keys);
  const std::vector<ScoredKey> visible(keys.begin(), keys.end() - (has_sink ? 1 : 0));
  const EvaluationOrder order = evaluation_order(accuracy, tiling, seq_kv, visible);
  std::vector<PathCounts> counts(visible.size());
  for (const UnitOrder& unit : order.units) count_within_unit(unit, accuracy.ordered_sums, counts);
  count_merges(order, counts);
  if (has_sink) counts.push_back(count_sink(order, keys.back(), counts));
  return counts;
}

}  // namespace attest
