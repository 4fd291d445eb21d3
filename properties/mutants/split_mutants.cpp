// Mistakes that show only where the keys are split, or the batch is, and in how parts are joined.
#include <algorithm>
#include <limits>

#include "attest/narrow_float.hpp"
#include "mutants/wrong_call.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

template <class Real>
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

template <class Real>
struct TwoEmptyPartsGivePlusInfinity : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Row merge_normalised(const Row& left, const Row& right) const override {
    Row merged = attest::merge(left, right);
    if (merged.is_identity()) merged.lse = kInfinity<Real>;
    return merged;
  }
};

/// Weights are exp(lse), which overflows, not exp(lse - max).
template <class Real>
struct JoinsByExpOfLse : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Row merge_normalised(const Row& left, const Row& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    const Real of_left = std::exp(left.lse);
    const Real of_right = std::exp(right.lse);
    Row merged = left;
    merged.lse = std::log(of_left + of_right);
    for (std::size_t c = 0; c < merged.output.size(); ++c)
      merged.output[c] =
          (of_left * left.output[c] + of_right * right.output[c]) / (of_left + of_right);
    return merged;
  }
};

/// The side with the larger maximum is made relative to the smaller one.
template <class Real>
struct MergesToTheSmallerMaximum : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    Summary low = left.row_max < right.row_max ? left : right;
    const Summary& high = left.row_max < right.row_max ? right : left;
    const Real factor = std::exp(high.row_max - low.row_max);
    low.row_sum += factor * high.row_sum;
    for (std::size_t c = 0; c < low.numerator.size(); ++c)
      low.numerator[c] += factor * high.numerator[c];
    return low;
  }
};

template <class Real>
struct MergesInHalf : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    Summary merged = attest::merge(left, right);
    if (left.is_identity() || right.is_identity()) return merged;
    merged.row_sum = round_to(kF16, merged.row_sum);
    return merged;
  }
};

/// Whole weights are relative to the number 5, which no score is compared with.
template <class Real>
struct FixedOffsetOfFive : Steps<Real> {
  Real next_row_max(Real, Real) const override { return Real(5); }
};

/// The table of splits has as many places as there are columns.
template <class Real>
struct AsManySplitsAsColumns : Steps<Real> {
  std::vector<KeyRange> tiles(const RowContext& row, KeyRange unit) const override {
    const auto splits = split_ranges(row.tiling, row.problem.seq_kv);
    const auto at = std::find(splits.begin(), splits.end(), unit);
    if (at - splits.begin() >= row.problem.head_dim) return {};
    return Steps<Real>::tiles(row, unit);
  }
};

template <class Real>
struct SplitLengthRoundedDown : Steps<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const KvSplits& splits = row.tiling.splits;
    const Index keys = row.problem.seq_kv;
    const bool cut = splits.cuts.empty() && splits.count > 1 && splits.count <= keys;
    return (!cut || key < keys / splits.count * splits.count) && Steps<Real>::sees(row, key);
  }
};

/// Every split stores its lse in the same place, the last one at last.
void lse_of_the_last_split(const Problem& problem, const Tiling& tiling,
                           const ForwardViews& views) {
  const auto splits = split_ranges(tiling, problem.seq_kv);
  if (problem.lse == LseForm::none || splits.size() < 2) return;
  if (splits.back().begin != splits.back().end) return;
  for_each_row(problem,
               [&](const RowIndex& row) { put(views.lse, problem, row, 0, -kInfinity<double>); });
}

/// The part of a row that another query had, where members are shorter than the longest.
void parts_of_the_next_row(const Problem& problem, const Tiling& tiling,
                           const ForwardViews& views) {
  if (split_ranges(tiling, problem.seq_kv).size() < 2) return;
  for_each_row(problem, [&](const RowIndex& row) {
    const Index length = problem.query_length(row.batch);
    if (length == problem.seq_q || row.query + 1 >= length) return;
    const RowIndex next{row.batch, row.head, row.query + 1};
    for (Index c = 0; c < problem.head_dim_v; ++c)
      put(views.out, problem, row, c, taken(views.out, problem, next, c));
  });
}

/// A change of the pages that depends on how the keys are cut.
template <void (*change)(Problem&, const Tiling&)>
Status run_other_pages(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                       const ForwardViews& views) {
  Problem changed = problem;
  if (problem.kv.kind == KvStorage::Kind::paged) change(changed, tiling);
  return correct.forward(changed, tiling, views);
}

/// The second split begins at the first page again.
void pages_restart(Problem& problem, const Tiling& tiling) {
  for (const KeyRange& split : split_ranges(tiling, problem.seq_kv))
    for (std::vector<Index>& table : problem.kv.page_table) {
      const auto first = static_cast<std::size_t>(split.begin / problem.kv.page_size);
      if (split.begin % problem.kv.page_size == 0 && first > 0 && first < table.size())
        table[first] = table[0];
    }
}

/// A tile reads all its keys where its first one lies.
void page_of_the_tile(Problem& problem, const Tiling& tiling) {
  for (std::vector<Index>& table : problem.kv.page_table) {
    const std::vector<Index> right = table;
    for (std::size_t page = 0; page < table.size(); ++page) {
      const Index key = static_cast<Index>(page) * problem.kv.page_size;
      const Index first = key / tiling.tile_kv * tiling.tile_kv;
      table[page] = right[static_cast<std::size_t>(first / problem.kv.page_size)];
    }
  }
}

template <class View>
View member_of(View view, Index b) {
  using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
  view.data =
      static_cast<Byte*>(view.data) + b * view.strides[0] * static_cast<Index>(size_of(view.dtype));
  view.extents[0] = 1;
  return view;
}

/// Every second member is merged from the right.
Status order_of_the_place(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                          const ForwardViews& views) {
  for (Index b = 0; b < problem.batch; ++b) {
    Problem alone = problem;
    alone.batch = 1;
    if (!problem.key_lengths.empty()) alone.key_lengths = {problem.key_length(b)};
    ForwardViews of_member{member_of(views.q, b),
                           member_of(views.k, b),
                           member_of(views.v, b),
                           member_of(views.out, b),
                           {}};
    if (problem.lse != LseForm::none) of_member.lse = member_of(views.lse, b);
    Tiling cut = tiling;
    cut.merge = {b % 2 == 0 ? MergeOrder::Kind::left : MergeOrder::Kind::right, 0, {}};
    if (Status status = correct.forward(alone, cut, of_member); !status.ok()) return status;
  }
  return {};
}

/// k without the mean of its keys: scores, and the lse, miss a number that is another for each
/// call.
void lse_of_centred_keys(const Problem& problem, const Tiling&, const ForwardViews& views) {
  if (problem.lse == LseForm::none) return;
  for_each_row(problem, [&](const RowIndex& row) {
    const Index keys = problem.key_length(row.batch);
    double sum = 0;
    for (Index key = 0; key < keys; ++key)
      for (Index c = 0; c < problem.head_dim; ++c)
        sum += number_at(views.q, row.batch, row.head, row.query, c) *
               number_at(views.k, row.batch, problem.kv_head(row.head), key, c);
    if (keys > 0 && std::isfinite(sum))
      add(views.lse, problem, row, 0, -scale_value(problem) * sum / static_cast<double>(keys));
  });
}

class CentresKeys : public kernels::TiledKernel<kernels::TiledSteps> {
 public:
  using TiledKernel::TiledKernel;
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = TiledKernel::forward(problem, tiling, views);
    if (status.ok()) lse_of_centred_keys(problem, tiling, views);
    return status;
  }
};

}  // namespace

void append_split_mutants(std::vector<Mutant>& mutants) {
  constexpr SummaryScope tile = SummaryScope::tile;
  mutants.push_back(tiled_mutant<TwoEmptyPartsGivePlusInfinity>(
      "two_empty_parts_give_plus_infinity", "two empty parts join to one with the lse +inf",
      "merge.empty_part"));
  mutants.push_back(tiled_mutant<JoinsByExpOfLse>(
      "joins_by_exp_of_lse", "parts are weighed by exp(lse), which overflows", "merge.pairs_tree"));
  mutants.push_back(tiled_mutant<MergesToTheSmallerMaximum>(
      "merges_to_the_smaller_maximum", "a merge makes both sides relative to the smaller maximum",
      "merge.row_sum_range", tile));
  mutants.push_back(tiled_mutant<MergesInHalf>(
      "merges_in_half", "row_sum is rounded to f16 at every merge", "merge.any_tree", tile));
  mutants.push_back(tiled_mutant<FixedOffsetOfFive>(
      "fixed_offset_of_five", "weights are exp(score - 5), whatever the maximum is",
      "symmetry.score_shift"));
  mutants.push_back(tiled_mutant<AsManySplitsAsColumns>(
      "as_many_splits_as_columns", "kv splits beyond the number of columns are dropped",
      "tiling.kv_splits"));
  mutants.push_back(tiled_mutant<SplitLengthRoundedDown>(
      "split_length_rounded_down", "a kv split has n / splits keys, so that the last are dropped",
      "tiling.kv_splits"));
  const auto call = [&](std::string_view name, std::string_view mistake, WrongForward run,
                        std::string_view law, std::vector<Feature> features = {}) {
    mutants.push_back(wrong_call(describe_with(name, mistake, std::move(features)), run, law));
  };
  call("lse_of_the_last_split", "an empty last kv split stores its lse over that of the row",
       run_and_spoil<lse_of_the_last_split>, "tiling.kv_splits");
  call("parts_of_the_next_row", "with kv splits, rows of shorter members are joined by another row",
       run_and_spoil<parts_of_the_next_row>, "bound.out", {Feature::query_lengths});
  call("pages_restart_at_a_split", "a kv split begins with the first page of the table",
       run_other_pages<pages_restart>, "storage.paged", {Feature::paged});
  call("page_of_the_tile", "a tile of keys is read from the page of its first key",
       run_other_pages<page_of_the_tile>, "storage.paged", {Feature::paged});
  call("order_of_the_place", "every second batch member is merged in another order",
       order_of_the_place, "batch.row_position");
  mutants.push_back({std::make_unique<CentresKeys>(
                         describe("lse_of_centred_keys",
                                  "the mean of k is subtracted, and the lse does not get it back"),
                         SummaryScope::split),
                     "merge.split_outputs"});
}

}  // namespace attest::mutants
