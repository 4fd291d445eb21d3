// contract.*, continued: index arithmetic of 64 bits.
#include <algorithm>
#include <utility>
#include <vector>

#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/sparse_tensor.hpp"
#include "properties/stored.hpp"

namespace attest::properties {
namespace {

/// Moves the tensors of a call into sparse memory, one by one.
class WideCall {
 public:
  /// What has no tensor stays without one.
  ConstTensorRef input(const ConstTensorRef& dense) {
    if (dense.data == nullptr) return dense;
    return read_only(keep(SparseTensor::copy_of(dense)));
  }
  TensorRef output(const TensorRef& dense) {
    if (dense.data == nullptr) return dense;
    return keep(SparseTensor::make(dense.dtype, dense.extents));
  }
  bool has_memory() const { return has_memory_; }
  /// Whether some offset is beyond 32 bits.
  bool is_wide() const { return is_wide_; }

 private:
  TensorRef keep(std::optional<SparseTensor> tensor) {
    has_memory_ = has_memory_ && tensor.has_value();
    if (!tensor) return {};
    const Extents& extents = tensor->ref().extents;
    is_wide_ = is_wide_ || std::max({extents[0], extents[1], extents[2]}) > 1;
    return tensors_.emplace_back(std::move(*tensor)).ref();
  }

  std::vector<SparseTensor> tensors_;
  bool has_memory_ = true;
  bool is_wide_ = false;
};

}  // namespace

Verdict contract_wide_strides(const Kernel& kernel, const Case& on) {
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  const StoredInputs inputs = store(on);
  ForwardViews views = forward_views(on.problem, inputs);
  WideCall call;
  for (ConstTensorRef ForwardViews::*input :
       {&ForwardViews::q, &ForwardViews::k, &ForwardViews::bias, &ForwardViews::sink,
        &ForwardViews::qv})
    views.*input = call.input(views.*input);
  if (on.problem.v_is_k_view) {
    views.v = views.k;
    views.v.extents[3] = on.problem.head_dim_v;
  } else {
    views.v = call.input(views.v);
  }
  Tensor out = poisoned_rows(on.problem, on.problem.out_dtype(), on.problem.head_dim_v);
  Tensor lse = poisoned_rows(on.problem, on.problem.compute_dtype(), on.problem.lse_extents()[3]);
  views.out = call.output(out.ref());
  if (on.problem.lse != LseForm::none) views.lse = call.output(lse.ref());
  if (!call.has_memory()) return Verdict::skipped("the system gives no sparse address space");
  if (!call.is_wide())
    return Verdict::skipped("no tensor has two rows, heads or batch members to lie apart");
  const Status status = kernel.forward(on.problem, on.tiling, views);
  // As tensors that are copied to another process are, or a kernel that takes dense rows only.
  if (status.code() == StatusCode::unsupported) return Verdict::skipped(status.message());
  if (!status.ok()) return Verdict::fail("with wide strides: " + status.message());
  Tally tally;
  constexpr std::string_view kReason = "offsets beyond 2^32 elements must not matter";
  same_stored_bits(tally, "out", on.problem, dense.out, read_only(views.out), kReason);
  if (on.problem.lse != LseForm::none)
    same_stored_bits(tally, "lse", on.problem, dense.lse, read_only(views.lse), kReason);
  return tally.verdict();
}

}  // namespace attest::properties
