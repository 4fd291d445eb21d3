#include "attest/kernel.hpp"

#include <algorithm>
#include <limits>

namespace attest {
namespace {

Status unsupported(std::string_view what) {
  return {StatusCode::unsupported, "kernel does not declare " + std::string(what)};
}

/// What the kernel means by the lse that it writes, against what the problem asks for.
Status check_conventions(const Capabilities& capabilities, const Problem& problem) {
  if (problem.lse == LseForm::none) return {};
  constexpr std::string_view kNatural = "a natural lse that is -inf for a row without visible keys";
  const Conventions& means = capabilities.conventions;
  if (!capabilities.has(Feature::lse_base_two)) {
    const bool is_two = means.lse_base == Conventions::LogBase::two;
    if (problem.lse == LseForm::natural && is_two) return unsupported(kNatural);
    if (problem.lse == LseForm::base_two && !is_two)
      return unsupported(to_string(Feature::lse_base_two));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const double empty_lse =
      means.empty_lse == Conventions::EmptyLse::plus_infinity ? infinity : -infinity;
  if (capabilities.has(Feature::empty_lse) || !problem.empty_lse || *problem.empty_lse == empty_lse)
    return {};
  return unsupported(*problem.empty_lse == -infinity ? kNatural : to_string(Feature::empty_lse));
}

struct View {
  const char* name;
  const void* data;
  Dtype dtype;
  Extents extents;
};

template <class Ref>
View view_of(const char* name, const Ref& ref) {
  return {name, ref.data, ref.dtype, ref.extents};
}

Status check_view(const View& view, const Extents& want, Dtype want_dtype) {
  const std::string prefix = std::string("tensor ") + view.name;
  if (view.dtype != want_dtype)
    return invalid_argument(prefix + " has another dtype than the problem");
  if (view.extents != want) return invalid_argument(prefix + " has other extents than the problem");
  const bool has_elements = std::find(want.begin(), want.end(), Index{0}) == want.end();
  if (has_elements && view.data == nullptr) return invalid_argument(prefix + " is null");
  return {};
}

/// Checks views until one is wrong; a tensor without extents does not exist and is not looked at.
class ViewChecks {
 public:
  explicit ViewChecks(const Problem& problem) : problem_(problem) {}

  template <class Ref>
  ViewChecks& rows(const char* name, const Ref& ref, Index columns, Dtype dtype) {
    return check(view_of(name, ref), stored_q_extents(problem_, columns), dtype);
  }
  template <class Ref>
  ViewChecks& keys(const char* name, const Ref& ref, Index columns, Dtype dtype) {
    return check(view_of(name, ref), stored_kv_extents(problem_, columns), dtype);
  }
  template <class Ref>
  ViewChecks& other(const char* name, const Ref& ref, const Extents& want, Dtype dtype) {
    return want == Extents{} ? *this : check(view_of(name, ref), want, dtype);
  }
  Status status() const { return status_; }

 private:
  ViewChecks& check(const View& view, const Extents& want, Dtype dtype) {
    if (status_.ok()) status_ = check_view(view, want, dtype);
    return *this;
  }

  const Problem& problem_;
  Status status_;
};

Status check_all(const Capabilities& capabilities, const Problem& problem, const Tiling& tiling) {
  if (Status status = validate(problem); !status.ok()) return status;
  if (Status status = check_support(capabilities, problem); !status.ok()) return status;
  return validate(tiling, problem.seq_kv);
}

}  // namespace

Status check_support(const Capabilities& capabilities, const Problem& problem) {
  const auto& dtypes = capabilities.dtypes;
  for (const Dtype dtype : {problem.dtype, problem.k_dtype(), problem.v_dtype()})
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      return unsupported("dtype " + std::string(to_string(dtype)));
  if (problem.lse != LseForm::none && !capabilities.lse) return unsupported("an lse output");
  if (problem.heads_q != problem.heads_kv && !capabilities.grouped_heads)
    return unsupported("grouped heads");
  if (!problem.key_lengths.empty() && !capabilities.key_lengths)
    return unsupported("key lengths per batch member");
  if (problem.mask.bits && !capabilities.mask_bits) return unsupported("mask bits");
  if (problem.all_masked == AllMaskedPolicy::reject && !capabilities.reject)
    return unsupported("the policy reject");
  for (const Feature feature : features_of(problem)) {
    const bool is_convention = feature == Feature::lse_base_two || feature == Feature::empty_lse;
    if (!is_convention && !capabilities.has(feature)) return unsupported(to_string(feature));
  }
  return check_conventions(capabilities, problem);
}

Status check_call(const Capabilities& capabilities, const Problem& problem, const Tiling& tiling,
                  const ForwardViews& views) {
  if (Status status = check_all(capabilities, problem, tiling); !status.ok()) return status;
  const Index lse_columns = problem.lse_extents()[3];
  ViewChecks checks(problem);
  checks.rows("q", views.q, problem.head_dim, problem.dtype)
      .keys("k", views.k, problem.head_dim, problem.k_dtype())
      .keys("v", views.v, problem.head_dim_v, problem.v_dtype())
      .rows("out", views.out, problem.head_dim_v, problem.out_dtype())
      .other("bias", views.bias, problem.bias_extents(), problem.bias_dtype())
      .other("sink", views.sink, problem.sink_extents(), problem.compute_dtype());
  if (problem.qv) checks.rows("qv", views.qv, problem.head_dim_v, problem.dtype);
  if (problem.lse != LseForm::none)
    checks.rows("lse", views.lse, lse_columns, problem.compute_dtype());
  return checks.status();
}

Status check_backward_call(const Capabilities& capabilities, const Problem& problem,
                           const Tiling& tiling, const BackwardViews& views) {
  if (Status status = check_all(capabilities, problem, tiling); !status.ok()) return status;
  if (!problem.backward) return invalid_argument("the problem asks for no gradients");
  const Index d = problem.head_dim;
  const Index d_v = problem.head_dim_v;
  const Dtype wide = problem.compute_dtype();
  ViewChecks checks(problem);
  checks.rows("q", views.q, d, problem.dtype)
      .keys("k", views.k, d, problem.k_dtype())
      .keys("v", views.v, d_v, problem.v_dtype())
      .rows("out", views.out, d_v, problem.out_dtype())
      .rows("lse", views.lse, 1, wide)
      .rows("dout", views.dout, d_v, problem.out_dtype())
      .rows("dq", views.dq, d, problem.dtype)
      .keys("dk", views.dk, d, problem.k_dtype())
      .keys("dv", views.dv, d_v, problem.v_dtype())
      .other("bias", views.bias, problem.bias_extents(), problem.bias_dtype())
      .other("sink", views.sink, problem.sink_extents(), wide);
  if (problem.backward->dlse) checks.rows("dlse", views.dlse, 1, wide);
  if (problem.backward->dbias) checks.other("dbias", views.dbias, problem.bias_extents(), wide);
  if (problem.backward->dsink) checks.other("dsink", views.dsink, problem.sink_extents(), wide);
  return checks.status();
}

Status Kernel::backward(const Problem&, const Tiling&, const BackwardViews&) const {
  return {StatusCode::unsupported, "kernel does not declare backward"};
}

Status all_masked_row(const RowIndex& row) {
  return {StatusCode::all_masked_row,
          "row (batch " + std::to_string(row.batch) + ", head " + std::to_string(row.head) +
              ", query " + std::to_string(row.query) + ") has no visible key",
          row};
}

}  // namespace attest
