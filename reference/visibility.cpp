#include "reference/visibility.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace attest::reference {
namespace {

/// Holds every sum of an index with the offsets and lengths of a mask.
__extension__ using Position = __int128;
constexpr Position kFar = Position{1} << 100;

/// Keys begin, ..., end - 1.
struct Range {
  Position begin = 0;
  Position end = 0;
};
/// Ascending, with a gap between any two.
using Ranges = std::vector<Range>;

void append(Ranges& ranges, const Range& next) {
  if (next.begin >= next.end) return;
  if (!ranges.empty() && next.begin <= ranges.back().end)
    ranges.back().end = std::max(ranges.back().end, next.end);
  else
    ranges.push_back(next);
}

Ranges either(Range first, Range second) {
  if (second.begin < first.begin) std::swap(first, second);
  Ranges ranges;
  append(ranges, first);
  append(ranges, second);
  return ranges;
}

Ranges both(const Ranges& left, const Ranges& right) {
  Ranges ranges;
  for (std::size_t l = 0, r = 0; l < left.size() && r < right.size();) {
    append(ranges, {std::max(left[l].begin, right[r].begin), std::min(left[l].end, right[r].end)});
    if (left[l].end < right[r].end)
      ++l;
    else
      ++r;
  }
  return ranges;
}

/// Where `holds(i)`, cells of `width` keys.
template <class Holds>
Ranges cells(Index count, Index width, Holds holds) {
  Ranges ranges;
  for (Index i = 0; i < count; ++i)
    if (holds(i)) append(ranges, {Position{i} * width, (Position{i} + 1) * width});
  return ranges;
}

/// The parts of a mask for one query, each as the keys that it lets through.
class QueryMask {
 public:
  QueryMask(const Problem& problem, Index b, Index query)
      : mask_(problem.mask), keys_(problem.seq_kv), query_(query) {
    const auto member = static_cast<std::size_t>(b);
    key_length_ = problem.key_lengths.empty() ? keys_ : problem.key_lengths.at(member);
    query_length_ =
        problem.query_lengths.empty() ? problem.seq_q : problem.query_lengths.at(member);
    if (mask_.causal)
      position_ = position_on(*mask_.causal);
    else if (mask_.alignment)
      position_ = position_on(*mask_.alignment);
    else
      position_ = query;
  }

  Ranges seen() const {
    if (query_ >= query_length_) return {};
    Ranges ranges{{0, key_length_}};
    if (mask_.causal) {
      const Position prefix = mask_.prefix.value_or(0);
      ranges = both(ranges, either({0, prefix}, {0, position_ + 1}));
    }
    if (mask_.window.left)
      ranges = both(ranges, either({0, mask_.keep_first}, {position_ - *mask_.window.left, kFar}));
    if (mask_.window.right) ranges = both(ranges, {{-kFar, position_ + *mask_.window.right + 1}});
    if (mask_.chunk) ranges = both(ranges, {own_chunk(*mask_.chunk)});
    return seen_by_lists(std::move(ranges));
  }

 private:
  /// Bottom-right: the last query stands on the last key.
  Position position_on(const Causal& diagonal) const {
    if (diagonal.alignment == Causal::Alignment::top_left) return query_;
    if (diagonal.alignment == Causal::Alignment::bottom_right)
      return Position{key_length_} - (Position{query_length_} - query_);
    return Position{query_} + diagonal.offset;
  }

  Range own_chunk(Position chunk) const {
    const Position within = ((position_ % chunk) + chunk) % chunk;
    return {position_ - within, position_ - within + chunk};
  }

  Ranges seen_by_lists(Ranges ranges) const {
    const auto at = [](Index row, Index columns, Index column) {
      return static_cast<std::size_t>(row * columns + column);
    };
    if (mask_.segments) {
      const Index own = mask_.segments->q.at(static_cast<std::size_t>(query_));
      ranges = both(ranges, cells(keys_, 1, [&](Index j) {
                      return mask_.segments->k.at(static_cast<std::size_t>(j)) == own;
                    }));
    }
    if (const auto& bits = mask_.bits) {
      const Index row = bits->rows == 1 ? 0 : query_;
      ranges = both(ranges, cells(keys_, 1, [&](Index j) {
                      return bits->visible.at(at(row, bits->columns, j));
                    }));
    }
    if (const auto& blocks = mask_.blocks) {
      const Index row = query_ / blocks->block_q;
      ranges = both(ranges, cells(blocks->columns, blocks->block_kv, [&](Index j) {
                      return blocks->visible.at(at(row, blocks->columns, j));
                    }));
    }
    if (const auto& additive = mask_.additive) {
      const Index row = additive->rows == 1 ? 0 : query_;
      ranges = both(ranges, cells(keys_, 1, [&](Index j) {
                      return !std::isinf(additive->value.at(at(row, additive->columns, j)));
                    }));
    }
    return ranges;
  }

  const Mask& mask_;
  Index keys_;
  Index query_;
  Index key_length_ = 0;
  Index query_length_ = 0;
  Position position_ = 0;  ///< of the query on the key axis
};

}  // namespace

std::vector<Index> visible_keys(const Problem& problem, Index b, Index query) {
  std::vector<Index> keys;
  for (const Range& range : QueryMask(problem, b, query).seen())
    for (Position key = range.begin; key < range.end; ++key)
      keys.push_back(static_cast<Index>(key));
  return keys;
}

}  // namespace attest::reference
