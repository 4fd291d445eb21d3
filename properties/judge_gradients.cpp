#include "properties/judge_gradients.hpp"

#include <cmath>
#include <utility>

#include "properties/output_errors.hpp"
#include "properties/stand_ins.hpp"

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
    if (differs_) verdict.stand_ins.push_back({stand_ins().front().name, !rejected_});
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
  const KvHead drawn = drawn_head(of);
  return judge_gradient(kernel, of, outputs, part, std::span<const KvHead>(&drawn, 1));
}

Verdict judge_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs,
                       GradientPart part, std::span<const KvHead> heads) {
  Tally tally;
  ZeroStandIn zeros;
  ErrorCollector errors;
  const GradientTruth truth(kernel, of);
  for (const KvHead& head : heads) {
    const auto alone = certified(tally, truth, {head});
    if (!alone) continue;
    const CertifiedHead& exact = alone->front();
    std::vector<Enclosure> row_exact;
    std::vector<double> row_got;
    const auto end_row = [&] {
      tally.end_row();
      errors.add({head.b, head.head},
                 row_errors(row_exact, row_got, gradient_dtype(of.problem, part)));
      row_exact.clear();
      row_got.clear();
    };
    for (const GradientElement& element : elements_of(of.problem, head, part)) {
      if (element.place.column == 0 && !row_got.empty()) end_row();
      const Enclosure& want = element.of(exact.gradients.facts.exact);
      const double limit = element.of(exact.gradients.bound.limit);
      zeros.look_at(want, limit);
      row_exact.push_back(want);
      row_got.push_back(element.of(outputs));
      tally.within(element.place, row_got.back(), want, limit,
                   informative(limit, element.of(exact.sizes)));
    }
    if (!row_got.empty()) end_row();
  }
  Verdict verdict = zeros.judge(tally.verdict());
  if (const ErrorStatistics found = errors.statistics(); found.count > 0)
    verdict.statistics = found;
  return verdict;
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
