// storage.*, heads.*, batch.*: where rows lie, and which rows there are beside, changes no bit.
#include <algorithm>
#include <array>
#include <limits>
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

/// Shuffled pages, of which the other members have the leading ones of the first, and a page more
/// than the keys need at the end of every table.
KvStorage shared_pages(const Problem& problem, Index page_size, std::uint64_t seed) {
  KvStorage kv = shuffled_pages(problem, page_size, seed);
  const std::vector<Index> first = kv.page_table.front();
  for (std::vector<Index>& table : kv.page_table) {
    std::copy_n(first.begin(), std::min(first.size(), table.size()), table.begin());
    table.push_back(kv.pages);
  }
  ++kv.pages;
  return kv;
}

/// Members that share pages give the bits of members with copies of them.
Verdict shared_as_copies(const Kernel& kernel, const Case& given) {
  Case shared = given.problem.batch == 1 ? with_strangers(given) : given;
  Combined combined;
  for (const Index page_size : {Index{1}, Index{3}}) {
    shared.problem.kv = shared_pages(shared.problem, page_size, seed_of(given));
    share_values(shared);
    Case copies = shared;
    copies.problem.kv = {};
    const Outputs dense = run_kernel(kernel, copies);
    if (const auto verdict = stopped(dense, copies)) return *verdict;
    combined.add(same_in_storage(kernel, shared, dense, "members share pages"));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

/// Other rows for every member: the last ones do not exist, the first member has all.
Case with_ragged_queries(Case from) {
  Problem& problem = from.problem;
  for (Index b = 0; b < problem.batch; ++b)
    problem.query_lengths.push_back(std::max(problem.seq_q - b, Index{0}));
  return from;
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

/// The bias with another number where none of the rows that read it exists, or none of the keys.
void fill_absent_bias(const Problem& problem, Tensor& bias, double filler) {
  if (!problem.bias) return;
  const auto exists = [&](Index b, Index query, Index key) {
    return key < problem.key_length(b) && (problem.bias->per_query ? query < problem.query_length(b)
                                                                   : problem.query_length(b) > 0);
  };
  for_each_index(bias.extents(), [&](Index b, Index h, Index query, Index key) {
    bool read = false;
    for (Index member = 0; member < problem.batch; ++member)
      read = read || ((!problem.bias->per_batch || member == b) && exists(member, query, key));
    if (!read) bias.set(b, h, query, key, filler);
  });
}

/// Where all members have all keys, the first one loses half of them.
void shorten_first_member(Problem& problem) {
  if (!problem.key_lengths.empty() || problem.batch == 0) return;
  problem.key_lengths.assign(static_cast<std::size_t>(problem.batch), problem.seq_kv);
  problem.key_lengths.front() = problem.seq_kv / 2;
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
  Case on = dense_rows_and_keys(forward_only(given));
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  using Order = Layout::Order;
  Combined combined;
  for (const Layout& layout :
       {Layout{Order::bshd, 3, 1}, Layout{Order::bhsd, 0, 1}, Layout{Order::sbhd, 0, 1},
        Layout{Order::bshd, 0, 2}, Layout{Order::bhsd, 1, 2}, Layout{Order::thd, 0, 1}}) {
    on.problem.layout = layout;
    combined.add(same_in_storage(kernel, on, dense, "only the layout differs"));
    if (combined.violated()) return combined.verdict();
  }
  // Packed rows differ from the others where the members have rows of their own number.
  on.problem.layout = {};
  if (on.problem.query_lengths.empty() && on.problem.batch > 1) {
    Case ragged = with_ragged_queries(on);
    const Outputs rows = run_kernel(kernel, ragged);
    if (const auto verdict = stopped(rows, ragged)) {
      combined.add(*verdict);
      return combined.verdict();
    }
    ragged.problem.layout.order = Order::thd;
    combined.add(same_in_storage(kernel, ragged, rows, "only the layout differs"));
  }
  return combined.verdict();
}

Verdict storage_paged(const Kernel& kernel, const Case& given) {
  Case on = dense_rows_and_keys(forward_only(given));
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  Combined combined;
  if (on.problem.batch > 0) combined.add(shared_as_copies(kernel, on));
  if (combined.violated()) return combined.verdict();
  for (const Index page_size : {Index{1}, Index{3}, on.tiling.tile_kv, on.problem.seq_kv + 2}) {
    on.problem.kv = shuffled_pages(on.problem, page_size, seed_of(on));
    combined.add(same_in_storage(kernel, on, dense, "only the pages differ"));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

Verdict storage_left_padding(const Kernel& kernel, const Case& given) {
  Case on = dense_rows_and_keys(forward_only(given));
  if (kernel.description().capabilities.key_lengths) shorten_first_member(on.problem);
  const Outputs dense = run_kernel(kernel, on);
  if (const auto verdict = stopped(dense, on)) return *verdict;
  on.problem.kv.kind = KvStorage::Kind::left_padded;
  return same_in_storage(kernel, on, dense, "only the side of the padding differs");
}

Verdict storage_unused_slots(const Kernel& kernel, const Case& given) {
  Case on = forward_only(given);
  const Capabilities& can = kernel.description().capabilities;
  // A bias that all members share has columns without a key only where all are short.
  if (on.problem.bias && can.key_lengths && on.problem.batch == 1) shorten_first_member(on.problem);
  const bool pages = can.has(Feature::paged);
  if (on.problem.kv.kind == KvStorage::Kind::dense && pages)
    on.problem.kv = shuffled_pages(on.problem, 3, seed_of(on));
  else if (on.problem.layout.dense_bshd())
    on.problem.layout.row_padding = 2;
  StoredInputs poisoned = store(on);
  fill_absent_bias(on.problem, poisoned.bias, std::numeric_limits<double>::quiet_NaN());
  const Outputs before = run_kernel(kernel, on, poisoned);
  if (const auto verdict = stopped(before, on)) return *verdict;
  Tally tally;
  for (const double filler : {0.0, 1e30, -1e30}) {
    StoredInputs filled_in = store(on);
    for (Tensor* const tensor : {&filled_in.q, &filled_in.k, &filled_in.v, &filled_in.qv})
      fill_unused(*tensor, filler);
    fill_absent_bias(on.problem, filled_in.bias, filler);
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
    same_row_bits(tally, {after, there}, {before, row}, "the batch member is at another place");
  });
  return tally.verdict();
}

Verdict heads_map(const Kernel& kernel, const Case& on) {
  struct Heads {
    Index q, kv;
  };
  constexpr std::array<Heads, 3> grouped{{{6, 3}, {6, 2}, {4, 1}}};
  const Heads heads = kernel.description().capabilities.grouped_heads
                          ? grouped[seed_of(on) % grouped.size()]
                          : Heads{3, 3};
  const Index keys = power_of_two_keys(on);
  Case probe = blank_probe(kernel, with_heads(on, heads.q, heads.kv), keys, 2);
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
