#include "cli/dump_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attest::cli {
namespace {

/// The same problem whichever way its types are written.
Problem with_types_spelled_out(Problem problem) {
  const Dtype k_dtype = problem.k_dtype();
  const Dtype v_dtype = problem.v_dtype();
  const Dtype out_dtype = problem.out_dtype();
  problem.k_storage = k_dtype;
  problem.v_storage = v_dtype;
  problem.out_storage = out_dtype;
  return problem;
}

bool same_bits(const ConstTensorRef& view, const Tensor& stored) {
  if (stored.extents() == Extents{}) return view.data == nullptr;
  if (view.dtype != stored.dtype() || view.extents != stored.extents()) return false;
  bool same = true;
  for_each_index(view.extents, [&](Index b, Index h, Index row, Index column) {
    same =
        same && std::memcmp(address_of(view, b, h, row, column),
                            address_of(stored.ref(), b, h, row, column), size_of(view.dtype)) == 0;
  });
  return same;
}

/// What both passes read. Views: ForwardViews or BackwardViews.
template <class Views>
bool same_inputs(const Problem& problem, const Views& views,
                 const properties::StoredInputs& inputs) {
  return same_bits(views.q, inputs.q) && same_bits(views.k, inputs.k) &&
         (problem.v_is_k_view || same_bits(views.v, inputs.v)) &&
         same_bits(views.bias, inputs.bias) && same_bits(views.sink, inputs.sink);
}

void copy_bits(const Tensor& from, const TensorRef& to) {
  if (from.bytes().empty() || to.data == nullptr) return;
  for_each_index(to.extents, [&](Index b, Index h, Index row, Index column) {
    std::memcpy(address_of(to, b, h, row, column), address_of(from.ref(), b, h, row, column),
                size_of(to.dtype));
  });
}

Tensor packed_rows(const Problem& problem, const Tensor& logical) {
  return logical.bytes().empty() ? Tensor{} : properties::pack_rows(problem, logical);
}
Tensor packed_keys(const Problem& problem, const Tensor& logical) {
  return logical.bytes().empty() ? Tensor{} : properties::pack_keys(problem, logical);
}

Status not_dumped() {
  return {StatusCode::unsupported, "the dump has no such call"};
}

/// Roundings on the longest path of a score: products, descales of q and k, and the scale.
Index dot_roundings(const Problem& problem) {
  const Index terms = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  return terms + (problem.descales ? 2 : 0) + 1;
}

/// P, where it is rounded before it multiplies v.
std::optional<Format> weight_format(const AssumedAccuracy& assumed) {
  if (!assumed.weights || *assumed.weights == assumed.accumulators) return std::nullopt;
  return format_of(*assumed.weights);
}

std::optional<Format> if_narrower(Dtype dtype, const Format& than) {
  const Format format = format_of(dtype);
  return format.unit_roundoff > than.unit_roundoff ? std::optional(format) : std::nullopt;
}

}  // namespace

AssumedAccuracy usual_accuracy(const Problem& problem) {
  AssumedAccuracy assumed;
  assumed.accumulators = problem.compute_dtype();
  if (size_of(problem.v_dtype()) < 4) assumed.weights = problem.v_dtype();
  return assumed;
}

std::string to_text(const AssumedAccuracy& assumed) {
  return fmt::format(
      "{0} accumulators, sums in any order, keys in tiles of {1} or more, P in {2}, "
      "exp to {3:g} ulp",
      to_string(assumed.accumulators), assumed.tile_kv,
      to_string(assumed.weights.value_or(assumed.accumulators)), assumed.exp_ulp);
}

DeclaredAccuracy declared(const AssumedAccuracy& assumed, const Problem& problem) {
  DeclaredAccuracy accuracy;
  accuracy.format = format_of(assumed.accumulators);
  const double u = accuracy.format.unit_roundoff;
  const double ulp = 2 * u;
  accuracy.dot_roundings = dot_roundings(problem);
  accuracy.tanh_relative_error = problem.softcap != 0 ? assumed.exp_ulp * ulp : 0;
  accuracy.bias_relative_error = problem.alibi ? ulp : 0;
  accuracy.value_relative_error = problem.descales ? u : 0;
  // The larger bound of the two forms, which has none beside what changes a score; and results of
  // exp below the normal range may become 0.
  const bool changes_scores =
      problem.softcap != 0 || problem.bias || problem.alibi || problem.mask.additive;
  accuracy.exp_form = changes_scores ? ExpForm::natural : ExpForm::folded_base_two;
  accuracy.exp_relative_error = assumed.exp_ulp * ulp;
  accuracy.exp_absolute_error = accuracy.format.min_normal;
  accuracy.log_relative_error = assumed.exp_ulp * ulp;
  accuracy.division_roundings = 2;
  accuracy.reciprocal_relative_error = ulp;
  if (const auto format = weight_format(assumed))
    accuracy.weight_cast = WeightCast{*format, 0, false};
  accuracy.output_format = if_narrower(problem.out_dtype(), accuracy.format);
  accuracy.scope = SummaryScope::any;
  accuracy.keys_of_a_part = assumed.tile_kv;
  return accuracy;
}

DeclaredGradientAccuracy declared_gradients(const AssumedAccuracy& assumed,
                                            const Problem& problem) {
  const DeclaredAccuracy forward = declared(assumed, problem);
  DeclaredGradientAccuracy accuracy;
  accuracy.format = forward.format;
  accuracy.dot_roundings = forward.dot_roundings;
  accuracy.value_dot_roundings = accuracy.delta_roundings = problem.head_dim_v;
  accuracy.tanh_relative_error = forward.tanh_relative_error;
  accuracy.tanh_absolute_error = forward.format.min_normal;
  accuracy.bias_relative_error = forward.bias_relative_error;
  accuracy.exp_form = forward.exp_form;
  accuracy.exp_relative_error = forward.exp_relative_error;
  accuracy.exp_absolute_error = forward.exp_absolute_error;
  accuracy.scale_roundings = 2;
  accuracy.weight_cast = accuracy.gradient_cast = weight_format(assumed);
  accuracy.output_format = if_narrower(problem.dtype, forward.format);
  accuracy.dk_format = if_narrower(problem.k_dtype(), forward.format);
  accuracy.dv_format = if_narrower(problem.v_dtype(), forward.format);
  return accuracy;
}

DumpKernel::DumpKernel(std::string name, const Dump& dump, const AssumedAccuracy& assumed)
    : dump_(dump), assumed_(assumed) {
  description_.name = std::move(name);
  description_.version = "1";
  description_.summary = "stored results of one call";
  Capabilities& can = description_.capabilities;
  can.dtypes.assign(kDtypes.begin(), kDtypes.end());
  can.features.assign(all_features().begin(), all_features().end());
  can.tiles = can.kv_splits = false;
}

void DumpKernel::knows(const properties::Case& value, const properties::Outputs& outputs) {
  const Problem& problem = value.problem;
  answers_.push_back({with_types_spelled_out(problem), store(value),
                      packed_rows(problem, outputs.out), packed_rows(problem, outputs.lse)});
}

template <class Same>
const DumpKernel::Answer* DumpKernel::find(const Problem& problem, const Same& same) const {
  const Problem asked = with_types_spelled_out(problem);
  const auto at = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& answer) {
    return answer.problem == asked && same(answer.inputs);
  });
  return at == answers_.end() ? nullptr : &*at;
}

Status DumpKernel::forward(const Problem& problem, const Tiling&, const ForwardViews& views) const {
  const Answer* const answer = find(problem, [&](const properties::StoredInputs& inputs) {
    return same_inputs(problem, views, inputs) && same_bits(views.qv, inputs.qv);
  });
  if (answer == nullptr) return not_dumped();
  copy_bits(answer->out, views.out);
  copy_bits(answer->lse, views.lse);
  return {};
}

Status DumpKernel::backward(const Problem& problem, const Tiling&,
                            const BackwardViews& views) const {
  const Answer* const answer = find(problem, [&](const properties::StoredInputs& inputs) {
    return same_inputs(problem, views, inputs) && same_bits(views.dout, inputs.dout) &&
           same_bits(views.dlse, inputs.dlse);
  });
  if (answer == nullptr) return not_dumped();
  const properties::GradientOutputs& gradients = dump_.gradients;
  copy_bits(packed_rows(problem, gradients.dq), views.dq);
  copy_bits(packed_keys(problem, gradients.dk), views.dk);
  copy_bits(packed_keys(problem, gradients.dv), views.dv);
  copy_bits(gradients.dbias, views.dbias);
  copy_bits(gradients.dsink, views.dsink);
  return {};
}

}  // namespace attest::cli
