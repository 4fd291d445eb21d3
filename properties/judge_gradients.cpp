#include "properties/judge_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "properties/exact_sum.hpp"
#include "properties/probe.hpp"

namespace attest::properties {
namespace {

constexpr const char* kNotFinite = "an input that counts, or a gradient, is not finite";

/// Remembers whether gradients that are all zero would have passed.
class ZeroStandIn {
 public:
  void look_at(const Enclosure& exact, double limit) {
    const double least = exact.distance_lower(0);
    differs_ = differs_ || least > 0;
    rejected_ = rejected_ || least > limit;
  }
  Verdict judge(Verdict verdict) const {
    if (verdict.outcome != Outcome::ok || !differs_ || rejected_) return verdict;
    verdict.outcome = Outcome::weak;
    verdict.reason = "the bound would also accept all zeros";
    return verdict;
  }

 private:
  bool differs_ = false;
  bool rejected_ = false;
};

bool informative(double limit, double magnitude) {
  return magnitude == 0 || limit < magnitude;
}

/// The heads that a bias row, or a sink, is shared by: certified, or nothing.
struct CertifiedHead {
  KvHead head;
  reference::CertifiedGradients gradients;
  Gradients<double> sizes;
};

/// Every given head; nothing, and the reason in the tally, where one of them has no bound.
std::optional<std::vector<CertifiedHead>> certified(Tally& tally, const GradientTruth& truth,
                                                    const std::vector<KvHead>& heads) {
  std::vector<CertifiedHead> all;
  for (const KvHead& head : heads) {
    auto exact = truth.head(head);
    if (!exact || !exact->bound.proven()) {
      tally.undecided(exact ? exact->bound.unproven : kNotFinite);
      return std::nullopt;
    }
    Gradients<double> sizes = magnitudes(exact->facts);
    all.push_back({head, std::move(*exact), std::move(sizes)});
  }
  return all;
}

/// One number that is a sum of gradients of pairs or rows.
struct SummedGradient {
  std::vector<Enclosure> exact;
  std::vector<GradientTerm> terms;
  double magnitude = 0;

  void add(const Enclosure& term, double limit, double size) {
    exact.push_back(term);
    terms.push_back({term, limit});
    magnitude += size;
  }
  void judge(Tally& tally, ZeroStandIn& zeros, const DeclaredGradientAccuracy& accuracy,
             const Place& place, double got) const {
    const Enclosure want = reference::enclose_sum(exact);
    const double limit = gradient_sum_bound(accuracy, terms);
    if (std::isinf(limit)) return tally.undecided("a sum of gradients may overflow");
    zeros.look_at(want, limit);
    tally.within(place, got, want, limit, informative(limit, magnitude));
  }
};

}  // namespace

std::vector<RowIndex> rows_of(const Problem& problem, const KvHead& head) {
  std::vector<RowIndex> rows;
  const Index group = problem.heads_q / problem.heads_kv;
  for (Index h = head.head * group; h < (head.head + 1) * group; ++h)
    for (Index query = 0; query < problem.query_length(head.b); ++query)
      rows.push_back({head.b, h, query});
  return rows;
}

KvHead drawn_head(const Case& of) {
  const Problem& problem = of.problem;
  const auto heads = static_cast<std::uint64_t>(problem.batch * problem.heads_kv);
  const auto at = [&](std::uint64_t number) {
    const auto place = static_cast<Index>((seed_of(of) + number) % heads);
    return KvHead{place / problem.heads_kv, place % problem.heads_kv};
  };
  for (std::uint64_t number = 0; number < heads; ++number) {
    const KvHead head = at(number);
    for (Index query = 0; query < problem.query_length(head.b); ++query)
      if (!reference::visible_keys(problem, head.b, query).empty()) return head;
  }
  return at(0);
}

GradientTruth::GradientTruth(const Kernel& kernel, const Case& of)
    : kernel_(kernel), of_(of), accuracy_(kernel.gradient_accuracy(of.problem)) {}

std::vector<RowBound> GradientTruth::forward_bounds(const KvHead& head,
                                                    const Tiling& tiling) const {
  Case tiled = of_;
  tiled.tiling = tiling;
  const Truth truth(kernel_, tiled);
  std::vector<RowBound> bounds;
  for (const RowIndex& row : rows_of(of_.problem, head)) {
    const auto exact = truth.row(row);
    RowBound bound = exact ? exact->bound : RowBound{};
    if (!exact) bound.unproven = kNotFinite;
    bound.output.resize(static_cast<std::size_t>(of_.problem.head_dim_v));
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

GradientBound GradientTruth::bound(const GradientFacts& facts, const KvHead& head,
                                   const Tiling& tiling) const {
  return gradient_bound(accuracy_, facts, forward_bounds(head, tiling));
}

std::optional<reference::CertifiedGradients> GradientTruth::head(const KvHead& head) const {
  const auto inputs = reference::read_gradient_inputs(inputs_of(of_), view_of(of_.dout),
                                                      view_of(of_.dlse), head.b, head.head);
  if (!inputs) return std::nullopt;
  const std::vector<RowBound> forward = forward_bounds(head, of_.tiling);
  return reference::certify_gradients(*inputs, [&](const GradientFacts& facts) {
    return gradient_bound(accuracy_, facts, forward);
  });
}

Gradients<double> magnitudes(const GradientFacts& facts) {
  const GradientInputs& inputs = facts.inputs;
  Gradients<double> sizes = Gradients<double>::of_size(inputs, 0.0);
  const auto d = static_cast<std::size_t>(inputs.head_dim);
  const auto d_v = static_cast<std::size_t>(inputs.head_dim_v);
  const double scale = std::abs(inputs.scale);
  for (std::size_t i = 0; i < inputs.rows.size(); ++i) {
    const GradientRow& row = inputs.rows[i];
    const GradientRowFacts& of_row = facts.rows[i];
    for (std::size_t seen = 0; seen < row.keys.size(); ++seen) {
      const auto j = static_cast<std::size_t>(row.keys[seen]);
      const GradientPair& pair = of_row.pairs[seen];
      const double ds = pair.probability * (pair.value_dot_magnitude + of_row.delta);
      const double dx = ds * pair.slope;
      sizes.dbias[i * static_cast<std::size_t>(inputs.keys) + j] =
          inputs.bias_before_softcap ? dx : ds;
      for (std::size_t c = 0; c < d; ++c) {
        sizes.dq[i * d + c] += scale * dx * std::abs(inputs.k[j * d + c]);
        sizes.dk[j * d + c] += scale * dx * std::abs(row.q[c]);
      }
      for (std::size_t c = 0; c < d_v; ++c)
        sizes.dv[j * d_v + c] += pair.probability * std::abs(row.output_gradient[c]);
    }
    sizes.dsink[i] = of_row.sink_probability * of_row.delta;
  }
  return sizes;
}

const Tensor& tensor_of(const GradientOutputs& outputs, GradientPart part) {
  return part == GradientPart::dq ? outputs.dq : part == GradientPart::dk ? outputs.dk : outputs.dv;
}

std::vector<GradientElement> elements_of(const Problem& problem, const KvHead& head,
                                         GradientPart part) {
  std::vector<RowIndex> rows;
  if (part == GradientPart::dq) rows = rows_of(problem, head);
  for (Index key = 0; part != GradientPart::dq && key < problem.key_length(head.b); ++key)
    rows.push_back({head.b, head.head, key});
  const Index columns = part == GradientPart::dv ? problem.head_dim_v : problem.head_dim;
  std::vector<GradientElement> elements;
  elements.reserve(rows.size() * static_cast<std::size_t>(columns));
  for (const RowIndex& row : rows)
    for (Index c = 0; c < columns; ++c)
      elements.push_back(
          {part, elements.size(), {kGradientNames[static_cast<std::size_t>(part)], row, c}});
  return elements;
}

void same_gradient_bits(Tally& tally, const Problem& problem, const GradientOutputs& got,
                        const GradientOutputs& want, std::string_view reason) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index head = 0; head < problem.heads_kv; ++head)
      for (const GradientPart part : kGradientParts) {
        for (const GradientElement& element : elements_of(problem, {b, head}, part))
          tally.same_bits(element.place, element.of(got), element.of(want), reason);
        tally.end_row();
      }
  const auto same = [&](std::string_view name, const Tensor& left, const Tensor& right) {
    if (left.extents() != right.extents()) return;
    for_each_index(left.extents(), [&](Index b, Index h, Index row, Index column) {
      tally.same_bits({name, {b, h, row}, column}, left.get(b, h, row, column),
                      right.get(b, h, row, column), reason);
    });
  };
  same("dbias", got.dbias, want.dbias);
  same("dsink", got.dsink, want.dsink);
}

Verdict judge_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs,
                       GradientPart part) {
  if (of.problem.batch == 0) return Verdict::weak("the case has no rows");
  Tally tally;
  ZeroStandIn zeros;
  const auto heads = certified(tally, GradientTruth(kernel, of), {drawn_head(of)});
  if (!heads) return tally.verdict();
  const CertifiedHead& exact = heads->front();
  for (const GradientElement& element : elements_of(of.problem, exact.head, part)) {
    const Enclosure& want = element.of(exact.gradients.facts.exact);
    const double limit = element.of(exact.gradients.bound.limit);
    zeros.look_at(want, limit);
    tally.within(element.place, element.of(outputs), want, limit,
                 informative(limit, element.of(exact.sizes)));
    if (element.place.column == 0) tally.end_row();
  }
  return zeros.judge(tally.verdict());
}

Verdict judge_bias_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs) {
  const Problem& problem = of.problem;
  if (problem.batch == 0) return Verdict::weak("the case has no rows");
  const KvHead drawn = drawn_head(of);
  const Index group = problem.heads_q / problem.heads_kv;
  // The slice of the bias that is judged, and all heads that add to it.
  const Index bias_b = problem.bias->per_batch ? drawn.b : 0;
  const Index bias_h = problem.bias->per_head ? drawn.head * group : 0;
  std::vector<KvHead> heads;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index head = 0; head < problem.heads_kv; ++head)
      if ((!problem.bias->per_batch || b == drawn.b) &&
          (!problem.bias->per_head || head == drawn.head))
        heads.push_back({b, head});
  Tally tally;
  ZeroStandIn zeros;
  const GradientTruth truth(kernel, of);
  const auto exact = certified(tally, truth, heads);
  if (!exact) return tally.verdict();
  const Extents& extents = of.bias.extents();
  std::vector<SummedGradient> sums(static_cast<std::size_t>(extents[2] * extents[3]));
  for (const CertifiedHead& part : *exact) {
    const std::vector<RowIndex> rows = rows_of(problem, part.head);
    const GradientInputs& inputs = part.gradients.facts.inputs;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (problem.bias->per_head && rows[i].head != bias_h) continue;
      const Index query = problem.bias->per_query ? rows[i].query : 0;
      for (const Index key : inputs.rows[i].keys) {
        const std::size_t at =
            i * static_cast<std::size_t>(inputs.keys) + static_cast<std::size_t>(key);
        sums[static_cast<std::size_t>(query * extents[3] + key)].add(
            part.gradients.facts.exact.dbias[at], part.gradients.bound.limit.dbias[at],
            part.sizes.dbias[at]);
      }
    }
  }
  for (Index query = 0; query < extents[2]; ++query) {
    for (Index key = 0; key < extents[3]; ++key)
      sums[static_cast<std::size_t>(query * extents[3] + key)].judge(
          tally, zeros, truth.accuracy(), {"dbias", {bias_b, bias_h, query}, key},
          outputs.dbias.get(bias_b, bias_h, query, key));
    tally.end_row();
  }
  return zeros.judge(tally.verdict());
}

Verdict judge_sink_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs) {
  const Problem& problem = of.problem;
  if (problem.batch == 0) return Verdict::weak("the case has no rows");
  const Index kv_head = drawn_head(of).head;
  std::vector<KvHead> heads;
  for (Index b = 0; b < problem.batch; ++b) heads.push_back({b, kv_head});
  Tally tally;
  ZeroStandIn zeros;
  const GradientTruth truth(kernel, of);
  const auto exact = certified(tally, truth, heads);
  if (!exact) return tally.verdict();
  const Index group = problem.heads_q / problem.heads_kv;
  for (Index h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    SummedGradient sum;
    for (const CertifiedHead& part : *exact) {
      const std::vector<RowIndex> rows = rows_of(problem, part.head);
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].head == h)
          sum.add(part.gradients.facts.exact.dsink[i], part.gradients.bound.limit.dsink[i],
                  part.sizes.dsink[i]);
    }
    sum.judge(tally, zeros, truth.accuracy(), {"dsink", {0, h, 0}}, outputs.dsink.get(0, h, 0, 0));
    tally.end_row();
  }
  return zeros.judge(tally.verdict());
}

}  // namespace attest::properties
