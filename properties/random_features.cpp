#include "properties/random_features.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "attest/element.hpp"
#include "properties/random_parts.hpp"

namespace attest::properties {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

std::vector<Index> draw_lengths(Draw& draw, Index batch, Index longest) {
  std::vector<Index> lengths;
  lengths.reserve(static_cast<std::size_t>(batch));
  for (Index b = 0; b < batch; ++b)
    lengths.push_back(draw.chance(30) ? 0 : draw.between(0, longest));
  if (batch > 0) lengths[draw.below(lengths.size())] = longest;
  return lengths;
}

namespace {

void draw_members(Draw& draw, const CaseLimits& limits, Problem& problem) {
  if (problem.batch == 1 && draw.chance(30)) problem.batch = draw.between(2, 3);
  if (problem.batch < 2) return;
  if (limits.key_lengths && problem.key_lengths.empty() && draw.chance(50))
    problem.key_lengths = draw_lengths(draw, problem.batch, problem.seq_kv);
  if (limits.has(Feature::query_lengths) && draw.chance(50))
    problem.query_lengths = draw_lengths(draw, problem.batch, problem.seq_q);
  if (problem.key_lengths.empty() || problem.query_lengths.empty() || !draw.chance(25)) return;
  // A member without anything, beside the longest ones.
  const auto longest = [](const std::vector<Index>& lengths) {
    return std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  };
  for (Index b = 0; b < problem.batch; ++b)
    if (b != longest(problem.key_lengths) && b != longest(problem.query_lengths))
      problem.key_lengths[static_cast<std::size_t>(b)] =
          problem.query_lengths[static_cast<std::size_t>(b)] = 0;
}

/// Types among those of the limits that a tensor beside one of `beside` can have.
std::vector<Dtype> types_beside(const CaseLimits& limits, Dtype beside) {
  std::vector<Dtype> types;
  for (const Dtype dtype : limits.dtypes)
    if ((dtype == Dtype::f64) == (beside == Dtype::f64)) types.push_back(dtype);
  return types;
}

double draw_factor(Draw& draw) {
  constexpr std::array<double, 6> factors{1, 0.5, 2, 0.125, 0.37, 1.7};
  return rounded_to(Dtype::f32, draw.one_of<double>(factors));
}

std::vector<double> draw_factors(Draw& draw, const Problem& problem, Dtype dtype) {
  if (!is_fp8(dtype)) return {1.0};
  const bool per_head = problem.batch > 0 && draw.chance(50);
  std::vector<double> factors(per_head ? static_cast<std::size_t>(problem.batch * problem.heads_kv)
                                       : 1);
  for (double& factor : factors) factor = draw_factor(draw);
  return factors;
}

void draw_types(Draw& draw, const CaseLimits& limits, Problem& problem) {
  const std::vector<Dtype> types = types_beside(limits, problem.dtype);
  if (limits.has(Feature::v_is_k_view) && problem.head_dim_v <= problem.head_dim && draw.chance(12))
    problem.v_is_k_view = true;
  if (limits.has(Feature::mixed_dtypes) && draw.chance(20)) {
    problem.k_storage = draw.one_of<Dtype>(types);
    if (!problem.v_is_k_view && draw.chance(50)) problem.v_storage = draw.one_of<Dtype>(types);
  }
  if (limits.has(Feature::out_dtype) && draw.chance(20)) {
    constexpr std::array narrow{Dtype::f32, Dtype::bf16, Dtype::f16};
    constexpr std::array wide{Dtype::f64, Dtype::f32};
    problem.out_storage =
        problem.dtype == Dtype::f64 ? draw.one_of<Dtype>(wide) : draw.one_of<Dtype>(narrow);
  }
  // A type that goes without saying is not said.
  if (problem.k_storage == problem.dtype) problem.k_storage.reset();
  if (problem.v_storage == problem.k_dtype()) problem.v_storage.reset();
  Problem unsaid = problem;
  unsaid.out_storage.reset();
  if (problem.out_storage == unsaid.out_dtype()) problem.out_storage.reset();
  const bool fp8 = problem.has_fp8_inputs();
  if (!fp8 || !limits.has(Feature::descales) || !draw.chance(60)) return;
  Descales factors;
  factors.q = draw_factors(draw, problem, problem.dtype);
  factors.k = draw_factors(draw, problem, problem.k_dtype());
  factors.v = problem.v_is_k_view ? factors.k : draw_factors(draw, problem, problem.v_dtype());
  problem.descales = std::move(factors);
}

Bias draw_bias(Draw& draw, const Problem& problem) {
  Bias bias{draw.chance(40), draw.chance(50), draw.chance(60), std::nullopt};
  constexpr std::array narrow{Dtype::f32, Dtype::bf16, Dtype::f16};
  if (draw.chance(40))
    bias.dtype = problem.compute_dtype() == Dtype::f64 && draw.chance(50)
                     ? Dtype::f64
                     : draw.one_of<Dtype>(narrow);
  if (bias.dtype == problem.compute_dtype()) bias.dtype.reset();
  return bias;
}

Alibi draw_alibi(Draw& draw, const Problem& problem) {
  constexpr std::array forms{Alibi::Form::absolute, Alibi::Form::relative, Alibi::Form::column};
  Alibi alibi;
  alibi.form = draw.one_of<Alibi::Form>(forms);
  alibi.alignment = draw.chance(50) ? Causal::Alignment::bottom_right : Causal::Alignment::top_left;
  if (draw.chance(30))
    for (Index h = 0; h < problem.heads_q; ++h) alibi.slopes.push_back(draw_factor(draw));
  return alibi;
}

/// Something that is added to the scores, so that there is an order to mistake.
void draw_addend(Draw& draw, const CaseLimits& limits, Problem& problem) {
  switch (draw.below(3)) {
    case 0:
      if (limits.has(Feature::bias) && !problem.bias) problem.bias = draw_bias(draw, problem);
      break;
    case 1:
      if (limits.has(Feature::alibi) && !problem.alibi) problem.alibi = draw_alibi(draw, problem);
      break;
    default:
      if (!problem.mask.additive) draw_additive_mask(draw, limits, problem);
  }
}

void draw_terms(Draw& draw, const CaseLimits& limits, Problem& problem) {
  if (limits.has(Feature::bias) && draw.chance(20)) problem.bias = draw_bias(draw, problem);
  if (limits.has(Feature::alibi) && draw.chance(15)) problem.alibi = draw_alibi(draw, problem);
  if (limits.has(Feature::sink) && draw.chance(20))
    problem.sink = Sink{draw.chance(30), !draw.chance(25)};
  if (limits.has(Feature::qv) && draw.chance(12)) problem.qv = true;
  if (!limits.has(Feature::softcap) || !draw.chance(20)) return;
  constexpr std::array<double, 5> caps{1, 5, 30, 50, 0.25};
  problem.softcap = draw.one_of<double>(caps);
  if (draw.chance(60)) draw_addend(draw, limits, problem);
  if (!limits.has(Feature::score_order)) return;
  problem.order.bias_before_softcap = problem.bias && draw.chance(50);
  problem.order.alibi_before_softcap = problem.alibi && draw.chance(50);
  problem.order.mask_before_softcap = problem.mask.additive && draw.chance(50);
}

void draw_results(Draw& draw, const CaseLimits& limits, Problem& problem) {
  if (problem.lse == LseForm::natural) {
    if (limits.has(Feature::lse_base_two) && draw.chance(12)) problem.lse = LseForm::base_two;
    if (limits.has(Feature::lse_max_sum) && draw.chance(12)) problem.lse = LseForm::max_sum;
  }
  const std::uint64_t policy = draw.below(12);
  if (policy == 8 && limits.reject) problem.all_masked = AllMaskedPolicy::reject;
  if (policy == 9) problem.all_masked = AllMaskedPolicy::any;
  if (policy == 10 && limits.has(Feature::empty_nan)) problem.all_masked = AllMaskedPolicy::nan;
  if (policy == 11 && limits.has(Feature::empty_mean)) problem.all_masked = AllMaskedPolicy::mean;
  if (!limits.has(Feature::empty_lse) || !draw.chance(12)) return;
  constexpr std::array<double, 3> numbers{kInfinity, 0, -0x1p16};
  if (draw.chance(30))
    problem.empty_lse.reset();
  else if (problem.lse != LseForm::max_sum)
    problem.empty_lse = draw.one_of<double>(numbers);
}

void draw_backward(Draw& draw, const CaseLimits& limits, Problem& problem) {
  const bool fp8 = problem.has_fp8_inputs();
  const bool counted = !problem.sink || problem.sink->in_lse;
  const bool fits = !problem.qv && !fp8 && counted && problem.all_masked == AllMaskedPolicy::zero &&
                    (problem.lse == LseForm::none || problem.lse == LseForm::natural);
  if (!limits.has(Feature::backward) || !fits || !draw.chance(75)) return;
  Backward backward;
  backward.dbias = limits.has(Feature::dbias) && problem.bias && draw.chance(70);
  backward.dsink =
      limits.has(Feature::dsink) && problem.sink && !problem.sink->zero && draw.chance(70);
  backward.dlse = limits.has(Feature::dlse) && draw.chance(30);
  problem.backward = backward;
}

}  // namespace

void draw_features(Draw& draw, const CaseLimits& limits, Case& into) {
  Problem& problem = into.problem;
  draw_members(draw, limits, problem);
  draw_mask_features(draw, limits, problem);
  draw_types(draw, limits, problem);
  draw_terms(draw, limits, problem);
  draw_results(draw, limits, problem);
  draw_backward(draw, limits, problem);
  draw_storage(draw, limits, problem);
}

}  // namespace attest::properties
