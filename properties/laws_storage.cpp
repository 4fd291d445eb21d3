// storage.*, heads.*, batch.*: where rows lie, and which rows there are beside, changes no bit.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/probe.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// Runs the case in the storage of `stored`, and compares with what the dense one gave.
Verdict same_in_storage(const Kernel& kernel, const Case& stored, const Outputs& dense,
                        std::string_view reason) {
  const Outputs outputs = run_kernel(kernel, stored);
  if (const auto verdict = stopped(outputs, stored)) return *verdict;
  Tally tally;
  for_each_row(stored.problem,
               [&](const RowIndex& row) { same_row_bits(tally, row, outputs, dense, reason); });
  return tally.verdict();
}

/// The same memory with another number wherever nothing is stored.
void fill_unused(Tensor& stored, double filler) {
  const std::size_t size = size_of(stored.dtype());
  const auto elements = static_cast<Index>(stored.bytes().size() / size);
  for (Index offset = 0; offset < elements; ++offset)
    if (is_poison_at(stored, offset))
      store_element(stored.dtype(), stored.bytes().data() + static_cast<std::size_t>(offset) * size,
                    filler);
}

/// The members of a case in another order.
Case reordered_members(const Case& on, const std::vector<Index>& order) {
  Case moved = on;
  Problem& problem = moved.problem;
  const auto pick = [&](auto& of_members) {
    if (of_members.empty()) return;
    const auto from = of_members;
    for (std::size_t b = 0; b < order.size(); ++b)
      of_members[b] = from[static_cast<std::size_t>(order[b])];
  };
  pick(problem.key_lengths);
  pick(problem.query_lengths);
  pick(problem.kv.page_table);
  if (problem.descales)
    for (auto* const factors : {&problem.descales->q, &problem.descales->k, &problem.descales->v}) {
      if (factors->size() == 1) continue;
      const std::vector<double> from = *factors;
      const auto heads = static_cast<std::size_t>(problem.heads_kv);
      for (std::size_t i = 0; i < from.size(); ++i)
        (*factors)[i] = from[static_cast<std::size_t>(order[i / heads]) * heads + i % heads];
    }
  for (const CaseTensor& of : case_tensors()) {
    const Tensor& tensor = on.*of.tensor;
    if (tensor.extents()[0] != problem.batch) continue;
    moved.*of.tensor =
        filled(tensor.dtype(), tensor.extents(), [&](Index b, Index h, Index row, Index column) {
          return tensor.get(order[static_cast<std::size_t>(b)], h, row, column);
        });
  }
  becomes_literal(moved);
  return moved;
}

Case with_heads(Case from, Index heads_q, Index heads_kv) {
  from.problem.heads_q = heads_q;
  from.problem.heads_kv = heads_kv;
  return from;
}

}  // namespace

Verdict storage_layouts(const Kernel& kernel, const Case& given) {
  Case on = densely_stored(forward_only(given));
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  using Order = Layout::Order;
  Combined combined;
  for (const Layout& layout :
       {Layout{Order::bshd, 3, 1}, Layout{Order::bhsd, 0, 1}, Layout{Order::sbhd, 0, 1},
        Layout{Order::bshd, 0, 2}, Layout{Order::bhsd, 1, 2}, Layout{Order::thd, 0, 1}}) {
    on.problem.layout = layout;
    combined.add(same_in_storage(kernel, on, dense, "only the layout differs"));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

Verdict storage_paged(const Kernel& kernel, const Case& given) {
  Case on = densely_stored(forward_only(given));
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  Combined combined;
  for (const Index page_size : {Index{1}, Index{3}, on.tiling.tile_kv, on.problem.seq_kv + 2}) {
    on.problem.kv = shuffled_pages(on.problem, page_size, seed_of(on));
    combined.add(same_in_storage(kernel, on, dense, "only the pages differ"));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

Verdict storage_left_padding(const Kernel& kernel, const Case& given) {
  Case on = densely_stored(forward_only(given));
  if (on.problem.key_lengths.empty() && on.problem.batch > 0 &&
      kernel.description().capabilities.key_lengths) {
    on.problem.key_lengths.assign(static_cast<std::size_t>(on.problem.batch), on.problem.seq_kv);
    on.problem.key_lengths.front() = on.problem.seq_kv / 2;
  }
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  on.problem.kv.kind = KvStorage::Kind::left_padded;
  return same_in_storage(kernel, on, dense, "only the side of the padding differs");
}

Verdict storage_unused_slots(const Kernel& kernel, const Case& given) {
  Case on = forward_only(given);
  const Capabilities& can = kernel.description().capabilities;
  const bool pages =
      std::find(can.features.begin(), can.features.end(), Feature::paged) != can.features.end();
  if (on.problem.kv.kind == KvStorage::Kind::dense && pages)
    on.problem.kv = shuffled_pages(on.problem, 3, seed_of(on));
  else if (on.problem.layout.dense_bshd())
    on.problem.layout.row_padding = 2;
  const StoredInputs poisoned = store(on);
  const Outputs before = run_kernel(kernel, on, poisoned);
  if (const auto verdict = stopped(before, on)) return *verdict;
  Tally tally;
  for (const double filler : {0.0, 1e30, -1e30}) {
    StoredInputs filled_in = store(on);
    for (Tensor* const tensor : {&filled_in.q, &filled_in.k, &filled_in.v, &filled_in.qv})
      fill_unused(*tensor, filler);
    const Outputs after = run_kernel(kernel, on, filled_in);
    if (const auto verdict = stopped(after, on)) return *verdict;
    for_each_row(on.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, after, before, "memory that holds nothing was filled");
    });
  }
  return tally.verdict();
}

Verdict storage_ragged_members(const Kernel& kernel, const Case& given) {
  const Case on = forward_only(given);
  const Outputs together = run_kernel(kernel, on);
  if (const auto verdict = stopped(together, on)) return *verdict;
  const Truth truth(kernel, on);
  Tally tally;
  for (Index b = 0; b < on.problem.batch; ++b) {
    const Case member = single_member(on, b);
    const Outputs alone = run_kernel(kernel, member);
    if (const auto verdict = stopped(alone, member)) return *verdict;
    const Truth alone_truth(kernel, member);
    for_each_row(member.problem, [&](const RowIndex& row) {
      const RowIndex there{b, row.head, row.query};
      const auto exact = truth.row(there);
      const auto alone_exact = alone_truth.row(row);
      if (!exact || !alone_exact)
        tally.undecided("a visible input is not finite");
      else
        agree_rows(tally, {alone, row, *alone_exact}, {together, there, *exact});
    });
  }
  return tally.verdict();
}

Verdict batch_row_position(const Kernel& kernel, const Case& given) {
  // A member that is alone gets a neighbour.
  const Case on = given.problem.batch == 1 ? with_strangers(densely_stored(forward_only(given)))
                                           : forward_only(given);
  const Outputs before = run_kernel(kernel, on);
  if (const auto verdict = stopped(before, on)) return *verdict;
  const Index batch = on.problem.batch;
  std::vector<Index> reversed = all_keys(batch);
  std::reverse(reversed.begin(), reversed.end());
  const Case moved = reordered_members(on, reversed);
  const Outputs after = run_kernel(kernel, moved);
  if (const auto verdict = stopped(after, moved)) return *verdict;
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const RowIndex there{batch - 1 - row.batch, row.head, row.query};
    for (Index c = 0; c < on.problem.head_dim_v; ++c)
      tally.same_bits({"out", row, c}, after.at(there, c), before.at(row, c),
                      "the batch member is at another place");
    if (before.has_lse())
      tally.same_bits({"lse", row}, after.lse_at(there), before.lse_at(row),
                      "the batch member is at another place");
    tally.end_row();
  });
  return tally.verdict();
}

Verdict heads_map(const Kernel& kernel, const Case& on) {
  const bool grouped = kernel.description().capabilities.grouped_heads;
  const Index keys = power_of_two_keys(on);
  Case probe = blank_probe(kernel, with_heads(on, grouped ? 6 : 3, 3), keys, 2);
  if (auto verdict = rounds_exact_results(kernel.accuracy(probe.problem), probe.problem.dtype))
    return *verdict;
  // Column 0 says whose v was read; column 1, through the only key that has weight, whose k.
  set_scores(
      probe, [](Index, Index, Index, Index) { return 1.0; },
      [&](Index, Index h, Index key, Index) { return key == h % keys ? 0.0 : -4096.0; });
  probe = with_values(std::move(probe), &Case::v, [](Index, Index h, Index key, Index column) {
    return column == 0 ? static_cast<double>(h + 1) : static_cast<double>(key + 1);
  });
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  const Index group = probe.problem.heads_q / probe.problem.heads_kv;
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    const Index kv_head = row.head / group;
    const auto value = static_cast<double>(kv_head + 1);
    const auto key = static_cast<double>(kv_head % keys + 1);
    tally.holds(outputs.at(row, 0) == value, {"out", row, 0}, outputs.at(row, 0), value,
                "the values are those of another key/value head");
    tally.holds(outputs.at(row, 1) == key, {"out", row, 1}, outputs.at(row, 1), key,
                "the keys are those of another key/value head");
    tally.end_row();
  });
  return tally.verdict();
}

}  // namespace attest::properties
