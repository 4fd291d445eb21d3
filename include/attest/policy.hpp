// Named answers to questions that the definition of attention leaves open.
#pragma once

#include <string_view>

namespace attest {

/// What a row with no visible key gives.
enum class AllMaskedPolicy {
  zero,    ///< output exactly 0, lse = -inf, no effect on any other row
  reject,  ///< StatusCode::all_masked_row that names the first such row in (batch, head, query)
           ///< order
};

/// Which log-sum-exp a problem asks for.
enum class LseForm {
  none,     ///< no lse output
  natural,  ///< row_max + ln(row_sum), base e; -inf for a row with no visible key
};

constexpr std::string_view to_string(AllMaskedPolicy policy) {
  return policy == AllMaskedPolicy::zero ? "zero" : "reject";
}
constexpr std::string_view to_string(LseForm form) {
  return form == LseForm::none ? "none" : "ln";
}

}  // namespace attest
