#include "probe/gradient_runs.hpp"

#include <utility>

namespace attest::probe {

Result<const GradientRuns::One*> GradientRuns::run(const Case& on) {
  std::unique_ptr<One>& one = runs_[line_of(on)];
  if (!one) {
    one = std::make_unique<One>();
    one->run = {on, properties::run_backward(subject_.kernel(), on)};
    if (one->run.outputs.status.ok())
      one->diagnosed = std::make_unique<properties::DiagnosedGradients>(bounds_, one->run);
  }
  if (!one->run.outputs.status.ok()) return one->run.outputs.status;
  if (!one->diagnosed->is_known())
    return Status{StatusCode::kernel_failed,
                  "no bound: an lse of the forward pass gives weights that are not finite"};
  return static_cast<const One*>(one.get());
}

Finding decide(GradientRuns& runs, std::string name, const std::vector<std::string>& lines,
               ModelPart part, const std::vector<GradientHypothesis>& hypotheses,
               std::optional<double> rounding) {
  const auto inputs = all_made(runs.subject(), lines);
  if (!inputs.ok()) return cannot_tell(std::move(name), inputs.status());
  std::vector<Candidate> candidates;
  candidates.reserve(hypotheses.size());
  for (const GradientHypothesis& one : hypotheses) candidates.push_back({one.value});
  return decide(std::move(name), inputs.value(), candidates,
                [&](const Case& input) -> Result<Standings> {
                  const auto run = runs.run(input);
                  if (!run.ok()) return run.status();
                  Standings all;
                  for (const GradientHypothesis& one : hypotheses) {
                    properties::BackwardRun of = run.value()->run;
                    if (one.change && !one.change(of.of)) {
                      all.emplace_back();
                      continue;
                    }
                    const auto model = properties::model_gradients(of, one.mistake);
                    if (!model) {
                      all.emplace_back();
                      continue;
                    }
                    const auto found = run.value()->diagnosed->distance(*model, part, rounding);
                    all.push_back({found.rows, found.worst});
                  }
                  return all;
                });
}

std::vector<Finding> decide_parts(GradientRuns& runs, const std::string& name,
                                  const std::vector<std::string>& lines,
                                  const std::vector<ModelPart>& parts,
                                  const std::vector<GradientHypothesis>& hypotheses) {
  std::vector<std::string> ways;
  std::vector<Finding> of_parts;
  for (const ModelPart part : parts) {
    ways.emplace_back(kGradientNames[part]);
    of_parts.push_back(decide(runs, name, lines, part, hypotheses));
  }
  return in_one(ways, std::move(of_parts));
}

}  // namespace attest::probe
