// Mistakes between the finished summary and the output.
#include <cmath>
#include <numbers>

#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

template <class Real>
using Steps = kernels::TiledSteps<Real>;

template <class Real>
struct FullyMaskedRowGivesMean : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext& row,
                const TensorView<const Real>& v, std::span<Real> output) const override {
    attest::finalize(summary, output);
    if (!summary.is_identity() || row.problem.seq_kv == 0) return;
    for (Index c = 0; c < v.extents[3]; ++c) {
      Real sum = 0;
      for (Index key = 0; key < row.problem.seq_kv; ++key)
        sum += v(row.b, row.problem.kv_head(row.h), key, c);
      output[static_cast<std::size_t>(c)] = sum / static_cast<Real>(row.problem.seq_kv);
    }
  }
};

template <class Real>
struct FullyMaskedRowGivesNan : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    for (std::size_t c = 0; c < output.size(); ++c)
      output[c] = summary.numerator[c] / summary.row_sum;
  }
};

template <class Real>
struct EmptySlotNotWritten : Steps<Real> {
  bool writes(const RowSummary<Real>& summary) const override { return !summary.is_identity(); }
};

template <class Real>
struct LseInBaseTwo : Steps<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    return attest::lse(summary) * std::numbers::log2e_v<Real>;
  }
};

template <class Real>
struct LseIsRowMax : Steps<Real> {
  Real lse(const RowSummary<Real>& summary) const override { return summary.row_max; }
};

/// FlashAttention-2 stores +inf for a row without keys.
template <class Real>
struct EmptyLseIsPlusInfinity : Steps<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    return summary.is_identity() ? -attest::lse(summary) : attest::lse(summary);
  }
};

template <class Real>
struct EpsilonInDenominator : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    for (std::size_t c = 0; c < output.size(); ++c)
      output[c] = summary.numerator[c] / (summary.row_sum + Real(1e-5));
  }
};

template <class Real>
struct FlushesSmallOutputs : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    for (Real& element : output)
      if (std::abs(element) < Real(0x1p-6)) element = 0;
  }
};

template <class Real>
struct OutputRoundedToEightBits : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    for (Real& element : output) {
      int exponent = 0;
      const Real mantissa = std::frexp(element, &exponent);
      element = std::ldexp(std::round(mantissa * 256) / 256, exponent);
    }
  }
};

}  // namespace

void append_output_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<FullyMaskedRowGivesMean>(
      "fully_masked_row_gives_mean", "a row without visible keys gives the mean of v",
      "empty.forward"));
  mutants.push_back(tiled_mutant<FullyMaskedRowGivesNan>(
      "fully_masked_row_gives_nan", "a row without visible keys gives 0 / 0", "empty.neighbours"));
  mutants.push_back(tiled_mutant<EmptySlotNotWritten>(
      "empty_slot_not_written",
      "output and lse of a row without visible keys are left as they were",
      "contract.outputs_written"));
  mutants.push_back(
      tiled_mutant<LseInBaseTwo>("lse_in_base_two", "the lse is a base 2 logarithm", "bound.lse"));
  mutants.push_back(tiled_mutant<LseIsRowMax>(
      "lse_is_row_max", "the lse is the maximum, without the logarithm of the sum",
      "symmetry.duplicate_keys"));
  mutants.push_back(tiled_mutant<EmptyLseIsPlusInfinity>(
      "empty_lse_is_plus_infinity", "the lse of a row without visible keys is +inf",
      "empty.forward"));
  mutants.push_back(tiled_mutant<EpsilonInDenominator>(
      "epsilon_in_denominator", "1e-5 is added to row_sum before the division",
      "symmetry.constant_values"));
  mutants.push_back(tiled_mutant<FlushesSmallOutputs>(
      "flushes_small_outputs", "outputs below 2^-6 are set to 0", "symmetry.power_of_two_values"));
  mutants.push_back(tiled_mutant<OutputRoundedToEightBits>("output_rounded_to_eight_bits",
                                                           "the output is rounded to bfloat16",
                                                           "symmetry.linear_values"));
}

}  // namespace attest::mutants
