#include "reports/json_read.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace attest::reports {
namespace {

Outcome outcome_of(const Fields& fields) {
  const std::string word = fields.needed_text("outcome");
  for (const Outcome outcome : kOutcomes)
    if (word == to_string(outcome)) return outcome;
  fields.refuse("outcome", "is an unknown word");
}

Enclosure enclosure_of(const Json& json) {
  const Fields fields(json, "want");
  return {fields.number("high"), fields.number("low"), fields.number("radius")};
}

Witness witness_of(const Json& json) {
  const Fields fields(json, "witness");
  Witness witness;
  witness.tensor = fields.text("tensor");
  if (const Json* const row = fields.array("row")) {
    std::array<std::int64_t, 3> at{};
    for (std::size_t i = 0; i < at.size() && i < row->size(); ++i) {
      if (!(*row)[i].is_number_integer()) fields.refuse("row", "is no list of whole numbers");
      at[i] = (*row)[i].get<std::int64_t>();
    }
    witness.row = {at[0], at[1], at[2]};
  }
  witness.column = fields.integer("column");
  witness.got = fields.number("got");
  if (const Json* const want = fields.object("want")) witness.want = enclosure_of(*want);
  witness.error = fields.number("error");
  witness.bound = fields.number("bound");
  return witness;
}

UlpQuantiles ulp_of(const Json& json) {
  const Fields fields(json, "ulp");
  return {fields.number("median"), fields.number("q99"), fields.number("max")};
}

SampleMeans means_of(const Json& json) {
  const Fields fields(json, "means");
  return {fields.count("count"), fields.number("sum"), fields.number("sum_squares")};
}

ErrorStatistics errors_of(const Json& json) {
  const Fields fields(json, "errors");
  ErrorStatistics errors;
  errors.count = fields.count("count");
  errors.not_finite = fields.count("not_finite");
  errors.missed_zero = fields.count("missed_zero");
  errors.subnormal = fields.count("subnormal");
  errors.sum = fields.number("sum");
  errors.sum_squares = fields.number("sum_squares");
  errors.largest = fields.number("largest");
  if (const Json* const bias = fields.object("bias")) errors.bias = means_of(*bias);
  if (const Json* const outward = fields.object("outward")) errors.outward = means_of(*outward);
  const Json* const bins = fields.array("histogram");
  if (bins == nullptr) return errors;
  if (bins->size() > errors.histogram.size()) fields.refuse("histogram", "has too many bins");
  for (std::size_t bin = 0; bin < bins->size(); ++bin) {
    if (!(*bins)[bin].is_number_unsigned()) fields.refuse("histogram", "holds what is no count");
    errors.histogram[bin] = (*bins)[bin].get<std::int64_t>();
  }
  return errors;
}

std::string text_of(const Json& json, const char* what) {
  if (!json.is_string()) throw BadLine(fmt::format("'{}' holds what is no text", what));
  return json.get<std::string>();
}

KernelEntry kernel_of(const Json& json) {
  const Fields fields(json, "kernel");
  return {fields.needed_text("name"), fields.text("version"), fields.text("declares"),
          fields.text("source"), fields.count("line")};
}

LawText law_text_of(const Json& json) {
  const Fields fields(json, "law");
  return {fields.needed_text("law"), fields.text("sentence"), fields.text("formula")};
}

/// "2/3"; empty: all of it.
Shard shard_of(const Fields& fields) {
  const std::string text = fields.text("shard");
  if (text.empty()) return {};
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec != std::errc{} || index.ptr == end || *index.ptr != '/')
    fields.refuse("shard", "is not of the form 1/2");
  const auto count = std::from_chars(index.ptr + 1, end, shard.count);
  if (count.ec != std::errc{} || count.ptr != end || shard.index < 1 || shard.count < shard.index)
    fields.refuse("shard", "is not of the form 1/2");
  return shard;
}

}  // namespace

CaseResult case_of(const Json& json) {
  const Fields fields(json, "case");
  CaseResult result;
  result.kernel = fields.needed_text("kernel");
  result.law = fields.needed_text("law");
  result.number = fields.count("case");
  result.problem = fields.text("problem");
  result.dtype = fields.text("dtype");
  result.mask = fields.text("mask");
  result.variant = fields.text("variant");
  result.keys = fields.count("keys");
  result.verdict.outcome = outcome_of(fields);
  result.verdict.reason = fields.text("reason");
  result.verdict.worst_ratio = fields.number("worst_ratio");
  result.verdict.rows_checked = fields.count("rows_checked");
  result.verdict.rows_wrong = fields.count("rows_wrong");
  result.verdict.values_compared = fields.count("values_compared");
  result.verdict.beyond_probable = fields.count("beyond_probable");
  result.ulp = fields.number("ulp", std::numeric_limits<double>::quiet_NaN());
  result.seconds = fields.number("seconds");
  result.seed = fields.seed("seed");
  if (const Json* const witness = fields.object("witness"))
    result.verdict.witness = witness_of(*witness);
  result.replay = fields.text("replay");
  result.acts_like = fields.text("acts_like");
  return result;
}

LawRow law_of(const Json& json) {
  const Fields fields(json, "law");
  LawRow row;
  row.law = fields.needed_text("law");
  row.cases = fields.count("cases");
  row.ok = fields.count("ok");
  row.weak = fields.count("weak");
  row.unproven = fields.count("unproven");
  row.known = fields.count("known");
  row.skipped = fields.count("skipped");
  row.violations = fields.count("violations");
  row.worst_ratio = fields.number("worst_ratio");
  row.worst_problem = fields.text("worst_problem");
  row.worst_replay = fields.text("worst_replay");
  row.values = fields.count("values");
  row.beyond_probable = fields.count("beyond_probable");
  return row;
}

Violation violation_of(const Json& json) {
  const Fields fields(json, "violation");
  const Json* const found = fields.object("found");
  if (found == nullptr) fields.refuse("found", "is missing");
  Violation violation;
  violation.found = case_of(*found);
  if (const Json* const shrunk = fields.object("shrunk")) violation.shrunk = case_of(*shrunk);
  violation.values = fields.text("values");
  const auto tries = [&](const char* name) {
    return static_cast<int>(std::min<std::int64_t>(fields.count(name), 1'000'000'000));
  };
  violation.shrink_tries = tries("shrink_tries");
  violation.shrink_kept = tries("shrink_kept");
  violation.shrink_finished = fields.flag("shrink_finished");
  violation.saved = fields.text("saved");
  return violation;
}

Environment environment_of(const Json& json) {
  Environment environment;
  for (const auto& [name, value] : json.items())
    environment.emplace_back(name, text_of(value, "environment"));
  return environment;
}

AccuracyRow accuracy_row_of(const Json& json) {
  const Fields fields(json, "accuracy row");
  AccuracyRow row;
  row.kernel = fields.needed_text("kernel");
  row.tensor = fields.text("tensor");
  row.problem = fields.text("problem");
  row.dtype = fields.text("dtype");
  row.keys = fields.count("keys");
  row.outputs = fields.count("outputs");
  row.violations = fields.count("violations");
  row.worst_error = fields.number("worst_error");
  row.worst_ratio = fields.number("worst_ratio");
  row.worst_lse_error = fields.number("worst_lse_error");
  row.worst_lse_ratio = fields.number("worst_lse_ratio");
  if (const Json* const ulp = fields.object("ulp")) row.ulp = ulp_of(*ulp);
  row.worst_element = fields.text("worst_element");
  row.twin_ratio = fields.number("twin_ratio", std::numeric_limits<double>::quiet_NaN());
  row.replay = fields.text("replay");
  return row;
}

StatisticsRow statistics_of(const Json& json) {
  const Fields fields(json, "statistics");
  StatisticsRow row;
  row.kernel = fields.needed_text("kernel");
  row.dtype = fields.text("dtype");
  row.tensor = fields.text("tensor");
  if (const Json* const errors = fields.object("errors")) row.errors = errors_of(*errors);
  return row;
}

HeatMap heat_map_of(const Json& json) {
  const Fields fields(json, "heat map");
  HeatMap heat;
  heat.kernel = fields.needed_text("kernel");
  heat.law = fields.text("law");
  heat.problem = fields.text("problem");
  heat.replay = fields.text("replay");
  heat.tensor = fields.text("tensor");
  heat.tile_q = fields.count("tile_q");
  heat.tile_kv = fields.count("tile_kv");
  heat.note = fields.text("note");
  if (const Json* const rows = fields.array("rows"))
    for (const Json& row : *rows) heat.rows.push_back(text_of(row, "rows"));
  if (const Json* const begins = fields.array("tile_begin"))
    for (const Json& begin : *begins) {
      if (!begin.is_number_unsigned()) fields.refuse("tile_begin", "holds what is no count");
      heat.tile_begin.push_back(begin.get<Index>());
    }
  if (const Json* const ratios = fields.array("ratio"))
    for (const Json& ratio : *ratios) heat.ratio.push_back(number_of(ratio));
  const std::size_t tiles = heat.tile_begin.empty() ? 0 : heat.tile_begin.size() - 1;
  if (heat.ratio.size() != heat.rows.size() * tiles)
    fields.refuse("ratio", "is not one number a row and tile");
  return heat;
}

BitEquality bit_equality_of(const Json& json) {
  const Fields fields(json, "bit equality");
  return {fields.needed_text("kernel"), fields.text("dtype"),   fields.text("kind"),
          fields.count("equal"),        fields.count("differ"), fields.flag("required"),
          fields.text("reason")};
}

PowerCount power_of(const Json& json) {
  const Fields fields(json, "power");
  return {fields.text("stand_in"), fields.text("law"), fields.count("trials"),
          fields.count("accepted")};
}

SweepPoint sweep_point_of(const Json& json) {
  const Fields fields(json, "sweep point");
  SweepPoint point;
  point.x = fields.text("x");
  point.number = fields.number("number");
  point.dtype = fields.text("dtype");
  point.problem = fields.text("problem");
  point.outputs = fields.count("outputs");
  point.max_error = fields.number("max_error");
  point.rms_error = fields.number("rms_error");
  if (const Json* const bias = fields.object("bias_samples")) point.bias = means_of(*bias);
  point.ulp_max = fields.number("ulp_max");
  point.ratio = fields.number("ratio");
  point.twin_ratio = fields.number("twin_ratio", std::numeric_limits<double>::quiet_NaN());
  point.violations = fields.count("violations");
  point.worst_element = fields.text("worst_element");
  point.replay = fields.text("replay");
  point.reason = fields.text("reason");
  if (const Json* const errors = fields.object("errors")) point.errors = errors_of(*errors);
  return point;
}

RunHeader run_header_of(const Json& json) {
  const Fields fields(json, "first line");
  RunHeader header;
  header.kind = fields.text("kind");
  header.command = fields.text("command");
  header.started = fields.text("started");
  header.seed = fields.seed("seed");
  header.tier = fields.text("tier");
  header.rule = fields.text("rule_override");
  header.jobs = static_cast<int>(std::min<std::int64_t>(fields.count("jobs"), 1 << 20));
  header.shard = shard_of(fields);
  header.condensed = fields.flag("condensed");
  if (const Json* const kernels = fields.array("kernels"))
    for (const Json& kernel : *kernels) header.kernels.push_back(kernel_of(kernel));
  if (const Json* const laws = fields.array("laws"))
    for (const Json& law : *laws) header.laws.push_back(law_text_of(law));
  if (const Json* const environment = fields.object("environment"))
    header.environment = environment_of(*environment);
  return header;
}

}  // namespace attest::reports
