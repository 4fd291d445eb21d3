// mask.*: an excluded key does not exist, and which keys are excluded is exact.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"
#include "properties/visible_sets.hpp"

namespace attest::properties {
namespace {

/// A few positions spread over [0, count), the ends among them.
std::vector<Index> sampled(Index count, Index most) {
  std::vector<Index> positions;
  positions.reserve(static_cast<std::size_t>(std::min(count, most)));
  for (Index i = 0; i < std::min(count, most); ++i)
    positions.push_back(most >= count ? i : i * (count - 1) / (most - 1));
  return positions;
}

bool sees(const Problem& problem, const RowIndex& row, Index key) {
  const std::vector<Index> keys = reference::visible_keys(problem, row.batch, row.query);
  return std::binary_search(keys.begin(), keys.end(), key);
}

bool sees_everything(const Problem& problem) {
  bool everything = true;
  for_each_row(problem, [&](const RowIndex& row) {
    const auto keys = reference::visible_keys(problem, row.batch, row.query);
    everything = everything && static_cast<Index>(keys.size()) == problem.seq_kv;
  });
  return everything;
}

/// Whether some row that shares an element of the bias sees its key.
bool some_row_sees(const Problem& problem, const Bias& bias, const RowIndex& element, Index key) {
  const auto in = [](bool has_axis, Index at, Index count) {
    return has_axis ? KeyRange{at, std::min(at + 1, count)} : KeyRange{0, count};
  };
  const KeyRange members = in(bias.per_batch, element.batch, problem.batch);
  for (Index b = members.begin; b < members.end; ++b) {
    const KeyRange queries = in(bias.per_query, element.query, problem.query_length(b));
    for (Index query = queries.begin; query < queries.end; ++query)
      if (sees(problem, {b, 0, query}, key)) return true;
  }
  return false;
}

/// The bias at a key with `filler` where no row that reads it sees the key.
void poison_bias(Case& of, Index key, double filler) {
  if (!of.problem.bias) return;
  const Extents& extents = of.bias.extents();
  for (Index b = 0; b < extents[0]; ++b)
    for (Index query = 0; query < extents[2]; ++query) {
      if (some_row_sees(of.problem, *of.problem.bias, {b, 0, query}, key)) continue;
      for (Index h = 0; h < extents[1]; ++h) of.bias.set(b, h, query, key, filler);
    }
}

/// Rows that do not see `key` keep their bits when its k, v and bias hold `filler`.
Verdict poison_key(const Kernel& kernel, const Case& on, const Outputs& before, Index key,
                   double filler) {
  const auto poisoned = [&](const Tensor& tensor) {
    return [&tensor, key, filler](Index b, Index h, Index row, Index column) {
      return row == key ? filler : tensor.get(b, h, row, column);
    };
  };
  Case changed = with_values(on, &Case::k, poisoned(on.k));
  // As a view v has the filler already.
  if (!on.problem.v_is_k_view) changed = with_values(std::move(changed), &Case::v, poisoned(on.v));
  poison_bias(changed, key, filler);
  const Outputs after = run_kernel(kernel, changed);
  if (const auto verdict = stopped(after, changed)) return *verdict;
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    if (sees(on.problem, row, key)) return;
    const std::string reason = "excluded key " + std::to_string(key) + " was filled with " +
                               number_text(filler, Dtype::f64);
    same_row_bits(tally, row, after, before, reason);
  });
  return tally.verdict();
}

constexpr std::array kHandTables{
    HandTable{"1x1:3x3:1 f32", "111/111/111"},
    HandTable{"1x1:3x3:1 f32 mask=causal:tl", "100/110/111"},
    HandTable{"1x1:3x3:1 f32 mask=causal:br", "100/110/111"},
    HandTable{"1x1:2x5:1 f32 mask=causal:tl", "10000/11000"},
    HandTable{"1x1:2x5:1 f32 mask=causal:br", "11110/11111"},
    HandTable{"1x1:5x2:1 f32 mask=causal:tl", "10/11/11/11/11"},
    HandTable{"1x1:5x2:1 f32 mask=causal:br", "00/00/00/10/11"},
    HandTable{"1x1:1x4:1 f32 mask=causal:tl", "1000"},
    HandTable{"1x1:1x4:1 f32 mask=causal:br", "1111"},
    HandTable{"1x1:4x4:1 f32 mask=causal:off=1", "1100/1110/1111/1111"},
    HandTable{"1x1:4x4:1 f32 mask=causal:off=-2", "0000/0000/1000/1100"},
    HandTable{"1x1:3x4:1 f32 mask=bits:0110", "0110/0110/0110"},
    HandTable{"1x1:3x4:1 f32 mask=bits:1010/0000/0111", "1010/0000/0111"},
    HandTable{"1x1:3x4:1 f32 mask=causal:br+bits:1101", "1100/1100/1101"},
    HandTable{"2x1:2x{3,1}:1 f32", "111/111/100/100"},
    HandTable{"2x1:2x{3,0}:1 f32 mask=causal:tl", "100/110/000/000"},
    HandTable{"2x1:2x{3,1}:1 f32 mask=causal:br", "110/111/000/100"},
};

/// Number of leading keys that the causal part, with a prefix beside it, leaves to a query.
Index causal_prefix(const Problem& problem, const RowIndex& row) {
  Problem causal_only = problem;
  causal_only.mask = {};
  causal_only.mask.causal = problem.mask.causal;
  causal_only.mask.prefix = problem.mask.prefix;
  return static_cast<Index>(reference::visible_keys(causal_only, row.batch, row.query).size());
}

/// The same problem for kernels that read no bits: bits that hide nothing are left out.
Case without_idle_bits(Case from) {
  std::optional<MaskBits>& bits = from.problem.mask.bits;
  if (bits &&
      std::all_of(bits->visible.begin(), bits->visible.end(), [](bool seen) { return seen; }))
    bits.reset();
  return from;
}

}  // namespace

Verdict mask_excluded_keys(const Kernel& kernel, const Case& on) {
  const bool excludes_nothing = sees_everything(on.problem);
  if (excludes_nothing && !kernel.description().capabilities.mask_bits)
    return Verdict::skipped("kernel does not declare mask bits");
  // The mean of all values is of the excluded ones, too.
  Case masked = plain_empty_rows(with_own_keys(on));
  if (on.problem.seq_q > 0 && on.problem.seq_kv > 0 && excludes_nothing) {
    MaskBits bits{1, on.problem.seq_kv,
                  std::vector<bool>(static_cast<std::size_t>(on.problem.seq_kv), true)};
    bits.visible.back() = false;
    masked.problem.mask.bits = bits;
  }
  const Outputs before = run_kernel(kernel, masked);
  if (const auto verdict = stopped(before, masked)) return *verdict;
  Combined combined;
  for (const Index key : sampled(masked.problem.seq_kv, 5))
    for (const double filler : {std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity(), 1e30}) {
      combined.add(poison_key(kernel, masked, before, key, filler));
      if (combined.violated()) return combined.verdict();
    }
  return combined.verdict();
}

Verdict mask_deleted_keys(const Kernel& kernel, const Case& given) {
  const Case on = plain_empty_rows(exactly_spellable(given));
  const Outputs outputs = run_kernel(kernel, on);
  if (const auto verdict = stopped(outputs, on)) return *verdict;
  const Truth truth(kernel, on);
  Tally tally;
  const std::vector<RowIndex> rows = all_rows(on.problem);
  for (const Index number : sampled(static_cast<Index>(rows.size()), 4)) {
    const RowIndex row = rows[static_cast<std::size_t>(number)];
    const Case part = visible_part_of_row(on, row);
    const Outputs part_outputs = run_kernel(kernel, part);
    if (const auto verdict = stopped(part_outputs, part)) return *verdict;
    const auto exact = truth.row(row);
    const auto part_exact = Truth(kernel, part).row({});
    if (!exact || !part_exact)
      tally.undecided("a visible input is not finite");
    else
      agree_rows(tally, {part_outputs, {}, *part_exact}, {outputs, row, *exact});
  }
  return tally.verdict();
}

Verdict mask_tables(const Kernel& kernel, const Case&) {
  Combined combined;
  for (const HandTable& table : kHandTables) {
    combined.add(check_hand_table(kernel, table));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

Verdict mask_visible_set(const Kernel& kernel, const Case& on) {
  Problem problem = on.problem;
  problem.all_masked = AllMaskedPolicy::zero;
  problem.softcap = 0;
  return compare_visible_sets(kernel, problem, on.tiling);
}

Verdict mask_causal_prefix(const Kernel& kernel, const Case& on) {
  Case causal = plain_empty_rows(exactly_spellable(on));
  if (!causal.problem.mask.causal) causal.problem.mask.causal = Causal{};
  causal.problem.mask.alignment.reset();
  const Outputs outputs = run_kernel(kernel, causal);
  if (const auto verdict = stopped(outputs, causal)) return *verdict;
  const Truth truth(kernel, causal);
  Tally tally;
  if (causal.problem.batch == 0) return tally.verdict();
  for (const Index query : sampled(causal.problem.query_length(0), 3)) {
    const RowIndex row{0, causal.problem.heads_q - 1, query};
    const Case alone = single_row(causal, row);
    const Case prefix = without_idle_bits(select_keys(
        alone, all_keys(std::min(causal_prefix(causal.problem, row), alone.problem.seq_kv))));
    const Outputs prefix_outputs = run_kernel(kernel, prefix);
    if (const auto verdict = stopped(prefix_outputs, prefix)) return *verdict;
    const auto exact = truth.row(row);
    const auto prefix_exact = Truth(kernel, prefix).row({});
    if (!exact || !prefix_exact)
      tally.undecided("a visible input is not finite");
    else
      agree_rows(tally, {prefix_outputs, {}, *prefix_exact}, {outputs, row, *exact});
  }
  return tally.verdict();
}

}  // namespace attest::properties
