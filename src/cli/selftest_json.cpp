#include <nlohmann/json.hpp>

#include "cli/case_text.hpp"
#include "cli/selftest_text.hpp"
#include "mutants/bug_reports.hpp"
#include "reports/numbers.hpp"

namespace attest::cli {
namespace {

using Json = nlohmann::ordered_json;
using selftest::BugResult;
using selftest::CaseSize;
using selftest::Matrix;

constexpr int kFormatVersion = 1;

Json size_json(const CaseSize& size) {
  return {{"keys", size.keys}, {"queries", size.queries}, {"head_dim", size.head_dim}};
}

/// Cases until the bug was found; minus the cases judged where it was not; 0: not asked.
Json cells_json(const BugResult& row, const Matrix& matrix) {
  Json cells = Json::object();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const selftest::Cell& cell = row.cells[i];
    cells[std::string(matrix.laws[i].name)] = cell.killed ? cell.cases : -cell.cases;
  }
  return cells;
}

Json counterexample_json(const BugResult& row) {
  if (!row.counterexample) return nullptr;
  const selftest::Counterexample& found = *row.counterexample;
  Json json = {
      {"law", found.law->name},
      {"tried", found.shrunk.tried},
      {"finished", found.shrunk.finished},
      {"line", minimal_text(properties::to_text(found.shrunk.smallest, found.law->name))},
      {"replay", replay_command_line(*row.bug.kernel, found.shrunk.smallest, found.law->name, {})}};
  json["size"] = has_size(found) ? size_json(selftest::size_of(found.shrunk.smallest)) : nullptr;
  return json;
}

Json bug_json(const BugResult& row, const Matrix& matrix) {
  const KernelDescription& description = row.bug.kernel->description();
  return {{"name", description.name},
          {"mistake", description.summary},
          {"reports", mutants::reports_of(description.name)},
          {"law", row.bug.law},
          {"caught", row.is_caught()},
          {"caught_by_its_law", row.is_caught_as_named()},
          {"counterexample", counterexample_json(row)},
          {"cases_until_found", cells_json(row, matrix)}};
}

Json names_json(const Matrix& matrix, const std::vector<std::size_t>& bugs) {
  Json names = Json::array();
  for (const std::size_t bug : bugs)
    names.push_back(matrix.bugs[bug].bug.kernel->description().name);
  return names;
}

Json correct_json(const selftest::CorrectResult& row) {
  Json alarms = Json::array();
  for (const selftest::Alarm& alarm : row.alarms)
    alarms.push_back(
        {{"law", alarm.law->name},
         {"reason", alarm.verdict.reason},
         {"replay", replay_command_line(*row.kernel, alarm.value, alarm.law->name, {})}});
  return {{"name", row.kernel->description().name},
          {"cases", row.cases},
          {"judged", row.judged},
          {"alarms", std::move(alarms)}};
}

Json laws_json(const SelftestReport& report) {
  Json laws = Json::array();
  for (const selftest::LawPower& law : report.summary.laws)
    laws.push_back({{"name", law.law->name},
                    {"kills", names_json(report.matrix, law.kills)},
                    {"only_it_kills", names_json(report.matrix, law.only)},
                    {"named_by", names_json(report.matrix, law.named)}});
  return laws;
}

}  // namespace

std::string selftest_json(const SelftestReport& report) {
  Json bugs = Json::array();
  for (const BugResult& row : report.matrix.bugs) bugs.push_back(bug_json(row, report.matrix));
  Json correct = Json::array();
  for (const selftest::CorrectResult& row : report.matrix.correct)
    correct.push_back(correct_json(row));
  const selftest::Summary& summary = report.summary;
  const Json json = {
      {"format", "attest-selftest"},
      {"version", kFormatVersion},
      {"tier", report.tier},
      {"seed", reports::seed_text(report.seed)},
      {"passed", summary.passed},
      {"complete", report.matrix.complete},
      {"caught", summary.caught},
      {"median_size", size_json(summary.median)},
      {"largest_size", size_json(summary.largest)},
      {"survivors", names_json(report.matrix, summary.survivors)},
      {"bugs", std::move(bugs)},
      {"laws", laws_json(report)},
      {"correct", std::move(correct)},
  };
  return json.dump(1) + "\n";
}

}  // namespace attest::cli
