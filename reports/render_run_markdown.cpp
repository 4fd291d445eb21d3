// A run for a job summary or a comment: what is most important first, and never longer than these
// may be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/escape.hpp"
#include "reports/markdown_parts.hpp"
#include "reports/measured_tables.hpp"
#include "reports/numbers.hpp"
#include "reports/page_data.hpp"
#include "reports/render_run.hpp"

namespace attest::reports {
namespace {

/// For the lines about what was left out.
constexpr std::size_t kReserve = 512;

/// Text that takes whole sections as long as there is room.
class Document {
 public:
  explicit Document(std::size_t most) : left_(most - kReserve) {}

  void add(const std::string& section) {
    if (!fits(section)) ++left_out_;
  }
  bool fits(const std::string& section) {
    if (section.size() > left_) return false;
    left_ -= section.size();
    text_ += section;
    return true;
  }
  std::string take() {
    if (left_out_ > 0)
      text_ += fmt::format("\n{} in the artefact\n",
                           count_text(left_out_, left_out_ == 1 ? "more section" : "more section"));
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t left_;
  std::int64_t left_out_ = 0;
};

std::string head(const Run& run) {
  const std::string line = run_outcome_line(run);
  const std::size_t end = std::min(line.find(' '), line.size());
  std::string text = fmt::format("# {}\n\n", markdown_code(run_title(run)));
  if (run.header.kernels.size() == 1 && !run.header.kernels.front().declares.empty())
    text += fmt::format("declares {}\n\n", markdown_code(run.header.kernels.front().declares));
  text += fmt::format("**{}** {}\n\n", line.substr(0, end),
                      markdown_code(line.substr(std::min(end + 2, line.size()))));
  if (!run.unfinished.empty())
    text += fmt::format("The run is {}. What it had found is below.\n\n",
                        markdown_code(run.unfinished));
  return text;
}

/// One row a kernel.
std::string kernels_section(const Run& run) {
  Table table;
  table.columns = {{"kernel", Column::Kind::text},
                   {"outcome", Column::Kind::text},
                   {"cases", Column::Kind::number},
                   {"violations", Column::Kind::number},
                   {"weak or unproven", Column::Kind::number},
                   {"worst err/bound", Column::Kind::ratio},
                   {"law", Column::Kind::text}};
  for (const CheckReport& check : run.checks) {
    LawRow sum;
    for (const LawRow& row : check.laws) {
      sum.cases += row.cases;
      sum.violations += row.violations;
      sum.weak += row.weak + row.unproven;
      if (!is_worse_ratio(row.worst_ratio, sum.worst_ratio)) continue;
      sum.worst_ratio = row.worst_ratio;
      sum.law = row.law;
    }
    table.rows.push_back({check.kernel, outcome_word(check), fmt::format("{}", sum.cases),
                          fmt::format("{}", sum.violations), fmt::format("{}", sum.weak),
                          ratio_text(sum.worst_ratio), sum.law});
  }
  return "## Checks on generated cases\n\n" + markdown_of(table) + '\n';
}

/// As many failures as fit; those of one kernel stand together.
void add_violations(Document& document, const Run& run) {
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const CheckReport& check : run.checks) {
    all += check.violations.size();
    bool named = run.checks.size() == 1;
    for (const Violation& violation : check.violations) {
      if (shown == kMaxViolationsShown) break;
      std::string section = violation_details(violation);
      if (!named) section.insert(0, fmt::format("### {}\n\n", markdown_code(check.kernel)));
      if (!document.fits(section)) break;
      named = true;
      ++shown;
    }
  }
  if (shown < all) document.fits(fmt::format("{} more in the artefact\n\n", all - shown));
}

void add_law_tables(Document& document, const Run& run) {
  const bool alone = run.checks.size() == 1;
  for (const CheckReport& check : run.checks)
    document.add(
        alone ? markdown_of(law_table(check, kMarkdownProblem)) + '\n'
              : fmt::format("### {}\n\n{}", markdown_code(check.kernel), check_tables(check)));
  if (alone && !run.checks.front().distribution.empty())
    document.add(markdown_code(run.checks.front().distribution) + "\n\n");
  if (alone)
    for (const std::string& line : run.checks.front().ledger)
      document.add(markdown_code(line) + "\n\n");
}

void add_accuracy(Document& document, const AccuracyReport& report) {
  if (report.rows.empty()) return;
  document.add(fmt::format("## Accuracy on real tensors\n\n{}\n{}\n\n{}\n\n",
                           markdown_of(summary_table(report)), kUlpNote,
                           plain_text(accuracy_totals(report))));
}

void add_tensors(Document& document, const AccuracyReport& report) {
  for (const std::string& tensor : tensor_names(report))
    document.add(fmt::format("### {}\n\n{}\n", markdown_code(tensor),
                             markdown_of(tensor_table(report, tensor, kMarkdownProblem))));
}

void add_table(Document& document, const char* title, const Table& table) {
  if (!table.rows.empty()) document.add(fmt::format("## {}\n\n{}\n", title, markdown_of(table)));
}

}  // namespace

std::string render_run_markdown(const RunHistory& history, std::size_t most) {
  const Run& run = history.latest;
  const AccuracyReport accuracy = accuracy_report(run);
  const Measurements measured = all_measured(run);
  Document document(most);
  document.add(head(run));
  add_violations(document, run);
  if (run.checks.size() == 1) add_law_tables(document, run);
  add_accuracy(document, accuracy);
  if (run.checks.size() > 1) document.add(kernels_section(run));
  add_table(document, "Errors in ulp", statistics_table(measured));
  add_table(document, "Power of the checks", power_table(measured));
  add_table(document, "Equal bits", bits_table(measured));
  for (const SweepReport& sweep : run.sweeps) add_table(document, "Sweep", sweep_table(sweep));
  if (history.points.size() > points_of(run).size())
    add_table(document, "Runs", history_table(history.points));
  if (!run.header.environment.empty())
    document.add("## Environment\n\n" + environment_table(run.header.environment) + '\n');
  if (run.checks.size() > 1) add_law_tables(document, run);
  add_tensors(document, accuracy);
  return document.take();
}

}  // namespace attest::reports
