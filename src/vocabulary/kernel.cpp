#include "attest/kernel.hpp"

#include <algorithm>

namespace attest {
namespace {

Status check_view(const char* name, const void* data, Dtype dtype, const Extents& got,
                  const Extents& want, Dtype want_dtype) {
  const std::string prefix = std::string("tensor ") + name;
  if (dtype != want_dtype) return invalid_argument(prefix + " has another dtype than the problem");
  if (got != want) return invalid_argument(prefix + " has other extents than the problem");
  const bool has_elements = std::find(want.begin(), want.end(), Index{0}) == want.end();
  if (has_elements && data == nullptr) return invalid_argument(prefix + " is null");
  return {};
}

}  // namespace

Status check_support(const Capabilities& capabilities, const Problem& problem) {
  const auto unsupported = [](const char* what) {
    return Status{StatusCode::unsupported, std::string("kernel does not declare ") + what};
  };
  const auto& dtypes = capabilities.dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), problem.dtype) == dtypes.end())
    return unsupported(problem.dtype == Dtype::f32 ? "dtype f32" : "dtype f64");
  const Conventions& means = capabilities.conventions;
  if (problem.lse != LseForm::none && !capabilities.lse) return unsupported("an lse output");
  if (problem.lse == LseForm::natural && (means.lse_base != Conventions::LogBase::natural ||
                                          means.empty_lse != Conventions::EmptyLse::minus_infinity))
    return unsupported("a natural lse that is -inf for a row without visible keys");
  if (problem.heads_q != problem.heads_kv && !capabilities.grouped_heads)
    return unsupported("grouped heads");
  if (!problem.key_lengths.empty() && !capabilities.key_lengths)
    return unsupported("key lengths per batch member");
  if (problem.mask.bits && !capabilities.mask_bits) return unsupported("mask bits");
  if (problem.all_masked == AllMaskedPolicy::reject && !capabilities.reject)
    return unsupported("the policy reject");
  return {};
}

Status check_call(const Capabilities& capabilities, const Problem& problem, const Tiling& tiling,
                  const ForwardViews& views) {
  if (Status status = validate(problem); !status.ok()) return status;
  if (Status status = check_support(capabilities, problem); !status.ok()) return status;
  if (Status status = validate(tiling, problem.seq_kv); !status.ok()) return status;
  const auto check = [&](const char* name, const auto& view, const Extents& want) {
    return check_view(name, view.data, view.dtype, view.extents, want, problem.dtype);
  };
  if (Status status = check("q", views.q, problem.q_extents()); !status.ok()) return status;
  if (Status status = check("k", views.k, problem.k_extents()); !status.ok()) return status;
  if (Status status = check("v", views.v, problem.v_extents()); !status.ok()) return status;
  if (Status status = check("out", views.out, problem.out_extents()); !status.ok()) return status;
  if (problem.lse == LseForm::none) return {};
  return check("lse", views.lse, problem.lse_extents());
}

Status all_masked_row(const RowIndex& row) {
  return {StatusCode::all_masked_row,
          "row (batch " + std::to_string(row.batch) + ", head " + std::to_string(row.head) +
              ", query " + std::to_string(row.query) + ") has no visible key",
          row};
}

}  // namespace attest
