// Mistakes in the merge of summaries.
#include <algorithm>

#include "attest/narrow_float.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

template <class Real>
using Steps = kernels::TiledSteps<Real>;

template <class Real>
struct AveragesTileOutputs : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    Summary merged = attest::merge(left, right);
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] =
          merged.row_sum * (left.numerator[c] / left.row_sum + right.numerator[c] / right.row_sum) /
          2;
    return merged;
  }
};

template <class Real>
struct AveragesNormalisedPairs : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Row merge_normalised(const Row& left, const Row& right) const override {
    Row merged = attest::merge(left, right);
    if (left.is_identity() || right.is_identity()) return merged;
    for (std::size_t c = 0; c < merged.output.size(); ++c)
      merged.output[c] = (left.output[c] + right.output[c]) / 2;
    return merged;
  }
};

template <class Real>
struct BothEmptyNan : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    Summary merged = left;
    merged.row_max = std::max(left.row_max, right.row_max);
    const Real keep = std::exp(left.row_max - merged.row_max);
    const Real add = std::exp(right.row_max - merged.row_max);
    merged.row_sum = keep * left.row_sum + add * right.row_sum;
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] = keep * left.numerator[c] + add * right.numerator[c];
    return merged;
  }
};

template <class Real>
struct KeepsTheLargerSide : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    return left.row_max < right.row_max ? right : left;
  }
};

template <class Real>
struct MergesRelativeToLeft : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    Summary merged = left;
    const Real factor = std::exp(right.row_max - left.row_max);
    merged.row_sum += factor * right.row_sum;
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] += factor * right.numerator[c];
    return merged;
  }
};

template <class Real>
struct ForgetsRescaleInMerge : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    Summary merged = left;
    merged.row_max = std::max(left.row_max, right.row_max);
    merged.row_sum += right.row_sum;
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] += right.numerator[c];
    return merged;
  }
};

template <class Real>
struct InvertsRescale : Steps<Real> {
  Real rescale(Real from, Real to) const override {
    return from == RowSummary<Real>::minus_infinity ? Real(0) : std::exp(to - from);
  }
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    const Summary& low = left.row_max < right.row_max ? left : right;
    Summary merged = left.row_max < right.row_max ? right : left;
    const Real factor = rescale(low.row_max, merged.row_max);
    merged.row_sum += factor * low.row_sum;
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] += factor * low.numerator[c];
    return merged;
  }
};

/// FlashInfer's first state had sum 1 at maximum minus infinity: same meaning, other bits.
template <class Real>
struct IdentityWithSumOne : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary identity(Index head_dim_v) const override {
    Summary summary = Summary::identity(head_dim_v);
    summary.row_sum = 1;
    return summary;
  }
};

/// Right output, right lse: only the triple is wrong, and so is whoever merges it elsewhere by its
/// row_max.
template <class Real>
struct MaximumOneTooLarge : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    Summary merged = attest::merge(left, right);
    if (left.is_identity() || right.is_identity()) return merged;
    attest::raise_row_max(merged, merged.row_max + 1);
    return merged;
  }
};

/// As if parts below a threshold were not worth the bandwidth.
template <class Real>
struct DropsLightPairs : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Row merge_normalised(const Row& left, const Row& right) const override {
    if (left.lse < right.lse - 4) return right;
    if (right.lse < left.lse - 4) return left;
    return attest::merge(left, right);
  }
};

template <class Real>
struct WeighsPlusInfinity : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Result<Row> join_parts(const Row& left, const Row& right) const override {
    return attest::merge(left, right);
  }
};

template <class Real>
struct WeighsFiniteEmptiness : Steps<Real> {
  using Row = NormalisedRow<Real>;
  PartForm part_form() const override { return {.empty_lse = -5e4}; }
  Result<Row> join_parts(const Row& left, const Row& right) const override {
    return attest::merge(left, right);
  }
};

/// As if the running result of a ring were sent on in bf16.
template <class Real>
struct RoundsTheRunningPart : Steps<Real> {
  using Row = NormalisedRow<Real>;
  Row merge_normalised(const Row& left, const Row& right) const override {
    Row merged = attest::merge(left, right);
    if (left.is_identity() || right.is_identity()) return merged;
    for (Real& element : merged.output) element = round_to(kBf16, element);
    return merged;
  }
};

}  // namespace

void append_merge_mutants(std::vector<Mutant>& mutants) {
  constexpr SummaryScope tile = SummaryScope::tile;
  mutants.push_back(tiled_mutant<AveragesTileOutputs>(
      "averages_tile_outputs", "averages normalised tile outputs, which have forgotten their mass",
      "bound.out", tile));
  mutants.push_back(tiled_mutant<AveragesNormalisedPairs>(
      "averages_normalised_pairs", "merges (output, lse) pairs by the plain average of outputs",
      "merge.pairs_agree", tile));
  mutants.push_back(tiled_mutant<BothEmptyNan>(
      "both_empty_nan", "computes exp(-inf - -inf) when both sides of a merge are empty",
      "merge.two_empties", tile));
  mutants.push_back(tiled_mutant<KeepsTheLargerSide>(
      "keeps_the_larger_side", "a merge keeps the side with the larger maximum and drops the other",
      "merge.associates", tile));
  mutants.push_back(tiled_mutant<MergesRelativeToLeft>(
      "merges_relative_to_left",
      "a merge stays relative to the left maximum, even if it is smaller", "merge.commutes", tile));
  mutants.push_back(tiled_mutant<ForgetsRescaleInMerge>(
      "forgets_rescale_in_merge", "a merge adds both sides without rescaling either",
      "tiling.merge_order", tile));
  mutants.push_back(tiled_mutant<InvertsRescale>("inverts_rescale",
                                                 "rescales by exp(new maximum - old maximum)",
                                                 "merge.rescale_range", tile));
  mutants.push_back(tiled_mutant<IdentityWithSumOne>(
      "identity_with_sum_one", "the empty summary has row_sum 1, so that it adds mass",
      "merge.identity", tile));
  mutants.push_back(tiled_mutant<MaximumOneTooLarge>(
      "maximum_one_too_large",
      "a merged triple is relative to a number above its maximum; output and lse are right",
      "merge.summary_bound", tile));
  mutants.push_back(tiled_mutant<DropsLightPairs>(
      "drops_light_pairs", "merges of (output, lse) drop the part whose lse is smaller by 4",
      "merge.pairs_tree", tile));
  mutants.push_back(tiled_mutant<WeighsPlusInfinity>(
      "weighs_plus_infinity", "joins a part whose lse is +inf as if it had that much mass",
      "merge.foreign_empty", tile));
  mutants.push_back(tiled_mutant<WeighsFiniteEmptiness>(
      "weighs_finite_emptiness", "an empty part has the lse -50000 and is joined as if it had mass",
      "merge.empty_part", tile));
  mutants.push_back(tiled_mutant<RoundsTheRunningPart>(
      "rounds_the_running_part", "rounds the running output to bf16 at every merge of parts",
      "merge.narrow_parts", tile));
}

}  // namespace attest::mutants
