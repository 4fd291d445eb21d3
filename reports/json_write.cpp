#include "reports/json_write.hpp"

#include <cmath>
#include <utility>

#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

Json means_json(const SampleMeans& means) {
  return {{"count", means.count},
          {"sum", json_number(means.sum)},
          {"sum_squares", json_number(means.sum_squares)}};
}

/// Without the empty bins at the end.
Json histogram_json(const ErrorStatistics& errors) {
  std::size_t used = errors.histogram.size();
  while (used > 0 && errors.histogram[used - 1] == 0) --used;
  Json json = Json::array();
  for (std::size_t bin = 0; bin < used; ++bin) json.push_back(errors.histogram[bin]);
  return json;
}

Json errors_json(const ErrorStatistics& errors) {
  return {{"count", errors.count},
          {"not_finite", errors.not_finite},
          {"missed_zero", errors.missed_zero},
          {"subnormal", errors.subnormal},
          {"sum", json_number(errors.sum)},
          {"sum_squares", json_number(errors.sum_squares)},
          {"largest", json_number(errors.largest)},
          {"bias", means_json(errors.bias)},
          {"outward", means_json(errors.outward)},
          {"histogram", histogram_json(errors)}};
}

}  // namespace

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return decimal_text(value);
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json witness_json(const Witness& witness, bool with_hex) {
  Json json = {{"tensor", witness.tensor},
               {"row", Json::array({witness.row.batch, witness.row.head, witness.row.query})}};
  if (witness.tensor != "lse" || witness.column != 0) json["column"] = witness.column;
  Json want = {{"high", json_number(witness.want.high)},
               {"low", json_number(witness.want.low)},
               {"radius", json_number(witness.want.radius)}};
  json["got"] = json_number(witness.got);
  if (with_hex) {
    json["got_hex"] = hexadecimal_text(witness.got);
    want["high_hex"] = hexadecimal_text(witness.want.high);
    want["low_hex"] = hexadecimal_text(witness.want.low);
  }
  json["want"] = std::move(want);
  json["error"] = json_number(witness.error);
  json["bound"] = json_number(witness.bound);
  return json;
}

Json case_json(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  const bool violated = is_violation(verdict.outcome);
  Json json = {{"kernel", result.kernel},
               {"law", result.law},
               {"case", result.number},
               {"problem", result.problem},
               {"dtype", result.dtype},
               {"mask", result.mask},
               {"variant", result.variant},
               {"keys", result.keys},
               {"outcome", to_string(verdict.outcome)}};
  if (!verdict.reason.empty()) json["reason"] = verdict.reason;
  if (verdict.worst_ratio != 0) json["worst_ratio"] = json_number(verdict.worst_ratio);
  if (!std::isnan(result.ulp)) json["ulp"] = json_number(result.ulp);
  const auto add_count = [&](const char* name, std::int64_t count) {
    if (count != 0 || violated) json[name] = count;
  };
  add_count("rows_checked", verdict.rows_checked);
  add_count("rows_wrong", verdict.rows_wrong);
  add_count("values_compared", verdict.values_compared);
  add_count("beyond_probable", verdict.beyond_probable);
  json["seconds"] = json_number(result.seconds);
  if (violated) json["seed"] = seed_text(result.seed);
  if (verdict.witness) json["witness"] = witness_json(*verdict.witness, violated);
  if (!result.replay.empty()) json["replay"] = result.replay;
  if (!result.acts_like.empty()) json["acts_like"] = result.acts_like;
  return json;
}

Json law_json(const LawRow& row) {
  Json json = {{"law", row.law},
               {"cases", row.cases},
               {"ok", row.ok},
               {"weak", row.weak},
               {"unproven", row.unproven},
               {"skipped", row.skipped},
               {"violations", row.violations},
               {"worst_ratio", json_number(row.worst_ratio)},
               {"worst_problem", row.worst_problem},
               {"values", row.values},
               {"beyond_probable", row.beyond_probable}};
  if (!row.worst_replay.empty()) json["worst_replay"] = row.worst_replay;
  if (row.known > 0) json["known"] = row.known;
  return json;
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

Json ulp_json(const UlpQuantiles& ulp) {
  return {{"median", json_number(ulp.median)},
          {"q99", json_number(ulp.q99)},
          {"max", json_number(ulp.max)}};
}

Json accuracy_summary_json(const AccuracySummary& summary) {
  return {{"kernel", summary.kernel},
          {"dtype", summary.dtype},
          {"outputs", summary.outputs},
          {"violations", summary.violations},
          {"worst_error", json_number(summary.worst_error)},
          {"worst_ratio", json_number(summary.worst_ratio)},
          {"worst_lse_error", json_number(summary.worst_lse_error)},
          {"worst_lse_ratio", json_number(summary.worst_lse_ratio)},
          {"ulp", ulp_json(summary.ulp)},
          {"worst_tensor", summary.worst_tensor}};
}

Json accuracy_row_json(const AccuracyRow& row) {
  return {{"kernel", row.kernel},
          {"tensor", row.tensor},
          {"problem", row.problem},
          {"dtype", row.dtype},
          {"keys", row.keys},
          {"outputs", row.outputs},
          {"violations", row.violations},
          {"worst_error", json_number(row.worst_error)},
          {"worst_ratio", json_number(row.worst_ratio)},
          {"worst_lse_error", json_number(row.worst_lse_error)},
          {"worst_lse_ratio", json_number(row.worst_lse_ratio)},
          {"ulp", ulp_json(row.ulp)},
          {"worst_element", row.worst_element},
          {"twin_ratio", json_number(row.twin_ratio)},
          {"replay", row.replay}};
}

Json statistics_json(const StatisticsRow& row) {
  return {{"kernel", row.kernel},
          {"dtype", row.dtype},
          {"tensor", row.tensor},
          {"errors", errors_json(row.errors)}};
}

Json heat_map_json(const HeatMap& heat) {
  return {{"kernel", heat.kernel},
          {"law", heat.law},
          {"problem", heat.problem},
          {"replay", heat.replay},
          {"tensor", heat.tensor},
          {"rows", heat.rows},
          {"tile_begin", heat.tile_begin},
          {"tile_q", heat.tile_q},
          {"tile_kv", heat.tile_kv},
          {"ratio", array_of(heat.ratio, json_number)},
          {"note", heat.note}};
}

Json bit_equality_json(const BitEquality& row) {
  return {{"kernel", row.kernel}, {"dtype", row.dtype},   {"kind", row.kind},
          {"equal", row.equal},   {"differ", row.differ}, {"required", row.required},
          {"reason", row.reason}};
}

Json power_json(const PowerCount& row) {
  return {{"stand_in", row.stand_in},
          {"law", row.law},
          {"trials", row.trials},
          {"accepted", row.accepted}};
}

Json sweep_point_json(const SweepPoint& point) {
  Json json = {{"x", point.x},
               {"number", json_number(point.number)},
               {"dtype", point.dtype},
               {"problem", point.problem}};
  if (!point.reason.empty()) {
    json["reason"] = point.reason;
    return json;
  }
  const double half = point.bias.half_width();
  json.update({{"outputs", point.outputs},
               {"max_error", json_number(point.max_error)},
               {"rms_error", json_number(point.rms_error)},
               {"bias", json_number(point.bias.mean())},
               {"bias_low", json_number(point.bias.mean() - half)},
               {"bias_high", json_number(point.bias.mean() + half)},
               {"bias_samples", means_json(point.bias)},
               {"ulp_max", json_number(point.ulp_max)},
               {"ratio", json_number(point.ratio)},
               {"twin_ratio", json_number(point.twin_ratio)},
               {"violations", point.violations},
               {"worst_element", point.worst_element},
               {"replay", point.replay},
               {"errors", errors_json(point.errors)}});
  return json;
}

void add_results(Json& json, const CheckReport& report) {
  json["outcome"] = to_string(run_outcome(report));
  json["undecided_reason"] = undecided_reason(report);
  json["interrupted"] = report.interrupted;
  json["laws"] = array_of(report.laws, law_json);
  json["violations"] = array_of(report.violations, violation_json);
  json["distribution"] = report.distribution;
  json["seconds"] = json_number(report.seconds);
  json["out_directory"] = report.out_directory;
  if (!report.ledger.empty()) json["ledger"] = report.ledger;
}

}  // namespace attest::reports
