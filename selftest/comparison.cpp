#include "selftest/comparison.hpp"

#include <array>
#include <limits>

#include "kernels/registry.hpp"
#include "properties/gradient_truth.hpp"
#include "properties/judge.hpp"
#include "properties/values.hpp"
#include "selftest/in_threads.hpp"

namespace attest::selftest {
namespace {

using properties::Case;
using properties::GradientOutputs;
using properties::GradientPart;
using properties::Outputs;

/// Cases of rules come from a stream of their own.
constexpr Law kStream{"compare.rules", {}, {}, nullptr};

Case draw(const Kernel& kernel, const Law& law, const Plan& plan, Index number, Inputs inputs) {
  properties::SeededDraw draw(properties::case_seed(plan.seed, law, number));
  Case drawn = properties::draw_case(draw, properties::limits_for(kernel, nullptr));
  if (inputs == Inputs::families) return drawn;
  drawn.values = {ValueRecipe::Kind::family, "normal", drawn.values.seed, {}, {}, {}};
  properties::fill_family(drawn, "normal", drawn.values.seed);
  return drawn;
}

double nearest(const Enclosure& exact) {
  return exact.high + exact.low;
}

/// The rows of `out` whose truth is known.
Compared compare_outputs(const Case& on, const Outputs& got, const Outputs& plain,
                         const Kernel& kernel) {
  Compared compared{{}, {}, {}, on.problem.out_dtype()};
  const properties::Truth truth(kernel, on);
  for_each_row(on.problem, [&](const RowIndex& row) {
    if (!properties::looks_at(on.problem, row).out) return;
    const auto exact = truth.row(row);
    if (!exact) return;
    for (Index c = 0; c < on.problem.head_dim_v; ++c) {
      compared.got.push_back(got.at(row, c));
      compared.plain.push_back(plain.at(row, c));
      compared.truth.push_back(nearest(exact->facts.output[static_cast<std::size_t>(c)]));
    }
  });
  return compared;
}

void append_gradients(const Case& on, const GradientOutputs& got, const GradientOutputs& plain,
                      const Kernel& kernel, std::array<Compared, 3>& parts) {
  const properties::GradientTruth truth(kernel, on);
  for (Index b = 0; b < on.problem.batch; ++b)
    for (Index head = 0; head < on.problem.heads_kv; ++head) {
      const auto exact = truth.head({b, head});
      if (!exact) continue;
      for (const GradientPart part : properties::kGradientParts)
        for (const auto& element : properties::elements_of(on.problem, {b, head}, part)) {
          Compared& into = parts[static_cast<std::size_t>(part)];
          into.got.push_back(element.of(got));
          into.plain.push_back(element.of(plain));
          into.truth.push_back(nearest(element.of(exact->facts.exact)));
        }
    }
}

/// A call that fails where the plain evaluation does not: no rule accepts it.
Compared refused() {
  return {{std::numeric_limits<double>::quiet_NaN()}, {0}, {0}, Dtype::f32};
}

/// The tensors that a rule looks at; nothing where the case is to be refused.
std::vector<Compared> compare(const Kernel& kernel, const Kernel& plain, const Case& on) {
  std::vector<Compared> tensors;
  const Outputs got = properties::run_kernel(kernel, on);
  const Outputs twin = properties::run_kernel(plain, on);
  if (!twin.status.ok()) return tensors;
  if (!got.status.ok()) return {refused()};
  tensors.push_back(compare_outputs(on, got, twin, kernel));
  // Keys that members share have sums over all of them, which are no heads of one member.
  const bool shares = on.problem.kv.kind == KvStorage::Kind::paged;
  if (!on.problem.backward || shares) return tensors;
  const GradientOutputs gradients = properties::run_backward(kernel, on);
  const GradientOutputs of_twin = properties::run_backward(plain, on);
  if (!of_twin.status.ok()) return tensors;
  if (!gradients.status.ok()) return {refused()};
  std::array<Compared, 3> parts;
  for (Compared& part : parts) part.dtype = on.problem.dtype;
  append_gradients(on, gradients, of_twin, kernel, parts);
  tensors.insert(tensors.end(), parts.begin(), parts.end());
  return tensors;
}

bool is_stopped(const Plan& plan) {
  return plan.stop != nullptr && *plan.stop;
}

Caught judge(const Plan& plan, const Kernel& kernel, Index cases, Inputs inputs) {
  Caught caught{std::vector<bool>(rules().size()), false};
  const Kernel& plain = *kernels::find_builtin("builtin:textbook");
  for (Index number = 0; number < cases && !is_stopped(plan); ++number) {
    const Case on = draw(kernel, kStream, plan, number, inputs);
    const std::vector<Compared> tensors = compare(kernel, plain, on);
    for (std::size_t i = 0; i < rules().size(); ++i)
      for (const Compared& tensor : tensors)
        if (!rules()[i].accepts(tensor)) caught.by_rule[i] = true;
  }
  for (const Law& law : plan.laws)
    for (Index number = 0; number < (law.depends_on_case ? cases : 1) && !caught.by_laws; ++number)
      if (!is_stopped(plan))
        caught.by_laws = is_violation(
            properties::check_case(kernel, law, draw(kernel, law, plan, number, inputs)).outcome);
  return caught;
}

}  // namespace

Comparison compare_rules(const Plan& plan, Index cases,
                         const std::function<void(Index, Index)>& done) {
  Comparison comparison;
  comparison.cases = cases;
  for (const PlantedBug& bug : plan.bugs) comparison.bugs.push_back({bug.kernel, {}, {}, false});
  for (const Kernel* kernel : plan.correct) comparison.correct.push_back({kernel, {}, {}, false});
  const auto bugs = static_cast<Index>(comparison.bugs.size());
  const Index rows = bugs + static_cast<Index>(comparison.correct.size());
  in_threads(
      rows, plan.jobs, plan.stop,
      [&](Index number) {
        const auto at = static_cast<std::size_t>(number < bugs ? number : number - bugs);
        ComparisonRow& row = number < bugs ? comparison.bugs[at] : comparison.correct[at];
        row.normal = judge(plan, *row.kernel, cases, Inputs::normal);
        row.families = judge(plan, *row.kernel, cases, Inputs::families);
        row.complete = !is_stopped(plan);
      },
      [&](Index finished) {
        if (done) done(finished, rows);
      });
  for (const auto* rows_of : {&comparison.bugs, &comparison.correct})
    for (const ComparisonRow& row : *rows_of)
      comparison.complete = comparison.complete && row.complete;
  return comparison;
}

}  // namespace attest::selftest
