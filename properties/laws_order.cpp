// order.*: the same bits however the work is cut, of kernels that declare it.
#include <algorithm>
#include <utility>
#include <vector>

#include "attest/random.hpp"
#include "properties/bit_equality.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/order_draws.hpp"
#include "properties/probe.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

constexpr Index kTries = 6;
constexpr Index kMostQueries = 3;

/// The first batch member spelled out, with few queries: the form in which keys can be rearranged.
Case rearrangeable(const Case& on) {
  const Case member = spelled_out(single_member(on, 0));
  return select_queries(member, all_keys(std::min(member.problem.seq_q, kMostQueries)));
}

/// The case itself where it has several leaves, or its keys over and over.
Case with_leaves(const Case& on, Index leaf) {
  const Index wanted = 4 * leaf + leaf / 2;
  if (on.problem.seq_kv >= wanted) return forward_only(on);
  const Case member = rearrangeable(on);
  const Index n = member.problem.seq_kv;
  std::vector<Index> keys;
  for (Index key = 0; n > 0 && key < wanted; ++key) keys.push_back(key % n);
  return select_keys(member, keys);
}

/// Rows with so many keys.
bool has_keys(const Case& on, Index count) {
  return on.problem.batch > 0 && on.problem.seq_q > 0 && on.problem.seq_kv >= count;
}

/// The first member with two keys at least: a single one is put beside others made from it.
Case with_several_keys(const Case& on) {
  const Case member = rearrangeable(on);
  if (member.problem.seq_kv != 1) return member;
  Case several = select_keys(member, {0, 0, 0});
  const auto changed = [](const Tensor& from) {
    return [&from](Index b, Index h, Index row, Index column) {
      return from.get(b, h, row, column) * static_cast<double>(row + 1);
    };
  };
  const Case same = several;
  several = with_values(std::move(several), &Case::k, changed(same.k));
  return with_values(std::move(several), &Case::v, changed(same.v));
}

}  // namespace

Verdict same_under_splits(const Kernel& kernel, Case on, Index unit) {
  const Outputs whole = run_kernel(kernel, on);
  if (const auto verdict = stopped(whole, on)) return *verdict;
  SplitMix64 random(seed_of(on));
  Tally tally;
  for (Index attempt = 0; attempt < kTries; ++attempt) {
    on.tiling = random_tiling(random, on.problem.seq_kv, unit);
    const Outputs split = run_kernel(kernel, on);
    if (const auto verdict = stopped(split, on)) return *verdict;
    for_each_row(on.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, split, whole, "only splits, merge order and tile size differ");
    });
  }
  return tally.verdict();
}

Verdict order_contiguous_splits(const Kernel& kernel, const Case& on) {
  const Capabilities& can = kernel.description().capabilities;
  if (can.reproducible == Reproducible::no)
    return Verdict::skipped("the kernel does not declare bits that no split changes");
  if (!has_keys(on, 1)) return Verdict::weak("the case has nothing to split");
  return same_under_splits(kernel, with_leaves(on, can.leaf), can.leaf);
}

Verdict order_any_split(const Kernel& kernel, const Case& on) {
  if (kernel.description().capabilities.reproducible != Reproducible::any_order)
    return Verdict::skipped("the kernel does not declare bits that no split changes at any key");
  if (!has_keys(on, 2)) return Verdict::weak("the case has nothing to split");
  return same_under_splits(kernel, forward_only(on), 1);
}

Verdict order_key_permutation(const Kernel& kernel, const Case& on) {
  if (kernel.description().capabilities.reproducible != Reproducible::any_order)
    return Verdict::skipped("the kernel does not declare bits that no order of keys changes");
  if (!has_keys(on, 1)) return Verdict::weak("the case has no keys to exchange");
  const Case member = with_several_keys(on);
  const Outputs ascending = run_kernel(kernel, member);
  if (const auto verdict = stopped(ascending, member)) return *verdict;
  SplitMix64 random(seed_of(on));
  Tally tally;
  for (Index attempt = 0; attempt < kTries; ++attempt) {
    const Case shuffled = select_keys(member, random_order(random, member.problem.seq_kv));
    const Outputs other = run_kernel(kernel, shuffled);
    if (const auto verdict = stopped(other, shuffled)) return *verdict;
    for_each_row(member.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, other, ascending, "only the order of the keys differs");
    });
  }
  return tally.verdict();
}

}  // namespace attest::properties
