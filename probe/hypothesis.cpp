#include "probe/hypothesis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/judge.hpp"

namespace attest::probe {
namespace {

using properties::DiagnosedRun;
using properties::Expected;
using properties::RowPrediction;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct OtherProblem {
  Case of;
  std::unique_ptr<properties::Truth> truth;  ///< of `of`
};

std::string in_bounds(double ratio) {
  if (std::isinf(ratio)) return "beyond all bounds";
  std::ostringstream text;
  text.precision(ratio < 1e6 ? 2 : 1);
  if (ratio >= 100 && ratio < 1e6)
    text << std::lround(ratio);
  else
    text << ratio;
  return text.str() + " bounds off";
}

double ratio_of_number(const Expected& expected, double got) {
  const double distance = expected.value.distance_lower(got);
  if (!(distance >= 0)) return kInfinity;
  if (distance == 0) return 0;
  return expected.bound > 0 ? distance / expected.bound : kInfinity;
}

/// The number that is to be expected of a kernel that writes another lse than it was asked for.
/// What has no error of its own (infinities, what rows without keys get) is as it is.
void read_as(const LseReading& reading, Expected& lse) {
  if (lse.kind != Expected::Kind::number || lse.bound == 0 || std::isinf(lse.value.high)) return;
  if (!reading.usable) lse.kind = Expected::Kind::anything;
  if (reading.unit == 1) return;
  lse.bound = (lse.bound + lse.value.radius + std::abs(lse.value.high) * 0x1p-40) / reading.unit;
  lse.value = {lse.value.high / reading.unit, 0, 0};
}

double ratio(const DiagnosedRun& run, const RowIndex& row, const RowPrediction& expected,
             const LseReading& reading) {
  double worst = 0;
  RowPrediction classes = expected;
  if (classes.lse) read_as(reading, *classes.lse);
  const auto take = [&](Expected& one, double got) {
    if (one.kind != Expected::Kind::number) return;
    worst = std::max(worst, ratio_of_number(one, got));
    one.kind = Expected::Kind::anything;
  };
  for (std::size_t c = 0; c < classes.output.size(); ++c)
    take(classes.output[c], run.outputs().at(row, static_cast<Index>(c)));
  if (classes.lse && run.outputs().has_lse()) take(*classes.lse, run.outputs().lse_at(row));
  return run.shows(row, classes) ? worst : kInfinity;
}

/// What several inputs say of a candidate: its worst standing.
void add(const Standings& of_one, Standings& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rows += of_one[i].rows;
    all[i].worst = std::max(all[i].worst, of_one[i].worst);
  }
}

/// Which candidate they leave, and how far the next one is.
struct Choice {
  std::optional<std::size_t> which;
  std::string why = {};  ///< none is left
  double next = kInfinity;
};

Choice choose(const Standings& standings, const std::vector<Candidate>& candidates) {
  Choice choice;
  std::string alike;
  double nearest = kInfinity;
  std::size_t near_to = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Standing& one = standings[i];
    if (one.rows == 0) continue;
    if (one.worst < nearest) nearest = one.worst, near_to = i;
    if (one.worst <= 1) {
      alike += (alike.empty() ? "" : " and ") + ("'" + candidates[i].value + "'");
      if (choice.which) choice.why = alike + " look the same here";
      choice.which = i;
    } else {
      choice.next = std::min(choice.next, one.worst);
      if (one.worst <= kClearMargin && choice.why.empty())
        choice.why = "'" + candidates[i].value + "' is too near to be refused";
    }
  }
  if (!choice.which)
    choice.why = "none of " + std::to_string(candidates.size()) + " candidates fits; '" +
                 candidates[near_to].value + "' is nearest, " + in_bounds(nearest);
  return choice;
}

}  // namespace

properties::Fit solves(Change change, EmptyRows empty) {
  return [change = std::move(change), empty](const DiagnosedRun& run) -> properties::Predictor {
    const auto other = std::make_shared<OtherProblem>();
    other->of = run.of();
    if (!change(other->of) || !validate(other->of.problem).ok()) return nullptr;
    other->truth = std::make_unique<properties::Truth>(run.kernel(), other->of);
    return [other, empty](const RowIndex& row) -> std::optional<RowPrediction> {
      const auto exact = other->truth->row(row);
      if (!exact) return properties::prediction_of_nan(other->of, row);
      if (empty == EmptyRows::ignored && exact->facts.keys.empty()) return std::nullopt;
      return properties::prediction_of(*exact, other->of.problem);
    };
  };
}

properties::Fit sees(SeenBy rule, EmptyRows empty) {
  return solves(
      [rule = std::move(rule)](Case& of) {
        Problem& problem = of.problem;
        MaskBits bits{problem.seq_q, problem.seq_kv, {}};
        for (Index query = 0; query < problem.seq_q; ++query)
          for (Index key = 0; key < problem.seq_kv; ++key)
            bits.visible.push_back(rule(problem, query, key));
        problem.mask = {};
        problem.mask.bits = std::move(bits);
        return true;
      },
      empty);
}

properties::Fit as_asked(EmptyRows empty) {
  return solves([](Case&) { return true; }, empty);
}

properties::Fit known_as(std::string_view name) {
  for (const properties::Alternative& one : properties::all_alternatives())
    if (one.name == name) return one.forms.front().fit;
  throw std::logic_error("there is no mistake '" + std::string(name) + "'");
}

properties::Fit changed_rows(properties::Fit fit, ChangeRow change) {
  return [fit = std::move(fit),
          change = std::move(change)](const DiagnosedRun& run) -> properties::Predictor {
    const properties::Predictor predict = fit(run);
    if (!predict) return nullptr;
    return [&run, predict, change](const RowIndex& row) {
      std::optional<RowPrediction> prediction = predict(row);
      if (prediction && !change(run, row, *prediction)) prediction.reset();
      return prediction;
    };
  };
}

Standing standing(const DiagnosedRun& run, const properties::Fit& fit, const LseReading& reading) {
  Standing found;
  const properties::Predictor predict = fit(run);
  if (!predict) return found;
  for (const RowIndex& row : run.rows()) {
    const auto expected = predict(row);
    if (!expected) continue;
    ++found.rows;
    found.worst = std::max(found.worst, ratio(run, row, *expected, reading));
  }
  return found;
}

Finding cannot_tell(std::string name, std::string reason) {
  return {std::move(name), "", Sureness::cannot_tell, std::move(reason)};
}

Finding cannot_tell(std::string name, const Status& status) {
  Finding finding = cannot_tell(std::move(name), status.message());
  finding.not_declared = status.code() == StatusCode::unsupported;
  return finding;
}

Finding decide(std::string name, const std::vector<Case>& inputs,
               const std::vector<Candidate>& candidates, const Measure& measure) {
  Finding finding = cannot_tell(std::move(name), "");
  // Every other input repeats the one before it with other values.
  std::array<Standings, 2> halves;
  halves.fill(Standings(candidates.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    finding.experiments.push_back(line_of(inputs[i]));
    const Result<Standings> standings = measure(inputs[i]);
    if (!standings.ok()) {
      Finding stopped = cannot_tell(finding.name, standings.status());
      stopped.experiments = std::move(finding.experiments);
      return stopped;
    }
    add(standings.value(), halves[i % 2]);
  }
  const Choice first = choose(halves[0], candidates);
  const Choice second = choose(halves[1], candidates);
  finding.reason = first.why.empty() ? second.why : first.why;
  if (!finding.reason.empty()) return finding;
  if (*first.which != *second.which) {
    finding.reason = "one input looks like '" + candidates[*first.which].value +
                     "', another like '" + candidates[*second.which].value + "'";
    return finding;
  }
  const std::size_t which = *first.which;
  const std::string rows = std::to_string(halves[0][which].rows + halves[1][which].rows);
  const double next = std::min(first.next, second.next);
  finding.value = candidates[which].value;
  finding.words = candidates[which].words;
  finding.sureness = Sureness::certain;
  finding.reason = "fits " + rows + " of " + rows + " rows; every other candidate is " +
                   (std::isinf(next) ? "" : "at least ") + in_bounds(next);
  return finding;
}

Result<std::vector<Case>> all_made(const Subject& subject, const std::vector<std::string>& lines) {
  std::vector<Case> inputs;
  for (const std::string& line : lines) {
    Result<Case> made = subject.made(line);
    if (!made.ok()) return made.status();
    inputs.push_back(std::move(made).value());
  }
  return inputs;
}

Finding decide(const Subject& subject, std::string name, const std::vector<std::string>& lines,
               const Hypotheses& hypotheses) {
  const auto inputs = all_made(subject, lines);
  if (!inputs.ok()) return cannot_tell(std::move(name), inputs.status());
  std::vector<Candidate> candidates;
  for (const Hypothesis& one : hypotheses) candidates.push_back({one.value, one.words});
  return decide(std::move(name), inputs.value(), candidates,
                [&](const Case& input) -> Result<Standings> {
                  const auto run = subject.run(input);
                  if (!run.ok()) return run.status();
                  Standings all;
                  for (const Hypothesis& one : hypotheses)
                    all.push_back(standing(*run.value(), one.fit, subject.lse_reading()));
                  return all;
                });
}

std::vector<Finding> in_one(const std::vector<std::string>& ways, std::vector<Finding> parts) {
  std::vector<Finding> told;
  std::vector<std::string> of_told;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].not_declared) continue;
    told.push_back(parts[i]);
    of_told.push_back(ways[i]);
  }
  if (told.empty()) return {parts.front()};
  std::vector<Finding> found;
  const auto decided = [](const Finding& one) { return one.sureness != Sureness::cannot_tell; };
  const auto first = std::find_if(told.begin(), told.end(), decided);
  const bool same =
      first != told.end() && std::all_of(told.begin(), told.end(), [&](const Finding& one) {
        return !decided(one) || one.value == first->value;
      });
  if (told.size() == 1) return told;
  if (same) {
    found.push_back(*first);
    for (const Finding& one : told)
      if (decided(one) && &one != &*first)
        found.front().experiments.insert(found.front().experiments.end(), one.experiments.begin(),
                                         one.experiments.end());
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (same && decided(told[i])) continue;
    found.push_back(told[i]);
    found.back().name += ", " + of_told[i];
  }
  return found;
}

}  // namespace attest::probe
