// merge.*, continued: what a kernel computes for each kv split alone, joined by its own merge.
#include <algorithm>
#include <array>
#include <vector>

#include "properties/laws.hpp"
#include "properties/merge_leaves.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// One row over some of its keys, as the kernel computed it and as it may be.
template <class Real>
struct SplitPart {
  NormalisedRow<Real> computed;
  reference::CertifiedRow exact;
};

/// The row of a case with one query as the kernel's forward pass gives it.
template <class Real>
NormalisedRow<Real> read_row(const Outputs& outputs) {
  NormalisedRow<Real> row{static_cast<Real>(outputs.lse_at({})), {}};
  for (Index c = 0; c < outputs.out.extents()[3]; ++c)
    row.output.push_back(static_cast<Real>(outputs.at({}, c)));
  return row;
}

/// What the law works on: one row, its natural lse asked for and its sink counted by it.
Case row_alone(const Case& on) {
  Case row = single_row(on, fullest_row(on.problem));
  row.problem.lse = LseForm::natural;
  row.problem.all_masked = AllMaskedPolicy::zero;
  row.problem.empty_lse = -std::numeric_limits<double>::infinity();
  if (row.problem.sink) row.problem.sink->in_lse = true;
  return row;
}

/// The keys [0, end) of a row, with its sink: what the parts up to there join to.
Case prefix_of(const Case& row, Index end) {
  return select_keys(row, all_keys(end));
}

/// One split of a row; the sink belongs to the first one alone.
Case split_of(const Case& row, KeyRange range, bool is_first) {
  std::vector<Index> keys = all_keys(range.end);
  keys.erase(keys.begin(), keys.begin() + range.begin);
  Case part = select_keys(row, keys);
  return is_first ? part : without_sink(std::move(part));
}

template <class Real>
class SplitJoin {
 public:
  SplitJoin(const Kernel& kernel, const SummaryOps<Real>& ops, const Case& row)
      : kernel_(kernel), ops_(ops), row_(row), accuracy_(kernel.accuracy(row.problem)) {
    accuracy_.output_format.reset();  // parts stay in the type of the arithmetic
  }

  /// A verdict if the splits could not be computed or judged.
  std::optional<Verdict> run(Tally& tally, const std::vector<KeyRange>& ranges) {
    std::optional<SplitPart<Real>> joined;
    for (const KeyRange range : ranges) {
      const Case part = split_of(row_, range, !joined);
      const Outputs outputs = run_kernel(kernel_, part);
      if (auto verdict = stopped(outputs, part)) return verdict;
      auto exact = Truth(kernel_, part).row({});
      if (!exact) return Verdict::of(Outcome::unproven, "a visible input is not finite");
      SplitPart<Real> next{read_row<Real>(outputs), std::move(*exact)};
      if (!joined)
        joined = std::move(next);
      else if (auto verdict = join(*joined, next, range.end))
        return verdict;
    }
    if (!joined) return Verdict::weak("the row has no split");
    judge_row(tally, joined->exact, {}, Part::out, to_outputs(joined->computed));
    judge_row(tally, joined->exact, {}, Part::lse, to_outputs(joined->computed));
    tally.end_row();
    return std::nullopt;
  }

 private:
  std::optional<Verdict> join(SplitPart<Real>& joined, const SplitPart<Real>& next, Index end) {
    const bool rounds = !joined.computed.is_identity() && !next.computed.is_identity();
    joined.computed = ops_.merge_normalised(joined.computed, next.computed);
    auto exact = Truth(kernel_, prefix_of(row_, end)).row({});
    if (!exact) return Verdict::of(Outcome::unproven, "a visible input is not finite");
    if (!rounds) {  // the other part is handed on as it is, with its bound
      const RowBound bound = next.computed.is_identity() ? joined.exact.bound : next.exact.bound;
      joined.exact = with_bound(std::move(*exact), bound);
      return std::nullopt;
    }
    const std::array<NormalisedPart, 2> parts{
        NormalisedPart{&joined.exact.facts, &joined.exact.bound},
        NormalisedPart{&next.exact.facts, &next.exact.bound}};
    const RowBound bound = normalised_merge_bound(accuracy_, exact->facts, parts);
    if (!bound.proven()) return Verdict::of(Outcome::unproven, bound.unproven);
    joined.exact = with_bound(std::move(*exact), bound);
    return std::nullopt;
  }

  const Kernel& kernel_;
  const SummaryOps<Real>& ops_;
  const Case& row_;
  DeclaredAccuracy accuracy_;
};

/// An empty first split, then halves; and more splits than keys.
std::vector<std::vector<KeyRange>> ways_to_split(Index n) {
  std::vector<KeyRange> one_by_one{{0, 0}};
  for (Index key = 0; key < std::min(n, Index{6}); ++key) one_by_one.push_back({key, key + 1});
  one_by_one.push_back({one_by_one.back().end, n});
  one_by_one.push_back({n, n});
  return {{{0, 0}, {0, n / 2}, {n / 2, n / 2}, {n / 2, n}}, std::move(one_by_one)};
}

}  // namespace

Verdict merge_split_outputs(const Kernel& kernel, const Case& on) {
  if (summary_ops<float>(kernel) == nullptr && summary_ops<double>(kernel) == nullptr)
    return Verdict::skipped("the kernel shows no partial results");
  if (all_rows(on.problem).empty()) return Verdict::weak("the case has no rows");
  const Case row = row_alone(on);
  return with_real_type(row.problem.compute_dtype(), [&](auto real) -> Verdict {
    using Real = decltype(real);
    const SummaryOps<Real>* const ops = summary_ops<Real>(kernel);
    if (ops == nullptr) return Verdict::skipped("the kernel shows no partial results");
    Tally tally;
    for (const auto& ranges : ways_to_split(row.problem.seq_kv))
      if (auto verdict = SplitJoin<Real>(kernel, *ops, row).run(tally, ranges)) return *verdict;
    return tally.verdict();
  });
}

}  // namespace attest::properties
