// gradient.*: sums of gradients that are known without any gradient.
#include <cmath>
#include <vector>

#include "properties/derive.hpp"
#include "properties/exact_sum.hpp"
#include "properties/gradient_case.hpp"
#include "properties/judge_gradients.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

using reference::CertifiedGradients;

/// The exact gradients of a head whose bound is proven; the reason in the tally where it is not.
std::optional<CertifiedGradients> bounded_head(Tally& tally, const GradientTruth& truth,
                                               const KvHead& head) {
  auto exact = truth.head(head);
  if (exact && exact->bound.proven()) return exact;
  tally.undecided(exact ? exact->bound.unproven
                        : "an input that counts, or a gradient, is not finite");
  return std::nullopt;
}

/// A sum of computed gradients, with the bound of its error.
struct ComputedSum {
  ExactSum computed;
  ExactSum limits;
  double magnitude = 0;

  /// `number` times the factor. False, and a violation, where it is not finite.
  bool add(Tally& tally, const Place& place, double number, double limit, double factor = 1) {
    tally.holds(std::isfinite(number), place, number, 0, "a gradient is not finite");
    if (!std::isfinite(number)) return false;
    computed.add_product(number, factor);
    limits.add_product(limit, std::abs(factor));
    magnitude += std::abs(number * factor);
    return true;
  }
  /// |sum - want| <= sum of the limits + `more`.
  void judge(Tally& tally, const Place& place, const Enclosure& want, double more = 0) const {
    const Enclosure sum = computed.value();
    const double limit = limits.upper() + more;
    if (!std::isfinite(sum.high) || !std::isfinite(want.high) || !std::isfinite(limit))
      return tally.undecided("a sum of gradients exceeds the doubles");
    // What the double next to the sum leaves over belongs to the other side.
    const std::vector<Enclosure> terms{want, {-sum.low, 0, sum.radius}};
    tally.within(place, sum.high, reference::enclose_sum(terms), limit,
                 magnitude == 0 || limit < magnitude);
    tally.end_row();
  }
};

std::size_t column_of(Index column) {
  return static_cast<std::size_t>(column);
}

}  // namespace

Verdict gradient_score_sum(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel, {Feature::bias, Feature::dbias}))
    return *verdict;
  Case on = with_score_gradients(backward_case(kernel, given));
  if (on.problem.sink && !offers(kernel, Feature::dsink)) on = without_sink(on);
  if (on.problem.sink) on = with_sink_gradient(on);
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  const GradientTruth truth(kernel, on);
  const KvHead drawn = drawn_head(on);
  const Index h = drawn.head * (on.problem.heads_q / on.problem.heads_kv);
  Tally tally;
  ComputedSum of_head;  // where there is a sink, whose gradient is that of all rows of the head
  std::vector<Enclosure> arrived;
  std::vector<GradientTerm> sink_terms;
  for (Index b = 0; b < on.problem.batch; ++b) {
    if (!on.problem.sink && b != drawn.b) continue;
    const auto exact = bounded_head(tally, truth, {b, drawn.head});
    if (!exact) return tally.verdict();
    const std::vector<RowIndex> rows = rows_of(on.problem, {b, drawn.head});
    const GradientInputs& inputs = exact->facts.inputs;
    for (std::size_t i = 0; i < rows.size() && rows[i].head == h; ++i) {
      ComputedSum of_row;
      ComputedSum& sum = on.problem.sink ? of_head : of_row;
      for (const Index key : inputs.rows[i].keys) {
        const std::size_t at = i * column_of(inputs.keys) + column_of(key);
        const std::vector<GradientTerm> alone{
            {exact->facts.exact.dbias[at], exact->bound.limit.dbias[at]}};
        if (!sum.add(tally, {"dbias", rows[i], key}, outputs.dbias.get(b, h, rows[i].query, key),
                     gradient_sum_bound(truth.accuracy(), alone)))
          return tally.verdict();
      }
      const bool counts = !inputs.rows[i].keys.empty() || inputs.rows[i].sink;
      const Enclosure want{counts ? inputs.rows[i].lse_gradient : 0, 0, 0};
      arrived.push_back(want);
      sink_terms.push_back({exact->facts.exact.dsink[i], exact->bound.limit.dsink[i]});
      if (!on.problem.sink) sum.judge(tally, {"dbias", rows[i]}, want);
    }
  }
  if (!on.problem.sink) return tally.verdict();
  if (of_head.add(tally, {"dsink", {0, h, 0}}, outputs.dsink.get(0, h, 0, 0),
                  gradient_sum_bound(truth.accuracy(), sink_terms)))
    of_head.judge(tally, {"dbias", {0, h, 0}}, reference::enclose_sum(arrived));
  return tally.verdict();
}

Verdict gradient_value_sum(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = without_sink(backward_case(kernel, given));
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  const KvHead head = drawn_head(on);
  Tally tally;
  const auto exact = bounded_head(tally, GradientTruth(kernel, on), head);
  if (!exact) return tally.verdict();
  std::vector<ComputedSum> sums(column_of(on.problem.head_dim_v));
  for (const GradientElement& element : elements_of(on.problem, head, GradientPart::dv))
    if (!sums[column_of(element.place.column)].add(tally, element.place, element.of(outputs),
                                                   element.of(exact->bound.limit)))
      return tally.verdict();
  for (Index c = 0; c < on.problem.head_dim_v; ++c) {
    ExactSum arrived;
    for (const GradientRow& row : exact->facts.inputs.rows)
      if (!row.keys.empty()) arrived.add(row.output_gradient[column_of(c)]);
    sums[column_of(c)].judge(tally, {"dv", {head.b, head.head, 0}, c}, arrived.value());
  }
  return tally.verdict();
}

Verdict gradient_constant_values(const Kernel& kernel, const Case& given) {
  constexpr double kConstant = 3;
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = with_values(without_lse_gradient(without_sink(backward_case(kernel, given))),
                              &Case::v, [](Index, Index, Index, Index) { return kConstant; });
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  const KvHead head = drawn_head(on);
  Tally tally;
  const auto exact = bounded_head(tally, GradientTruth(kernel, on), head);
  if (!exact) return tally.verdict();
  const Gradients<double> sizes = magnitudes(exact->facts);
  for (const GradientPart part : {GradientPart::dq, GradientPart::dk}) {
    for (const GradientElement& element : elements_of(on.problem, head, part)) {
      const double limit = element.of(exact->bound.limit);
      const double size = element.of(sizes);
      tally.within(element.place, element.of(outputs), {0, 0, 0}, limit, size == 0 || limit < size);
    }
    tally.end_row();
  }
  return tally.verdict();
}

Verdict gradient_adjoint(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = backward_case(kernel, given);
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  const KvHead head = drawn_head(on);
  Tally tally;
  const auto exact = bounded_head(tally, GradientTruth(kernel, on), head);
  if (!exact) return tally.verdict();
  const GradientInputs& inputs = exact->facts.inputs;
  ComputedSum of_values;
  ComputedSum of_queries;
  ComputedSum of_keys;
  // A number that nothing sees may be anything, and its gradient is 0.
  const auto add = [&](ComputedSum& sum, GradientPart part, const Tensor& input) {
    for (const GradientElement& element : elements_of(on.problem, head, part)) {
      const auto [b, h, row] = element.place.row;
      const double factor = input.get(b, h, row, element.place.column);
      const double got = element.of(outputs);
      if (got == 0 && element.of(exact->bound.limit) == 0) continue;
      if (!sum.add(tally, element.place, got, element.of(exact->bound.limit), factor)) return false;
    }
    return true;
  };
  if (!add(of_values, GradientPart::dv, on.v) || !add(of_queries, GradientPart::dq, on.q) ||
      !add(of_keys, GradientPart::dk, on.k))
    return tally.verdict();
  // The exact <dout, out>, row by row.
  std::vector<Enclosure> products;
  for (std::size_t i = 0; i < inputs.rows.size(); ++i) {
    if (inputs.rows[i].keys.empty()) continue;
    for (std::size_t c = 0; c < inputs.rows[i].output_gradient.size(); ++c) {
      const Enclosure& output = exact->facts.rows[i].output[c];
      const double gradient = inputs.rows[i].output_gradient[c];
      ExactSum product;
      product.add_product(gradient, output.high);
      product.add_product(gradient, output.low);
      products.push_back(product.value());
      products.push_back({0, 0,
                          std::nextafter(std::abs(gradient) * output.radius,
                                         std::numeric_limits<double>::infinity())});
    }
  }
  of_values.judge(tally, {"dv", {head.b, head.head, 0}}, reference::enclose_sum(products));
  of_queries.judge(tally, {"dq", {head.b, head.head, 0}}, of_keys.computed.value(),
                   of_keys.limits.upper());
  return tally.verdict();
}

}  // namespace attest::properties
