// Moves of two keys: exchanged, or one a copy of the other.
#include <utility>

#include "properties/moves.hpp"

namespace attest::properties {
namespace {

/// Where one row of keys is in k and v.
struct KeyPlace {
  Index b = 0;
  Index h = 0;
  Index key = 0;
};

std::vector<double> row_of(const Tensor& tensor, const KeyPlace& at) {
  std::vector<double> row;
  for (Index c = 0; c < tensor.extents()[3]; ++c) row.push_back(tensor.get(at.b, at.h, at.key, c));
  return row;
}

bool set_row(Tensor& tensor, const KeyPlace& at, const std::vector<double>& row) {
  const bool changed = row_of(tensor, at) != row;
  for (std::size_t c = 0; c < row.size(); ++c)
    tensor.set(at.b, at.h, at.key, static_cast<Index>(c), row[c]);
  return changed;
}

/// Two different keys of one batch member and head.
std::optional<std::pair<KeyPlace, KeyPlace>> draw_two_keys(const Case& on, Draw& draw) {
  const Problem& problem = on.problem;
  if (problem.batch == 0 || problem.seq_kv < 2) return std::nullopt;
  KeyPlace one{draw.between(0, problem.batch - 1), draw.between(0, problem.heads_kv - 1),
               draw.between(0, problem.seq_kv - 1)};
  KeyPlace other = one;
  other.key = (one.key + draw.between(1, problem.seq_kv - 1)) % problem.seq_kv;
  return std::pair{one, other};
}

bool swap_rows(Tensor& tensor, const KeyPlace& one, const KeyPlace& other) {
  const std::vector<double> row = row_of(tensor, one);
  const bool changed = set_row(tensor, one, row_of(tensor, other));
  return set_row(tensor, other, row) || changed;
}

Index tile_of(const Case& on, Index key) {
  Index number = 0;
  for (const KeyRange& tile : all_tiles(on.tiling, on.problem.seq_kv)) {
    if (key >= tile.begin && key < tile.end) return number;
    ++number;
  }
  return number;
}

}  // namespace

bool swap_keys(Case& on, Draw& draw) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys) return false;
  // Both: another order of the keys. One alone: another value for a weight.
  const std::uint64_t which = draw.below(3);
  bool changed = which != 1 && swap_rows(on.k, keys->first, keys->second);
  if (which != 2 && !on.problem.v_is_k_view)
    changed = swap_rows(on.v, keys->first, keys->second) || changed;
  return numbers_changed(on, changed);
}

bool duplicate_key(Case& on, Draw& draw) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys) return false;
  bool changed = set_row(on.k, keys->second, row_of(on.k, keys->first));
  if (!on.problem.v_is_k_view)
    changed = set_row(on.v, keys->second, row_of(on.v, keys->first)) || changed;
  return numbers_changed(on, changed);
}

bool copy_score_across_tiles(Case& on, Draw& draw) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys || tile_of(on, keys->first.key) == tile_of(on, keys->second.key)) return false;
  return numbers_changed(on, set_row(on.k, keys->second, row_of(on.k, keys->first)));
}

}  // namespace attest::properties
