#include "properties/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "properties/exact_rows.hpp"
#include "properties/output_errors.hpp"
#include "properties/rule.hpp"
#include "properties/stand_in_trials.hpp"
#include "properties/stand_ins.hpp"

namespace attest::properties {
namespace {

/// An lse that is off by this much is off by a factor of more than 1.6 in mass.
constexpr double kUselessLseBound = 0.5;

/// Remembers whether an output made without looking at the scores would have passed.
class StandIns {
 public:
  /// A kernel can give numbers of this type only.
  explicit StandIns(Dtype out_dtype) : out_dtype_(out_dtype) {}

  void look_at(const reference::CertifiedRow& truth) {
    const RowFacts& facts = truth.facts;
    const std::vector<double> mean = output_with_scores_times(facts, 0);
    for (std::size_t c = 0; c < mean.size(); ++c) {
      compare(zero_, truth, c, 0);
      compare(mean_, truth, c, rounded_to(out_dtype_, mean[c]));
    }
  }
  /// The name of a stand-in that differs from the truth and was accepted everywhere, or null.
  const char* accepted() const {
    if (zero_.differs && !zero_.rejected) return "all zeros";
    if (mean_.differs && !mean_.rejected) return "the mean of v";
    return nullptr;
  }

 private:
  struct Seen {
    bool differs = false;
    bool rejected = false;
  };
  static void compare(Seen& seen, const reference::CertifiedRow& truth, std::size_t c,
                      double stand_in) {
    if (!differs(truth.facts, c, stand_in)) return;
    seen.differs = true;
    seen.rejected =
        seen.rejected || truth.facts.output[c].distance_lower(stand_in) > truth.bound.output[c];
  }

  Dtype out_dtype_;
  Seen zero_;
  Seen mean_;
};

}  // namespace

double value_magnitude(const RowFacts& facts, std::size_t column) {
  double sum = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    sum += facts.probability[j] * std::abs(facts.value[j * facts.output.size() + column]);
  return sum;
}

bool informative_output(const reference::CertifiedRow& row, std::size_t column) {
  const double magnitude = value_magnitude(row.facts, column);
  return row.facts.keys.empty() || magnitude == 0 || row.bound.output[column] < magnitude;
}

bool informative_lse(const reference::CertifiedRow& row) {
  return row.facts.keys.empty() || row.asked_lse_bound < kUselessLseBound;
}

double share_of_bound(const reference::CertifiedRow& exact, const RowIndex& row,
                      const Outputs& outputs) {
  const RowFacts& facts = exact.facts;
  const RowBound& bound = exact.bound;
  double largest = 0;
  const auto add = [&](double error, double limit) {
    if (error == 0) return;
    const double share =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : error / limit;
    largest = std::max(largest, share);
  };
  if (!bound.proven()) return 0;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    add(facts.output[c].distance_upper(outputs.at(row, static_cast<Index>(c))), bound.output[c]);
  if (outputs.has_lse() && exact.asked_lse)
    add(exact.asked_lse->distance_upper(outputs.lse_at(row)), exact.asked_lse_bound);
  return largest;
}

Index count_beyond(std::span<const double> probable, const RowFacts& facts, const RowIndex& row,
                   const Outputs& outputs) {
  Index count = 0;
  for (std::size_t c = 0; c < probable.size(); ++c) {
    const double got = outputs.at(row, static_cast<Index>(c));
    if (!(facts.output[c].distance_lower(got) <= probable[c])) ++count;
  }
  return count;
}

namespace {

/// The output of a row without keys and without a sink.
void judge_empty_output(Tally& tally, const JudgedRow& judged) {
  const auto& [outputs, row, truth] = judged;
  const AllMaskedPolicy policy = outputs.asked.all_masked;
  for (std::size_t c = 0; c < truth.facts.output.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const double got = outputs.at(row, column);
    if (policy == AllMaskedPolicy::nan)
      tally.holds(std::isnan(got), {"out", row, column}, got,
                  std::numeric_limits<double>::quiet_NaN(),
                  "a row without visible keys must give NaN");
    else if (policy != AllMaskedPolicy::any)
      tally.within({"out", row, column}, got, truth.facts.output[c], truth.bound.output[c]);
  }
}

/// The sum of a row that is given as maximum and sum is a number that has a logarithm.
void judge_max_sum(Tally& tally, const RowIndex& row, const Outputs& outputs) {
  const auto [b, h, query] = row;
  const double maximum = outputs.lse.get(b, h, query, 0);
  const double sum = outputs.lse.get(b, h, query, 1);
  tally.holds(std::isfinite(maximum), {"lse", row, 0}, maximum, 0, "the maximum must be finite");
  tally.holds(sum > 0 && std::isfinite(sum), {"lse", row, 1}, sum, 1,
              "the sum of weights must be finite and above 0");
}

/// A row without mass is maximum -inf and sum 0; 0 and 0 or -1e30 and 0 have the same logarithm.
void judge_empty_max_sum(Tally& tally, const RowIndex& row, const Outputs& outputs) {
  const auto [b, h, query] = row;
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  const double maximum = outputs.lse.get(b, h, query, 0);
  const double sum = outputs.lse.get(b, h, query, 1);
  tally.holds(maximum == kMinusInfinity, {"lse", row, 0}, maximum, kMinusInfinity,
              "the maximum of a row without keys must be -inf");
  tally.holds(sum == 0, {"lse", row, 1}, sum, 0, "the sum of a row without keys must be 0");
}

/// The lse in the form in which it was asked for.
void judge_lse(Tally& tally, const JudgedRow& judged, bool by_rule) {
  const auto& [outputs, row, truth] = judged;
  if (!truth.asked_lse) return;
  const bool two_numbers =
      outputs.asked.lse == LseForm::max_sum && std::isfinite(truth.asked_lse->high);
  if (two_numbers) judge_max_sum(tally, row, outputs);
  if (outputs.asked.lse == LseForm::max_sum && std::isinf(truth.asked_lse->high)) {
    judge_empty_max_sum(tally, row, outputs);
    return;
  }
  const double got = outputs.lse_at(row);
  // m + ln(l) was rounded to double once.
  const double rounding = two_numbers && std::isfinite(got) ? 0x1p-52 * std::abs(got) : 0;
  tally.within({"lse", row}, got, *truth.asked_lse, truth.asked_lse_bound + rounding,
               by_rule || informative_lse(truth));
}

/// `by_rule`: a user's rule is in force, and however wide it is, it decides.
void judge_row(Tally& tally, const JudgedRow& judged, Part part, bool by_rule) {
  const auto& [outputs, row, truth] = judged;
  if (!truth.bound.proven()) {
    tally.undecided(truth.bound.unproven);
  } else if (part == Part::lse) {
    judge_lse(tally, {outputs, row, truth}, by_rule);
  } else if (truth.facts.keys.empty()) {
    judge_empty_output(tally, {outputs, row, truth});
  } else {
    for (std::size_t c = 0; c < truth.facts.output.size(); ++c) {
      const auto column = static_cast<Index>(c);
      tally.within({"out", row, column}, outputs.at(row, column), truth.facts.output[c],
                   truth.bound.output[c], by_rule || informative_output(truth, c));
    }
  }
  tally.end_row();
}

}  // namespace

void judge_row(Tally& tally, const reference::CertifiedRow& truth, const RowIndex& row, Part part,
               const Outputs& outputs) {
  judge_row(tally, {outputs, row, truth}, part, false);
}

namespace {

/// What is measured of outputs beside their verdict.
class OutMeasurements {
 public:
  explicit OutMeasurements(const Case& of)
      : of_(of), stand_ins_(of.problem.out_dtype()), trials_(of) {}

  /// Precondition: the row has a visible key and a proven bound.
  void look_at(const RowIndex& row, const reference::CertifiedRow& exact, const Outputs& outputs) {
    std::vector<double> got;
    for (Index c = 0; c < exact.facts.head_dim_v(); ++c) got.push_back(outputs.at(row, c));
    errors_.add({row.batch, of_.problem.kv_head(row.head)},
                row_errors(exact.facts.output, got, of_.problem.out_dtype()));
    stand_ins_.look_at(exact);
    trials_.look_at(row, exact);
  }
  void add_to(Verdict& verdict) const {
    verdict.statistics = errors_.statistics();
    verdict.stand_ins = trials_.trials();
    if (verdict.outcome != Outcome::ok) return;
    const char* const accepted = stand_ins_.accepted();
    std::string reason = accepted != nullptr
                             ? std::string("the bound would also accept ") + accepted
                             : low_power(verdict.stand_ins);
    if (reason.empty()) return;
    verdict.outcome = Outcome::weak;
    verdict.reason = std::move(reason);
  }

 private:
  const Case& of_;
  ErrorCollector errors_;
  StandIns stand_ins_;
  StandInTrials trials_;
};

}  // namespace

Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part) {
  const std::vector<RowIndex> rows = all_rows(of.problem);
  return judge_outputs(kernel, of, outputs, part, {rows});
}

Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part,
                      const RowChoice& choice) {
  Tally tally;
  OutMeasurements measurements(of);
  const Truth truth(kernel, of);
  ExactRows exact_rows(truth, outputs, choice);
  const Limits limits(of);
  LseTrials lse_trials;
  Index beyond_probable = 0;
  for (std::size_t place = 0; place < choice.rows.size(); ++place) {
    const RowIndex& row = choice.rows[place];
    auto exact = exact_rows.at(place);
    if (!exact) {
      tally.undecided("a visible input is not finite");
      continue;
    }
    const bool proven = exact->bound.proven();
    exact = limits.apply(std::move(*exact));
    if (part == Part::lse) lse_trials.look_at(*exact, of.problem);
    judge_row(tally, {outputs, row, *exact}, part, limits.overrides());
    if (part != Part::out || exact->facts.visible_keys() == 0 || !exact->bound.proven()) continue;
    measurements.look_at(row, *exact, outputs);
    if (proven && !limits.overrides())
      beyond_probable += count_beyond(truth.probable_errors(*exact), exact->facts, row, outputs);
  }
  Verdict verdict = tally.verdict();
  verdict.beyond_probable = beyond_probable;
  if (part == Part::out) measurements.add_to(verdict);
  if (part == Part::lse) verdict.stand_ins = lse_trials.trials();
  return verdict;
}

void same_row_bits(Tally& tally, const OutputRow& got, const OutputRow& want,
                   std::string_view reason) {
  const auto compare = [&](std::string_view name, const Tensor& got_tensor,
                           const Tensor& want_tensor) {
    for (Index c = 0; c < want_tensor.extents()[3]; ++c)
      tally.same_bits({name, want.row, c},
                      got_tensor.get(got.row.batch, got.row.head, got.row.query, c),
                      want_tensor.get(want.row.batch, want.row.head, want.row.query, c), reason);
  };
  compare("out", got.outputs.out, want.outputs.out);
  if (want.outputs.has_lse()) compare("lse", got.outputs.lse, want.outputs.lse);
  tally.end_row();
}

void same_stored_bits(Tally& tally, std::string_view name, const Problem& problem,
                      const Tensor& want, const ConstTensorRef& stored, std::string_view reason) {
  for_each_row(problem, [&](const RowIndex& row) {
    const LooksAt looks = looks_at(problem, row);
    if (!(name == "out" ? looks.out : looks.lse)) return;
    const StoredRow at = stored_query(problem, row.batch, row.query);
    for (Index column = 0; column < want.extents()[3]; ++column)
      tally.same_bits({name, row, column}, number_at(stored, at.b, row.head, at.row, column),
                      want.get(row.batch, row.head, row.query, column), reason);
    tally.end_row();
  });
}

}  // namespace attest::properties
