// Mistakes about keys that take no part: finite numbers in place of exclusion, and what leaks.
#include <limits>

#include "mutants/own_arithmetic.hpp"
#include "mutants/wrong_call.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

/// What lets excluded keys take part must not skip tiles without visible ones.
template <class Real>
struct LooksAtEveryTile : Steps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
};

template <class Real>
struct MasksWithMinus1e4 : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return Real(-1e4);
  }
};

template <class Real>
struct MasksWithMinusTen : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return Real(-10);
  }
};

template <class Real>
struct MaskMultipliesScores : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override { return Real(0); }
};

/// exp never gives less than 2^-24, not even of an excluded key.
template <class Real>
struct ExpHasAFloor : OwnArithmetic<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return std::numeric_limits<Real>::lowest();
  }
  Real exp_of(Real argument) const override {
    const Real exact = std::exp(argument);
    return exact < Real(0x1p-24) ? Real(0x1p-24) : exact;
  }
};

/// bits as 0 and 1 times -inf, added: 0 * -inf is NaN.
template <class Real>
struct MaskTimesMinusInfinity : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const RowContext& row,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    if (!row.problem.mask.bits || summary.is_identity()) return;
    for (Real& element : output) element += Real(0) * RowSummary<Real>::minus_infinity;
  }
};

/// Sum of the columns of a key, NaN where one of them is.
double sum_of_key(const Problem& problem, const ForwardViews& views, const RowIndex& row,
                  Index key) {
  double sum = 0;
  for (Index c = 0; c < problem.head_dim; ++c)
    sum += number_at(views.k, row.batch, problem.kv_head(row.head), key, c);
  return sum;
}

/// score + -inf: an exclusion, unless the score is NaN.
void excluded_scores_are_added_to(const Problem& problem, const Tiling&,
                                  const ForwardViews& views) {
  for_each_row(problem, [&](const RowIndex& row) {
    for (Index key = 0; key < problem.key_length(row.batch); ++key)
      if (!visible(problem, row.batch, row.query, key))
        add(views.out, problem, row, 0, 0 * sum_of_key(problem, views, row, key));
  });
}

/// Rows of k behind the last key of a batch member are loaded with it.
void keys_behind_the_last(const Problem& problem, const Tiling&, const ForwardViews& views) {
  for_each_row(problem, [&](const RowIndex& row) {
    for (Index key = problem.key_length(row.batch); key < problem.seq_kv; ++key)
      add(views.out, problem, row, 0, 0 * sum_of_key(problem, views, row, key));
  });
}

/// Under a causal mask the number of keys is rounded up to a tile.
template <class Real>
struct CausalReadsAWholeTile : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const Index tile = row.tiling.tile_kv;
    const Index length = row.problem.key_length(row.b);
    if (row.problem.mask.causal && key >= length && key < (length + tile - 1) / tile * tile)
      return true;
    return Steps<Real>::sees(row, key);
  }
};

template <class Real>
struct ColumnIndexOfFiveBits : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    return key < row.problem.key_length(row.b) && Steps<Real>::sees(row, key % 32);
  }
};

template <class Real>
struct IgnoresKeyLengths : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    Problem longest = row.problem;
    if (longest.mask.causal)
      longest.mask.causal = {Causal::Alignment::explicit_offset, causal_offset(longest, row.b)};
    longest.key_lengths.clear();
    return visible(longest, row.b, row.query, key);
  }
};

}  // namespace

void append_exclusion_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<MasksWithMinus1e4>(
      "masks_with_minus_1e4", "excluded keys get the score -10000 and count for the maximum",
      "bound.out"));
  mutants.push_back(tiled_mutant<MasksWithMinusTen>(
      "masks_with_minus_ten", "excluded keys get the score -10", "mask.visible_set"));
  mutants.push_back(tiled_mutant<MaskMultipliesScores>(
      "mask_multiplies_scores", "scores are multiplied by the mask: an excluded key has score 0",
      "mask.deleted_keys"));
  mutants.push_back(tiled_mutant<ExpHasAFloor>(
      "exp_has_a_floor", "exp gives at least 2^-24, of an excluded key too", "mask.excluded_keys"));
  mutants.push_back(tiled_mutant<MaskTimesMinusInfinity>(
      "mask_times_minus_infinity", "bits are multiplied by -inf and added, 0 * -inf too",
      "bound.out"));
  mutants.push_back(
      wrong_call(describe("excluded_nan_scores_are_added_to",
                          "-inf is added to the score of an excluded key, NaN or not"),
                 run_and_spoil<excluded_scores_are_added_to>, "mask.excluded_keys"));
  mutants.push_back(wrong_call(
      describe("reads_keys_behind_the_last", "rows of k behind the last key are loaded, too"),
      run_and_spoil<keys_behind_the_last>, "storage.unused_slots"));
  mutants.push_back(tiled_mutant<CausalReadsAWholeTile>(
      "causal_reads_a_whole_tile", "under a causal mask the keys of a member end with a tile",
      "mask.visible_set"));
  mutants.push_back(tiled_mutant<ColumnIndexOfFiveBits>(
      "column_index_of_five_bits", "the mask reads the index of a key in 5 bits (others in 16)",
      "bound.out"));
  mutants.push_back(tiled_mutant<IgnoresKeyLengths>(
      "ignores_key_lengths", "every batch member has the longest number of keys",
      "storage.ragged_members"));
}

}  // namespace attest::mutants
