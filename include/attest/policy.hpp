// Named answers to questions that the definition of attention leaves open.
#pragma once

#include <string_view>

namespace attest {

/// What the output of a row with no visible key and no sink is. Its lse is Problem::empty_lse.
enum class AllMaskedPolicy {
  zero,    ///< exactly 0, no effect on any other row
  reject,  ///< StatusCode::all_masked_row that names the first such row in (batch, head, query)
           ///< order
  nan,     ///< NaN in every column
  mean,    ///< the mean of v over all keys of the batch member, as finite mask values make it
  any,     ///< not looked at
};

/// Which log-sum-exp a problem asks for. Every form is -inf (max_sum: row_max -inf, row_sum 0) for
/// a row that sees nothing, unless Problem::empty_lse says otherwise.
enum class LseForm {
  none,      ///< no lse output
  natural,   ///< row_max + ln(row_sum), base e
  base_two,  ///< the same divided by ln 2
  /// Two columns: a finite number m, and sum exp(s - m). m is at least the largest score and the
  /// sink, less their rounding and the lag: no bound holds where m leaves the sink out.
  max_sum,
};

constexpr std::string_view to_string(AllMaskedPolicy policy) {
  switch (policy) {
    case AllMaskedPolicy::zero:
      return "zero";
    case AllMaskedPolicy::reject:
      return "reject";
    case AllMaskedPolicy::nan:
      return "nan";
    case AllMaskedPolicy::mean:
      return "mean";
    case AllMaskedPolicy::any:
      break;
  }
  return "any";
}
constexpr std::string_view to_string(LseForm form) {
  switch (form) {
    case LseForm::none:
      return "none";
    case LseForm::natural:
      return "ln";
    case LseForm::base_two:
      return "log2";
    case LseForm::max_sum:
      break;
  }
  return "max_sum";
}

}  // namespace attest
