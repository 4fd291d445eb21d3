// Where keys and rows lie: the pages of a cache, padding on the left, packed rows.
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

/// A key, or a row, of a batch member.
struct Place {
  Index b = 0;
  Index at = 0;
};

/// Where a kernel looks for key `key` of member b; the slot in memory, counted from its begin.
using SlotOf = std::function<Index(const Problem&, Index b, Index key)>;

Index begin_of_keys(const Problem& problem, Index b) {
  Index begin = 0;
  for (Index before = 0; before < b; ++before) begin += problem.key_length(before);
  return begin;
}

Index begin_of_queries(const Problem& problem, Index b) {
  Index begin = 0;
  for (Index before = 0; before < b; ++before) begin += problem.query_length(before);
  return begin;
}

Index slot_by_table(const Problem& problem, Index b, Index key) {
  const KvStorage& kv = problem.kv;
  const auto& table = kv.page_table[static_cast<std::size_t>(b)];
  return table[static_cast<std::size_t>(key / kv.page_size)] * kv.page_size + key % kv.page_size;
}

/// What the slots hold.
std::map<Index, Place> keys_in_memory(const Problem& problem, const SlotOf& slot_of) {
  std::map<Index, Place> held;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index key = 0; key < problem.key_length(b); ++key)
      held.emplace(slot_of(problem, b, key), Place{b, key});
  return held;
}

/// Keys lie where `right` says and are looked for where `wrong` says; a slot that holds none is
/// NaN.
properties::Fit reads_slots(SlotOf right, SlotOf wrong) {
  return solves([right = std::move(right), wrong = std::move(wrong)](Case& of) {
    const std::map<Index, Place> held = keys_in_memory(of.problem, right);
    for (Tensor* const tensor : {&of.k, &of.v}) {
      const Tensor from = *tensor;
      for_each_index(from.extents(), [&](Index b, Index h, Index key, Index c) {
        if (key >= of.problem.key_length(b)) return;
        const auto found = held.find(wrong(of.problem, b, key));
        tensor->set(b, h, key, c,
                    found == held.end() ? std::numeric_limits<double>::quiet_NaN()
                                        : from.get(found->second.b, h, found->second.at, c));
      });
    }
    return true;
  });
}

Hypothesis paged(std::string value, SlotOf wrong) {
  return {std::move(value), "", reads_slots(slot_by_table, std::move(wrong))};
}

/// By the table of another member; beyond it there is nothing.
SlotOf table_of_member(Index step) {
  return [step](const Problem& problem, Index b, Index key) -> Index {
    const Index other = (b + step + problem.batch) % problem.batch;
    const auto& table = problem.kv.page_table[static_cast<std::size_t>(other)];
    if (key / problem.kv.page_size >= static_cast<Index>(table.size())) return -1;
    return slot_by_table(problem, other, key);
  };
}

SlotOf pages_of_another_size(Index more) {
  return [more](const Problem& problem, Index b, Index key) -> Index {
    const Index size = problem.kv.page_size + more;
    const auto& table = problem.kv.page_table[static_cast<std::size_t>(b)];
    if (key / size >= static_cast<Index>(table.size())) return -1;
    return table[static_cast<std::size_t>(key / size)] * problem.kv.page_size + key % size;
  };
}

/// Pages as they lie in memory, the first member's first.
Index in_order_of_memory(const Problem& problem, Index b, Index key) {
  Index before = 0;
  for (Index other = 0; other < b; ++other)
    before += static_cast<Index>(problem.kv.page_table[static_cast<std::size_t>(other)].size());
  return before * problem.kv.page_size + key;
}

Index from_the_first_slot(const Problem&, Index, Index key) {
  return key;
}

void probe_pages(const Subject& subject, Found& found) {
  const Hypotheses hypotheses{
      paged("by the page table", slot_by_table),
      paged("pages in the order of memory", in_order_of_memory),
      paged("every member from the first page on", from_the_first_slot),
      paged("table of the next member", table_of_member(1)),
      paged("table of the member before", table_of_member(-1)),
      {"table of the first member", "", known_as("pages of the first batch member")},
      {"last pages of a table that is longer than needed", "", known_as("last pages of the table")},
      paged("a page taken for one slot longer", pages_of_another_size(1)),
      paged("a page taken for one slot shorter", pages_of_another_size(-1))};
  found.push_back(
      decide(subject, "paged cache",
             std::vector<std::string>{
                 "3x2:3x{10,7,9}:8 TYPE LSE kv=paged:4:10:5,0,8,3/2,7,1/9,4,6 vals=normal:1",
                 "3x1:2x{5,6,8}:8 TYPE LSE kv=paged:3:9:7,3,8/1,6,4/5,0,2 vals=normal:2"},
             hypotheses));
  found.push_back(decide(
      subject, "paged cache, shared pages",
      std::vector<std::string>{"2x2:3x{8,7}:8 TYPE LSE kv=paged:4:4:3,0/3,1 vals=normal:1",
                               "2x1:2x{6,5}:8 TYPE LSE kv=paged:3:4:1,2/1,3 vals=normal:2"},
      {paged("by the page table", slot_by_table),
       {"a shared page is taken for the next one", "", known_as("shared pages read elsewhere")},
       {"pages in the order of memory", "", known_as("pages in the order of memory")},
       {"table of the first member", "", known_as("pages of the first batch member")}}));
}

void probe_left_padding(const Subject& subject, Found& found) {
  found.push_back(
      decide(subject, "left padding",
             std::vector<std::string>{"2x2:3x{9,5}:8 TYPE LSE kv=leftpad vals=normal:1",
                                      "3x1:4x{4,11,7}:8 TYPE LSE kv=leftpad vals=normal:2"},
             {{"in front of the keys", "", as_asked()},
              {"looked for behind the keys", "", known_as("padding on the other side")}}));
}

Index packed_slot(const Problem& problem, Index b, Index key) {
  return begin_of_keys(problem, b) + key;
}

Hypothesis packed(std::string value, SlotOf wrong) {
  return {std::move(value), "", reads_slots(packed_slot, std::move(wrong))};
}

/// Query rows where they lie, read from the begin of member `of_member(b)`.
properties::Fit reads_queries_of(Index (*of_member)(const Problem&, Index b)) {
  return solves([of_member](Case& of) {
    const Problem& problem = of.problem;
    const Tensor from = of.q;
    const auto place = [&](Index row) -> std::optional<Place> {
      for (Index b = 0; b < problem.batch; row -= problem.query_length(b++))
        if (row < problem.query_length(b)) return Place{b, row};
      return std::nullopt;
    };
    for_each_index(from.extents(), [&](Index b, Index h, Index query, Index c) {
      if (query >= problem.query_length(b)) return;
      const auto found = place(begin_of_queries(problem, of_member(problem, b)) + query);
      of.q.set(
          b, h, query, c,
          found ? from.get(found->b, h, found->at, c) : std::numeric_limits<double>::quiet_NaN());
    });
    return true;
  });
}

void probe_packed_rows(const Subject& subject, Found& found) {
  found.push_back(decide(
      subject, "packed rows",
      std::vector<std::string>{"3x2:{3,5,2}x{6,4,7}:8 TYPE LSE layout=thd vals=normal:1",
                               "3x1:{4,2,3}x{5,8,6}:8 TYPE LSE layout=thd vals=normal:2"},
      {packed("each member from its own first row on", packed_slot),
       packed("k and v from the first row of all", from_the_first_slot),
       packed("k and v of the next member",
              [](const Problem& problem, Index b, Index key) {
                return packed_slot(problem, (b + 1) % problem.batch, key);
              }),
       packed("k and v of the member before",
              [](const Problem& problem, Index b, Index key) {
                return packed_slot(problem, (b + problem.batch - 1) % problem.batch, key);
              }),
       packed("k and v from where the queries of the member begin",
              [](const Problem& problem, Index b, Index key) {
                return begin_of_queries(problem, b) + key;
              }),
       packed("k and v as if every member had the longest length",
              [](const Problem& problem, Index b, Index key) { return b * problem.seq_kv + key; }),
       {"q from the first row of all", "",
        reads_queries_of([](const Problem&, Index) -> Index { return 0; })},
       {"q of the next member", "", reads_queries_of([](const Problem& problem, Index b) {
          return (b + 1) % problem.batch;
        })}}));
}

}  // namespace

void probe_storage(const Subject& subject, Found& found) {
  probe_pages(subject, found);
  probe_left_padding(subject, found);
  probe_packed_rows(subject, found);
}

}  // namespace attest::probe
