#include "attest/block_scan.hpp"

#include "kernels/kernels.hpp"

namespace attest {
namespace {

template <class Real>
Status check(const BlockScan<Real>& scan) {
  if (scan.head_dim < 1 || scan.seq_q < 0 || scan.seq_kv < 0 || scan.block_size < 1)
    return invalid_argument("head_dim and block_size must be at least 1, lengths not negative");
  if (scan.seq_kv % scan.block_size != 0)
    return invalid_argument("block_size " + std::to_string(scan.block_size) +
                            " does not divide the " + std::to_string(scan.seq_kv) + " keys");
  if (scan.causal && scan.seq_q != scan.seq_kv)
    return invalid_argument("causal needs as many queries as keys here, got " +
                            std::to_string(scan.seq_q) + " and " + std::to_string(scan.seq_kv));
  const auto has_shape = [&](std::span<const Real> values, Index rows) {
    const auto size = static_cast<Index>(values.size());
    return size % scan.head_dim == 0 && size / scan.head_dim == rows;
  };
  if (!has_shape(scan.q, scan.seq_q) || !has_shape(scan.k, scan.seq_kv) ||
      !has_shape(scan.v, scan.seq_kv))
    return invalid_argument("q, k or v has another size than its shape");
  return {};
}

}  // namespace

template <std::floating_point Real>
Result<std::vector<Real>> block_scan(const BlockScan<Real>& scan) {
  if (Status status = check(scan); !status.ok()) return status;
  Problem problem;
  problem.seq_q = scan.seq_q;
  problem.seq_kv = scan.seq_kv;
  problem.head_dim = problem.head_dim_v = scan.head_dim;
  problem.dtype = dtype_of<Real>();
  if (scan.causal) problem.mask.causal = Causal{};
  const Tiling tiling{.tile_q = 1, .tile_kv = scan.block_size, .splits = {}, .merge = {}};

  std::vector<Real> output(scan.q.size());
  const auto input = [](std::span<const Real> values, const Extents& extents) {
    return ConstTensorRef{values.data(), dtype_of<Real>(), extents, bshd_strides(extents)};
  };
  const Extents out_extents = problem.out_extents();
  const ForwardViews views{
      input(scan.q, problem.q_extents()), input(scan.k, problem.k_extents()),
      input(scan.v, problem.v_extents()),
      TensorRef{output.data(), dtype_of<Real>(), out_extents, bshd_strides(out_extents)},
      TensorRef{}};
  if (Status status = kernels::make_scalar_sequential()->forward(problem, tiling, views);
      !status.ok())
    return status;
  return output;
}

template Result<std::vector<float>> block_scan(const BlockScan<float>& scan);
template Result<std::vector<double>> block_scan(const BlockScan<double>& scan);

}  // namespace attest
