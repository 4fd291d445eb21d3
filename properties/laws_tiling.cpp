// tiling.*: tile size, kv splits and merge order change rounding only.
#include <algorithm>
#include <limits>
#include <vector>

#include "properties/judge.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

/// Runs the case under every tiling and judges all of them against the same exact rows.
Verdict judge_tilings(const Kernel& kernel, const Case& on, const std::vector<Tiling>& tilings) {
  if (!kernel.description().capabilities.tiles) return Verdict::skipped("the kernel has no tiles");
  std::vector<Outputs> outputs;
  Case variant = on;
  for (const Tiling& tiling : tilings) {
    variant.tiling = tiling;
    outputs.push_back(run_kernel(kernel, variant));
    if (const auto verdict = stopped(outputs.back(), variant)) return *verdict;
  }
  std::vector<Computation> computations;
  computations.reserve(tilings.size());
  for (std::size_t t = 0; t < tilings.size(); ++t)
    computations.push_back({kernel.accuracy(on.problem), tilings[t]});
  const auto judge = [&](Tally& tally, const reference::CertifiedRow& exact, const RowIndex& row,
                         const Outputs& of) {
    judge_row(tally, exact, row, Part::out, of);
    if (on.problem.lse != LseForm::none) judge_row(tally, exact, row, Part::lse, of);
  };
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const auto shared = certify_for_all(on, row, computations);
    if (!shared) {
      tally.undecided("a visible input is not finite");
      return;
    }
    for (std::size_t t = 0; t < tilings.size(); ++t) judge(tally, shared->of(t), row, outputs[t]);
  });
  return tally.verdict();
}

Tiling with_tile(Tiling tiling, Index tile_kv) {
  tiling.tile_kv = std::max(Index{1}, tile_kv);
  // An explicit tree fits one number of leaves only.
  if (tiling.merge.kind == MergeOrder::Kind::explicit_tree) tiling.merge = {};
  return tiling;
}

Tiling with_splits(Tiling tiling, KvSplits splits) {
  tiling.splits = std::move(splits);
  if (tiling.merge.kind == MergeOrder::Kind::explicit_tree) tiling.merge = {};
  return tiling;
}

}  // namespace

Verdict tiling_tile_size(const Kernel& kernel, const Case& on) {
  const Index n = on.problem.seq_kv;
  std::vector<Tiling> tilings{on.tiling};
  for (const Index tile : {Index{1}, Index{2}, on.tiling.tile_kv + 1, n - 1, n, n + 7})
    tilings.push_back(with_tile(on.tiling, tile));
  return judge_tilings(kernel, on, tilings);
}

Verdict tiling_kv_splits(const Kernel& kernel, const Case& on) {
  const Index n = on.problem.seq_kv;
  std::vector<Tiling> tilings{on.tiling};
  for (const Index count : {Index{1}, Index{2}, Index{3}, n + 3})
    tilings.push_back(with_splits(on.tiling, {.count = count, .cuts = {}}));
  // Empty splits at both ends and in the middle.
  tilings.push_back(with_splits(on.tiling, {.count = 1, .cuts = {0, n / 2, n / 2, n}}));
  return judge_tilings(kernel, on, tilings);
}

Verdict tiling_merge_order(const Kernel& kernel, const Case& on) {
  std::vector<Tiling> tilings;
  Tiling tiling = on.tiling;
  // With one split a kernel that merges splits has nothing to order.
  if (split_ranges(tiling, on.problem.seq_kv).size() < 3)
    tiling.splits = {.count = std::max(Index{3}, on.problem.seq_kv), .cuts = {}};
  for (const auto kind :
       {MergeOrder::Kind::left, MergeOrder::Kind::right, MergeOrder::Kind::balanced}) {
    tiling.merge = {kind, 0, {}};
    tilings.push_back(tiling);
  }
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    tiling.merge = {MergeOrder::Kind::random, seed + on.values.seed, {}};
    tilings.push_back(tiling);
  }
  return judge_tilings(kernel, on, tilings);
}

}  // namespace attest::properties
