// gradient.*: what is not there has no gradient, and where things lie does not matter.
#include <limits>
#include <utility>
#include <vector>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/gradient_case.hpp"
#include "properties/judge_gradients.hpp"
#include "properties/laws.hpp"
#include "properties/probe.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// The case without a query and without a key, chosen by its seed. A lone key stays.
Case with_hidden_parts(const Case& from) {
  const Problem& problem = from.problem;
  const std::uint64_t seed = seed_of(from);
  const auto hidden_key = static_cast<Index>(seed % static_cast<std::uint64_t>(problem.seq_kv));
  Case on =
      with_hidden_query(from, static_cast<Index>(seed % static_cast<std::uint64_t>(problem.seq_q)));
  if (problem.seq_kv == 1) return on;
  for (Index query = 0; query < problem.seq_q; ++query)
    on.problem.mask.bits->visible[static_cast<std::size_t>(query * problem.seq_kv + hidden_key)] =
        false;
  return on;
}

/// Rows that see nothing, and keys that nothing sees, per batch member.
struct Hidden {
  std::vector<std::vector<bool>> queries, keys;

  explicit Hidden(const Problem& problem) {
    for (Index b = 0; b < problem.batch; ++b) {
      queries.emplace_back(static_cast<std::size_t>(problem.seq_q), true);
      keys.emplace_back(static_cast<std::size_t>(problem.seq_kv), true);
      for (Index query = 0; query < problem.query_length(b); ++query)
        for (const Index key : reference::visible_keys(problem, b, query)) {
          queries.back()[static_cast<std::size_t>(query)] = false;
          keys.back()[static_cast<std::size_t>(key)] = false;
        }
    }
  }
  static bool at(const std::vector<std::vector<bool>>& hidden, Index b, Index row) {
    return hidden[static_cast<std::size_t>(b)][static_cast<std::size_t>(row)];
  }
};

/// The same tensor with another number in hidden rows.
Tensor with_filler(const Tensor& from, const std::vector<std::vector<bool>>& hidden,
                   double filler) {
  if (from.extents() == Extents{}) return from;
  return filled(from.dtype(), from.extents(), [&](Index b, Index h, Index row, Index column) {
    return Hidden::at(hidden, b, row) ? filler : from.get(b, h, row, column);
  });
}

/// The backward pass alone, where nothing that is hidden holds a number.
GradientOutputs run_with_filler(const Kernel& kernel, const Case& on, const Hidden& hidden,
                                double filler, Outputs forward) {
  Case changed = on;
  for (const auto tensor : {&Case::q, &Case::dout, &Case::dlse})
    changed.*tensor = with_filler(on.*tensor, hidden.queries, filler);
  for (const auto tensor : {&Case::k, &Case::v})
    changed.*tensor = with_filler(on.*tensor, hidden.keys, filler);
  forward.out = with_filler(forward.out, hidden.queries, filler);
  return run_backward(kernel, changed, std::move(forward));
}

void check_zero(Tally& tally, const Case& on, const Hidden& hidden,
                const GradientOutputs& outputs) {
  for (Index b = 0; b < on.problem.batch; ++b)
    for (Index head = 0; head < on.problem.heads_kv; ++head)
      for (const GradientPart part : kGradientParts) {
        const auto& rows = part == GradientPart::dq ? hidden.queries : hidden.keys;
        for (const GradientElement& element : elements_of(on.problem, {b, head}, part)) {
          if (!Hidden::at(rows, b, element.place.row.query)) continue;
          tally.holds(element.of(outputs) == 0, element.place, element.of(outputs), 0,
                      "what is hidden must have a gradient of exactly 0");
        }
      }
  tally.end_row();
}

/// Under policy reject the backward pass refuses as the forward pass does.
void check_reject(Tally& tally, const Kernel& kernel, const Case& on, const Outputs& forward) {
  Case rejecting = on;
  rejecting.problem.all_masked = AllMaskedPolicy::reject;
  const Status first = run_kernel(kernel, rejecting).status;
  if (first.code() != StatusCode::all_masked_row) return;
  const Status then = run_backward(kernel, rejecting, forward).status;
  const bool same = then.code() == first.code() && then.row() == first.row();
  tally.holds(same, {"status", first.row().value_or(RowIndex{})}, same ? 1 : 0, 1,
              "policy reject must refuse the backward pass for the row of the forward pass");
}

/// Every element of the given rows written, and no other.
void check_written(Tally& tally, std::string_view name, const Tensor& stored,
                   const std::vector<StoredRow>& existing) {
  const auto total = static_cast<Index>(stored.bytes().size() / size_of(stored.dtype()));
  std::vector<bool> is_element(static_cast<std::size_t>(total));
  for (const StoredRow& at : existing)
    for (Index h = 0; h < stored.extents()[1]; ++h)
      for (Index column = 0; column < stored.extents()[3]; ++column) {
        const Index offset = element_offset(stored.strides(), at.b, h, at.row, column);
        is_element[static_cast<std::size_t>(offset)] = true;
      }
  for (Index offset = 0; offset < total; ++offset) {
    const bool element = is_element[static_cast<std::size_t>(offset)];
    tally.holds(is_poison_at(stored, offset) != element, {name, {}, offset}, element ? 0 : 1,
                element ? 1 : 0,
                element ? "element was not written (offset into its memory)"
                        : "memory outside of the gradient was written (offset into it)");
  }
  tally.end_row();
}

std::vector<StoredRow> stored_queries(const Problem& problem) {
  std::vector<StoredRow> rows;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.query_length(b); ++query)
      rows.push_back(stored_query(problem, b, query));
  return rows;
}
std::vector<StoredRow> stored_keys(const Problem& problem) {
  std::vector<StoredRow> rows;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index key = 0; key < problem.key_length(b); ++key)
      rows.push_back(stored_key(problem, b, key));
  return rows;
}
std::vector<StoredRow> all_stored(const Tensor& tensor) {
  std::vector<StoredRow> rows;
  for (Index b = 0; b < tensor.extents()[0]; ++b)
    for (Index row = 0; row < tensor.extents()[2]; ++row) rows.push_back({b, row});
  return rows;
}

void check_untouched(Tally& tally, const BackwardInputs& given, const BackwardInputs& before) {
  const auto same = [&](std::string_view name, const Tensor& got, const Tensor& want) {
    tally.holds(got.bytes() == want.bytes(), {name, {}}, 0, 0, "an input was changed");
  };
  same("q", given.inputs.q, before.inputs.q);
  same("k", given.inputs.k, before.inputs.k);
  same("v", given.inputs.v, before.inputs.v);
  same("bias", given.inputs.bias, before.inputs.bias);
  same("sink", given.inputs.sink, before.inputs.sink);
  same("dout", given.inputs.dout, before.inputs.dout);
  same("dlse", given.inputs.dlse, before.inputs.dlse);
  same("out", given.out, before.out);
  same("lse", given.lse, before.lse);
}

Verdict written_in(const Kernel& kernel, const Case& on) {
  const Outputs forward = run_kernel(kernel, on);
  if (const auto verdict = stopped(forward.status, on)) return *verdict;
  const BackwardInputs inputs = store(on, forward);
  const StoredGradients gradients = run_stored_backward(kernel, on, inputs);
  if (const auto verdict = stopped(gradients.status, on)) return *verdict;
  Tally tally;
  check_written(tally, "dq", gradients.dq, stored_queries(on.problem));
  check_written(tally, "dk", gradients.dk, stored_keys(on.problem));
  check_written(tally, "dv", gradients.dv, stored_keys(on.problem));
  check_written(tally, "dbias", gradients.dbias, all_stored(gradients.dbias));
  check_written(tally, "dsink", gradients.dsink, all_stored(gradients.dsink));
  check_untouched(tally, inputs, store(on, forward));
  return tally.verdict();
}

Verdict same_in_storage(const Kernel& kernel, const Case& stored, const GradientOutputs& dense) {
  const GradientOutputs outputs = run_backward(kernel, stored);
  if (const auto verdict = stopped(outputs.status, stored)) return *verdict;
  Tally tally;
  same_gradient_bits(tally, stored.problem, outputs, dense, "only the storage differs");
  return tally.verdict();
}

/// The case in other layouts and pages, as far as the kernel takes them.
std::vector<Case> other_storages(const Case& dense) {
  using Order = Layout::Order;
  std::vector<Case> cases;
  for (const Layout& layout : {Layout{Order::bshd, 3, 1}, Layout{Order::bhsd, 1, 2},
                               Layout{Order::sbhd, 0, 1}, Layout{Order::thd, 0, 1}}) {
    cases.push_back(dense);
    cases.back().problem.layout = layout;
  }
  for (const Index page_size : {Index{1}, Index{3}}) {
    cases.push_back(dense);
    cases.back().problem.kv = shuffled_pages(dense.problem, page_size, seed_of(dense));
  }
  if (dense.problem.key_lengths.empty()) return cases;
  cases.push_back(dense);
  cases.back().problem.kv.kind = KvStorage::Kind::left_padded;
  return cases;
}

}  // namespace

Verdict gradient_masked_rows(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  // With a sink a row without keys has gradients.
  const Case plain = without_sink(with_own_keys(densely_stored(backward_case(kernel, given))));
  if (plain.problem.seq_q == 0 || plain.problem.seq_kv == 0)
    return Verdict::weak("the case has no rows, or no keys");
  const Case on = with_hidden_parts(plain);
  const Hidden hidden(on.problem);
  const GradientOutputs want = run_backward(kernel, on);
  if (const auto verdict = stopped(want.status, on)) return *verdict;
  Tally tally;
  check_zero(tally, on, hidden, want);
  for (const double filler : {std::numeric_limits<double>::quiet_NaN(), 1e30}) {
    const GradientOutputs got = run_with_filler(kernel, on, hidden, filler, want.forward);
    if (const auto verdict = stopped(got.status, on)) return *verdict;
    same_gradient_bits(tally, on.problem, got, want, "what is hidden holds other numbers");
  }
  check_reject(tally, kernel, on, want.forward);
  return tally.verdict();
}

Verdict gradient_written(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = backward_case(kernel, given);
  Combined combined;
  combined.add(written_in(kernel, on));
  for (const Case& stored : other_storages(densely_stored(on)))
    if (!combined.violated()) combined.add(written_in(kernel, stored));
  return combined.verdict();
}

Verdict gradient_storage(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = densely_stored(backward_case(kernel, given));
  const GradientOutputs dense = run_backward(kernel, on);
  if (const auto verdict = stopped(dense.status, on)) return *verdict;
  Combined combined;
  for (const Case& stored : other_storages(on))
    if (!combined.violated()) combined.add(same_in_storage(kernel, stored, dense));
  return combined.verdict();
}

}  // namespace attest::properties
