#include "reports/run_lines.hpp"

#include <fmt/format.h>

#include "reports/json_write.hpp"
#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

Json typed(std::string_view type, const Json& members) {
  Json json = {{"type", type}};
  json.update(members);
  return json;
}

Json kernel_json(const KernelEntry& kernel) {
  Json json = {{"name", kernel.name}, {"version", kernel.version}, {"declares", kernel.declares}};
  if (!kernel.source.empty()) {
    json["source"] = kernel.source;
    json["line"] = kernel.line;
  }
  return json;
}

Json law_text_json(const LawText& text) {
  return {{"law", text.law}, {"sentence", text.sentence}, {"formula", text.formula}};
}

/// Who and where, then what it measured.
std::string measured_line(std::string_view type, std::string_view of, const Json& members) {
  Json json = {{"type", type}, {"of", of}};
  json.update(members);
  return dump(json, -1);
}

void append(std::string& text, const std::string& line) {
  text += line + '\n';
}

void append_measured(std::string& text, const Measurements& measured, std::string_view of,
                     std::string_view kernel) {
  for (const StatisticsRow& row : measured.statistics) append(text, statistics_line(row, of));
  for (const PowerCount& row : measured.power) append(text, power_count_line(row, kernel));
  for (const BitEquality& row : measured.bit_equality) append(text, bit_equality_line(row, of));
  if (measured.heat_map) append(text, heat_map_line(*measured.heat_map, of));
}

}  // namespace

std::string header_line(const RunHeader& header) {
  Json json = {{"type", "environment"}, {"format", "attest-run"}, {"version", kRunVersion}};
  json["kind"] = header.kind;
  json["command"] = header.command;
  json["started"] = header.started;
  // Of a run of one kernel, for those who read one field.
  if (header.kernels.size() == 1) json["kernel"] = header.kernels.front().name;
  json["kernels"] = array_of(header.kernels, kernel_json);
  json["seed"] = seed_text(header.seed);
  json["tier"] = header.tier;
  if (!header.rule.empty()) json["rule_override"] = header.rule;
  json["jobs"] = header.jobs;
  if (header.shard != Shard{})
    json["shard"] = fmt::format("{}/{}", header.shard.index, header.shard.count);
  if (header.condensed) json["condensed"] = true;
  json["environment"] = environment_json(header.environment);
  json["laws"] = array_of(header.laws, law_text_json);
  return dump(json, -1);
}

std::string case_line(const CaseResult& result) {
  return dump(typed("case", case_json(result)), -1);
}

std::string violation_line(const Violation& violation) {
  return dump(typed("violation", violation_json(violation)), -1);
}

std::string accuracy_line(const AccuracyRow& row) {
  return dump(typed("accuracy", accuracy_row_json(row)), -1);
}

std::string statistics_line(const StatisticsRow& row, std::string_view of) {
  return measured_line("statistics", of, statistics_json(row));
}

std::string power_count_line(const PowerCount& row, std::string_view kernel) {
  Json json = {{"type", "power"}, {"kernel", kernel}};
  json.update(power_json(row));
  return dump(json, -1);
}

std::string bit_equality_line(const BitEquality& row, std::string_view of) {
  return measured_line("bits", of, bit_equality_json(row));
}

std::string heat_map_line(const HeatMap& heat, std::string_view of) {
  return measured_line("heat", of, heat_map_json(heat));
}

std::string check_line(const CheckReport& report) {
  Json json = {{"type", "check"},
               {"kernel", report.kernel},
               {"outcome", to_string(run_outcome(report))},
               {"undecided_reason", undecided_reason(report)},
               {"interrupted", report.interrupted},
               {"unfinished", report.unfinished},
               {"seed", seed_text(report.seed)},
               {"tier", report.tier},
               {"jobs", report.jobs},
               {"distribution", report.distribution},
               {"seconds", json_number(report.seconds)},
               {"out_directory", report.out_directory}};
  if (!report.ledger.empty()) json["ledger"] = report.ledger;
  return dump(json, -1);
}

std::string sweep_line(const SweepReport& report, const SweepPoint& point) {
  Json json = {
      {"type", "sweep"}, {"kernel", report.kernel}, {"over", report.over}, {"base", report.base}};
  json.update(sweep_point_json(point));
  return dump(json, -1);
}

std::string summary_line(const Run& run) {
  Json json = {{"type", "summary"},
               {"outcome", to_string(run_outcome(run))},
               {"undecided_reason", undecided_reason(run)},
               {"interrupted", run.interrupted},
               {"unfinished", run.unfinished},
               {"cases", run.cases.total()}};
  std::int64_t violations = 0;
  Json laws = Json::array();
  for (const CheckReport& check : run.checks)
    for (const LawRow& row : check.laws) {
      Json law = {{"kernel", check.kernel}};
      law.update(law_json(row));
      laws.push_back(std::move(law));
      violations += row.violations;
    }
  for (const AccuracyRow& row : run.accuracy) violations += row.violations;
  json["violations"] = violations;
  json["oracle"] = run.oracle;
  json["seconds"] = json_number(run.seconds);
  json["laws"] = std::move(laws);
  return dump(json, -1);
}

std::string condensed_lines(const Run& run) {
  RunHeader header = run.header;
  header.condensed = true;
  std::string text;
  append(text, header_line(header));
  for (const AccuracyRow& row : run.accuracy) append(text, accuracy_line(row));
  append_measured(text, run.measured, kOfTensors, {});
  for (const CheckReport& check : run.checks)
    for (const Violation& violation : check.violations) append(text, violation_line(violation));
  std::size_t left = kMaxCondensedCases;
  for (const CaseResult* const result : run.cases.by_importance()) {
    const std::string line = case_line(*result);
    if (line.size() > left) break;
    left -= line.size();
    append(text, line);
  }
  for (const CheckReport& check : run.checks) {
    append_measured(text, check.measured, kOfLaws, check.kernel);
    append(text, check_line(check));
  }
  for (const SweepReport& sweep : run.sweeps)
    for (const SweepPoint& point : sweep.points) append(text, sweep_line(sweep, point));
  append(text, summary_line(run));
  return text;
}

}  // namespace attest::reports
