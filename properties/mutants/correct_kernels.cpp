#include "mutants/correct_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "attest/tensor.hpp"
#include "kernels/kernels.hpp"
#include "mutants/declared_mutants.hpp"
#include "mutants/own_arithmetic.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

KernelDescription describe_correct(std::string_view name, std::string_view algorithm) {
  KernelDescription description = describe(name, algorithm);
  description.name = "correct:" + std::string(name);
  return description;
}

/// Tile summaries meet in the other order: a merge commutes bit for bit.
template <class Real>
struct MergesFromTheOtherSide : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    return attest::merge(right, left);
  }
};

/// No tile is skipped, and excluded keys are looked at one by one.
template <class Real>
struct LooksEverywhere : Steps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
};

/// Excluded keys take part with a score of -inf, as they do in a kernel that adds a mask.
template <class Real>
struct ExcludesByMinusInfinity : LooksEverywhere<Real> {
  std::optional<Real> score_of_excluded(const RowContext&, Index) const override {
    return RowSummary<Real>::minus_infinity;
  }
};

/// The maximum of a split is known before its first weight: two passes, no rescale.
template <class Real>
struct TwoPasses : Steps<Real> {
  std::vector<KeyRange> tiles(const RowContext&, KeyRange unit) const override { return {unit}; }
};

/// Columns of the numerator are added from the last to the first: no sum depends on it.
template <class Real>
struct ColumnsFromTheLast : Steps<Real> {
  using Summary = RowSummary<Real>;
  void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const override {
    summary.row_sum += weight;
    for (std::size_t c = value.size(); c-- > 0;) summary.numerator[c] += weight * value[c];
  }
};

/// exp(x) as 2^(x log2 e): off by more than exp is, and declared as that.
template <class Real>
struct ExpByExp2 : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override {
    return std::exp2(argument * std::numbers::log2e_v<Real>);
  }
};

template <template <class> class Made>
std::unique_ptr<Kernel> tiled(std::string_view name, std::string_view algorithm,
                              SummaryScope scope = SummaryScope::split) {
  return std::make_unique<kernels::TiledKernel<Made>>(describe_correct(name, algorithm), scope);
}

/// f32 is computed in f64 and rounded once, at the end: better than it declares.
class ComputesInDouble : public Kernel {
 public:
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    Problem wide = problem;
    wide.dtype = Dtype::f64;
    const Tensor q = copied(views.q), k = copied(views.k), v = copied(views.v);
    Tensor out(Dtype::f64, problem.out_extents());
    Tensor lse(Dtype::f64, problem.lse_extents());
    ForwardViews changed{q.ref(), k.ref(), v.ref(), out.ref(), {}};
    if (problem.lse != LseForm::none) changed.lse = lse.ref();
    if (Status status = kernel_->forward(wide, tiling, changed); !status.ok()) return status;
    round_into(views.out, out);
    if (problem.lse != LseForm::none) round_into(views.lse, lse);
    return {};
  }

 private:
  static Tensor copied(const ConstTensorRef& from) {
    Tensor to(Dtype::f64, from.extents);
    const auto source = from.as<const float>();
    for_each_index(from.extents, [&](Index b, Index h, Index row, Index c) {
      to.set(b, h, row, c, static_cast<double>(source(b, h, row, c)));
    });
    return to;
  }
  static void round_into(const TensorRef& to, const Tensor& from) {
    const auto target = to.as<float>();
    for_each_index(from.extents(), [&](Index b, Index h, Index row, Index c) {
      target(b, h, row, c) = static_cast<float>(from.get(b, h, row, c));
    });
  }

  KernelDescription description_ = [] {
    KernelDescription description =
        describe_correct("computes_in_double", "f32 computed in f64, rounded once at the end");
    description.capabilities.dtypes = {Dtype::f32};
    return description;
  }();
  std::unique_ptr<Kernel> kernel_ = kernels::make_scalar_sequential();
};

/// Heads from the last to the first, one call each: no row depends on another.
class HeadsFromTheLast : public Kernel {
 public:
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    Problem one_head = problem;
    one_head.heads_q = one_head.heads_kv = 1;
    for (Index h = problem.heads_q; h-- > 0;) {
      const Index kv_head = problem.kv_head(h);
      ForwardViews of_head{
          head(views.q, h), head(views.k, kv_head), head(views.v, kv_head), head(views.out, h), {}};
      if (problem.lse != LseForm::none) of_head.lse = head(views.lse, h);
      if (Status status = kernel_->forward(one_head, tiling, of_head); !status.ok()) return status;
    }
    return {};
  }

 private:
  template <class View>
  static View head(View view, Index h) {
    using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
    view.data = static_cast<Byte*>(view.data) +
                h * view.strides[1] * static_cast<Index>(size_of(view.dtype));
    view.extents[1] = 1;
    return view;
  }

  KernelDescription description_ =
      describe_correct("heads_from_the_last", "one call a head, from the last to the first");
  std::unique_ptr<Kernel> kernel_ = kernels::make_scalar_tree();
};

/// A kernel with a larger error of exp, declared.
class DeclaresItsExp : public kernels::TiledKernel<ExpByExp2> {
 public:
  using TiledKernel::TiledKernel;
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = TiledKernel::accuracy(problem);
    // |x| <= 104 (748) below which exp is 0: x log2 e is off by 2 roundings of at most 150 (1080).
    const double largest = accuracy.format == kF32 ? 151 : 1081;
    accuracy.exp_relative_error += 2 * largest * accuracy.format.unit_roundoff;
    accuracy.exp_absolute_error += accuracy.format.rounding_underflow;
    return accuracy;
  }
};

std::vector<std::unique_ptr<Kernel>> make_unusual() {
  std::vector<std::unique_ptr<Kernel>> made;
  made.push_back(tiled<MergesFromTheOtherSide>(
      "merges_from_the_other_side", "tile summaries merged as (right, left)", SummaryScope::tile));
  made.push_back(tiled<LooksEverywhere>("looks_everywhere", "no tile is skipped"));
  made.push_back(tiled<ExcludesByMinusInfinity>("excludes_by_minus_infinity",
                                                "excluded keys have the score -inf"));
  made.push_back(tiled<TwoPasses>("two_passes", "a split has its maximum before its weights"));
  made.push_back(tiled<ColumnsFromTheLast>("columns_from_the_last",
                                           "columns of the numerator from the last to the first"));
  made.push_back(std::make_unique<DeclaresItsExp>(
      describe_correct("exp_by_exp2", "exp(x) as 2^(x log2 e), with its error declared"),
      SummaryScope::split));
  made.push_back(std::make_unique<ComputesInDouble>());
  made.push_back(std::make_unique<HeadsFromTheLast>());
  return made;
}

}  // namespace

std::span<const std::unique_ptr<Kernel>> correct_kernels() {
  static const std::vector<std::unique_ptr<Kernel>> kernels = [] {
    std::vector<std::unique_ptr<Kernel>> made = make_unusual();
    for (DeclaredPair& pair : declared_pairs()) made.push_back(std::move(pair.honest));
    return made;
  }();
  return kernels;
}

}  // namespace attest::mutants
