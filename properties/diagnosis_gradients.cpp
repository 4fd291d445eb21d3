#include "properties/diagnosis_gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "properties/gradient_case.hpp"
#include "properties/gradient_model.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

constexpr double kEnoughBits = 12;
constexpr double kMostBitsOfANumber = 24;
constexpr std::size_t kFreshProblems = 4;
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
      std::set<std::array<Index, 3>> wrong;
      std::set<std::array<Index, 3>> rows;
      for_each_element(run_.of.problem, part, model.parts[part].value,
                       [&](Index b, Index h, Index row, Index column) {
                         if (!all) return;
                         const double is = got.get(b, h, row, column);
                         const double want = model.parts[part].value.get(b, h, row, column);
                         const double bound = limit(part, model, b, h, row, column);
                         if (!(std::abs(is - want) <= bound)) all = false;
                         if (into == nullptr) return;
                         rows.insert({b, h, row});
                         const double right = right_->parts[part].value.get(b, h, row, column);
                         const double of_right = limit(part, *right_, b, h, row, column);
                         if (std::abs(is - right) <= of_right) return;
                         wrong.insert({b, h, row});
                         const double away = std::abs(want - right) / bound;
                         if (away > 1) into->bits += std::min(kMostBitsOfANumber, std::log2(away));
                       });
      if (into == nullptr) continue;
      into->rows += static_cast<Index>(rows.size());
      into->wrong += static_cast<Index>(wrong.size());
    }
    return all;
  }

  const BackwardRun& run_;
  std::optional<ModelGradients> right_;
  std::array<double, 5> share_{};
  bool is_wrong_ = false;
};

bool affordable(const Problem& problem) {
  return problem.rows() * problem.seq_kv <= kMostPairs;
}

/// The wrong problems with other values.
std::vector<BackwardRun> fresh_runs(const Kernel& kernel,
                                    const std::vector<const BackwardRun*>& wrong) {
  std::vector<BackwardRun> fresh;
  for (std::size_t i = 0; i < std::min(wrong.size(), kFreshProblems); ++i)
    for (const std::uint64_t seed : {11U, 12U}) {
      Case other = wrong[i]->of;
      fill_family(other, "normal", seed);
      share_values(other);
      becomes_literal(other);
      try {
        GradientOutputs outputs = run_backward(kernel, other);
        if (outputs.status.ok()) fresh.push_back({std::move(other), std::move(outputs)});
      } catch (const std::exception&) {
        continue;
      }
    }
  return fresh;
}

using Diagnosed = std::vector<std::unique_ptr<DiagnosedGradients>>;

void append(const Kernel& kernel, const std::vector<BackwardRun>& runs, Diagnosed& to) {
  for (const BackwardRun& run : runs) {
    if (!affordable(run.of.problem)) continue;
    auto diagnosed = std::make_unique<DiagnosedGradients>(kernel, run);
    if (diagnosed->is_known()) to.push_back(std::move(diagnosed));
  }
}

}  // namespace

std::vector<Explanation> explain_gradients(const Kernel& kernel,
                                           const std::vector<BackwardRun>& runs) {
  Diagnosed diagnosed;
  append(kernel, runs, diagnosed);
  std::vector<const BackwardRun*> wrong;
  for (const auto& one : diagnosed)
    if (one->is_wrong()) wrong.push_back(&one->run());
  if (wrong.empty()) return {};
  const std::vector<BackwardRun> fresh = fresh_runs(kernel, wrong);
  append(kernel, fresh, diagnosed);
  std::stable_partition(diagnosed.begin(), diagnosed.end(),
                        [](const auto& one) { return one->is_wrong(); });
  std::vector<Explanation> found;
  for (const NamedMistake& named : mistakes()) {
    DiagnosedGradients::Shown sum;
    for (const auto& one : diagnosed) {
      const auto model = model_gradients(one->run(), named.mistake);
      const auto shown = model ? one->compare(*model) : DiagnosedGradients::Shown{false, 0, 0, 0};
      sum = {sum.all && shown.all, sum.rows + shown.rows, sum.wrong + shown.wrong,
             sum.bits + shown.bits};
      if (!sum.all) break;
    }
    if (sum.all && sum.wrong > 0 && sum.bits >= kEnoughBits)
      found.push_back({named.name, named.sentence, {}, sum.rows, sum.wrong});
  }
  return found;
}

std::vector<std::pair<std::string_view, std::string_view>> known_gradient_mistakes() {
  std::vector<std::pair<std::string_view, std::string_view>> known;
  for (const NamedMistake& named : mistakes()) known.emplace_back(named.name, named.sentence);
  return known;
}

}  // namespace attest::properties
