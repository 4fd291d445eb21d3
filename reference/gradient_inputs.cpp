#include <cstddef>

#include "attest/element.hpp"
#include "attest/tensor.hpp"
#include "reference/gradients.hpp"
#include "reference/visibility.hpp"

namespace attest::reference {
std::optional<GradientInputs> read_gradient_inputs(const Inputs& inputs, const ConstTensorRef& dout,
                                                   const ConstTensorRef& dlse, Index b,
                                                   Index kv_head) {
  const Problem& problem = *inputs.problem;
  if (problem.qv || problem.has_fp8_inputs()) return std::nullopt;
  const RowReader reader(inputs);
  GradientInputs gathered;
  gathered.keys = problem.key_length(b);
  gathered.head_dim = problem.head_dim;
  gathered.head_dim_v = problem.head_dim_v;
  gathered.scale = scale_value(problem);
  gathered.softcap = problem.softcap;
  gathered.bias_before_softcap = problem.order.bias_before_softcap;
  // Whether a number is finite matters only where a row sees it.
  for (Index key = 0; key < gathered.keys; ++key) {
    static_cast<void>(reader.append_key(b, kv_head, key, gathered.k));
    static_cast<void>(reader.append_value(b, kv_head, key, gathered.v));
  }
  const Index group = problem.heads_q / problem.heads_kv;
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (Index query = 0; query < problem.query_length(b); ++query) {
      const RowIndex index{b, head, query};
      GradientRow& row = gathered.rows.emplace_back();
      static_cast<void>(reader.append_query(index, row.q));
      for (Index c = 0; c < problem.head_dim_v; ++c)
        row.output_gradient.push_back(number_at(dout, index.batch, index.head, index.query, c));
      if (dlse.data != nullptr)
        row.lse_gradient = number_at(dlse, index.batch, index.head, index.query, 0);
      row.keys = visible_keys(problem, b, query);
      row.addends = reader.addends(index, row.keys);
      row.sink = reader.sink(head);
    }
  return gathered;
}

}  // namespace attest::reference
