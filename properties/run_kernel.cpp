#include "properties/run_kernel.hpp"

#include <cmath>
#include <utility>

#include "properties/run_recorder.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {
namespace {

void fill_rows(Tensor& tensor, double fill) {
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    tensor.set(b, h, row, column, fill);
  });
}

/// Results as a kernel writes them, over poison or a number; `views` has the inputs.
Outputs run_stored(const Kernel& kernel, const Case& on, ForwardViews views,
                   std::optional<double> fill = std::nullopt) {
  const Problem& problem = on.problem;
  Outputs outputs;
  outputs.out = poisoned_rows(problem, problem.out_dtype(), problem.head_dim_v);
  if (fill) fill_rows(outputs.out, *fill);
  views.out = outputs.out.ref();
  if (problem.lse != LseForm::none) {
    outputs.lse = poisoned_rows(problem, problem.compute_dtype(), problem.lse_extents()[3]);
    if (fill) fill_rows(outputs.lse, *fill);
    views.lse = outputs.lse.ref();
  }
  outputs.status = kernel.forward(problem, on.tiling, views);
  return outputs;
}

/// Whether there may be rows at which the problem does not look.
bool looks_away(const Problem& problem) {
  const bool any_lse = !problem.empty_lse && problem.lse != LseForm::none;
  return !problem.sink && (problem.all_masked == AllMaskedPolicy::any || any_lse);
}

/// Overwrites what the problem does not look at in rows that see nothing.
void forget_unasked(const Problem& problem, Outputs& outputs) {
  if (!looks_away(problem)) return;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.query_length(b); ++query) {
      const LooksAt looks = looks_at(problem, {b, 0, query});
      const bool any_lse = !looks.lse && problem.lse != LseForm::none;
      for (Index h = 0; h < problem.heads_q; ++h) {
        for (Index c = 0; !looks.out && c < problem.head_dim_v; ++c)
          outputs.out.set(b, h, query, c, 0);
        if (any_lse) outputs.lse.set(b, h, query, 0, -std::numeric_limits<double>::infinity());
        if (any_lse && problem.lse == LseForm::max_sum) outputs.lse.set(b, h, query, 1, 0);
      }
    }
}

Outputs unpacked(const Problem& problem, Outputs stored) {
  stored.asked = {problem.lse, problem.all_masked, problem.empty_lse};
  if (!stored.status.ok()) return stored;
  stored.out = unpack_rows(problem, std::move(stored.out));
  if (problem.lse != LseForm::none) stored.lse = unpack_rows(problem, std::move(stored.lse));
  forget_unasked(problem, stored);
  return stored;
}

StoredGradients poisoned_gradients(const Problem& problem) {
  StoredGradients gradients;
  gradients.dq = poisoned_rows(problem, problem.dtype, problem.head_dim);
  gradients.dk = poisoned_keys(problem, problem.k_dtype(), problem.head_dim);
  gradients.dv = poisoned_keys(problem, problem.v_dtype(), problem.head_dim_v);
  const Dtype wide = problem.compute_dtype();
  if (problem.backward->dbias) gradients.dbias = poisoned(wide, problem.bias_extents());
  if (problem.backward->dsink) gradients.dsink = poisoned(wide, problem.sink_extents());
  return gradients;
}

TensorRef optional_view(Tensor& tensor) {
  return tensor.extents() == Extents{} ? TensorRef{} : tensor.ref();
}

}  // namespace

Outputs run_kernel(const Kernel& kernel, const Case& on) {
  return run_kernel(kernel, on, store(on));
}

Outputs run_kernel(const Kernel& kernel, const Case& on, const StoredInputs& inputs) {
  Outputs outputs = unpacked(on.problem, run_stored(kernel, on, forward_views(on.problem, inputs)));
  RunRecorder::note(on, outputs);
  return outputs;
}

Outputs run_kernel_over(const Kernel& kernel, const Case& on, double fill) {
  const StoredInputs inputs = store(on);
  return unpacked(on.problem, run_stored(kernel, on, forward_views(on.problem, inputs), fill));
}

Outputs run_in_place(const Kernel& kernel, const Case& on) {
  ForwardViews views;
  views.q = on.q.ref();
  views.k = on.k.ref();
  views.v = on.v.ref();
  views.bias = view_of(on.bias);
  views.sink = view_of(on.sink);
  views.qv = view_of(on.qv);
  return unpacked(on.problem, run_stored(kernel, on, views));
}

double Outputs::lse_at(const RowIndex& row) const {
  const auto [b, h, query] = row;
  const double first = lse.get(b, h, query, 0);
  if (asked.lse != LseForm::max_sum) return first;
  const auto sum = static_cast<long double>(lse.get(b, h, query, 1));
  return static_cast<double>(static_cast<long double>(first) + std::log(sum));
}

namespace {

/// The problem of a backward call, and of the forward call before it.
Case with_natural_lse(Case on) {
  on.problem.lse = LseForm::natural;
  return on;
}

}  // namespace

BackwardInputs store(const Case& of, const Outputs& forward) {
  return {store(of), pack_rows(of.problem, forward.out), pack_rows(of.problem, forward.lse)};
}

StoredGradients run_stored_backward(const Kernel& kernel, const Case& on,
                                    const BackwardInputs& inputs) {
  const Case asked = with_natural_lse(on);
  const Problem& problem = asked.problem;
  StoredGradients gradients = poisoned_gradients(problem);
  BackwardViews views = backward_views(problem, inputs.inputs);
  views.out = inputs.out.ref();
  views.lse = inputs.lse.ref();
  views.dq = gradients.dq.ref();
  views.dk = gradients.dk.ref();
  views.dv = gradients.dv.ref();
  views.dbias = optional_view(gradients.dbias);
  views.dsink = optional_view(gradients.dsink);
  gradients.status = kernel.backward(problem, asked.tiling, views);
  return gradients;
}

GradientOutputs run_backward(const Kernel& kernel, const Case& on, Outputs forward) {
  StoredGradients stored = run_stored_backward(kernel, on, store(on, forward));
  GradientOutputs outputs;
  outputs.status = stored.status;
  outputs.forward = std::move(forward);
  outputs.dq = unpack_rows(on.problem, std::move(stored.dq));
  outputs.dk = unpack_keys(on.problem, std::move(stored.dk));
  outputs.dv = unpack_keys(on.problem, std::move(stored.dv));
  outputs.dbias = std::move(stored.dbias);
  outputs.dsink = std::move(stored.dsink);
  RunRecorder::note(on, outputs);
  return outputs;
}

GradientOutputs run_backward(const Kernel& kernel, const Case& on) {
  Outputs forward = run_kernel(kernel, with_natural_lse(on));
  if (forward.status.ok()) return run_backward(kernel, on, std::move(forward));
  GradientOutputs outputs;
  outputs.status = forward.status;
  return outputs;
}

LooksAt looks_at(const Problem& problem, const RowIndex& row) {
  if (!looks_away(problem) || !reference::visible_keys(problem, row.batch, row.query).empty())
    return {};
  return {problem.all_masked != AllMaskedPolicy::any, problem.empty_lse.has_value()};
}

namespace {

/// Whether a status names a row that the policy reject refuses.
bool rejects_rightly(const Status& status, const Problem& problem) {
  if (problem.all_masked != AllMaskedPolicy::reject || problem.sink || !status.row()) return false;
  const RowIndex& row = *status.row();
  return row.batch >= 0 && row.batch < problem.batch && row.head >= 0 &&
         row.head < problem.heads_q && row.query >= 0 &&
         row.query < problem.query_length(row.batch) &&
         reference::visible_keys(problem, row.batch, row.query).empty();
}

}  // namespace

std::optional<Verdict> stopped(const Status& status, const Case& on) {
  if (status.ok()) return std::nullopt;
  if (status.code() == StatusCode::unsupported) return Verdict::skipped(status.message());
  if (status.code() == StatusCode::all_masked_row && rejects_rightly(status, on.problem))
    return Verdict::skipped("rejected, as the policy asks: " + status.message());
  if (status.code() == StatusCode::invalid_argument &&
      on.tiling.merge.kind == MergeOrder::Kind::explicit_tree)
    return Verdict::skipped(status.message());
  if (status.code() == StatusCode::kernel_ended)
    return Verdict::of(Outcome::crash, status.message());
  if (status.code() == StatusCode::timed_out)
    return Verdict::of(Outcome::timeout, status.message());
  if (status.code() == StatusCode::broken_contract) return Verdict::fail(status.message());
  return Verdict::of(Outcome::crash, "kernel returned an error: " + status.message());
}

}  // namespace attest::properties
