#include "properties/diagnosis_gradients.hpp"

#include <algorithm>
#include <memory>

#include "properties/diagnosed_gradients.hpp"
#include "properties/diagnosis_experiments.hpp"

namespace attest::properties {
namespace {

constexpr std::size_t kKinds = 4;
constexpr std::size_t kExperiments = 24;
/// Pairs of a row and a key: the model is plain, and every mistake runs all of it.
constexpr Index kMostPairs = Index{1} << 13;

struct NamedMistake {
  std::string_view name;
  std::string_view sentence;
  GradientMistake mistake;
};

std::vector<NamedMistake> mistakes() {
  using M = GradientMistake;
  std::vector<NamedMistake> all;
  const auto add_named = [&](std::string_view name, std::string_view sentence, auto&& set) {
    all.push_back({name, sentence, {}});
    set(all.back().mistake);
  };
  add_named("delta without dlse", "the gradient of the lse is left out",
            [](M& m) { m.delta = M::Delta::without_dlse; });
  add_named("dlse of the other sign", "the gradient of the lse is added to delta",
            [](M& m) { m.delta = M::Delta::plus_dlse; });
  add_named("no delta", "the row sum of dout * out is left out",
            [](M& m) { m.delta = M::Delta::none; });
  add_named("delta of the next row", "delta is that of the next query",
            [](M& m) { m.delta = M::Delta::of_next_row; });
  add_named("lse of the next head", "weights are formed from the lse of another head",
            [](M& m) { m.lse_of_next_head = true; });
  add_named("softcap without its derivative", "the derivative of the softcap is left out",
            [](M& m) { m.slope = M::Slope::one; });
  add_named("derivative of the softcap after the bias",
            "the derivative of the softcap is taken where the bias has been added",
            [](M& m) { m.slope = M::Slope::of_finished; });
  add_named("derivative of the softcap of the uncapped score",
            "the derivative of the softcap is formed from the score before it",
            [](M& m) { m.slope = M::Slope::of_uncapped; });
  add_named("last head of a group forgotten",
            "the last query head of a group adds nothing to dk and dv",
            [](M& m) { m.rows = M::Rows::not_last_head_of_group; });
  add_named("last tile of queries forgotten",
            "the last of several tiles of queries adds nothing to dk and dv",
            [](M& m) { m.rows = M::Rows::not_last_query_tile; });
  add_named("dk and dv of the last tile of queries", "each tile of queries replaces dk and dv",
            [](M& m) { m.rows = M::Rows::last_query_tile_only; });
  add_named("dk without scale", "dk is not multiplied by the scale",
            [](M& m) { m.key_scale = M::Factor::one; });
  add_named("dk scaled twice", "dk is multiplied by the scale twice",
            [](M& m) { m.key_scale = M::Factor::twice; });
  add_named("dq without scale", "dq is not multiplied by the scale",
            [](M& m) { m.query_scale = M::Factor::one; });
  add_named("dq scaled twice", "dq is multiplied by the scale twice",
            [](M& m) { m.query_scale = M::Factor::twice; });
  add_named("gradients of one key too many", "the key after a visible one has gradients, too",
            [](M& m) { m.one_key_more = true; });
  add_named("dv of masked keys", "dv has terms of keys that the row does not see",
            [](M& m) { m.values_of_masked_keys = true; });
  add_named("dbias of the last row", "dbias is not summed over what the bias is broadcast over",
            [](M& m) { m.bias_of_last_row = true; });
  add_named("dsink of the other sign", "the gradient of the sink has no minus",
            [](M& m) { m.sink = M::Sink::other_sign; });
  add_named("dsink without dlse", "the gradient of the sink leaves out that of the lse",
            [](M& m) { m.sink = M::Sink::without_dlse; });
  add_named("P in bf16 in the backward pass",
            "weights are rounded to bf16 before they multiply dout",
            [](M& m) { m.weight_format = kBf16; });
  return all;
}

bool few_pairs(const Problem& problem) {
  return problem.rows() * problem.seq_kv <= kMostPairs;
}

std::optional<BackwardRun> backward_of(const Kernel& kernel, const Case& on) {
  if (!few_pairs(on.problem)) return std::nullopt;
  try {
    GradientOutputs outputs = run_backward(kernel, on);
    return outputs.status.ok() ? std::optional(BackwardRun{on, std::move(outputs)}) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

using Diagnosed = std::vector<std::unique_ptr<DiagnosedGradients>>;

Diagnosed diagnosed(const Kernel& kernel, const std::vector<BackwardRun>& runs) {
  Diagnosed found;
  for (const BackwardRun& run : runs) {
    if (!few_pairs(run.of.problem)) continue;
    auto one = std::make_unique<DiagnosedGradients>(kernel, run);
    if (one->is_known()) found.push_back(std::move(one));
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const auto& one) { return one->is_wrong(); });
  return found;
}

/// A mistake that is not ruled out yet.
struct Candidate {
  NamedMistake named;
  DiagnosedGradients::Shown shown = {};

  bool explains(const DiagnosedGradients& run) {
    const auto model = model_gradients(run.run(), named.mistake);
    if (!model) return false;
    const auto of_run = run.compare(*model);
    shown = {of_run.all, shown.rows + of_run.rows, shown.wrong + of_run.wrong,
             shown.bits + of_run.bits};
    return of_run.all;
  }
};

}  // namespace

std::vector<Explanation> explain_gradients(const Kernel& kernel,
                                           const std::vector<BackwardRun>& runs) {
  const Diagnosed seen = diagnosed(kernel, runs);
  std::vector<const Case*> wrong;
  for (const auto& one : seen)
    if (one->is_wrong() && wrong.size() < kKinds) wrong.push_back(&one->run().of);
  if (wrong.empty()) return {};
  std::vector<Candidate> candidates;
  for (const NamedMistake& named : mistakes()) {
    Candidate candidate{named};
    const bool explains = std::all_of(seen.begin(), seen.end(),
                                      [&](const auto& run) { return candidate.explains(*run); });
    if (explains && candidate.shown.bits >= kEnoughBits) candidates.push_back(candidate);
  }
  for (Candidate& candidate : candidates) candidate.shown.bits = 0;
  bool could_run = false;
  for (const Case& on : experiments(wrong, kExperiments, ExperimentValues::plain)) {
    if (candidates.empty()) return {};
    const auto ran = backward_of(kernel, on);
    if (!ran) continue;
    could_run = true;
    const DiagnosedGradients run(kernel, *ran);
    if (run.is_known())
      std::erase_if(candidates, [&](Candidate& one) { return !one.explains(run); });
  }
  if (candidates.size() != 1) return {};
  const Candidate& only = candidates.front();
  if (could_run && only.shown.bits < kEnoughBits) return {};
  return {{only.named.name, only.named.sentence, {}, only.shown.rows, only.shown.wrong}};
}

std::vector<std::pair<std::string_view, std::string_view>> known_gradient_mistakes() {
  std::vector<std::pair<std::string_view, std::string_view>> known;
  for (const NamedMistake& named : mistakes()) known.emplace_back(named.name, named.sentence);
  return known;
}

}  // namespace attest::properties
