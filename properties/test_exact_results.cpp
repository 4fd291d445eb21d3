#include "properties/test_exact_results.hpp"

#include <limits>
#include <string_view>

#include "properties/judge.hpp"
#include "reference/gradients.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {
namespace {

constexpr int kBits = reference::kPrecisionLadder.back();
constexpr Enclosure kNan{std::numeric_limits<double>::quiet_NaN(), 0, 0};

std::size_t offset(const Extents& extents, Index b, Index h, Index row, Index column) {
  return static_cast<std::size_t>(((b * extents[1] + h) * extents[2] + row) * extents[3] + column);
}

ExactList nothing(const Extents& extents) {
  return ExactList(static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
}

/// No bound is as small: the oracle goes to the end of its precisions.
RowBound no_error(const RowFacts& facts) {
  RowBound bound;
  bound.output.resize(facts.output.size());
  return bound;
}

/// The output of a row that sees nothing and has no sink.
std::optional<Enclosure> empty_output(AllMaskedPolicy policy, const Enclosure& zero_or_mean) {
  if (policy == AllMaskedPolicy::nan) return kNan;
  if (policy == AllMaskedPolicy::zero || policy == AllMaskedPolicy::mean) return zero_or_mean;
  return std::nullopt;
}

ExactList exact_rows(const Case& of, bool lse) {
  const Problem& problem = of.problem;
  const Extents extents = lse ? problem.lse_extents() : problem.out_extents();
  ExactList list = nothing(extents);
  for_each_row(problem, [&](const RowIndex& row) {
    const auto [b, h, query] = row;
    const auto exact = reference::certify_row(inputs_of(of), row, no_error);
    const bool empty = exact && exact->facts.keys.empty() && !problem.sink;
    for (Index c = 0; c < extents[3]; ++c) {
      std::optional<Enclosure>& element = list[offset(extents, b, h, query, c)];
      if (!exact)
        element = kNan;
      else if (lse)
        element = exact->asked_lse;
      else if (empty)
        element =
            empty_output(problem.all_masked, exact->facts.output[static_cast<std::size_t>(c)]);
      else
        element = exact->facts.output[static_cast<std::size_t>(c)];
    }
  });
  return list;
}

/// The query heads that read one kv head of one batch member, and their rows in the order of the
/// gradients.
struct KvHead {
  Index b = 0;
  Index head = 0;
  std::vector<RowIndex> rows;
};

KvHead kv_head(const Problem& problem, Index b, Index head) {
  KvHead found{b, head, {}};
  for (Index h = 0; h < problem.heads_q; ++h)
    for (Index query = 0; problem.kv_head(h) == head && query < problem.query_length(b); ++query)
      found.rows.push_back({b, h, query});
  return found;
}

/// dk or dv: one row a key.
void place_keys(ExactList& list, const Extents& extents, const KvHead& part,
                const std::vector<Enclosure>& exact) {
  const std::size_t first = offset(extents, part.b, part.head, 0, 0);
  for (std::size_t i = 0; i < exact.size(); ++i) list[first + i] = exact[i];
}

void place_queries(ExactList& list, const Extents& extents, const KvHead& part,
                   const std::vector<Enclosure>& exact) {
  const auto columns = static_cast<std::size_t>(extents[3]);
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const auto [b, h, query] = part.rows[i];
    for (std::size_t c = 0; c < columns; ++c)
      list[offset(extents, b, h, query, static_cast<Index>(c))] = exact[i * columns + c];
  }
}

/// Terms of an element that is summed over the rows, heads and members that share it.
using Terms = std::vector<std::vector<Enclosure>>;

/// dbias or dsink: one row of numbers a query.
void add_queries(Terms& terms, const Extents& extents, const KvHead& part,
                 const std::vector<Enclosure>& exact) {
  const std::size_t columns = part.rows.empty() ? 0 : exact.size() / part.rows.size();
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const auto [b, h, query] = part.rows[i];
    const std::size_t first = offset(extents, extents[0] == 1 ? 0 : b, extents[1] == 1 ? 0 : h,
                                     extents[2] == 1 ? 0 : query, 0);
    for (std::size_t c = 0; c < columns; ++c) terms[first + c].push_back(exact[i * columns + c]);
  }
}

/// Calls body(part, exact) for the gradients of this name, one kv head after the other.
template <class Body>
void for_each_gradient(const Case& of, std::size_t number, Body&& body) {
  const auto dlse = of.problem.backward->dlse ? of.dlse.ref() : ConstTensorRef{};
  for (Index b = 0; b < of.problem.batch; ++b)
    for (Index head = 0; head < of.problem.heads_kv; ++head) {
      const auto inputs =
          reference::read_gradient_inputs(inputs_of(of), of.dout.ref(), dlse, b, head);
      if (!inputs) continue;
      const auto facts = reference::enclose_gradients(*inputs, kBits);
      if (facts) body(kv_head(of.problem, b, head), *facts->exact.lists()[number]);
    }
}

ExactList exact_gradient(const Case& of, std::size_t number, const Extents& extents) {
  const bool of_keys = std::string_view(kGradientNames[number]) != "dq";
  ExactList list = nothing(extents);
  for_each_gradient(of, number, [&](const KvHead& part, const std::vector<Enclosure>& exact) {
    of_keys ? place_keys(list, extents, part, exact) : place_queries(list, extents, part, exact);
  });
  return list;
}

ExactList exact_sums(const Case& of, std::size_t number, const Extents& extents) {
  ExactList list = nothing(extents);
  Terms terms(list.size());
  for_each_gradient(of, number, [&](const KvHead& part, const std::vector<Enclosure>& exact) {
    add_queries(terms, extents, part, exact);
  });
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!terms[i].empty()) list[i] = reference::enclose_sum(terms[i]);
  return list;
}

}  // namespace

ExactList exact_result(const Case& of, const std::string& tensor) {
  const Problem& problem = of.problem;
  if (tensor == "out" || tensor == "lse") return exact_rows(of, tensor == "lse");
  if (tensor == "dq") return exact_gradient(of, 0, problem.q_extents());
  if (tensor == "dk") return exact_gradient(of, 1, problem.k_extents());
  if (tensor == "dv") return exact_gradient(of, 2, problem.v_extents());
  if (tensor == "dbias") return exact_sums(of, 3, problem.bias_extents());
  return exact_sums(of, 4, problem.sink_extents());
}

}  // namespace attest::properties
