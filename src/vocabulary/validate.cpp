#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "attest/problem.hpp"
#include "problem_checks.hpp"

namespace attest {
namespace {

/// Largest product of extents that index arithmetic in 64 bits, in bytes, is sure to hold.
constexpr Index kMaxElements = Index{1} << 56;

Status check_extents(const Problem& problem) {
  if (problem.batch < 0 || problem.seq_q < 0 || problem.seq_kv < 0)
    return invalid_argument("batch and lengths must not be negative");
  if (problem.head_dim < 1 || problem.head_dim_v < 1)
    return invalid_argument("head_dim and head_dim_v must be at least 1");
  if (problem.heads_kv < 1 || problem.heads_q < 1 || problem.heads_q % problem.heads_kv != 0)
    return invalid_argument("query heads (" + std::to_string(problem.heads_q) +
                            ") must be a multiple of key/value heads (" +
                            std::to_string(problem.heads_kv) + ")");
  for (const Extents& extents :
       {problem.q_extents(), problem.k_extents(), problem.v_extents(), problem.out_extents(),
        problem.lse_extents(), problem.bias_extents()})
    if (too_large(extents))
      return invalid_argument("a tensor of this problem has more than 2^56 elements");
  return {};
}

Status check_lengths(const std::vector<Index>& lengths, const Problem& problem, bool of_keys) {
  const Index longest = of_keys ? problem.seq_kv : problem.seq_q;
  const std::string name = of_keys ? "key" : "query";
  if (lengths.empty()) return {};
  if (static_cast<Index>(lengths.size()) != problem.batch)
    return invalid_argument(name + "_lengths has " + std::to_string(lengths.size()) +
                            " entries, the batch has " + std::to_string(problem.batch));
  for (const Index length : lengths)
    if (length < 0 || length > longest)
      return invalid_argument(name + " length " + std::to_string(length) + " is outside [0, " +
                              std::to_string(longest) + "]");
  return {};
}

Status check_query_lengths(const Problem& problem) {
  return check_lengths(problem.query_lengths, problem, false);
}

Status check_key_lengths(const Problem& problem) {
  return check_lengths(problem.key_lengths, problem, true);
}

Status check_types(const Problem& problem) {
  const std::array types{problem.dtype, problem.k_dtype(), problem.v_dtype()};
  const auto wide = std::count(types.begin(), types.end(), Dtype::f64);
  if (wide != 0 && wide != 3)
    return invalid_argument("q, k and v must all be f64, or none of them");
  return {};
}

Status check_output_type(const Problem& problem) {
  if (is_fp8(problem.out_dtype())) return invalid_argument("an fp8 type is no type of an output");
  return {};
}

constexpr std::array kChecks{
    ProblemCheck{"shape", check_extents},     ProblemCheck{"shape", check_query_lengths},
    ProblemCheck{"shape", check_key_lengths}, ProblemCheck{"types", check_types},
    ProblemCheck{"out", check_output_type},
};

}  // namespace

bool too_large(const Extents& extents) {
  Index room = kMaxElements;
  for (const Index extent : extents) room /= std::max(extent, Index{1});
  return room == 0;
}

std::span<const ProblemCheck> shape_checks() {
  return kChecks;
}

Status validate(const Problem& problem) {
  Status status;
  for_each_check([&](const ProblemCheck& check) {
    status = check.check(problem);
    return status.ok();
  });
  return status;
}

}  // namespace attest
