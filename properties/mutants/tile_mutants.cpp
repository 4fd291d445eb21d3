// Mistakes in the running summary of a row.
#include <cmath>

#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

template <class Real>
using Steps = kernels::TiledSteps<Real>;

template <class Real>
struct ForgetsNumeratorRescale : Steps<Real> {
  using Summary = RowSummary<Real>;
  void raise_row_max(Summary& summary, Real row_max) const override {
    if (!summary.is_identity()) summary.row_sum *= attest::rescale(summary.row_max, row_max);
    summary.row_max = row_max;
  }
};

template <class Real>
struct ForgetsSumRescale : Steps<Real> {
  using Summary = RowSummary<Real>;
  void raise_row_max(Summary& summary, Real row_max) const override {
    if (!summary.is_identity())
      for (Real& element : summary.numerator) element *= attest::rescale(summary.row_max, row_max);
    summary.row_max = row_max;
  }
};

template <class Real>
struct UsesOnlyNewTileMaximum : Steps<Real> {
  Real next_row_max(Real, Real tile_max) const override { return tile_max; }
};

template <class Real>
struct NoMaxSubtraction : Steps<Real> {
  Real next_row_max(Real, Real) const override { return Real(0); }
};

/// -5e4 as in flashinfer issue 4452.
template <class Real>
struct FiniteStartOfRowMax : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary identity(Index head_dim_v) const override {
    Summary summary = Summary::identity(head_dim_v);
    summary.row_max = Real(-5e4);
    return summary;
  }
  Real lse(const Summary& summary) const override {
    return summary.row_max + (summary.is_identity() ? Real(0) : std::log(summary.row_sum));
  }
};

template <class Real>
struct DeadFirstTileStoresZero : Steps<Real> {
  using Summary = RowSummary<Real>;
  void absorb_tile(Summary& summary, const kernels::ScoredTile<Real>& tile) const override {
    if (tile.scores.empty() && summary.is_identity()) {
      summary.row_max = 0;
      return;
    }
    Steps<Real>::absorb_tile(summary, tile);
  }
};

template <class Real>
struct SkipsLastPartialTile : Steps<Real> {
  std::vector<KeyRange> tiles(const kernels::RowContext& row, KeyRange unit) const override {
    std::vector<KeyRange> tiles = Steps<Real>::tiles(row, unit);
    if (tiles.back().end - tiles.back().begin < row.tiling.tile_kv) tiles.pop_back();
    return tiles;
  }
};

template <class Real>
struct RescaleRoundedToEightBits : Steps<Real> {
  using Summary = RowSummary<Real>;
  void raise_row_max(Summary& summary, Real row_max) const override {
    if (!summary.is_identity()) {
      int exponent = 0;
      const Real mantissa = std::frexp(attest::rescale(summary.row_max, row_max), &exponent);
      const Real factor = std::ldexp(std::round(mantissa * 256) / 256, exponent);
      summary.row_sum *= factor;
      for (Real& element : summary.numerator) element *= factor;
    }
    summary.row_max = row_max;
  }
};

template <class Real>
struct SumMissesLastKeyOfTile : Steps<Real> {
  using Summary = RowSummary<Real>;
  void absorb_tile(Summary& summary, const kernels::ScoredTile<Real>& tile) const override {
    Steps<Real>::absorb_tile(summary, tile);
    if (tile.scores.size() > 1) summary.row_sum -= std::exp(tile.scores.back() - summary.row_max);
  }
};

}  // namespace

void append_tile_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<ForgetsNumeratorRescale>(
      "forgets_numerator_rescale", "a new maximum rescales row_sum but not the numerator",
      "bound.out"));
  mutants.push_back(tiled_mutant<ForgetsSumRescale>(
      "forgets_sum_rescale", "a new maximum rescales the numerator but not row_sum", "bound.lse"));
  mutants.push_back(tiled_mutant<UsesOnlyNewTileMaximum>(
      "uses_only_new_tile_maximum", "the maximum of the last tile replaces the running maximum",
      "tiling.tile_size"));
  mutants.push_back(tiled_mutant<NoMaxSubtraction>(
      "no_max_subtraction", "weights are exp(score), without subtracting the maximum",
      "bound.out"));
  mutants.push_back(tiled_mutant<FiniteStartOfRowMax>(
      "finite_start_of_row_max", "the running maximum starts at -5e4 instead of -inf",
      "empty.forward"));
  mutants.push_back(tiled_mutant<DeadFirstTileStoresZero>(
      "dead_first_tile_stores_zero", "a first tile without visible keys sets the maximum to 0",
      "tiling.kv_splits"));
  mutants.push_back(tiled_mutant<SkipsLastPartialTile>(
      "skips_last_partial_tile", "the last tile is skipped when it is not full",
      "tiling.tile_size"));
  mutants.push_back(tiled_mutant<RescaleRoundedToEightBits>(
      "rescale_rounded_to_eight_bits", "rescale factors are rounded to bfloat16", "bound.lse"));
  mutants.push_back(tiled_mutant<SumMissesLastKeyOfTile>(
      "sum_misses_last_key_of_tile", "row_sum misses the last key of every tile of two or more",
      "symmetry.constant_values"));
}

}  // namespace attest::mutants
