// Backward calls of problems of every variant.
#pragma once

#include <string>
#include <utility>

#include "kernels/test_variants.hpp"

namespace attest::kernels {

/// A backward call on the tensors of a forward call, whose results it sets by hand or by a kernel.
/// What is read is poison and what is written is kBefore until it is set.
struct GradientCase {
  explicit GradientCase(Problem asked, const Tiling& cut = {})
      : forward(std::move(asked), cut),
        dout(forward.rows(problem().out_dtype(), problem().head_dim_v, kPoison)),
        dlse(problem().backward->dlse ? forward.rows(problem().compute_dtype(), 1, kPoison)
                                      : Tensor()),
        dq(forward.rows(problem().dtype, problem().head_dim, kBefore)),
        dk(keys(problem().k_dtype(), problem().head_dim)),
        dv(keys(problem().v_dtype(), problem().head_dim_v)),
        dbias(stored_tensor(problem().compute_dtype(), problem().bias_extents(), {}, kBefore)),
        dsink(stored_tensor(problem().compute_dtype(), problem().sink_extents(), {}, kBefore)) {
    for (Tensor* result : {&forward.out, &forward.lse}) poison(*result);
  }

  const Problem& problem() const { return forward.problem; }
  Tensor keys(Dtype dtype, Index columns) const {
    return stored_tensor(dtype, stored_kv_extents(problem(), columns), problem().layout, kBefore);
  }
  static void poison(Tensor& tensor) {
    for (std::size_t at = 0; at < tensor.bytes().size(); at += size_of(tensor.dtype()))
      store_element(tensor.dtype(), tensor.bytes().data() + at, kPoison);
  }
  /// The same number in every column of a row.
  void set_row(Tensor& tensor, const RowIndex& row, double value) const {
    for (Index c = 0; c < tensor.extents()[3]; ++c) forward.set_row(tensor, row, c, value);
  }
  BackwardViews views() {
    const GradientCase& inputs = *this;
    const ForwardViews given = forward.views();
    BackwardViews views{
        given.q,          given.k, given.v, inputs.forward.out.ref(), inputs.forward.lse.ref(),
        inputs.dout.ref()};
    views.dlse = inputs.dlse.ref();
    views.bias = given.bias;
    views.sink = given.sink;
    views.dq = dq.ref();
    views.dk = dk.ref();
    views.dv = dv.ref();
    views.dbias = dbias.ref();
    views.dsink = dsink.ref();
    return views;
  }
  Status backward(const Kernel& kernel) {
    return kernel.backward(problem(), forward.tiling, views());
  }
  void run(const Kernel& kernel) {
    const Status status = backward(kernel);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  double row_of(const Tensor& tensor, const RowIndex& row, Index column = 0) const {
    return forward.get_row(tensor, row, column);
  }
  double key_of(const Tensor& tensor, const RowIndex& key, Index column = 0) const {
    const StoredRow at = stored_key(problem(), key.batch, key.query);
    return tensor.get(at.b, key.head, at.row, column);
  }

  VariantCase forward;
  Tensor dout, dlse, dq, dk, dv, dbias, dsink;
};

}  // namespace attest::kernels
