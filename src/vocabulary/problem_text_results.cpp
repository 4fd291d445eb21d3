#include <cmath>
#include <string>

#include "problem_text_parts.hpp"

namespace attest {
namespace {

constexpr std::array kPolicies{Choice{to_string(AllMaskedPolicy::zero), AllMaskedPolicy::zero},
                               Choice{to_string(AllMaskedPolicy::reject), AllMaskedPolicy::reject},
                               Choice{to_string(AllMaskedPolicy::nan), AllMaskedPolicy::nan},
                               Choice{to_string(AllMaskedPolicy::mean), AllMaskedPolicy::mean},
                               Choice{to_string(AllMaskedPolicy::any), AllMaskedPolicy::any}};

constexpr std::array kLseForms{Choice{to_string(LseForm::none), LseForm::none},
                               Choice{to_string(LseForm::natural), LseForm::natural},
                               Choice{to_string(LseForm::base_two), LseForm::base_two},
                               Choice{to_string(LseForm::max_sum), LseForm::max_sum}};

}  // namespace

bool parse_out(TextCursor& cursor, ProblemText& result) {
  const std::size_t dtype_at = cursor.position();
  const std::optional<Dtype> dtype = dtype_from_string(cursor.word());
  if (!dtype || is_fp8(*dtype))
    return cursor.fail_at(dtype_at, "expected a dtype of the output: f32, f64, bf16 or f16");
  if (*dtype != result.problem.out_dtype()) result.problem.out_storage = dtype;
  return true;
}

bool parse_empty(TextCursor& cursor, ProblemText& result) {
  if (!parse_choice(cursor, kPolicies, result.problem.all_masked)) return false;
  if (!cursor.accept(":")) return true;
  std::optional<double>& lse = result.problem.empty_lse;
  if (cursor.accept("any")) {
    lse.reset();
    return true;
  }
  const std::size_t number_at = cursor.position();
  if (!cursor.number_of(lse.emplace(), result.problem.compute_dtype(),
                        "the lse of an empty row, a number or any"))
    return false;
  return !std::isnan(*lse) || cursor.fail_at(number_at, "the lse of an empty row is no NaN");
}

bool parse_lse(TextCursor& cursor, ProblemText& result) {
  return parse_choice(cursor, kLseForms, result.problem.lse);
}

bool parse_backward(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return true;
  if (!cursor.accept("dq,dk,dv"))
    return cursor.fail("expected none or dq,dk,dv, with ,dbias ,dsink ,dlse");
  Backward& backward = result.problem.backward.emplace();
  while (cursor.accept(",")) {
    bool* part = nullptr;
    const std::size_t part_at = cursor.position();
    if (cursor.accept("dbias"))
      part = &backward.dbias;
    else if (cursor.accept("dsink"))
      part = &backward.dsink;
    else if (cursor.accept("dlse"))
      part = &backward.dlse;
    if (part == nullptr || *part)
      return cursor.fail_at(part_at, "expected dbias, dsink or dlse, each once");
    *part = true;
  }
  return true;
}

}  // namespace attest
