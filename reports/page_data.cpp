#include "reports/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "reports/json_write.hpp"
#include "reports/numbers.hpp"
#include "reports/page_sections.hpp"

namespace attest::reports {
namespace {

Json kernels_json(const RunHeader& header) {
  return array_of(header.kernels, [](const KernelEntry& kernel) {
    return Json{{"name", kernel.name}, {"version", kernel.version}, {"declares", kernel.declares}};
  });
}

Json environment_pairs(const Environment& environment) {
  return array_of(environment, [](const auto& entry) {
    return Json::array({entry.first, entry.second});
  });
}

std::string upper(std::string_view word) {
  std::string result(word);
  for (char& letter : result)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

}  // namespace

std::string run_title(const Run& run) {
  const std::vector<KernelEntry>& kernels = run.header.kernels;
  return fmt::format("attest {} {}", run.header.kind,
                     kernels.size() == 1
                         ? kernels.front().name
                         : count_text(static_cast<std::int64_t>(kernels.size()), "kernel"));
}

std::string run_outcome_line(const Run& run) {
  if (run.checks.size() == 1 && run.accuracy.empty() && run.sweeps.empty())
    return outcome_word(run.checks.front()) + "  " + outcome_details(run.checks.front());
  const RunOutcome outcome = run_outcome(run);
  std::string line = outcome == RunOutcome::violated ? "FAILED" : upper(to_string(outcome));
  if (const std::string reason = undecided_reason(run);
      outcome == RunOutcome::undecided && !reason.empty())
    line += "  " + reason;
  if (!run.accuracy.empty()) return line + "  " + accuracy_totals(accuracy_report(run));
  return line +
         fmt::format("  {}  {}", count_text(run.cases.total(), "case"), seconds_text(run.seconds));
}

std::string page_json(const RunHistory& history) {
  const Run& run = history.latest;
  const Measurements measured = all_measured(run);
  Json json = {{"format", "attest-page"}, {"version", 1}};
  json["title"] = run_title(run);
  json["command"] = run.header.command;
  json["started"] = run.header.started;
  json["outcome"] = to_string(run_outcome(run));
  json["outcome_line"] = run_outcome_line(run);
  json["reason"] = run_outcome(run) == RunOutcome::undecided ? undecided_reason(run) : "";
  json["unfinished"] = !run.unfinished.empty();
  json["seed"] = seed_text(run.header.seed);
  json["tier"] = run.header.tier;
  json["jobs"] = run.header.jobs;
  json["seconds"] = json_number(run.seconds);
  json["kernels"] = kernels_json(run.header);
  json["environment"] = environment_pairs(run.header.environment);
  json["laws"] = page_laws(run);
  json["cases_total"] = run.cases.total();
  json["cases"] = page_cases(run);
  json["ratio_by_keys"] = page_ratio_by_keys(run);
  json["ulp"] = page_ulp(measured);
  json["bias"] = page_bias(measured);
  if (measured.heat_map) json["heat"] = page_heat(*measured.heat_map);
  json["bits"] = array_of(measured.bit_equality, bit_equality_json);
  json["power"] = array_of(measured.power, power_json);
  json["witnesses"] = page_witnesses(run);
  json["violations"] = page_violations(run);
  json["history"] = page_history(history.points);
  json["accuracy"] = page_accuracy(run);
  json["sweep"] = page_sweep(run);
  return dump(json, -1);
}

}  // namespace attest::reports
