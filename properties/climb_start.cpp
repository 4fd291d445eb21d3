#include "properties/climb_start.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "properties/check.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

/// Out has the type of q, k and v. A narrower one of its own would be all that is left to find: the
/// rounding of the output to it. fp8 is no output type.
CaseLimits limits_of(const ClimbPlan& plan) {
  CaseLimits limits = limits_for(*plan.kernel, plan.library);
  limits.dtypes = {plan.dtype};
  if (!is_fp8(plan.dtype))
    std::erase_if(limits.features, [](Feature feature) {
      return feature == Feature::mixed_dtypes || feature == Feature::out_dtype;
    });
  return limits;
}

bool fits(const Problem& problem, const ClimbPlan& plan) {
  return problem.seq_kv <= plan.max_keys && problem.dtype == plan.dtype &&
         (!is_fp8(plan.dtype) || problem.out_dtype() == Dtype::f32);
}

/// Numbers in q, k, v and what else the case has: each is a neighbour, and costs time.
bool quick(const Case& of) {
  constexpr std::size_t kNumbers = 160;
  std::size_t numbers = 0;
  for (const CaseTensor& tensor : case_tensors())
    numbers += (of.*tensor.tensor).bytes().size() / size_of((of.*tensor.tensor).dtype());
  return numbers <= kNumbers && of.problem.seq_q <= 8;
}

void fill(Case& into, Draw& draw, std::string_view family) {
  into.values = {ValueRecipe::Kind::family, std::string(family), draw.below(1'000'000), {}, {}, {}};
  fill_family(into, into.values.name, into.values.seed);
}

std::string_view draw_family(Draw& draw) {
  const auto families = value_families();
  return families[draw.below(families.size())].name;
}

/// The shape alone.
Case draw_compact(const ClimbPlan& plan, Draw& draw) {
  if (plan.shape) return *plan.shape;
  constexpr std::array<Index, 6> dims{1, 1, 2, 3, 4, 8};
  Case drawn;
  Problem& problem = drawn.problem;
  problem.batch = problem.heads_q = problem.heads_kv = problem.seq_q = 1;
  problem.seq_kv = draw.between(std::min(Index{2}, plan.max_keys), plan.max_keys);
  // Half of all cases have few keys: the fewer roundings, the likelier that all of them align.
  if (draw.chance(50)) problem.seq_kv = std::min(problem.seq_kv, draw.between(2, 5));
  problem.head_dim = draw.one_of<Index>(dims);
  problem.head_dim_v = draw.chance(70) ? 1 : 2;
  problem.dtype = plan.dtype;
  if (is_fp8(plan.dtype)) problem.out_storage = Dtype::f32;
  problem.scale = {false, draw.chance(50) ? 1.0 : 0.3};
  problem.lse = plan.kernel->description().capabilities.lse ? LseForm::natural : LseForm::none;
  Tiling& tiling = drawn.tiling;
  tiling.tile_q = 1;
  tiling.tile_kv = draw.between(1, problem.seq_kv);
  if (draw.chance(30)) tiling.splits.count = draw.between(1, problem.seq_kv);
  if (draw.chance(50)) tiling.merge = {MergeOrder::Kind::random, draw.below(1000), {}};
  return drawn;
}

Case draw_compact(const ClimbPlan& plan, Draw& draw, std::string_view family) {
  Case drawn = draw_compact(plan, draw);
  if (!check_support(plan.kernel->description().capabilities, drawn.problem).ok())
    return draw_within(plan, draw);
  fill(drawn, draw, family);
  return drawn;
}

}  // namespace

Case draw_within(const ClimbPlan& plan, Draw& draw) {
  if (plan.shape) {
    Case drawn = *plan.shape;
    fill(drawn, draw, draw_family(draw));
    return drawn;
  }
  const CaseLimits limits = limits_of(plan);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Case drawn = draw_case(draw, limits);
    if (fits(drawn.problem, plan)) return drawn;
  }
  return draw_case(draw, limits);
}

Case draw_normal(const ClimbPlan& plan, Draw& draw) {
  return draw_compact(plan, draw, "normal");
}

Case draw_start(const ClimbPlan& plan, Draw& draw) {
  if (draw.chance(50) || plan.shape) return draw_compact(plan, draw, draw_family(draw));
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    Case drawn = draw_within(plan, draw);
    if (quick(drawn)) return drawn;
  }
  return draw_compact(plan, draw, draw_family(draw));
}

}  // namespace attest::properties
