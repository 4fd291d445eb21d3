// gradient.*: the gradients are right, however the work is cut, and the same every time.
#include <algorithm>
#include <utility>
#include <vector>

#include "properties/gradient_case.hpp"
#include "properties/judge_gradients.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

/// Runs the case and judges what it gave.
template <class Judge>
Verdict judge_run(const Kernel& kernel, const Case& on, Judge&& judge) {
  const GradientOutputs outputs = run_backward(kernel, on);
  if (const auto verdict = stopped(outputs.status, on)) return *verdict;
  return judge(kernel, on, outputs);
}

Verdict judge_part(const Kernel& kernel, const Case& given, GradientPart part) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  return judge_run(kernel, backward_case(kernel, given),
                   [part](const Kernel& of, const Case& on, const GradientOutputs& outputs) {
                     return judge_gradient(of, on, outputs, part);
                   });
}

std::vector<Tiling> tilings_of(const Case& on) {
  const Index n = on.problem.seq_kv;
  std::vector<Tiling> tilings{on.tiling};
  const auto add = [&](Index tile_q, Index tile_kv, KvSplits splits) {
    Tiling tiling = on.tiling;
    tiling.tile_q = tile_q;
    tiling.tile_kv = std::max(Index{1}, tile_kv);
    tiling.splits = std::move(splits);
    tiling.merge = {};
    tilings.push_back(tiling);
  };
  add(1, 1, {.count = 1, .cuts = {}});
  add(2, n - 1, {.count = 2, .cuts = {}});
  add(on.problem.seq_q + 3, n + 7, {.count = 1, .cuts = {}});
  add(3, on.tiling.tile_kv + 1, {.count = 1, .cuts = {0, n / 2, n / 2, n}});
  return tilings;
}

}  // namespace

Verdict gradient_dq(const Kernel& kernel, const Case& on) {
  return judge_part(kernel, on, GradientPart::dq);
}
Verdict gradient_dk(const Kernel& kernel, const Case& on) {
  return judge_part(kernel, on, GradientPart::dk);
}
Verdict gradient_dv(const Kernel& kernel, const Case& on) {
  return judge_part(kernel, on, GradientPart::dv);
}

Verdict gradient_dbias(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel, {Feature::bias, Feature::dbias}))
    return *verdict;
  return judge_run(kernel, with_bias_gradient(backward_case(kernel, given)), judge_bias_gradient);
}

Verdict gradient_dsink(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel, {Feature::sink, Feature::dsink}))
    return *verdict;
  return judge_run(kernel, with_sink_gradient(backward_case(kernel, given)), judge_sink_gradient);
}

Verdict gradient_tiling(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  if (!kernel.description().capabilities.tiles) return Verdict::skipped("the kernel has no tiles");
  const Case on = backward_case(kernel, given);
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const KvHead head = drawn_head(on);
  const GradientTruth truth(kernel, on);
  const auto exact = truth.head(head);
  Tally tally;
  if (!exact) tally.undecided("an input that counts, or a gradient, is not finite");
  if (!exact) return tally.verdict();
  const Gradients<double> sizes = magnitudes(exact->facts);
  Case variant = on;
  for (const Tiling& tiling : tilings_of(on)) {
    variant.tiling = tiling;
    const GradientOutputs outputs = run_backward(kernel, variant);
    if (const auto verdict = stopped(outputs.status, variant)) return *verdict;
    const GradientBound bound = truth.bound(exact->facts, head, tiling);
    if (!bound.proven()) tally.undecided(bound.unproven);
    if (!bound.proven()) continue;
    for (const GradientPart part : kGradientParts) {
      for (const GradientElement& element : elements_of(on.problem, head, part)) {
        const double limit = element.of(bound.limit);
        const double size = element.of(sizes);
        tally.within(element.place, element.of(outputs), element.of(exact->facts.exact), limit,
                     size == 0 || limit < size);
      }
      tally.end_row();
    }
  }
  return tally.verdict();
}

Verdict gradient_repeat_bits(const Kernel& kernel, const Case& given) {
  if (const auto verdict = lacks_gradients(kernel)) return *verdict;
  const Case on = backward_case(kernel, given);
  const GradientOutputs first = run_backward(kernel, on);
  if (const auto verdict = stopped(first.status, on)) return *verdict;
  Tally tally;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const GradientOutputs again = run_backward(kernel, on);
    if (const auto verdict = stopped(again.status, on)) return *verdict;
    same_gradient_bits(tally, on.problem, again, first, "the same call was repeated");
  }
  return tally.verdict();
}

}  // namespace attest::properties
