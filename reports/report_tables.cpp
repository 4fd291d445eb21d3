#include "reports/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

using Kind = Column::Kind;

/// NaN counts as worse than everything: a ratio that cannot be computed must not vanish.
bool is_worse(double candidate, double than) {
  return std::isnan(candidate) ? !std::isnan(than) : candidate > than;
}

void keep_worse(double& kept, double candidate) {
  if (is_worse(candidate, kept)) kept = candidate;
}

double larger_ratio(double output, double lse) {
  return is_worse(lse, output) ? lse : output;
}

template <class Count>
std::int64_t total(const std::vector<LawRow>& rows, Count LawRow::*count) {
  std::int64_t sum = 0;
  for (const LawRow& row : rows) sum += row.*count;
  return sum;
}

void append_if_some(std::string& text, std::int64_t count, const char* word) {
  if (count != 0) text += fmt::format("  {} {}", count, word);
}

std::string number(std::int64_t count) {
  return fmt::format("{}", count);
}

/// Two decimals are enough beside the 0.5 of correct rounding; large ones need no decimals.
std::string ulp_text(double ulp) {
  return ulp < 100 ? fmt::format("{:.2f}", ulp) : ratio_text(ulp);
}

void absorb(AccuracySummary& summary, const AccuracyRow& row) {
  const bool first = summary.worst_tensor.empty();
  if (first || is_worse(larger_ratio(row.worst_ratio, row.worst_lse_ratio),
                        larger_ratio(summary.worst_ratio, summary.worst_lse_ratio))) {
    summary.worst_tensor = row.tensor;
  }
  summary.outputs += row.outputs;
  summary.violations += row.violations;
  keep_worse(summary.worst_error, row.worst_error);
  keep_worse(summary.worst_ratio, row.worst_ratio);
  keep_worse(summary.worst_lse_error, row.worst_lse_error);
  keep_worse(summary.worst_lse_ratio, row.worst_lse_ratio);
  keep_worse(summary.ulp.median, row.ulp.median);
  keep_worse(summary.ulp.q99, row.ulp.q99);
  keep_worse(summary.ulp.max, row.ulp.max);
  // Where nothing was measured there is nothing worse.
  if (!std::isnan(row.twin_ratio))
    summary.twin_ratio = std::fmax(summary.twin_ratio, row.twin_ratio);
}

}  // namespace

Table law_table(const CheckReport& report, std::size_t problem_width) {
  Table table;
  table.columns = {
      {"property", Kind::text}, {"cases", Kind::number},          {"ok", Kind::number},
      {"weak", Kind::number},   {"unproven", Kind::number},       {"skipped", Kind::number},
      {"fail", Kind::number},   {"worst err/bound", Kind::ratio}, {"at", Kind::text}};
  for (const LawRow& row : report.laws) {
    table.rows.push_back({row.law, number(row.cases), number(row.ok), number(row.weak),
                          number(row.unproven), number(row.skipped), number(row.violations),
                          row.worst_ratio == 0 ? "-" : ratio_text(row.worst_ratio),
                          cut(row.worst_problem, problem_width)});
  }
  if (total(report.laws, &LawRow::known) > 0) {
    constexpr std::size_t kBehindFail = 7;
    table.columns.insert(table.columns.begin() + kBehindFail, {"known", Kind::number});
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      table.rows[row].insert(table.rows[row].begin() + kBehindFail, number(report.laws[row].known));
  }
  return table;
}

std::string outcome_word(const CheckReport& report) {
  switch (run_outcome(report)) {
    case RunOutcome::passed:
      return "PASSED";
    case RunOutcome::violated:
      return "FAILED";
    case RunOutcome::undecided:
      return "UNDECIDED";
  }
  return "?";
}

std::string outcome_details(const CheckReport& report) {
  std::string cases = count_text(total(report.laws, &LawRow::cases), "case");
  if (const std::int64_t values = total(report.laws, &LawRow::values); values > 0)
    cases += "  " + count_text(values, "value");
  std::string text;
  if (run_outcome(report) == RunOutcome::violated) {
    const std::int64_t violations = std::max(total(report.laws, &LawRow::violations),
                                             static_cast<std::int64_t>(report.violations.size()));
    text = fmt::format("{} in {}", count_text(violations, "violation"), cases);
  } else if (const std::string reason = undecided_reason(report); !reason.empty()) {
    text = fmt::format("{}  {}", reason, cases);
  } else {
    text = cases;
  }
  append_if_some(text, total(report.laws, &LawRow::weak), "weak");
  append_if_some(text, total(report.laws, &LawRow::unproven), "unproven");
  append_if_some(text, total(report.laws, &LawRow::skipped), "skipped");
  append_if_some(text, total(report.laws, &LawRow::known), "known");
  const bool said = !undecided_reason(report).empty();
  if (report.interrupted && !said) text += "  interrupted";
  if (!report.unfinished.empty() && !said) text += "  unfinished";
  text += fmt::format("  {}  {}  seed {}", seconds_text(report.seconds),
                      count_text(report.jobs, "job"), seed_text(report.seed));
  if (!report.out_directory.empty()) text += "  " + report.out_directory;
  return text;
}

std::vector<AccuracySummary> summarize(const std::vector<AccuracyRow>& rows) {
  std::vector<AccuracySummary> summaries;
  for (const AccuracyRow& row : rows) {
    auto found = std::find_if(summaries.begin(), summaries.end(), [&](const AccuracySummary& one) {
      return one.kernel == row.kernel && one.dtype == row.dtype;
    });
    if (found == summaries.end()) {
      AccuracySummary fresh;
      fresh.kernel = row.kernel;
      fresh.dtype = row.dtype;
      found = summaries.insert(summaries.end(), std::move(fresh));
    }
    absorb(*found, row);
  }
  return summaries;
}

Table summary_table(const AccuracyReport& report) {
  Table table;
  table.columns = {
      {"kernel", Kind::text},       {"dtype", Kind::text},      {"worst error", Kind::ratio},
      {"err/bound", Kind::ratio},   {"lse error", Kind::ratio}, {"lse err/bound", Kind::ratio},
      {"ulp median", Kind::number}, {"ulp p99", Kind::number},  {"ulp max", Kind::number},
      {"twin ratio", Kind::ratio},  {"outputs", Kind::number},  {"violations", Kind::number},
      {"worst tensor", Kind::text}};
  for (const AccuracySummary& one : summarize(report.rows)) {
    table.rows.push_back({one.kernel, one.dtype, magnitude_text(one.worst_error),
                          ratio_text(one.worst_ratio), magnitude_text(one.worst_lse_error),
                          ratio_text(one.worst_lse_ratio), ulp_text(one.ulp.median),
                          ulp_text(one.ulp.q99), ulp_text(one.ulp.max),
                          ratio_or_dash(one.twin_ratio), number(one.outputs),
                          number(one.violations), one.worst_tensor});
  }
  return table;
}

Table tensor_table(const AccuracyReport& report, const std::string& tensor,
                   std::size_t problem_width) {
  Table table;
  table.columns = {
      {"kernel", Kind::text},       {"problem", Kind::text},    {"worst error", Kind::ratio},
      {"err/bound", Kind::ratio},   {"lse error", Kind::ratio}, {"lse err/bound", Kind::ratio},
      {"ulp median", Kind::number}, {"ulp p99", Kind::number},  {"ulp max", Kind::number},
      {"twin ratio", Kind::ratio},  {"outputs", Kind::number},  {"violations", Kind::number},
      {"worst element", Kind::text}};
  for (const AccuracyRow& row : report.rows) {
    if (row.tensor != tensor) continue;
    table.rows.push_back({row.kernel, cut(row.problem, problem_width),
                          magnitude_text(row.worst_error), ratio_text(row.worst_ratio),
                          magnitude_text(row.worst_lse_error), ratio_text(row.worst_lse_ratio),
                          ulp_text(row.ulp.median), ulp_text(row.ulp.q99), ulp_text(row.ulp.max),
                          ratio_or_dash(row.twin_ratio), number(row.outputs),
                          number(row.violations), row.worst_element});
  }
  return table;
}

std::vector<std::string> tensor_names(const AccuracyReport& report) {
  std::vector<std::string> names;
  for (const AccuracyRow& row : report.rows) {
    if (std::find(names.begin(), names.end(), row.tensor) == names.end()) {
      names.push_back(row.tensor);
    }
  }
  return names;
}

std::string accuracy_totals(const AccuracyReport& report) {
  std::vector<std::string> kernels;
  std::int64_t outputs = 0;
  std::int64_t violations = 0;
  for (const AccuracyRow& row : report.rows) {
    if (std::find(kernels.begin(), kernels.end(), row.kernel) == kernels.end()) {
      kernels.push_back(row.kernel);
    }
    outputs += row.outputs;
    violations += row.violations;
  }
  return fmt::format("{}  {}  {}  {}  {}",
                     count_text(static_cast<std::int64_t>(kernels.size()), "kernel"),
                     count_text(static_cast<std::int64_t>(tensor_names(report).size()), "tensor"),
                     count_text(outputs, "output"), count_text(violations, "violation"),
                     seconds_text(report.seconds));
}

}  // namespace attest::reports
