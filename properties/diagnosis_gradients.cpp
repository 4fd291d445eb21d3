#include "properties/diagnosis_gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "properties/diagnosis_experiments.hpp"
#include "properties/gradient_case.hpp"
#include "properties/gradient_model.hpp"

namespace attest::properties {
namespace {

constexpr double kMostBitsOfANumber = 24;
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

const Tensor& part_of(const GradientOutputs& outputs, std::size_t part) {
  const std::array<const Tensor*, 5> tensors{&outputs.dq, &outputs.dk, &outputs.dv, &outputs.dbias,
                                             &outputs.dsink};
  return *tensors[part];
}

/// Elements of a part that exist: rows and keys below their lengths.
template <class Body>
void for_each_element(const Problem& problem, std::size_t part, const Tensor& of, Body&& body) {
  if (of.extents() == Extents{}) return;
  for_each_index(of.extents(), [&](Index b, Index h, Index row, Index column) {
    if (part == model_dq && row >= problem.query_length(b)) return;
    if ((part == model_dk || part == model_dv) && row >= problem.key_length(b)) return;
    body(b, h, row, column);
  });
}

/// A run, the right gradients, and how far off a kernel may be: a share of the magnitude of the
/// terms, one for each part.
class DiagnosedGradients {
 public:
  DiagnosedGradients(const Kernel& kernel, const BackwardRun& run)
      : run_(run), right_(model_gradients(run, {})) {
    if (!right_) return;
    const GradientTruth truth(kernel, run.of);
    for (Index b = 0; b < run.of.problem.batch && right_; ++b)
      for (Index head = 0; head < run.of.problem.heads_kv && right_; ++head) take(truth, {b, head});
    if (right_) is_wrong_ = !shown(*right_, nullptr);
  }

  bool is_known() const { return right_.has_value(); }
  bool is_wrong() const { return is_wrong_; }
  const BackwardRun& run() const { return run_; }

  /// Whether the model says what the kernel gave, and how much that says.
  struct Shown {
    bool all = true;
    Index rows = 0;
    Index wrong = 0;
    double bits = 0;
  };
  Shown compare(const ModelGradients& model) const {
    Shown result;
    result.all = shown(model, &result);
    return result;
  }

 private:
  void take(const GradientTruth& truth, const KvHead& head) {
    const auto exact = truth.head(head);
    if (!exact || !exact->bound.proven()) {
      right_.reset();
      return;
    }
    const Gradients<double> sizes = magnitudes(exact->facts);
    for (std::size_t part = 0; part < share_.size(); ++part) {
      const auto& limits = *exact->bound.limit.lists()[part];
      const auto& size = *sizes.lists()[part];
      for (std::size_t i = 0; i < limits.size(); ++i)
        if (size[i] > 0x1p-90) share_[part] = std::max(share_[part], limits[i] / size[i]);
    }
  }

  double limit(std::size_t part, const ModelGradients& model, Index b, Index h, Index row,
               Index column) const {
    const ModelTensor& of = model.parts[part];
    return 2 * share_[part] * of.magnitude.get(b, h, row, column) +
           of.slack.get(b, h, row, column) + 0x1p-100;
  }

  bool shown(const ModelGradients& model, Shown* into) const {
    bool all = true;
    for (std::size_t part = 0; part < model.parts.size(); ++part) {
      const Tensor& got = part_of(run_.outputs, part);
      std::map<std::array<Index, 3>, double> bits;  // of wrong rows
      std::set<std::array<Index, 3>> rows;
      for_each_element(run_.of.problem, part, model.parts[part].value,
                       [&](Index b, Index h, Index row, Index column) {
                         if (!all) return;
                         const double is = got.get(b, h, row, column);
                         const double want = model.parts[part].value.get(b, h, row, column);
                         // Of NaN that it would read a mistake says nothing.
                         if (!std::isfinite(want)) return;
                         const double bound = limit(part, model, b, h, row, column);
                         if (!(std::abs(is - want) <= bound)) all = false;
                         if (into == nullptr) return;
                         rows.insert({b, h, row});
                         const double right = right_->parts[part].value.get(b, h, row, column);
                         const double of_right = limit(part, *right_, b, h, row, column);
                         if (std::abs(is - right) <= of_right) return;
                         double& most = bits[{b, h, row}];
                         const double away = std::abs(want - right) / bound;
                         if (away > 1)
                           most = std::max(most, std::min(kMostBitsOfANumber, std::log2(away)));
                       });
      if (into == nullptr) continue;
      into->rows += static_cast<Index>(rows.size());
      into->wrong += static_cast<Index>(bits.size());
      for (const auto& of_row : bits) into->bits += of_row.second;
    }
    return all;
  }

  const BackwardRun& run_;
  std::optional<ModelGradients> right_;
  std::array<double, 5> share_{};
  bool is_wrong_ = false;
};

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
