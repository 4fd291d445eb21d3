// Mistakes about which keys take part.
#include <limits>

#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

/// A mutant that lets excluded keys take part must not skip empty tiles.
template <class Real>
struct LooksAtEveryTile : Steps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
};

template <class Real>
struct MasksWithMinus1e9 : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return Real(-1e9);
  }
};

template <class Real>
struct PaddingKeysScoreZero : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext& row, Index key) const override {
    if (key >= row.problem.key_length(row.b)) return Real(0);
    return std::nullopt;
  }
};

template <class Real>
struct ExcludedKeysWeighZero : LooksAtEveryTile<Real> {
  using Summary = RowSummary<Real>;
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return std::numeric_limits<Real>::lowest();
  }
  void absorb_tile(Summary& summary, const kernels::ScoredTile<Real>& tile) const override {
    kernels::ScoredTile<Real> seen;
    for (std::size_t j = 0; j < tile.scores.size(); ++j) {
      if (tile.scores[j] == std::numeric_limits<Real>::lowest()) {
        for (std::size_t c = 0; c < summary.numerator.size(); ++c)
          summary.numerator[c] += Real(0) * tile.values[j][c];
        continue;
      }
      seen.scores.push_back(tile.scores[j]);
      seen.values.push_back(tile.values[j]);
    }
    Steps<Real>::absorb_tile(summary, seen);
  }
};

template <class Real>
struct CausalOneTooMany : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    if (!row.problem.mask.causal) return Steps<Real>::sees(row, key);
    Problem shifted = row.problem;
    shifted.mask.causal = {Causal::Alignment::explicit_offset,
                           causal_offset(row.problem, row.b) + 1};
    return visible(shifted, row.b, row.query, key);
  }
};

template <class Real>
struct CausalOneTooFew : Steps<Real> {
  bool sees(const RowContext& row, Index key) const override {
    if (!row.problem.mask.causal) return Steps<Real>::sees(row, key);
    return Steps<Real>::sees(row, key) && key - row.query < causal_offset(row.problem, row.b);
  }
};

template <class Real>
struct TopLeftInsteadOfBottomRight : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    if (!row.problem.mask.causal) return Steps<Real>::sees(row, key);
    Problem top_left = row.problem;
    top_left.mask.causal = Causal{};
    return visible(top_left, row.b, row.query, key);
  }
};

template <class Real>
struct BottomRightOfPaddedLength : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const auto& causal = row.problem.mask.causal;
    if (!causal || causal->alignment != Causal::Alignment::bottom_right)
      return Steps<Real>::sees(row, key);
    Problem padded = row.problem;
    padded.mask.causal = {Causal::Alignment::explicit_offset,
                          row.problem.seq_kv - row.problem.seq_q};
    return visible(padded, row.b, row.query, key);
  }
};

/// The mask of the first query of a tile serves the whole tile.
template <class Real>
struct MaskOfFirstQueryOfTile : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const Index first = row.query / row.tiling.tile_q * row.tiling.tile_q;
    return visible(row.problem, row.b, first, key);
  }
};

}  // namespace

void append_mask_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<MasksWithMinus1e9>(
      "masks_with_minus_1e9", "excluded keys get the score -1e9 instead of no weight",
      "empty.forward"));
  mutants.push_back(tiled_mutant<PaddingKeysScoreZero>(
      "padding_keys_score_zero", "keys beyond a member's length take part with score 0",
      "mask.visible_set"));
  mutants.push_back(tiled_mutant<ExcludedKeysWeighZero>(
      "excluded_keys_weigh_zero", "excluded values are multiplied by 0, so that NaN leaks",
      "mask.excluded_keys"));
  mutants.push_back(tiled_mutant<CausalOneTooMany>(
      "causal_one_too_many", "a causal row sees one key beyond the diagonal", "mask.tables"));
  mutants.push_back(tiled_mutant<CausalOneTooFew>(
      "causal_one_too_few", "a causal row does not see the key on the diagonal",
      "mask.causal_prefix"));
  mutants.push_back(tiled_mutant<TopLeftInsteadOfBottomRight>(
      "top_left_instead_of_bottom_right", "every causal mask starts at the top left corner",
      "mask.tables"));
  mutants.push_back(tiled_mutant<BottomRightOfPaddedLength>(
      "bottom_right_of_padded_length", "bottom right is taken from the padded number of keys",
      "mask.tables"));
  mutants.push_back(tiled_mutant<MaskOfFirstQueryOfTile>(
      "mask_of_first_query_of_tile", "all queries of a tile use the mask of its first query",
      "mask.visible_set"));
}

}  // namespace attest::mutants
