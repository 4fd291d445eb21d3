// The products of attention as sgemm of OpenBLAS: what a kernel without any softmax would take.
#include <cblas.h>

#include "bench/dense_heads.hpp"
#include "bench/peers.hpp"

namespace attest::bench {
namespace {

/// A row-major matrix, read as it is or transposed.
struct Matrix {
  const float* data;
  Index columns;
  bool transposed = false;
};

struct Shape {
  Index rows, columns, inner;
};

/// c = a b
void multiply(const Shape& shape, const Matrix& a, const Matrix& b, float* c) {
  const auto order = [](const Matrix& matrix) {
    return matrix.transposed ? CblasTrans : CblasNoTrans;
  };
  const auto size = [](Index number) { return static_cast<blasint>(number); };
  cblas_sgemm(CblasRowMajor, order(a), order(b), size(shape.rows), size(shape.columns),
              size(shape.inner), 1, a.data, size(a.columns), b.data, size(b.columns), 0, c,
              size(shape.columns));
}

class ForwardProducts : public DenseCall {
 public:
  ForwardProducts(const Workload& workload, const DenseHeads& heads)
      : DenseCall(workload, heads), scores_(heads.square_bytes()) {}
  Status run() override {
    const auto [queries, keys, d] = Shape{heads_.queries, heads_.keys, heads_.head_dim};
    for (Index h = 0; h < heads_.heads; ++h) {
      multiply({queries, keys, d}, {heads_.q + h * heads_.query_elements(), d},
               {heads_.k + h * heads_.key_elements(), d, true}, scores_.floats());
      multiply({queries, d, keys}, {scores_.floats(), keys},
               {heads_.v + h * heads_.key_elements(), d},
               out_.floats() + h * heads_.query_elements());
    }
    return {};
  }
  ConstTensorRef out() override { return {}; }
  double workspace_bytes() const override { return static_cast<double>(scores_.bytes()); }

 private:
  Buffer scores_;
};

/// S = Q K^T, dP = dO V^T, dV = P^T dO, dQ = dS K, dK = dS^T Q.
class BackwardProducts : public DenseCall {
 public:
  BackwardProducts(const Workload& workload, const DenseHeads& heads)
      : DenseCall(workload, heads),
        scores_(heads.square_bytes()),
        gradients_(heads.square_bytes()),
        of_keys_(static_cast<std::size_t>(heads.key_elements()) * sizeof(float)) {}
  Status run() override {
    const auto [queries, keys, d] = Shape{heads_.queries, heads_.keys, heads_.head_dim};
    for (Index h = 0; h < heads_.heads; ++h) {
      const float* const q = heads_.q + h * heads_.query_elements();
      const float* const dout = heads_.dout + h * heads_.query_elements();
      const float* const k = heads_.k + h * heads_.key_elements();
      const float* const v = heads_.v + h * heads_.key_elements();
      multiply({queries, keys, d}, {q, d}, {k, d, true}, scores_.floats());
      multiply({queries, keys, d}, {dout, d}, {v, d, true}, gradients_.floats());
      multiply({keys, d, queries}, {scores_.floats(), keys, true}, {dout, d}, of_keys_.floats());
      multiply({keys, d, queries}, {gradients_.floats(), keys, true}, {q, d}, of_keys_.floats());
      multiply({queries, d, keys}, {gradients_.floats(), keys}, {k, d},
               out_.floats() + h * heads_.query_elements());
    }
    return {};
  }
  ConstTensorRef out() override { return {}; }
  double workspace_bytes() const override {
    return static_cast<double>(scores_.bytes() + gradients_.bytes());
  }

 private:
  Buffer scores_;
  Buffer gradients_;
  Buffer of_keys_;
};

}  // namespace

Competitor openblas_products() {
  openblas_set_num_threads(1);
  return {"OpenBLAS sgemm, products only", Role::part,
          [](const Workload& workload, const Inputs& inputs) -> Prepared {
            const auto heads = materialised_heads(workload, inputs);
            if (!heads.ok()) return heads.status();
            if (workload.pass == Pass::backward)
              return {std::make_unique<BackwardProducts>(workload, heads.value())};
            return {std::make_unique<ForwardProducts>(workload, heads.value())};
          }};
}

}  // namespace attest::bench
