// terms.*: what is added to scores, and beside them.
#include <utility>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// The case under a causal mask on the diagonal of its ALiBi, so that no key lies behind its query.
Case with_alibi(const Case& given, Alibi::Form form) {
  Case on = plain_empty_rows(without_sink(without_softcap(given)));
  Problem& problem = on.problem;
  if (!problem.alibi) problem.alibi = Alibi{};
  problem.alibi->form = form;
  problem.mask.causal = Causal{problem.alibi->alignment, 0};
  problem.mask.alignment.reset();
  problem.mask.prefix.reset();
  return on;
}

/// slope p of a row: what the column form adds to every score.
double column_shift(const Problem& problem, const RowIndex& row) {
  const Index offset = problem.alibi->alignment == Causal::Alignment::bottom_right
                           ? problem.key_length(row.batch) - problem.query_length(row.batch)
                           : 0;
  return alibi_slope(problem, row.head) * static_cast<double>(row.query + offset);
}

/// One more key: dot product 0, value 0, and the sink of its head as a bias.
/// Precondition: spelled out, a sink.
Case with_null_key(const Case& on) {
  const Index keys = on.problem.seq_kv;
  Case longer = without_sink(on);
  Problem& problem = longer.problem;
  problem.seq_kv = keys + 1;
  problem.bias = Bias{false, true, true, std::nullopt};
  const auto with_zero_row = [&](const Tensor& tensor, const Extents& extents) {
    return filled(tensor.dtype(), extents, [&](Index b, Index h, Index key, Index column) {
      return key < keys ? tensor.get(b, h, key, column) : 0.0;
    });
  };
  longer.k = with_zero_row(on.k, problem.k_extents());
  longer.v = with_zero_row(on.v, problem.v_extents());
  longer.bias = filled(problem.compute_dtype(), problem.bias_extents(),
                       [&](Index, Index h, Index query, Index key) {
                         if (key < keys) return on.problem.bias ? on.bias.get(0, h, query, key) : 0;
                         return on.problem.sink->zero ? 0.0 : on.sink.get(0, h, 0, 0);
                       });
  if (const auto& bits = on.problem.mask.bits) {
    MaskBits more{bits->rows, keys + 1, {}};
    for (Index row = 0; row < bits->rows; ++row)
      for (Index key = 0; key <= keys; ++key)
        more.visible.push_back(key == keys || bits->at(row, key));
    problem.mask.bits = std::move(more);
  }
  return longer;
}

}  // namespace

Verdict terms_alibi_forms(const Kernel& kernel, const Case& on) {
  const Case absolute = with_alibi(on, Alibi::Form::absolute);
  const Case relative = with_alibi(on, Alibi::Form::relative);
  const Case column = with_alibi(on, Alibi::Form::column);
  Combined combined;
  combined.add(agree_cases(kernel, absolute, relative));
  if (combined.violated()) return combined.verdict();
  combined.add(agree_cases(kernel, relative, column,
                           [&](const RowIndex& row) { return column_shift(column.problem, row); }));
  return combined.verdict();
}

Verdict terms_sink_is_null_logit(const Kernel& kernel, const Case& given) {
  if (given.problem.batch == 0) return Verdict::weak("the case has no rows");
  Case on = spelled_out(single_member(given, 0));
  // Behind a softcap the bias of the new key would be capped, and the sink is not.
  on.problem.order = {};
  if (!on.problem.sink) {
    on.problem.sink = Sink{};
    on.sink = filled(on.problem.compute_dtype(), on.problem.sink_extents(),
                     [](Index, Index h, Index, Index) { return static_cast<double>(h) - 1; });
  }
  on.problem.sink->in_lse = true;
  return agree_cases(kernel, on, with_null_key(on));
}

}  // namespace attest::properties
