#include "properties/diagnosis.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/diagnosis_evidence.hpp"
#include "properties/diagnosis_gradients.hpp"

namespace attest::properties {
namespace {

/// A mistake must be told from the truth by this much, all numbers together.
constexpr double kEnoughBits = 12;

struct Fitted {
  bool explains = false;
  Index rows = 0;
  Index wrong = 0;
  double bits = 0;
};

/// Whether one form of a mistake explains a whole run.
bool explains_run(const DiagnosedRun& run, const Predictor& predictor, Fitted& fitted) {
  for (std::size_t i = 0; i < run.rows().size(); ++i) {
    const RowIndex& row = run.rows()[i];
    const bool is_wrong = i < run.wrong_rows();
    const auto expected = predictor ? predictor(row) : run.right(row);
    if (!expected) {
      // Nothing is said about the row; of a wrong one that is not enough.
      if (is_wrong) return false;
      continue;
    }
    if (!run.shows(row, *expected)) return false;
    ++fitted.rows;
    if (!is_wrong) continue;
    ++fitted.wrong;
    fitted.bits += run.bits_of_evidence(row, *expected);
  }
  return true;
}

Fitted fit(const Fit& form, const Runs& runs) {
  Fitted fitted;
  for (const auto& run : runs)
    if (!explains_run(*run, form(*run), fitted)) return fitted;
  fitted.explains = fitted.wrong > 0 && fitted.bits >= kEnoughBits;
  return fitted;
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

std::vector<Explanation> explain_forward(const Runs& runs, bool general) {
  std::vector<Explanation> found;
  for (const Alternative& alternative : all_alternatives()) {
    if (alternative.general != general) continue;
    for (const Form& form : alternative.forms) {
      const Fitted fitted = fit(form.fit, runs);
      if (!fitted.explains) continue;
      found.push_back({alternative.name, alternative.sentence,
                       changed_words(shown_case(runs), form.change), fitted.rows, fitted.wrong});
      break;
    }
  }
  return found;
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
    std::vector<Explanation> found = explain_forward(evidence.runs(), false);
    return found.empty() ? explain_forward(evidence.runs(), true) : found;
  }
  return explain_gradients(kernel, evidence.backward());
}

std::vector<Explanation> explain(const Kernel& kernel, const Law& law, const Case& on) {
  return explain(kernel, law, std::span<const Case>(&on, 1));
}

std::string acts_like(std::span<const Explanation> explanations) {
  std::string text;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    const Explanation& one = explanations[i];
    if (i > 0) text += i + 1 == explanations.size() ? " or " : ", ";
    text += one.name;
    if (!one.problem.empty()) text += " (" + one.problem + ")";
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
