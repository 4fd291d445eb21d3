#include "bench/eigen_native.hpp"

#include <Eigen/Dense>

namespace attest::bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Input = Eigen::Map<const Matrix>;

/// Weights of one row, unnormalised; returns one over their sum.
float weigh(Eigen::Ref<Eigen::Array<float, 1, Eigen::Dynamic>> row, long visible) {
  auto seen = row.head(visible);
  seen = (seen - seen.maxCoeff()).exp();
  row.tail(row.size() - visible).setZero();
  return 1 / seen.sum();
}

}  // namespace

void eigen_native_head(const NativeHead& head) {
  const Input q(head.q, head.queries, head.head_dim);
  const Input k(head.k, head.keys, head.head_dim);
  const Input v(head.v, head.keys, head.head_dim);
  Eigen::Map<Matrix> scores(head.scores, head.queries, head.keys);
  Eigen::Map<Matrix> out(head.out, head.queries, head.head_dim);
  scores.noalias() = (q * head.scale) * k.transpose();
  Eigen::ArrayXf inverse(head.queries);
  for (long i = 0; i < head.queries; ++i)
    inverse[i] = weigh(scores.row(i).array(), head.causal ? i + 1 : head.keys);
  out.noalias() = scores * v;
  out.array().colwise() *= inverse;
}

}  // namespace attest::bench
