// contract.*, continued: index arithmetic of 64 bits.
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
    const TensorRef copy = keep(SparseTensor::copy_of(dense));
    return {copy.data, copy.dtype, copy.extents, copy.strides};
  }
  TensorRef output(const TensorRef& dense) {
    if (dense.data == nullptr) return dense;
    return keep(SparseTensor::make(dense.dtype, dense.extents));
  }
  bool has_memory() const { return has_memory_; }

 private:
  TensorRef keep(std::optional<SparseTensor> tensor) {
    has_memory_ = has_memory_ && tensor.has_value();
    if (!tensor) return {};
    return tensors_.emplace_back(std::move(*tensor)).ref();
  }

  std::vector<SparseTensor> tensors_;
  bool has_memory_ = true;
};

void compare(Tally& tally, std::string_view name, const Problem& problem, const Tensor& want,
             const ConstTensorRef& got) {
  if (got.data == nullptr) return;
  for_each_row(problem, [&](const RowIndex& row) {
    const LooksAt looks = looks_at(problem, row);
    if (!(name == "out" ? looks.out : looks.lse)) return;
    const StoredRow at = stored_query(problem, row.batch, row.query);
    for (Index column = 0; column < want.extents()[3]; ++column)
      tally.same_bits({name, row, column},
                      load_element(want.dtype(), address_of(got, at.b, row.head, at.row, column)),
                      want.get(row.batch, row.head, row.query, column),
                      "offsets beyond 2^32 elements must not matter");
    tally.end_row();
  });
}

}  // namespace

Verdict contract_wide_strides(const Kernel& kernel, const Case& on) {
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  const StoredInputs inputs = store(on);
  ForwardViews views = forward_views(on.problem, inputs);
  WideCall call;
  for (ConstTensorRef ForwardViews::*input :
       {&ForwardViews::q, &ForwardViews::k, &ForwardViews::v, &ForwardViews::bias,
        &ForwardViews::sink, &ForwardViews::qv})
    views.*input = call.input(views.*input);
  Tensor out = poisoned_rows(on.problem, on.problem.out_dtype(), on.problem.head_dim_v);
  Tensor lse = poisoned_rows(on.problem, on.problem.compute_dtype(), on.problem.lse_extents()[3]);
  views.out = call.output(out.ref());
  if (on.problem.lse != LseForm::none) views.lse = call.output(lse.ref());
  if (!call.has_memory()) return Verdict::skipped("the system gives no sparse address space");
  if (Status status = kernel.forward(on.problem, on.tiling, views); !status.ok())
    return Verdict::of(Outcome::fail, "with wide strides: " + status.message());
  Tally tally;
  const auto seen = [](const TensorRef& ref) {
    return ConstTensorRef{ref.data, ref.dtype, ref.extents, ref.strides};
  };
  compare(tally, "out", on.problem, dense.out, seen(views.out));
  if (on.problem.lse != LseForm::none)
    compare(tally, "lse", on.problem, dense.lse, seen(views.lse));
  return tally.verdict();
}

}  // namespace attest::properties
