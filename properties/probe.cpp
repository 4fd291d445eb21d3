#include "properties/probe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "attest/narrow_float.hpp"
#include "properties/derive.hpp"

namespace attest::properties {

std::uint64_t seed_of(const Case& on) {
  return on.values.seed;
}

Index power_of_two_keys(const Case& on) {
  const Index near = std::clamp(on.problem.seq_kv, Index{2}, Index{128});
  return static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(near)));
}

Dtype probe_dtype(const Kernel& kernel, const Case& on) {
  const std::vector<Dtype>& dtypes = kernel.description().capabilities.dtypes;
  const Dtype wide = on.problem.compute_dtype();
  const bool offered =
      dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), wide) != dtypes.end();
  return offered ? wide : on.problem.dtype;
}

Case blank_probe(const Kernel& kernel, const Case& on, Index keys, Index columns) {
  Case probe;
  Problem& problem = probe.problem;
  problem.batch = on.problem.batch;
  problem.heads_q = on.problem.heads_q;
  problem.heads_kv = on.problem.heads_kv;
  problem.seq_q = on.problem.seq_q;
  problem.seq_kv = keys;
  problem.head_dim = on.problem.head_dim;
  problem.head_dim_v = columns;
  problem.dtype = probe_dtype(kernel, on);
  problem.scale = {false, 1.0};
  problem.lse = LseForm::natural;
  if (!check_support(kernel.description().capabilities, problem).ok()) problem.lse = LseForm::none;
  probe.tiling = on.tiling;
  const auto zero = [](Index, Index, Index, Index) { return 0.0; };
  probe.q = filled(problem.dtype, problem.q_extents(), zero);
  probe.k = filled(problem.dtype, problem.k_extents(), zero);
  probe.v = filled(problem.dtype, problem.v_extents(), zero);
  becomes_literal(probe);
  return with_fitting_tiling(std::move(probe));
}

void set_scores(Case& probe, const ElementRule& q, const ElementRule& k) {
  const auto first_column = [](const ElementRule& rule) {
    return [&rule](Index b, Index h, Index row, Index column) {
      return column == 0 ? rule(b, h, row, column) : 0.0;
    };
  };
  probe = with_values(std::move(probe), &Case::q, first_column(q));
  probe = with_values(std::move(probe), &Case::k, first_column(k));
}

std::optional<Verdict> rounds_exact_results(const DeclaredAccuracy& accuracy, Dtype dtype) {
  const Format format = format_of(dtype);
  if (!(accuracy.format == format))
    return Verdict::skipped("the kernel declares another format than that of the dtype");
  if (accuracy.value_relative_error > 0)
    return Verdict::skipped("the kernel declares values that it rounds");
  if (accuracy.reciprocal_relative_error > 0 || accuracy.division_roundings > 2)
    return Verdict::skipped("the kernel declares a division that may round exact quotients");
  // Exact terms are told apart by fewer bits than the square of u has.
  if (accuracy.grid_bits > 0 && std::ldexp(1.0, static_cast<int>(-accuracy.grid_bits)) >
                                    format.unit_roundoff * format.unit_roundoff)
    return Verdict::skipped("the kernel declares a grid on which exact sums may not lie");
  if (accuracy.weight_cast && accuracy.weight_cast->offset_log2 < 0)
    return Verdict::skipped("the kernel declares weights that are made smaller");
  return std::nullopt;
}

std::optional<double> as_output(const DeclaredAccuracy& accuracy, double exact) {
  if (!accuracy.output_format) return exact;
  const double rounded = round_to(*accuracy.output_format, exact);
  if (std::isinf(rounded) && !std::isinf(exact)) return std::nullopt;
  return rounded;
}

void holds_exactly(Tally& tally, const DeclaredAccuracy& accuracy, const Known& output,
                   std::string_view reason) {
  const std::optional<double> want = as_output(accuracy, output.exact);
  if (!want) return;
  const double got = output.got;
  const bool same_sign = got == 0 || std::signbit(got) == std::signbit(*want);
  const Format& last = accuracy.output_format.value_or(accuracy.format);
  const bool flushed = accuracy.underflow != Underflow::gradual &&
                       std::abs(*want) < std::max(last.min_normal, accuracy.format.min_normal) &&
                       same_sign && std::abs(got) <= std::abs(*want);
  tally.holds(got == *want || flushed, output.place, got, *want, reason);
}

bool keeps_exact_scores(const DeclaredAccuracy& accuracy, Index head_dim) {
  // No order of d products and additions, split into parts or not, makes many more roundings than
  // this: a kernel that declares more counts something else, such as narrower inputs.
  const bool counts_the_dot_product = accuracy.dot_roundings <= 4 * (head_dim + 4);
  return accuracy.exp_form == ExpForm::natural && accuracy.scaled_query_error == 0 &&
         !accuracy.dot_format && counts_the_dot_product;
}

}  // namespace attest::properties
