#include "properties/test_exact_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "properties/judge.hpp"
#include "reference/gradients.hpp"
#include "reference/oracle.hpp"
#include "reference/row.hpp"
#include "reference/visibility.hpp"

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
    const bool empty = reference::visible_keys(problem, b, query).empty() && !problem.sink;
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

/// The sum of two numbers, rounded outward.
Enclosure sum(const Enclosure& a, const Enclosure& b) {
  const double high = a.high + b.high;
  const double part = high - a.high;
  const double rest = (a.high - (high - part)) + (b.high - part);  // exact (Knuth, two-sum)
  const double low = a.low + b.low + rest;
  const double lost = 0x1p-51 * (std::abs(a.low) + std::abs(b.low) + std::abs(rest));
  return {high, low, (a.radius + b.radius + lost) * (1 + 0x1p-50)};
}

void add(std::optional<Enclosure>& to, const Enclosure& term) {
  to = to ? sum(*to, term) : term;
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

GradientRow gradient_row(const Case& of, const reference::RowReader& reader, const RowIndex& row) {
  const auto [b, h, query] = row;
  GradientRow result;
  reader.append_query(row, result.q);
  for (Index c = 0; c < of.problem.head_dim_v; ++c)
    result.output_gradient.push_back(of.dout.get(b, h, query, c));
  if (of.problem.backward->dlse) result.lse_gradient = of.dlse.get(b, h, query, 0);
  result.keys = reference::visible_keys(of.problem, b, query);
  result.addends = reader.addends(row, result.keys);
  result.sink = reader.sink(h);
  return result;
}

GradientInputs gradient_inputs(const Case& of, const KvHead& part) {
  const Problem& problem = of.problem;
  const reference::Inputs inputs = inputs_of(of);
  const reference::RowReader reader(inputs);
  GradientInputs result;
  result.keys = problem.key_length(part.b);
  result.head_dim = problem.head_dim;
  result.head_dim_v = problem.head_dim_v;
  for (Index key = 0; key < result.keys; ++key) {
    reader.append_key(part.b, part.head, key, result.k);
    reader.append_value(part.b, part.head, key, result.v);
  }
  for (const RowIndex& row : part.rows) result.rows.push_back(gradient_row(of, reader, row));
  result.scale = scale_value(problem);
  result.softcap = problem.softcap;
  result.bias_before_softcap = problem.order.bias_before_softcap;
  return result;
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

/// dbias or dsink: one row of numbers a query, summed over the axes that the tensor does not have.
void add_queries(ExactList& list, const Extents& extents, const KvHead& part,
                 const std::vector<Enclosure>& exact) {
  const std::size_t columns = part.rows.empty() ? 0 : exact.size() / part.rows.size();
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const auto [b, h, query] = part.rows[i];
    const std::size_t first = offset(extents, extents[0] == 1 ? 0 : b, extents[1] == 1 ? 0 : h,
                                     extents[2] == 1 ? 0 : query, 0);
    for (std::size_t c = 0; c < columns; ++c) add(list[first + c], exact[i * columns + c]);
  }
}

struct GradientTensor {
  std::string_view name;
  Extents (Problem::*extents)() const;
  void (*place)(ExactList&, const Extents&, const KvHead&, const std::vector<Enclosure>&);
};
/// In the order of kGradientNames.
constexpr std::array<GradientTensor, 5> kGradients{
    {{"dq", &Problem::q_extents, place_queries},
     {"dk", &Problem::k_extents, place_keys},
     {"dv", &Problem::v_extents, place_keys},
     {"dbias", &Problem::bias_extents, add_queries},
     {"dsink", &Problem::sink_extents, add_queries}}};

ExactList exact_gradient(const Case& of, std::size_t number) {
  const GradientTensor& tensor = kGradients[number];
  const Extents extents = (of.problem.*tensor.extents)();
  ExactList list = nothing(extents);
  for (Index b = 0; b < of.problem.batch; ++b)
    for (Index head = 0; head < of.problem.heads_kv; ++head) {
      const KvHead part = kv_head(of.problem, b, head);
      const auto facts = reference::enclose_gradients(gradient_inputs(of, part), kBits);
      if (facts) tensor.place(list, extents, part, *facts->exact.lists()[number]);
    }
  return list;
}

}  // namespace

ExactList exact_result(const Case& of, const std::string& tensor) {
  if (tensor == "out" || tensor == "lse") return exact_rows(of, tensor == "lse");
  const auto found = std::find_if(kGradients.begin(), kGradients.end(),
                                  [&](const GradientTensor& row) { return row.name == tensor; });
  return exact_gradient(of, static_cast<std::size_t>(found - kGradients.begin()));
}

}  // namespace attest::properties
