// Problems of every variant with their tensors, stored as attest/storage.hpp says, and loops over
// the kernels that do all of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attest/element.hpp"
#include "attest/kernel.hpp"
#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "kernels/registry.hpp"

namespace attest::kernels {

/// What stands in every element of an input that belongs to no row.
inline constexpr double kPoison = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
/// What stands in results before a call: a number of every output type that no test computes.
inline constexpr double kBefore = -0x1.54p-14;

/// Every element of the buffer, also between rows, holds `value`.
inline Tensor stored_tensor(Dtype dtype, const Extents& extents, const Layout& layout,
                            double value) {
  Tensor tensor(dtype, extents, layout_strides(layout, extents), layout_elements(layout, extents));
  for (std::size_t at = 0; at < tensor.bytes().size(); at += size_of(dtype))
    store_element(dtype, tensor.bytes().data() + at, value);
  return tensor;
}

/// Elements of the buffer of a result that a call has changed.
inline Index written_elements(const Tensor& result) {
  Index written = 0;
  for (std::size_t at = 0; at < result.bytes().size(); at += size_of(result.dtype()))
    if (load_element(result.dtype(), result.bytes().data() + at) != kBefore) ++written;
  return written;
}

/// Calls body(b, kv_head, key) for every key that exists.
template <class Body>
void for_each_key(const Problem& problem, Body&& body) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads_kv; ++h)
      for (Index key = 0; key < problem.key_length(b); ++key) body(b, h, key);
}

/// A forward call. Inputs are poison and results kBefore until they are set.
struct VariantCase {
  explicit VariantCase(Problem asked, Tiling cut = {})
      : problem(std::move(asked)),
        tiling(std::move(cut)),
        q(rows(problem.dtype, problem.head_dim, kPoison)),
        k(keys(problem.k_dtype(), problem.head_dim)),
        v(keys(problem.v_dtype(), problem.head_dim_v)),
        qv(problem.qv ? rows(problem.dtype, problem.head_dim_v, kPoison) : Tensor()),
        bias(stored_tensor(problem.bias_dtype(), problem.bias_extents(), {}, kPoison)),
        sink(stored_tensor(problem.compute_dtype(), problem.sink_extents(), {}, kPoison)),
        out(rows(problem.out_dtype(), problem.head_dim_v, kBefore)),
        lse(rows(problem.compute_dtype(), problem.lse_extents()[3], kBefore)) {}

  Tensor rows(Dtype dtype, Index columns, double value) const {
    return stored_tensor(dtype, stored_q_extents(problem, columns), problem.layout, value);
  }
  Tensor keys(Dtype dtype, Index columns) const {
    return stored_tensor(dtype, stored_kv_extents(problem, columns), problem.layout, kPoison);
  }
  void set_row(Tensor& tensor, const RowIndex& row, Index column, double value) const {
    const StoredRow at = stored_query(problem, row.batch, row.query);
    tensor.set(at.b, row.head, at.row, column, value);
  }
  double get_row(const Tensor& tensor, const RowIndex& row, Index column = 0) const {
    const StoredRow at = stored_query(problem, row.batch, row.query);
    return tensor.get(at.b, row.head, at.row, column);
  }
  void set_key(Tensor& tensor, Index b, Index kv_head, Index key, double value) const {
    const StoredRow at = stored_key(problem, b, key);
    for (Index c = 0; c < tensor.extents()[3]; ++c) tensor.set(at.b, kv_head, at.row, c, value);
  }
  /// The same number everywhere in q, and in k.
  void set_scores(double q_value, double k_value) {
    for_each_row(problem, [&](const RowIndex& of_row) {
      const auto [b, h, query] = of_row;
      for (Index c = 0; c < problem.head_dim; ++c) set_row(q, {b, h, query}, c, q_value);
    });
    for_each_key(problem, [&](Index b, Index h, Index key) { set_key(k, b, h, key, k_value); });
  }
  /// v(j, c) = 2^j, so that a sum of values tells which keys it is of.
  void set_values_to_powers() {
    for_each_key(problem, [&](Index b, Index h, Index key) {
      set_key(v, b, h, key, std::ldexp(1.0, static_cast<int>(key)));
    });
  }
  static void set_all(Tensor& tensor, double value) {
    for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
      tensor.set(b, h, row, column, value);
    });
  }

  ForwardViews views() {
    const VariantCase& inputs = *this;
    ConstTensorRef v_view = inputs.v.ref();
    if (problem.v_is_k_view) {
      v_view = inputs.k.ref();
      v_view.extents[3] = problem.head_dim_v;
    }
    ForwardViews views{inputs.q.ref(), inputs.k.ref(), v_view, out.ref(), lse.ref()};
    views.bias = inputs.bias.ref();
    views.sink = inputs.sink.ref();
    views.qv = inputs.qv.ref();
    return views;
  }
  Status forward(const Kernel& kernel) { return kernel.forward(problem, tiling, views()); }
  void run(const Kernel& kernel) {
    const Status status = forward(kernel);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  double out_at(const RowIndex& row, Index column = 0) const { return get_row(out, row, column); }
  double lse_at(const RowIndex& row, Index column = 0) const { return get_row(lse, row, column); }

  Problem problem;
  Tiling tiling;
  Tensor q, k, v, qv, bias, sink, out, lse;
};

/// One batch member, one head, rows of one number, scale 1, natural lse.
inline Problem plain_problem(Dtype dtype, Index seq_q, Index seq_kv) {
  Problem problem;
  problem.dtype = dtype;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  problem.scale = {.reciprocal_sqrt = false, .value = 1};
  problem.lse = LseForm::natural;
  return problem;
}

/// Has an exp and a tanh of its own; all other kernels use those of the library.
inline bool is_simd(const Kernel& kernel) {
  return kernel.description().name.starts_with("builtin:simd");
}

inline std::vector<const Kernel*> kernels_of_every_variant() {
  std::vector<const Kernel*> kernels;
  for (const char* name : {"textbook", "scalar_sequential", "scalar_tree"})
    kernels.push_back(find_builtin(std::string("builtin:") + name));
  for (const auto& kernel : builtin_kernels())
    if (kernel->description().name.starts_with("builtin:simd/")) kernels.push_back(kernel.get());
  return kernels;
}

/// Tiles, splits (also empty ones) and merge orders.
inline std::vector<Tiling> some_tilings() {
  using Kind = MergeOrder::Kind;
  return {{.tile_q = 16, .tile_kv = 16, .splits = {}, .merge = {}},
          {.tile_q = 1, .tile_kv = 1, .splits = {}, .merge = {Kind::right, 0, {}}},
          {.tile_q = 2, .tile_kv = 2, .splits = {3, {}}, .merge = {Kind::balanced, 0, {}}},
          {.tile_q = 3, .tile_kv = 1, .splits = {9, {}}, .merge = {Kind::random, 5, {}}}};
}

/// body(kernel, tiling) for every kernel of every variant and every tiling above.
template <class Body>
void for_each_kernel_and_tiling(Body&& body) {
  for (const Kernel* kernel : kernels_of_every_variant())
    for (const Tiling& tiling : some_tilings()) {
      SCOPED_TRACE(kernel->description().name + " with tile_kv " + std::to_string(tiling.tile_kv));
      body(*kernel, tiling);
    }
}

}  // namespace attest::kernels
