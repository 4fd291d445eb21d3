#include "reference/visibility.hpp"

#include <algorithm>
#include <numeric>

namespace attest::reference {
namespace {

/// Number of leading keys that a causal mask leaves to a query; may exceed the number of keys.
Index causal_prefix(const Causal& causal, Index length, Index seq_q, Index query) {
  if (causal.alignment == Causal::Alignment::top_left) return query + 1;
  if (causal.alignment == Causal::Alignment::bottom_right)
    return length - (seq_q - 1 - query);  // the last query sees every key
  // Saturates instead of overflowing for offsets near the ends of the range.
  if (causal.offset > length) return length;
  if (causal.offset < -seq_q) return 0;
  return causal.offset + query + 1;
}

}  // namespace

std::vector<Index> visible_keys(const Problem& problem, Index b, Index query) {
  Index length = problem.seq_kv;
  if (!problem.key_lengths.empty()) length = problem.key_lengths.at(static_cast<std::size_t>(b));
  if (problem.mask.causal) {
    const Index prefix = causal_prefix(*problem.mask.causal, length, problem.seq_q, query);
    length = std::clamp(prefix, Index{0}, length);
  }
  std::vector<Index> keys(static_cast<std::size_t>(length));
  std::iota(keys.begin(), keys.end(), Index{0});
  if (problem.mask.bits) {
    const MaskBits& bits = *problem.mask.bits;
    const auto row_begin = static_cast<std::size_t>((bits.rows == 1 ? 0 : query) * bits.columns);
    std::erase_if(keys, [&](Index key) {
      return !bits.visible.at(row_begin + static_cast<std::size_t>(key));
    });
  }
  return keys;
}

}  // namespace attest::reference
