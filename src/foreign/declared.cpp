#include "foreign/declared.hpp"

#include <algorithm>
#include <optional>

namespace attest::foreign {
namespace {

/// u of tf32: 11 bits of significand, the exponents of f32.
constexpr Format kTf32{0x1p-11, 0x1p-126, 0x1p-137, 0x1.ffcp127};

constexpr double kUnsaidUlp = 4;
constexpr double kUnsaidDescaleUlp = 2;
/// tanh.approx.f32 of PTX: 2^-10.987.
constexpr double kUnsaidTanh = 0x1p-10;
constexpr double kUnsaidTanhUlpOfF64 = 8;
/// In units of u: a fast logarithm is off by this much where its result is near 0.
constexpr double kUnsaidLogAbsolute = 4;
constexpr Index kUnsaidDotRoundings = 3;  ///< beside one a term

std::optional<Format> format_numbered(std::int32_t number) {
  switch (number) {
    case ATTEST_F32:
      return kF32;
    case ATTEST_F64:
      return kF64;
    case ATTEST_BF16:
      return kBf16;
    case ATTEST_F16:
      return kF16;
    case ATTEST_E4M3:
      return kE4m3;
    case ATTEST_E5M2:
      return kE5m2;
    case ATTEST_TF32:
      return kTf32;
    default:
      return std::nullopt;
  }
}

/// Twice the error of rounding to nearest covers every rounding to a neighbour.
Format rounded(Format format, std::int32_t rounding) {
  if (rounding == ATTEST_ROUNDING_NEAREST) return format;
  format.unit_roundoff *= 2;
  format.rounding_underflow *= 2;
  return format;
}

/// The stated numbers with what their absence means.
class Stated {
 public:
  Stated(const attest_accuracy& stated, const Problem& problem)
      : stated_(stated), problem_(problem) {
    const Format widest = format_of(problem.compute_dtype());
    const Format own = format_numbered(stated.accumulators).value_or(widest);
    // Results of the compute dtype are rounded to it, however wide the sums are.
    nearest_ = own.unit_roundoff < widest.unit_roundoff ? widest : own;
    format_ = rounded(nearest_, stated.rounding);
  }

  const Format& format() const { return format_; }

  std::optional<Format> dot_format() const {
    const std::int32_t number =
        stated_.dot_accumulators != 0 ? stated_.dot_accumulators : stated_.accumulators;
    const std::optional<Format> own = format_numbered(number);
    if (!own || *own == nearest_) return std::nullopt;
    return rounded(*own, stated_.rounding);
  }

  Underflow underflow() const {
    if (stated_.underflow == ATTEST_UNDERFLOW_GRADUAL) return Underflow::gradual;
    if (stated_.underflow == ATTEST_UNDERFLOW_FLUSH_RESULTS) return Underflow::flush_results;
    return Underflow::flush_results_and_inputs;
  }

  Index dot_roundings() const {
    if (stated_.dot_roundings > 0) return stated_.dot_roundings;
    return problem_.head_dim + (problem_.qv ? problem_.head_dim_v : 0) +
           (problem_.descales ? 2 : 0) + kUnsaidDotRoundings;
  }

  /// The relative error that so many ULP are at most; `unsaid` ULP where none are stated.
  double relative(double ulp, double unsaid = kUnsaidUlp) const {
    return (ulp > 0 ? ulp : unsaid) * 2 * nearest_.unit_roundoff;
  }

  double tanh_error() const {
    if (problem_.softcap == 0) return 0;
    if (stated_.tanh_ulp > 0) return relative(stated_.tanh_ulp);
    const bool is_f64 = problem_.compute_dtype() == Dtype::f64;
    return is_f64 ? relative(0, kUnsaidTanhUlpOfF64) : kUnsaidTanh;
  }

  double exp_absolute_error() const {
    if (underflow() != Underflow::gradual) return format_.min_normal;
    return (stated_.exp_ulp > 0 ? stated_.exp_ulp : kUnsaidUlp) * 2 * nearest_.rounding_underflow;
  }

  ExpForm exp_form() const {
    if (stated_.exp_form == ATTEST_EXP_NATURAL) return ExpForm::natural;
    if (stated_.exp_form == ATTEST_EXP_FOLDED_TWO) return ExpForm::folded_base_two;
    // The folded form has the larger errors, and no bound beside anything that changes a score.
    const bool changes_scores =
        problem_.softcap != 0 || problem_.bias || problem_.alibi || problem_.mask.additive;
    return changes_scores ? ExpForm::natural : ExpForm::folded_base_two;
  }

  /// A cast to the stated format, or to that of `unsaid`, where it is narrower than the arithmetic.
  std::optional<Format> cast(std::int32_t number, Dtype unsaid) const {
    const Format to = format_numbered(number).value_or(format_of(unsaid));
    if (to.unit_roundoff <= nearest_.unit_roundoff) return std::nullopt;
    return to;
  }

 private:
  const attest_accuracy& stated_;
  const Problem& problem_;
  Format nearest_, format_;
};

void set_order(const attest_accuracy& stated, bool works_by_call, DeclaredAccuracy& accuracy) {
  accuracy.ordered_sums = stated.ordered_sums == ATTEST_SUMS_ORDERED;
  accuracy.scope = SummaryScope::any;
  if (stated.scope == ATTEST_SCOPE_ROW) {
    accuracy.scope = SummaryScope::row;
  } else if (stated.scope == ATTEST_SCOPE_SPLIT) {
    accuracy.scope = SummaryScope::split;
    if (works_by_call) {
      accuracy.longest_tile = stated.own_tile_kv;
    } else {
      // Tiles of one key can raise the maximum wherever larger ones can.
      accuracy.own_tiling = Tiling{};
      accuracy.own_tiling->tile_kv = std::max<Index>(1, stated.own_tile_kv);
    }
  } else if (stated.scope == ATTEST_SCOPE_TILE && works_by_call) {
    accuracy.scope = SummaryScope::tile;
  }
  if (accuracy.scope == SummaryScope::any) accuracy.ordered_sums = false;
}

}  // namespace

DeclaredAccuracy declared_accuracy(const attest_accuracy& stated, const Problem& problem,
                                   bool works_by_call) {
  const Stated says(stated, problem);
  DeclaredAccuracy accuracy;
  accuracy.format = says.format();
  accuracy.underflow = says.underflow();
  accuracy.dot_roundings = says.dot_roundings();
  accuracy.dot_format = says.dot_format();
  if (const auto query = format_numbered(stated.scaled_query))
    accuracy.scaled_query_error = query->unit_roundoff;
  accuracy.tanh_relative_error = says.tanh_error();
  if (problem.alibi) accuracy.bias_relative_error = says.relative(stated.alibi_ulp);
  if (problem.descales || stated.descale_ulp > 0)
    accuracy.value_relative_error = says.relative(stated.descale_ulp, kUnsaidDescaleUlp);
  accuracy.exp_form = says.exp_form();
  accuracy.exp_relative_error = says.relative(stated.exp_ulp);
  accuracy.exp_absolute_error = says.exp_absolute_error();
  accuracy.lag_log2 = stated.lag_log2;
  if (const auto weights = says.cast(stated.weights, problem.v_dtype()))
    accuracy.weight_cast = WeightCast{*weights, stated.weights_log2, stated.sums_rounded != 0};
  accuracy.log_relative_error = says.relative(stated.log_ulp);
  if (!(stated.log_ulp > 0))
    accuracy.log_absolute_error = kUnsaidLogAbsolute * accuracy.format.unit_roundoff;
  accuracy.reciprocal_relative_error = says.relative(stated.division_ulp);
  const Format out = format_of(problem.out_dtype());
  if (out != accuracy.format) accuracy.output_format = out;
  set_order(stated, works_by_call, accuracy);
  return accuracy;
}

DeclaredGradientAccuracy declared_gradient_accuracy(const attest_accuracy& stated,
                                                    const Problem& problem) {
  const Stated says(stated, problem);
  DeclaredGradientAccuracy accuracy;
  accuracy.format = says.format();
  accuracy.underflow = says.underflow();
  accuracy.dot_roundings = says.dot_roundings();
  accuracy.value_dot_roundings = accuracy.delta_roundings =
      problem.head_dim_v + kUnsaidDotRoundings;
  accuracy.tanh_relative_error = says.tanh_error();
  accuracy.tanh_absolute_error = says.exp_absolute_error();
  if (problem.alibi) accuracy.bias_relative_error = says.relative(stated.alibi_ulp);
  accuracy.exp_form = says.exp_form();
  accuracy.exp_relative_error = says.relative(stated.exp_ulp);
  accuracy.exp_absolute_error = says.exp_absolute_error();
  accuracy.weight_cast = says.cast(stated.gradient_weights, problem.dtype);
  accuracy.gradient_cast = says.cast(stated.score_gradients, problem.dtype);
  accuracy.output_format = format_of(problem.dtype);
  accuracy.dk_format = format_of(problem.k_dtype());
  accuracy.dv_format = format_of(problem.v_dtype());
  return accuracy;
}

}  // namespace attest::foreign
