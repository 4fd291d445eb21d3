#include "cli/bound_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "attest/random.hpp"
#include "attest/ulp.hpp"
#include "cli/acceptance.hpp"
#include "properties/in_parallel.hpp"
#include "properties/judge.hpp"
#include "properties/stand_ins.hpp"

namespace attest::cli {
namespace {

using properties::Case;
using properties::Outputs;

/// Numbers of k and v that are read for all rows together, if the user does not say how many rows.
constexpr Index kWork = Index{1} << 25;
constexpr Index kFewestRows = 4;
constexpr Index kMostRows = 1024;

struct RowFindings {
  Status status;
  bool empty = false;
  std::vector<double> outputs;  ///< exact, nearest double
  std::vector<double> errors;
  std::vector<double> ulps;
  std::vector<double> bounds;
  std::vector<double> ulp_bounds;
  std::vector<double> probable;
  Index beyond_probable = 0;
  double lse_error = 0;
  double lse_bound = 0;
  double worst_ratio = 0;
  std::string worst_element;
  bool violated = false;
  std::vector<RuleFindings> rules;
};

double or_infinite(double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

class RowJob {
 public:
  RowJob(const BoundJob& job, const Outputs& outputs)
      : job_(job), on_(*job.on), outputs_(outputs), truth_(*job.kernel, *job.on) {}

  RowFindings look_at(const RowIndex& row) const {
    RowFindings found;
    const auto exact = truth_.row(row, outputs_);
    if (!exact) {
      found.status = invalid_argument("a visible value is not finite: there is no exact result");
      return found;
    }
    found.empty = exact->facts.visible_keys() == 0;
    if (found.empty) return found;
    if (!exact->bound.proven() || !exact->narrow) {
      found.status = {
          StatusCode::undecided,
          fmt::format(
              "row ({}, {}, {}) has no bound: {}", row.batch, row.head, row.query,
              exact->bound.proven() ? "no enclosure is narrow enough" : exact->bound.unproven)};
      return found;
    }
    measure(row, *exact, found);
    found.probable = truth_.probable_errors(*exact);
    found.beyond_probable = properties::count_beyond(found.probable, exact->facts, row, outputs_);
    judge_stand_ins(row, *exact, found);
    return found;
  }

 private:
  void measure(const RowIndex& row, const reference::CertifiedRow& exact,
               RowFindings& found) const {
    const auto [b, h, query] = row;
    for (std::size_t c = 0; c < exact.facts.output.size(); ++c) {
      const Enclosure& want = exact.facts.output[c];
      const double got = outputs_.out.get(b, h, query, static_cast<Index>(c));
      const double error = or_infinite(want.distance_upper(got));
      const double ulp = ulp_at(want.high, on_.problem.out_dtype());
      found.outputs.push_back(want.high);
      found.errors.push_back(error);
      found.ulps.push_back(error / ulp);
      found.bounds.push_back(exact.bound.output[c]);
      found.ulp_bounds.push_back(exact.bound.output[c] / ulp);
      found.violated |= !(want.distance_lower(got) <= exact.bound.output[c]);
      const double ratio = error == 0 ? 0 : error / exact.bound.output[c];
      if (ratio <= found.worst_ratio) continue;
      found.worst_ratio = ratio;
      found.worst_element = fmt::format("out[{},{},{},{}]", b, h, query, c);
    }
    if (!outputs_.has_lse() || !exact.asked_lse) return;
    const double lse = outputs_.lse_at(row);
    found.lse_error = or_infinite(exact.asked_lse->distance_upper(lse));
    found.lse_bound = exact.asked_lse_bound;
    found.violated |= !(exact.asked_lse->distance_lower(lse) <= exact.asked_lse_bound);
  }

  void judge_stand_ins(const RowIndex& row, const reference::CertifiedRow& exact,
                       RowFindings& found) const {
    std::vector<Rule> rules{{exact.facts, exact.bound, true, {}}};
    for (const Tolerance& tolerance : job_.tolerances)
      rules.push_back({exact.facts, exact.bound, false, tolerance});
    std::vector<double> own;
    for (Index c = 0; c < on_.problem.head_dim_v; ++c)
      own.push_back(outputs_.out.get(row.batch, row.head, row.query, c));
    const auto outputs = properties::stand_in_outputs(on_, row, exact.facts);
    const std::vector<double> scale =
        scale_errors(rules, properties::score_parts(on_, row, exact.facts));
    for (std::size_t r = 0; r < rules.size(); ++r) {
      RuleFindings& rule = found.rules.emplace_back();
      rule.certified = rules[r].certified;
      rule.tolerance = rules[r].tolerance;
      rule.scale_error = scale[r];
      count(rule.kernel, rules[r], own);
      rule.stand_ins.resize(outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i]) count(rule.stand_ins[i], rules[r], *outputs[i]);
    }
  }

  const BoundJob& job_;
  const Case& on_;
  const Outputs& outputs_;
  properties::Truth truth_;
};

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// In the widest type, where no square of a double overflows or underflows.
double root_mean_square(const std::vector<double>& values) {
  long double sum = 0;
  for (const double value : values) sum += static_cast<long double>(value) * value;
  const auto count = static_cast<long double>(values.size());
  return values.empty() ? 0 : static_cast<double>(std::sqrt(sum / count));
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

ErrorSummary summary(const std::vector<double>& errors, std::vector<double>& bounds) {
  const double limit_largest = largest(bounds);
  return {root_mean_square(errors), largest(errors), median(bounds), limit_largest};
}

void add(Acceptance& into, const Acceptance& row) {
  into.accepted += row.accepted;
  into.different += row.different;
  into.accepted_different += row.accepted_different;
  into.elements += row.elements;
}

void add_rules(std::vector<RuleFindings>& into, const std::vector<RuleFindings>& row) {
  if (into.empty()) {
    into = row;
    return;
  }
  for (std::size_t r = 0; r < into.size(); ++r) {
    add(into[r].kernel, row[r].kernel);
    for (std::size_t i = 0; i < into[r].stand_ins.size(); ++i)
      add(into[r].stand_ins[i], row[r].stand_ins[i]);
    into[r].scale_error = std::min(into[r].scale_error, row[r].scale_error);
  }
}

void append(std::vector<double>& into, const std::vector<double>& more) {
  into.insert(into.end(), more.begin(), more.end());
}

Result<BoundFindings> combined(const Problem& problem, Index existing,
                               const std::vector<RowFindings>& rows) {
  BoundFindings all;
  all.rows = existing;
  all.rows_looked_at = static_cast<Index>(rows.size());
  all.columns = problem.head_dim_v;
  all.has_lse = problem.lse != LseForm::none;
  std::vector<double> outputs, errors, ulps, bounds, ulp_bounds, probable, lse_errors, lse_bounds;
  for (const RowFindings& row : rows) {
    if (!row.status.ok()) return row.status;
    if (row.empty) {
      ++all.rows_empty;
      continue;
    }
    append(outputs, row.outputs);
    all.violated = all.violated || row.violated;
    append(errors, row.errors);
    append(ulps, row.ulps);
    append(bounds, row.bounds);
    append(ulp_bounds, row.ulp_bounds);
    append(probable, row.probable);
    all.beyond_probable += row.beyond_probable;
    add_rules(all.rules, row.rules);
    if (row.worst_ratio > all.worst_ratio) {
      all.worst_ratio = row.worst_ratio;
      all.worst_element = row.worst_element;
    }
    if (!all.has_lse) continue;
    lse_errors.push_back(row.lse_error);
    lse_bounds.push_back(row.lse_bound);
    if (row.lse_error > 0)
      all.worst_lse_ratio = std::max(all.worst_lse_ratio, row.lse_error / row.lse_bound);
  }
  if (errors.empty()) return invalid_argument("none of the rows looked at sees a key");
  all.output_rms = root_mean_square(outputs);
  all.absolute = summary(errors, bounds);
  const double largest_ulp_bound = largest(ulp_bounds);
  all.ulp = {median(ulps), largest(ulps), median(ulp_bounds), largest_ulp_bound};
  const ErrorSummary& absolute = all.absolute;
  if (all.output_rms > 0)
    all.relative = {absolute.typical / all.output_rms, absolute.worst / all.output_rms,
                    absolute.limit_median / all.output_rms,
                    absolute.limit_largest / all.output_rms};
  all.lse = summary(lse_errors, lse_bounds);
  all.probable_median = median(probable);
  return all;
}

Index wanted_rows(const BoundJob& job, const std::vector<RowIndex>& existing) {
  if (job.rows == 0) return static_cast<Index>(existing.size());
  if (job.rows > 0) return job.rows;
  const Problem& problem = job.on->problem;
  const Index per_row =
      std::max(Index{1}, problem.seq_kv) * (problem.head_dim + problem.head_dim_v);
  return std::clamp(kWork / std::max(Index{1}, per_row), kFewestRows, kMostRows);
}

}  // namespace

std::vector<Index> sampled_rows(Index rows, Index wanted) {
  std::set<Index> chosen;
  if (wanted >= rows) {
    for (Index row = 0; row < rows; ++row) chosen.insert(row);
    return {chosen.begin(), chosen.end()};
  }
  // The last row of a causal problem sees most; the others as if drawn from an urn.
  chosen.insert(rows - 1);
  SplitMix64 random(static_cast<std::uint64_t>(rows));
  while (static_cast<Index>(chosen.size()) < wanted)
    chosen.insert(static_cast<Index>(random.below(static_cast<std::uint64_t>(rows))));
  return {chosen.begin(), chosen.end()};
}

Result<BoundFindings> run_bound(const BoundJob& job) {
  const Problem& problem = job.on->problem;
  const std::vector<RowIndex> existing = properties::all_rows(problem);
  if (existing.empty() || problem.head_dim_v == 0)
    return invalid_argument("the problem has no output, so there is no error to bound");
  const Outputs outputs = properties::run_kernel(*job.kernel, *job.on);
  if (const auto verdict = properties::stopped(outputs, *job.on))
    return Status{
        gave_no_results(verdict->outcome) ? StatusCode::kernel_failed : outputs.status.code(),
        job.kernel->description().name + ": " + outputs.status.message()};
  const std::vector<Index> rows =
      sampled_rows(static_cast<Index>(existing.size()), wanted_rows(job, existing));
  std::vector<RowFindings> found(rows.size());
  const RowJob row_job(job, outputs);
  properties::in_parallel(static_cast<Index>(rows.size()), job.jobs, [&](Index number) {
    const auto at = static_cast<std::size_t>(number);
    found[at] = row_job.look_at(existing[static_cast<std::size_t>(rows[at])]);
  });
  return combined(problem, static_cast<Index>(existing.size()), found);
}

}  // namespace attest::cli
