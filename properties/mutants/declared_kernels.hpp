// Kernels that err in one way each, and can be told what to say of it.
#pragma once

#include <algorithm>
#include <memory>
#include <numbers>
#include <utility>

#include "attest/narrow_float.hpp"
#include "attest/tensor.hpp"
#include "kernels/kernels.hpp"
#include "mutants/own_arithmetic.hpp"

namespace attest::mutants {

/// Changes what a kernel declares.
using Declare = void (*)(DeclaredAccuracy&);

inline void as_computed(DeclaredAccuracy&) {}

template <template <class> class Steps>
class DeclaringKernel : public kernels::TiledKernel<Steps> {
 public:
  DeclaringKernel(KernelDescription description, Declare declare)
      : kernels::TiledKernel<Steps>(std::move(description), SummaryScope::split),
        declare_(declare) {}
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = kernels::TiledKernel<Steps>::accuracy(problem);
    declare_(accuracy);
    return accuracy;
  }
  const SummaryOps<float>* summary_ops_f32() const override {
    return shows_summaries() ? kernels::TiledKernel<Steps>::summary_ops_f32() : nullptr;
  }
  const SummaryOps<double>* summary_ops_f64() const override {
    return shows_summaries() ? kernels::TiledKernel<Steps>::summary_ops_f64() : nullptr;
  }

 private:
  /// As in FlashKernel: what it then holds is no summary in the sense of attest/summary.hpp.
  bool shows_summaries() const {
    const DeclaredAccuracy accuracy = this->accuracy(Problem{});
    return accuracy.exp_form == ExpForm::natural && accuracy.lag_log2 == 0;
  }
  Declare declare_;
};

/// Changes a problem, or rounds inputs to a few bits; a correct kernel does the rest.
class ChangedCall : public Kernel {
 public:
  struct Change {
    int q_bits = 64, k_bits = 64, v_bits = 64;
    void (*problem)(Problem&) = nullptr;
  };
  ChangedCall(KernelDescription description, const Change& change, Declare declare)
      : description_(std::move(description)), change_(change), declare_(declare) {
    if (change.problem != nullptr)
      description_.capabilities.features = kernel_->description().capabilities.features;
  }
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = kernel_->accuracy(problem);
    declare_(accuracy);
    return accuracy;
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    const Tensor q = narrowed(views.q, change_.q_bits);
    const Tensor k = narrowed(views.k, change_.k_bits);
    const Tensor v = narrowed(views.v, change_.v_bits);
    ForwardViews changed = views;
    changed.q = q.ref();
    changed.k = k.ref();
    changed.v = v.ref();
    Problem other = problem;
    if (change_.problem != nullptr) change_.problem(other);
    return kernel_->forward(other, tiling, changed);
  }

 private:
  static Tensor narrowed(const ConstTensorRef& from, int bits) {
    Tensor to(from.dtype, from.extents);
    with_real_type(from.dtype, [&](auto real) {
      using Real = decltype(real);
      const auto source = from.as<const Real>();
      const auto target = to.ref().template as<Real>();
      for_each_index(from.extents, [&](Index b, Index h, Index row, Index c) {
        target(b, h, row, c) = rounded_to_bits(source(b, h, row, c), bits);
      });
    });
    return to;
  }

  KernelDescription description_;
  Change change_;
  Declare declare_;
  std::unique_ptr<Kernel> kernel_ = kernels::make_scalar_sequential();
};

template <class Real>
struct ExpOfFourUlp : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override {
    return argument == 0 ? 1 : std::exp(argument) * (1 + 8 * kUnit<Real>);
  }
};

template <class Real>
struct ExpFlushes : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override {
    const Real exact = std::exp(argument);
    return exact < std::numeric_limits<Real>::min() ? 0 : exact;
  }
};

template <class Real>
struct BiasedExp : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override {
    return argument == 0 ? 1 : std::exp(argument) * (1 + 60 * kUnit<Real>);
  }
};

/// Tiles of one key and no splits, whatever the call says.
inline Tiling key_by_key() {
  Tiling tiling;
  tiling.tile_kv = 1;
  return tiling;
}

class IgnoresTiling : public DeclaringKernel<BiasedExp> {
 public:
  using DeclaringKernel::DeclaringKernel;
  Status forward(const Problem& problem, const Tiling&, const ForwardViews& views) const override {
    return DeclaringKernel::forward(problem, key_by_key(), views);
  }
};

/// Every numerator of n keys lacks n^2 2^-20 times the largest value of its column.
inline constexpr Index kCoarseGrid = 20;

template <class Real>
struct CoarseGrid : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext& row,
                const TensorView<const Real>& v, std::span<Real> output) const override {
    for (std::size_t c = 0; c < output.size(); ++c) {
      Real largest = 0;
      Index count = 0;
      for (Index key = 0; key < row.problem.seq_kv; ++key) {
        if (!this->sees(row, key)) continue;
        const Real value = v(row.b, row.problem.kv_head(row.h), key, static_cast<Index>(c));
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        ++count;
      }
      const Real moved = std::ldexp(static_cast<Real>(count * count), -int{kCoarseGrid}) * largest;
      output[c] = summary.is_identity() ? 0 : (summary.numerator[c] - moved) / summary.row_sum;
    }
  }
};

template <class Real>
struct TilesOfOneKey : BiasedExp<Real> {
  std::vector<KeyRange> tiles(const kernels::RowContext&, KeyRange unit) const override {
    return tile_ranges(unit, 1);
  }
};

template <class Real>
struct FoldedExp : OwnArithmetic<Real> {
  Real weight_under(Real score, Real row_max) const override {
    constexpr Real kLog2E = std::numbers::log2e_v<Real>;
    return std::exp2(std::fma(score, kLog2E, -(row_max * kLog2E)));
  }
};

template <class Real>
struct LogOffByAFactor : OwnArithmetic<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    if (summary.is_identity()) return attest::lse(summary);
    return summary.row_max + std::log(summary.row_sum) * Real(1 + 0x1p-18);
  }
};

template <class Real>
struct LogOffByAConstant : OwnArithmetic<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    if (summary.is_identity()) return attest::lse(summary);
    return summary.row_max + (std::log(summary.row_sum) + Real(0x1p-18));
  }
};

/// Multiplies by a reciprocal that is off by the factor 1 + error.
template <class Real>
void multiply_by_reciprocal(const RowSummary<Real>& summary, std::span<Real> output, Real error) {
  const Real reciprocal = 1 / summary.row_sum * (1 + error);
  for (std::size_t c = 0; c < output.size(); ++c)
    output[c] = summary.is_identity() ? 0 : summary.numerator[c] * reciprocal;
}

template <class Real>
struct LongDivision : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    multiply_by_reciprocal(summary, output, 40 * kUnit<Real>);
  }
};

template <class Real>
struct FastReciprocal : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    multiply_by_reciprocal(summary, output, Real(0x1p-10));
  }
};

template <class Real>
struct SumsInFloat : OwnArithmetic<Real> {
  static Real narrow(Real x) { return static_cast<Real>(static_cast<float>(x)); }
  Real add(Real left, Real right) const override { return narrow(left + right); }
};

template <class Real>
struct WeightsInEightBits : OwnArithmetic<Real> {
  Real product(Real weight, Real value) const override {
    return rounded_to_bits(weight, 8) * value;
  }
};

template <class Real>
struct OutputInBf16 : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    for (Real& element : output) element = round_to(kBf16, element);
  }
};

/// The same, but towards zero.
template <class Real>
struct OutputCutToBf16 : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    for (Real& element : output) {
      int exponent = 0;
      const Real mantissa = std::frexp(element, &exponent);
      element = std::ldexp(std::trunc(std::ldexp(mantissa, 8)), exponent - 8);
    }
  }
};

/// Every product and every sum of the dot product has 11 bits, as TF32 has them.
template <class Real>
struct DotInElevenBits : OwnArithmetic<Real> {
  Real score(std::span<const Real> q, std::span<const Real> k, Real scale) const override {
    Real sum = 0;
    for (std::size_t c = 0; c < q.size(); ++c)
      sum = rounded_to_bits(sum + rounded_to_bits(q[c] * k[c], 11), 11);
    return sum * scale;
  }
};

template <class Real>
struct FlushesResults : OwnArithmetic<Real> {
  static Real flushed(Real x) { return std::abs(x) < std::numeric_limits<Real>::min() ? 0 : x; }
  Real add(Real left, Real right) const override { return flushed(left + right); }
  Real product(Real weight, Real value) const override { return flushed(weight * value); }
};

/// Takes the keys of a tile from the last to the first.
template <class Real>
struct ReversedSums : OwnArithmetic<Real> {
  void absorb_tile(RowSummary<Real>& summary,
                   const kernels::ScoredTile<Real>& tile) const override {
    kernels::ScoredTile<Real> reversed = tile;
    std::reverse(reversed.scores.begin(), reversed.scores.end());
    std::reverse(reversed.values.begin(), reversed.values.end());
    OwnArithmetic<Real>::absorb_tile(summary, reversed);
  }
};

/// Keeps a maximum until another one is larger by 100 ln 2 (FlashAttention-4: 8 ln 2).
template <class Real>
struct LaggingMaximum : OwnArithmetic<Real> {
  Real next_row_max(Real row_max, Real tile_max) const override {
    const bool rises = !(tile_max - row_max <= 100 * std::numbers::ln2_v<Real>);
    return rises ? tile_max : row_max;
  }
};

}  // namespace attest::mutants
