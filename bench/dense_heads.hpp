// What the adapters of other libraries see of a workload: f32, dense, (head, row, column).
#pragma once

#include <cmath>
#include <cstddef>

#include "bench/call.hpp"

namespace attest::bench {

struct DenseHeads {
  Index heads = 1;
  Index queries = 1;
  Index keys = 1;
  Index head_dim = 1;
  bool causal = false;
  float scale = 1;
  const float* q = nullptr;  ///< heads x queries x head_dim
  const float* k = nullptr;  ///< heads x keys x head_dim
  const float* v = nullptr;
  const float* dout = nullptr;

  Index query_elements() const { return queries * head_dim; }
  Index key_elements() const { return keys * head_dim; }
  Index pairs() const { return queries * keys; }
  std::size_t square_bytes() const { return static_cast<std::size_t>(pairs()) * sizeof(float); }
};

/// `unsupported` for what the adapters do not offer.
inline Result<DenseHeads> dense_heads(const Workload& workload, const Inputs& inputs) {
  const Problem& problem = workload.problem;
  Mask rest = problem.mask;
  rest.causal.reset();
  if (problem.dtype != Dtype::f32) return not_offered("the adapter is for f32");
  if (!rest.none()) return not_offered("the adapter is for the causal mask only");
  if (workload.threads != 1) return not_offered("the adapter is for one thread");
  return DenseHeads{problem.batch * problem.heads_q,
                    problem.seq_q,
                    problem.seq_kv,
                    problem.head_dim,
                    problem.mask.causal.has_value(),
                    static_cast<float>(scale_value(problem)),
                    inputs.q.floats(),
                    inputs.k.floats(),
                    inputs.v.floats(),
                    inputs.dout.floats()};
}

/// The same for an adapter that holds the scores of a whole head, which must fit into memory.
inline Result<DenseHeads> materialised_heads(const Workload& workload, const Inputs& inputs) {
  auto heads = dense_heads(workload, inputs);
  constexpr std::size_t limit = std::size_t{2} << 30;
  if (heads.ok() && heads.value().square_bytes() > limit)
    return not_offered("the scores of one head take more than 2 GiB");
  return heads;
}

/// A forward call on such heads with an output of their order.
class DenseCall : public Call {
 public:
  DenseCall(const Workload& workload, const DenseHeads& heads)
      : heads_(heads),
        work_(work_of(workload)),
        out_(workload.problem.layout, Dtype::f32, workload.problem.out_extents()) {}
  double work() const override { return work_; }
  ConstTensorRef out() override { return read_only(out_.ref()); }

 protected:
  DenseHeads heads_;
  double work_;
  Dense out_;
};

}  // namespace attest::bench
