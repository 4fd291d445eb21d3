#include "properties/diagnosis.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/diagnosis_evidence.hpp"
#include "properties/diagnosis_experiments.hpp"
#include "properties/diagnosis_gradients.hpp"

namespace attest::properties {
namespace {

/// One form of a mistake that is not ruled out yet.
struct Candidate {
  const Alternative* alternative;
  const Form* form;
  Index rows = 0;
  Index wrong = 0;
  double bits = 0;
};
using Candidates = std::vector<Candidate>;

/// What a wrong row says of a mistake that says nothing of it.
enum class Silence { refutes, is_passed_over };

/// Whether a form explains a whole run; counts what it explains.
bool explains_run(const DiagnosedRun& run, Candidate& candidate, Silence silence) {
  const Predictor predictor = candidate.form->fit(run);
  for (std::size_t i = 0; i < run.rows().size(); ++i) {
    const RowIndex& row = run.rows()[i];
    const bool is_wrong = i < run.wrong_rows();
    const auto expected = predictor ? predictor(row) : run.right(row);
    if (!expected) {
      if (is_wrong && silence == Silence::refutes) return false;
      continue;
    }
    if (!run.shows(row, *expected)) return false;
    ++candidate.rows;
    if (!is_wrong) continue;
    ++candidate.wrong;
    candidate.bits += run.bits_of_evidence(row, *expected);
  }
  return true;
}

Candidates explaining(const Runs& runs, bool general) {
  Candidates candidates;
  for (const Alternative& alternative : all_alternatives()) {
    if (alternative.general != general) continue;
    for (const Form& form : alternative.forms) {
      Candidate candidate{&alternative, &form};
      const bool explains = std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
        return explains_run(*run, candidate, Silence::refutes);
      });
      if (explains && candidate.bits >= kEnoughBits) candidates.push_back(candidate);
    }
  }
  return candidates;
}

bool are_one_mistake(const Candidates& candidates) {
  return std::all_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
    return one.alternative == candidates.front().alternative;
  });
}

/// The words of the changed problem that the problem itself does not have.
std::string changed_words(const Case& of, ChangeCase change) {
  if (change == nullptr || of.problem.batch == 0) return {};
  Case changed = of;
  bool any = change(changed, 0);
  for (Index b = 1; b < of.problem.batch; ++b) {
    Case other = of;
    any = change(other, b) || any;
    if (other.problem != changed.problem) return {};
  }
  if (!any || !validate(changed.problem).ok()) return {};
  const auto words = [](const Case& from) {
    ProblemText text;
    text.problem = from.problem;
    std::istringstream stream(minimal_text(text));
    return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
  };
  const std::vector<std::string> before = words(of);
  std::string added;
  for (const std::string& word : words(changed))
    if (std::find(before.begin(), before.end(), word) == before.end())
      added += (added.empty() ? "" : " ") + word;
  return added;
}

/// The case that shows a change best: the first wrong one, as the caller gave it.
const Case& shown_case(const Runs& runs) {
  return runs.front()->of();
}

/// Puts the candidates to the test of further cases.
class Trial {
 public:
  Trial(const Kernel& kernel, const Runs& runs) : kernel_(kernel) {
    for (const auto& run : runs) {
      const auto same = [&](const Case* other) { return other->problem == run->problem(); };
      if (run->wrong_rows() > 0 && std::none_of(wrong_.begin(), wrong_.end(), same))
        wrong_.push_back(&run->of());
    }
    wrong_.resize(std::min(wrong_.size(), kKinds));
  }

  void rule_out(Candidates& candidates, bool general) {
    if (candidates.empty()) return;
    for (const Case& on : experiments(wrong_, kExperiments)) try_out(candidates, on);
    // What says little must hold whatever the mask and the terms are.
    if (general)
      for (const Case* const like : wrong_) try_out(candidates, plain_case(*like));
  }
  /// Whether the kernel gave results in any of them.
  bool could_run() const { return could_run_; }

 private:
  static constexpr std::size_t kKinds = 4;
  static constexpr std::size_t kExperiments = 32;

  void try_out(Candidates& candidates, const Case& on) {
    auto outputs = run_of(kernel_, on);
    if (!outputs) return;
    could_run_ = true;
    const DiagnosedRun run(kernel_, {on, std::move(*outputs)});
    std::erase_if(candidates, [&](Candidate& candidate) {
      return !explains_run(run, candidate, Silence::is_passed_over);
    });
  }

  const Kernel& kernel_;
  std::vector<const Case*> wrong_;
  bool could_run_ = false;
};

std::vector<Explanation> explain_forward(const Kernel& kernel, const Runs& runs, bool general) {
  Candidates candidates = explaining(runs, general);
  Trial trial(kernel, runs);
  for (Candidate& candidate : candidates) candidate.bits = 0;
  trial.rule_out(candidates, general);
  if (candidates.empty() || !are_one_mistake(candidates)) return {};
  const Candidate& only = candidates.front();
  if (trial.could_run() && only.bits < kEnoughBits) return {};
  return {{only.alternative->name, only.alternative->sentence,
           changed_words(shown_case(runs), only.form->change), only.rows, only.wrong}};
}

}  // namespace

const Alternatives& all_alternatives() {
  static const Alternatives all = [] {
    Alternatives made;
    append_mask_alternatives(made);
    append_score_alternatives(made);
    append_lse_alternatives(made);
    append_head_alternatives(made);
    append_storage_alternatives(made);
    append_excluded_alternatives(made);
    append_row_alternatives(made);
    append_tile_alternatives(made);
    append_weight_alternatives(made);
    append_output_alternatives(made);
    return made;
  }();
  return all;
}

std::vector<Explanation> explain(const Kernel& kernel, const Law& law,
                                 std::span<const Case> cases) {
  const Evidence evidence(kernel, law, cases);
  if (evidence.is_wrong()) {
    std::vector<Explanation> found = explain_forward(kernel, evidence.runs(), false);
    return found.empty() ? explain_forward(kernel, evidence.runs(), true) : found;
  }
  return explain_gradients(kernel, evidence.backward());
}

std::vector<Explanation> explain(const Kernel& kernel, const Law& law, const Case& on) {
  return explain(kernel, law, std::span<const Case>(&on, 1));
}

/// Longer words are the bits of a mask, which nobody reads in a sentence.
constexpr std::size_t kReadable = 60;

std::string acts_like(std::span<const Explanation> explanations) {
  std::string text;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    const Explanation& one = explanations[i];
    if (i > 0) text += i + 1 == explanations.size() ? " or " : ", ";
    text += one.name;
    if (!one.problem.empty() && one.problem.size() <= kReadable) text += " (" + one.problem + ")";
  }
  if (text.empty()) return text;
  return text + ": explains " + std::to_string(explanations.front().rows) + " of " +
         std::to_string(explanations.front().rows) + " rows, " +
         std::to_string(explanations.front().rows_wrong) + " of them wrong";
}

std::vector<std::pair<std::string_view, std::string_view>> known_mistakes() {
  std::vector<std::pair<std::string_view, std::string_view>> known;
  for (const Alternative& alternative : all_alternatives())
    known.emplace_back(alternative.name, alternative.sentence);
  for (const auto& one : known_gradient_mistakes()) known.push_back(one);
  return known;
}

}  // namespace attest::properties
