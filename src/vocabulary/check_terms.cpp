#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "attest/element.hpp"
#include "problem_checks.hpp"

namespace attest {
namespace {

/// A double holds the product of an f32 slope and a shorter distance exactly.
constexpr Index kFarthestAlibi = Index{1} << 29;

/// What a problem says of the lse of rows without keys, where it asks for none in particular.
constexpr double kNoKeys = -std::numeric_limits<double>::infinity();

bool exact_in(Dtype dtype, double value) {
  return rounded_to(dtype, value) == value;
}

Status check_scale(const Problem& problem) {
  if (!problem.scale.reciprocal_sqrt && !std::isfinite(scale_value(problem)))
    return invalid_argument("scale must be finite in the problem's dtype");
  return {};
}

Status check_softcap(const Problem& problem) {
  if (problem.softcap == 0) return {};
  if (!std::isfinite(problem.softcap) || problem.softcap < 0)
    return invalid_argument("the softcap must be a finite number above 0");
  if (!exact_in(problem.compute_dtype(), problem.softcap))
    return invalid_argument("the softcap is not exact in the compute dtype");
  return {};
}

Status check_bias(const Problem& problem) {
  if (!problem.bias) return {};
  if (is_fp8(problem.bias_dtype())) return invalid_argument("an fp8 type is no type of a bias");
  if (problem.bias_dtype() == Dtype::f64 && problem.compute_dtype() != Dtype::f64)
    return invalid_argument("a bias of f64 needs q, k and v of f64");
  return {};
}

Status check_alibi(const Problem& problem) {
  if (!problem.alibi) return {};
  if (problem.alibi->alignment == Causal::Alignment::explicit_offset)
    return invalid_argument("ALiBi counts from the top left or the bottom right corner");
  if (std::max(problem.seq_q, problem.seq_kv) > kFarthestAlibi)
    return invalid_argument("ALiBi knows no distance of 2^29 or more");
  const std::vector<double>& slopes = problem.alibi->slopes;
  if (!slopes.empty() && static_cast<Index>(slopes.size()) != problem.heads_q)
    return invalid_argument("ALiBi has " + std::to_string(slopes.size()) + " slopes, the problem " +
                            std::to_string(problem.heads_q) + " query heads");
  for (const double slope : slopes)
    if (!std::isfinite(slope) || !exact_in(Dtype::f32, slope))
      return invalid_argument("an ALiBi slope must be a finite f32 number");
  return {};
}

Status check_factors(const Problem& problem, const std::vector<double>& factors, Dtype dtype,
                     const std::string& name) {
  const auto count = static_cast<Index>(factors.size());
  if (count != 1 && (count == 0 || count != problem.batch * problem.heads_kv))
    return invalid_argument(name + " has " + std::to_string(count) +
                            " descales; it takes one, or one a (batch, kv head) pair");
  for (const double factor : factors) {
    if (!(factor >= 0x1p-60 && factor <= 0x1p60) || !exact_in(Dtype::f32, factor))
      return invalid_argument("a descale must be an f32 number in [2^-60, 2^60]");
    if (factor != 1 && !is_fp8(dtype))
      return invalid_argument(name + " is not of fp8: its descale must be 1");
  }
  return {};
}

Status check_descales(const Problem& problem) {
  if (!problem.descales) return {};
  if (!is_fp8(problem.dtype) && !is_fp8(problem.k_dtype()) && !is_fp8(problem.v_dtype()))
    return invalid_argument("descales need q, k or v of fp8");
  const Descales& by = *problem.descales;
  if (Status status = check_factors(problem, by.q, problem.dtype, "q"); !status.ok()) return status;
  if (Status status = check_factors(problem, by.k, problem.k_dtype(), "k"); !status.ok())
    return status;
  if (Status status = check_factors(problem, by.v, problem.v_dtype(), "v"); !status.ok())
    return status;
  if (problem.v_is_k_view && by.k != by.v)
    return invalid_argument("v as a view of k has the descales of k");
  return {};
}

Status check_view(const Problem& problem) {
  if (!problem.v_is_k_view) return {};
  if (problem.head_dim_v > problem.head_dim)
    return invalid_argument("v as a view of k has no more columns than k");
  if (problem.v_dtype() != problem.k_dtype())
    return invalid_argument("v as a view of k has the dtype of k");
  return {};
}

Status check_empty_rows(const Problem& problem) {
  if (!problem.empty_lse) return {};
  if (std::isnan(*problem.empty_lse))
    return invalid_argument("the lse of an empty row must be a number, or not looked at");
  if (!exact_in(problem.compute_dtype(), *problem.empty_lse))
    return invalid_argument("the lse of an empty row is not exact in the compute dtype");
  if (problem.lse == LseForm::max_sum && *problem.empty_lse != kNoKeys)
    return invalid_argument("an lse as maximum and sum has no other number for an empty row");
  return {};
}

Status check_backward(const Problem& problem) {
  if (!problem.backward) return {};
  const AllMaskedPolicy empty = problem.all_masked;
  if (problem.qv) return invalid_argument("backward knows no qv term");
  if (problem.has_fp8_inputs()) return invalid_argument("backward takes no fp8 type");
  // It recomputes p from the lse, which then is not the sum of all of them.
  if (problem.sink && !problem.sink->in_lse)
    return invalid_argument("backward needs an lse that counts the sink");
  if (empty != AllMaskedPolicy::zero && empty != AllMaskedPolicy::reject)
    return invalid_argument("backward needs empty rows that are zero or rejected");
  if (problem.lse != LseForm::none && problem.lse != LseForm::natural)
    return invalid_argument("backward goes with the natural lse, or none");
  if (problem.backward->dbias && !problem.bias) return invalid_argument("dbias needs a bias");
  if (problem.backward->dsink && (!problem.sink || problem.sink->zero))
    return invalid_argument("dsink needs a sink of one logit a head");
  return {};
}

constexpr std::array kChecks{
    ProblemCheck{"scale", check_scale},      ProblemCheck{"cap", check_softcap},
    ProblemCheck{"bias", check_bias},        ProblemCheck{"alibi", check_alibi},
    ProblemCheck{"v", check_view},           ProblemCheck{"descale", check_descales},
    ProblemCheck{"empty", check_empty_rows}, ProblemCheck{"bwd", check_backward}};

}  // namespace

std::span<const ProblemCheck> term_checks() {
  return kChecks;
}

}  // namespace attest
