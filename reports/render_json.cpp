// For machines: run.jsonl line by line, and the accuracy report as one document.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/numbers.hpp"
#include "reports/report.hpp"
#include "reports/report_tables.hpp"

namespace attest::reports {
namespace {

/// Ordered, so that the same model gives the same bytes and people find the name first.
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

/// JSON has no infinities and no NaN; words keep them apart from a missing value.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return decimal_text(value);
}

/// Foreign bytes that are not UTF-8 become U+FFFD: a report must not fail on a file name.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json enclosure_json(const Enclosure& enclosure) {
  return {{"high", number(enclosure.high)},
          {"low", number(enclosure.low)},
          {"radius", number(enclosure.radius)},
          {"high_hex", hexadecimal_text(enclosure.high)},
          {"low_hex", hexadecimal_text(enclosure.low)}};
}

Json witness_json(const Witness& witness) {
  Json json = {{"tensor", witness.tensor},
               {"row", Json::array({witness.row.batch, witness.row.head, witness.row.query})}};
  if (witness.tensor != "lse" || witness.column != 0) json["column"] = witness.column;
  json["got"] = number(witness.got);
  json["got_hex"] = hexadecimal_text(witness.got);
  json["want"] = enclosure_json(witness.want);
  json["error"] = number(witness.error);
  json["bound"] = number(witness.bound);
  return json;
}

/// The seed is text: many readers hold numbers as doubles and would lose its low bits.
Json case_json(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  Json json = {{"law", result.law},
               {"case", result.number},
               {"problem", result.problem},
               {"outcome", to_string(verdict.outcome)},
               {"reason", verdict.reason},
               {"worst_ratio", number(verdict.worst_ratio)},
               {"rows_checked", verdict.rows_checked},
               {"rows_wrong", verdict.rows_wrong},
               {"values_compared", verdict.values_compared},
               {"beyond_probable", verdict.beyond_probable},
               {"seconds", number(result.seconds)},
               {"seed", seed_text(result.seed)}};
  if (verdict.witness) json["witness"] = witness_json(*verdict.witness);
  if (!result.replay.empty()) json["replay"] = result.replay;
  return json;
}

Json law_json(const LawRow& row) {
  return {{"law", row.law},
          {"cases", row.cases},
          {"ok", row.ok},
          {"weak", row.weak},
          {"unproven", row.unproven},
          {"skipped", row.skipped},
          {"violations", row.violations},
          {"worst_ratio", number(row.worst_ratio)},
          {"worst_problem", row.worst_problem},
          {"values", row.values},
          {"beyond_probable", row.beyond_probable}};
}

Json violation_json(const Violation& violation) {
  Json json = {{"found", case_json(violation.found)}};
  if (!violation.shrunk.law.empty()) json["shrunk"] = case_json(violation.shrunk);
  json["values"] = violation.values;
  json["shrink_tries"] = violation.shrink_tries;
  json["shrink_kept"] = violation.shrink_kept;
  json["shrink_finished"] = violation.shrink_finished;
  json["saved"] = violation.saved;
  return json;
}

Json environment_json(const Environment& environment) {
  Json json = Json::object();
  for (const auto& [name, value] : environment) json[name] = value;
  return json;
}

template <class Value, class ToJson>
Json array_of(const std::vector<Value>& values, ToJson&& to_json) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(to_json(value));
  return json;
}

void add_header(Json& json, const CheckReport& report) {
  json["kernel"] = report.kernel;
  json["declares"] = report.declares;
  json["seed"] = seed_text(report.seed);
  json["tier"] = report.tier;
  json["jobs"] = report.jobs;
  json["environment"] = environment_json(report.environment);
}

void add_results(Json& json, const CheckReport& report) {
  json["outcome"] = to_string(run_outcome(report));
  json["undecided_reason"] = undecided_reason(report);
  json["interrupted"] = report.interrupted;
  json["laws"] = array_of(report.laws, law_json);
  json["violations"] = array_of(report.violations, violation_json);
  json["distribution"] = report.distribution;
  json["seconds"] = number(report.seconds);
  json["out_directory"] = report.out_directory;
}

Json check_json(const CheckReport& report) {
  Json json = Json::object();
  add_header(json, report);
  add_results(json, report);
  return json;
}

Json ulp_json(const UlpQuantiles& ulp) {
  return {{"median", number(ulp.median)}, {"q99", number(ulp.q99)}, {"max", number(ulp.max)}};
}

Json summary_json(const AccuracySummary& summary) {
  return {{"kernel", summary.kernel},
          {"dtype", summary.dtype},
          {"outputs", summary.outputs},
          {"violations", summary.violations},
          {"worst_error", number(summary.worst_error)},
          {"worst_ratio", number(summary.worst_ratio)},
          {"worst_lse_error", number(summary.worst_lse_error)},
          {"worst_lse_ratio", number(summary.worst_lse_ratio)},
          {"ulp", ulp_json(summary.ulp)},
          {"worst_tensor", summary.worst_tensor}};
}

Json row_json(const AccuracyRow& row) {
  return {{"kernel", row.kernel},
          {"tensor", row.tensor},
          {"problem", row.problem},
          {"dtype", row.dtype},
          {"outputs", row.outputs},
          {"violations", row.violations},
          {"worst_error", number(row.worst_error)},
          {"worst_ratio", number(row.worst_ratio)},
          {"worst_lse_error", number(row.worst_lse_error)},
          {"worst_lse_ratio", number(row.worst_lse_ratio)},
          {"ulp", ulp_json(row.ulp)},
          {"worst_element", row.worst_element}};
}

}  // namespace

std::string render_case_jsonl(const CaseResult& result) {
  Json json = {{"type", "case"}};
  json.update(case_json(result));
  return dump(json, -1);
}

std::string render_environment_jsonl(const CheckReport& report) {
  Json json = {{"type", "environment"}, {"format", "attest-run"}, {"version", kVersion}};
  add_header(json, report);
  return dump(json, -1);
}

std::string render_summary_jsonl(const CheckReport& report) {
  Json json = {{"type", "summary"}};
  add_results(json, report);
  return dump(json, -1);
}

std::string render_accuracy_json(const AccuracyReport& report) {
  Json json = {{"format", "attest-accuracy"}, {"version", kVersion}};
  json["seconds"] = number(report.seconds);
  json["environment"] = environment_json(report.environment);
  json["summary"] = array_of(summarize(report.rows), summary_json);
  json["rows"] = array_of(report.rows, row_json);
  json["checks"] = array_of(report.checks, check_json);
  return dump(json, 2) + '\n';
}

}  // namespace attest::reports
