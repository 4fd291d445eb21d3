// The sign of V by formula: which values make all errors of the weights add up.
#include <utility>
#include <vector>

#include "properties/climb.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// The same problem with one output column a key, which is 1 for that key: outputs are weights.
/// Precondition: v is no view of k.
Case with_identity_values(const Case& of) {
  Case identity = forward_only(of);
  identity.problem.head_dim_v = of.problem.seq_kv;
  identity.v = Tensor(identity.problem.v_dtype(), identity.problem.v_extents());
  return with_values(std::move(identity), &Case::v, [](Index, Index, Index key, Index column) {
    return key == column ? 1.0 : 0.0;
  });
}

/// Computed minus exact weight, key by key.
std::vector<double> weight_errors(const Outputs& outputs, const RowIndex& row,
                                  const reference::CertifiedRow& exact) {
  std::vector<double> errors;
  for (std::size_t j = 0; j < exact.facts.output.size(); ++j) {
    const Enclosure& weight = exact.facts.output[j];
    errors.push_back((outputs.at(row, static_cast<Index>(j)) - weight.high) - weight.low);
  }
  return errors;
}

/// All signs; or 1 where the weight is too large; or 1 where it is too small.
double value_for(double error, std::uint64_t form) {
  if (form == 0) return error < 0 ? -1 : 1;
  return (error > 0) == (form == 1) ? 1 : 0;
}

}  // namespace

std::optional<Case> with_signs_of_weight_errors(const Kernel& kernel, const Case& of, Draw& draw) {
  if (of.problem.v_is_k_view || of.problem.qv || of.v.bytes().empty()) return std::nullopt;
  const Case identity = with_identity_values(of);
  const Outputs outputs = run_kernel(kernel, identity);
  if (!outputs.status.ok()) return std::nullopt;
  const std::vector<RowIndex> rows = all_rows(of.problem);
  if (rows.empty()) return std::nullopt;
  const RowIndex row = rows[draw.below(rows.size())];
  const auto exact = Truth(kernel, identity).row(row);
  if (!exact || exact->facts.output.empty()) return std::nullopt;
  const std::vector<double> errors = weight_errors(outputs, row, *exact);

  const Index head = of.problem.kv_head(row.head);
  const std::uint64_t first_form = draw.below(3);
  return with_values(of, &Case::v, [&](Index b, Index h, Index key, Index column) {
    if (b != row.batch || h != head) return of.v.get(b, h, key, column);
    return value_for(errors[static_cast<std::size_t>(key)],
                     (first_form + static_cast<std::uint64_t>(column)) % 3);
  });
}

}  // namespace attest::properties
