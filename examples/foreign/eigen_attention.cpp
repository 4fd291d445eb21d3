// A plug-in of attest: attention as one writes it with Eigen, the whole score matrix of a head in
// memory. The products, exp and log are Eigen's; a row that sees no key is not looked for.
//
//   c++ -std=c++17 -O2 -shared -fPIC -Iinclude -I/usr/include/eigen3 eigen_attention.cpp
//     -o eigen.so
//   attest check ./eigen.so
#include <Eigen/Core>
#include <exception>

#include "head_matrices.hpp"

namespace {

using foreign::Head;

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Real>
Eigen::Map<const Matrix<Real>> matrix(const std::vector<Real>& numbers, int64_t rows,
                                      int64_t columns) {
  return {numbers.data(), rows, columns};
}

template <class Real>
void attention(const Head& head, const attest_forward_tensors& tensors) {
  const attest_problem& problem = head.problem;
  const auto q = foreign::query_rows<Real>(head, *tensors.q);
  const auto k = foreign::key_rows<Real>(head, *tensors.k);
  const auto v = foreign::key_rows<Real>(head, *tensors.v);

  Matrix<Real> scores =
      static_cast<Real>(problem.scale) * (matrix(q, problem.seq_q, problem.head_dim) *
                                          matrix(k, problem.seq_kv, problem.head_dim).transpose());
  if (foreign::has_mask(problem)) {
    const auto added = foreign::additive_mask<Real>(head, tensors.bias);
    scores += matrix(added, problem.seq_q, problem.seq_kv);
  }
  const Eigen::Matrix<Real, Eigen::Dynamic, 1> row_max = scores.rowwise().maxCoeff();
  const Matrix<Real> weights = (scores.colwise() - row_max).array().exp();
  const Eigen::Matrix<Real, Eigen::Dynamic, 1> row_sum = weights.rowwise().sum();
  const Matrix<Real> out =
      (weights * matrix(v, problem.seq_kv, problem.head_dim_v)).array().colwise() / row_sum.array();

  foreign::write_rows(head, *tensors.out, out.data());
  if (tensors.lse == nullptr) return;
  const Eigen::Matrix<Real, Eigen::Dynamic, 1> lse = row_max.array() + row_sum.array().log();
  foreign::write_rows(head, *tensors.lse, lse.data());
}

attest_description described() {
  static attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  accuracy.rounding = ATTEST_ROUNDING_NEAREST;
  accuracy.underflow = ATTEST_UNDERFLOW_GRADUAL;
  accuracy.exp_form = ATTEST_EXP_NATURAL;
  accuracy.scope = ATTEST_SCOPE_ROW;

  attest_description description{};
  description.size = sizeof description;
  std::snprintf(description.name, sizeof description.name, "eigen-materialised");
  std::snprintf(description.version, sizeof description.version, "Eigen %d.%d.%d",
                EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  std::snprintf(description.summary, sizeof description.summary,
                "The score matrix of a head, its softmax and the product with V, by Eigen.");
  description.dtypes = ATTEST_BIT(ATTEST_F32) | ATTEST_BIT(ATTEST_F64);
  description.features =
      ATTEST_HAS_CAUSAL | ATTEST_HAS_WINDOW | ATTEST_HAS_KEY_LENGTHS | ATTEST_HAS_QUERY_LENGTHS |
      ATTEST_HAS_MASK_BITS | ATTEST_HAS_ADDITIVE_MASK | ATTEST_HAS_BIAS | ATTEST_HAS_GROUPED_HEADS |
      ATTEST_HAS_LSE | ATTEST_HAS_EMPTY_NAN | ATTEST_HAS_STRIDES | ATTEST_HAS_PARALLEL_CALLS;
  description.accuracy = &accuracy;
  return description;
}

const attest_description* describe() {
  static const attest_description description = described();
  return &description;
}

int forward(const attest_problem* problem, const attest_tiling*,
            const attest_forward_tensors* tensors, attest_message* message) try {
  if (problem->seq_kv == 0) return foreign::unsupported(message, "maxCoeff of no keys");
  if (problem->dtype_bias != ATTEST_DTYPE_UNSAID && problem->dtype_bias != problem->dtype_compute)
    return foreign::unsupported(message, "a bias of another type than the scores");
  foreign::for_each_head(*problem, [&](const Head& head) {
    if (problem->dtype_q == ATTEST_F64)
      attention<double>(head, *tensors);
    else
      attention<float>(head, *tensors);
  });
  return ATTEST_OK;
} catch (const std::exception& error) {
  std::snprintf(message->text, message->capacity, "%s", error.what());
  return ATTEST_FAILED;
}

}  // namespace

const attest_kernel_table* attest_kernel() {
  static const attest_kernel_table table = [] {
    attest_kernel_table filled{};
    filled.size = sizeof filled;
    filled.abi_version = ATTEST_ABI_VERSION;
    filled.describe = describe;
    filled.forward = forward;
    return filled;
  }();
  return &table;
}
