// gradient.*: changes of the input that change the gradients in a known way.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/gradient_case.hpp"
#include "properties/judge_gradients.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// A number cut to half of the bits of its type; the rest is exact.
double leading_bits(Dtype dtype, double value) {
  const int digits = 1 - std::ilogb(format_of(dtype).unit_roundoff);
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(mantissa, digits / 2)), exponent - digits / 2);
}

/// dout and dlse, each number changed alike.
template <class Change>
Case with_arriving(Case from, Change&& change) {
  for (const auto tensor : {&Case::dout, &Case::dlse}) {
    const Tensor numbers = from.*tensor;
    if (numbers.extents() == Extents{}) continue;
    from.*tensor =
        filled(numbers.dtype(), numbers.extents(), [&](Index b, Index h, Index row, Index column) {
          return change(numbers.dtype(), numbers.get(b, h, row, column));
        });
  }
  return from;
}

/// The same case computed, with its truth.
struct Judged {
  GradientOutputs outputs;
  std::optional<reference::CertifiedGradients> exact;
};

/// A part of gradients of one run against the sum of those of others, within the sum of all bounds.
struct SumOfRuns {
  const Judged& whole;
  KvHead whole_head;
  std::vector<std::pair<const Judged*, KvHead>> parts;
};

/// Nothing where every bound is proven.
std::optional<std::string> unproven(const Judged& judged) {
  if (!judged.exact) return "an input that counts, or a gradient, is not finite";
  if (!judged.exact->bound.proven()) return judged.exact->bound.unproven;
  return std::nullopt;
}

void compare_sum(Tally& tally, const Problem& problem, const SumOfRuns& runs, GradientPart part) {
  std::vector<std::vector<GradientElement>> of_parts;
  for (const auto& [judged, head] : runs.parts)
    of_parts.push_back(elements_of(problem, head, part));
  const Gradients<double> sizes = magnitudes(runs.whole.exact->facts);
  for (const GradientElement& element : elements_of(problem, runs.whole_head, part)) {
    double sum = 0;
    double size = 0;
    double bound = element.of(runs.whole.exact->bound.limit);
    for (std::size_t p = 0; p < runs.parts.size(); ++p) {
      const GradientElement& there = of_parts[p][element.at];
      const Judged& of_part = *runs.parts[p].first;
      sum += there.of(of_part.outputs);
      size += std::abs(there.of(of_part.outputs));
      bound += there.of(of_part.exact->bound.limit);
    }
    // One rounding of the sum, and of this one, for each of its terms.
    const double rounding = 0x1p-52 * static_cast<double>(runs.parts.size()) * size;
    tally.agree(element.place, element.of(runs.whole.outputs), sum, bound + rounding,
                bound < element.of(sizes) || element.of(sizes) == 0);
  }
  tally.end_row();
}

Verdict parts_of_dout(const Kernel& kernel, const Case& on) {
  const auto high_bits = [](Dtype dtype, double number) { return leading_bits(dtype, number); };
  const auto low_bits = [](Dtype dtype, double number) {
    return number - leading_bits(dtype, number);
  };
  const std::vector<Case> cases{on, with_arriving(on, high_bits), with_arriving(on, low_bits)};
  const KvHead head = drawn_head(on);
  std::vector<Judged> runs;
  Tally tally;
  for (const Case& of : cases) {
    Judged& run = runs.emplace_back();
    run.outputs = run_backward(kernel, of);
    if (const auto verdict = stopped(run.outputs.status, of)) return *verdict;
    run.exact = GradientTruth(kernel, of).head(head);
    if (const auto reason = unproven(run)) {
      tally.undecided(*reason);
      return tally.verdict();
    }
  }
  const SumOfRuns sum{runs[0], head, {{&runs[1], head}, {&runs[2], head}}};
  for (const GradientPart part : kGradientParts) compare_sum(tally, on.problem, sum, part);
  return tally.verdict();
}

double clamped(double value, int least, int largest) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(mantissa, std::clamp(exponent, least, largest));
}

/// Numbers between 2^-11 and 2, and scores of at most 8 (4 d times a scale of 2 / d): nothing in
/// the arithmetic comes near the ends of its range.
Case with_moderate_numbers(const Case& from) {
  Case on = without_lse_gradient(plain_scores(densely_stored(from)));
  for (const auto tensor : {&Case::q, &Case::k, &Case::v, &Case::dout}) {
    const Tensor numbers = on.*tensor;
    on = with_values(std::move(on), tensor, [&](Index b, Index h, Index row, Index column) {
      return clamped(numbers.get(b, h, row, column), -10, 1);
    });
  }
  on.problem.scale = {false,
                      std::ldexp(1.0, -std::ilogb(static_cast<double>(on.problem.head_dim)))};
  return on;
}

Verdict power_of_two(const Kernel& kernel, const Case& given) {
  constexpr int kExponent = 3;
  const Case on = with_moderate_numbers(given);
  const Case larger =
      with_arriving(on, [](Dtype, double number) { return std::ldexp(number, kExponent); });
  const GradientOutputs plain = run_backward(kernel, on);
  if (const auto verdict = stopped(plain.status, on)) return *verdict;
  const GradientOutputs scaled = run_backward(kernel, larger);
  if (const auto verdict = stopped(scaled.status, larger)) return *verdict;
  Tally tally;
  for (Index b = 0; b < on.problem.batch; ++b)
    for (Index head = 0; head < on.problem.heads_kv; ++head)
      for (const GradientPart part : kGradientParts) {
        const Format stored = format_of(tensor_of(plain, part).dtype());
        for (const GradientElement& element : elements_of(on.problem, {b, head}, part)) {
          const double got = element.of(plain);
          const double want = std::ldexp(got, kExponent);
          // A subnormal result has lost bits that the larger one has, and so may the smallest
          // normal number, to which such a result is rounded up.
          const bool exact = std::abs(got) > stored.min_normal || element.of(scaled) == 0;
          if (exact && std::abs(want) <= stored.max_finite)
            tally.same_bits(element.place, element.of(scaled), want, "dout was multiplied by 8");
        }
        tally.end_row();
      }
  return tally.verdict();
}

}  // namespace

Verdict gradient_linear_in_dout(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = backward_case(kernel, given);
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  Combined combined;
  combined.add(parts_of_dout(kernel, on));
  if (!combined.violated()) combined.add(power_of_two(kernel, on));
  return combined.verdict();
}

Verdict gradient_group_sum(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  if (!kernel.description().capabilities.grouped_heads)
    return Verdict::skipped("kernel does not declare grouped heads");
  const Case on = with_grouped_heads(backward_case(kernel, given));
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const Case repeated = with_repeated_heads(on);
  const KvHead head = drawn_head(on);
  const Index group = on.problem.heads_q / on.problem.heads_kv;
  Judged whole{run_backward(kernel, on), GradientTruth(kernel, on).head(head)};
  if (const auto verdict = stopped(whole.outputs.status, on)) return *verdict;
  const GradientOutputs outputs = run_backward(kernel, repeated);
  if (const auto verdict = stopped(outputs.status, repeated)) return *verdict;
  Tally tally;
  const GradientTruth truth(kernel, repeated);
  std::vector<Judged> heads;
  for (Index h = head.head * group; h < (head.head + 1) * group; ++h)
    heads.push_back({outputs, truth.head({head.b, h})});
  SumOfRuns sum{whole, head, {}};
  for (std::size_t at = 0; at < heads.size(); ++at)
    sum.parts.emplace_back(&heads[at], KvHead{head.b, head.head * group + static_cast<Index>(at)});
  std::optional<std::string> reason = unproven(whole);
  for (const Judged& judged : heads)
    if (!reason) reason = unproven(judged);
  if (reason) {
    tally.undecided(*reason);
    return tally.verdict();
  }
  compare_sum(tally, on.problem, sum, GradientPart::dk);
  compare_sum(tally, on.problem, sum, GradientPart::dv);
  return tally.verdict();
}

Verdict gradient_shared_pages(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel, {Feature::paged})) return *verdict;
  if (given.problem.batch == 0) return Verdict::weak("the case has no rows");
  const Case on = with_shared_pages(backward_case(kernel, given), 3);
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  const KvHead head = drawn_head(on);
  Tally tally;
  const Judged both{
      outputs,
      GradientTruth(kernel, on).shared(std::vector<KvHead>{{0, head.head}, {1, head.head}})};
  if (const auto reason = unproven(both)) {
    tally.undecided(*reason);
    return tally.verdict();
  }
  const Gradients<double> sizes = magnitudes(both.exact->facts);
  for (const GradientPart part : {GradientPart::dk, GradientPart::dv}) {
    for (const GradientElement& element : elements_of(on.problem, {0, head.head}, part)) {
      const double limit = element.of(both.exact->bound.limit);
      const double size = element.of(sizes);
      tally.within(element.place, element.of(outputs), element.of(both.exact->facts.exact), limit,
                   size == 0 || limit < size);
    }
    tally.end_row();
  }
  return tally.verdict();
}

}  // namespace attest::properties
