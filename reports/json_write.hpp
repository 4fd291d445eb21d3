// The parts of the report model as JSON. Internal to this room: nlohmann stays behind it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/report_tables.hpp"
#include "reports/run_model.hpp"

namespace attest::reports {

/// Ordered, so that the same model gives the same bytes and people find the name first.
using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN; words keep them apart from a missing value.
Json json_number(double value);

/// One line for an indent of -1. Foreign bytes that are not UTF-8 become U+FFFD: a report must not
/// fail on a file name.
std::string dump(const Json& json, int indent);

template <class Value, class ToJson>
Json array_of(const std::vector<Value>& values, ToJson&& to_json) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(to_json(value));
  return json;
}

Json witness_json(const Witness& witness, bool with_hex);
/// A run may have half a million cases: what is empty, and what other members say, is left out of
/// those that are no violation. The seed is text: many readers hold numbers as doubles and would
/// lose its low bits.
Json case_json(const CaseResult& result);
Json law_json(const LawRow& row);
Json violation_json(const Violation& violation);
Json environment_json(const Environment& environment);
Json ulp_json(const UlpQuantiles& ulp);
Json accuracy_row_json(const AccuracyRow& row);
Json accuracy_summary_json(const AccuracySummary& summary);
Json statistics_json(const StatisticsRow& row);
Json heat_map_json(const HeatMap& heat);
Json bit_equality_json(const BitEquality& row);
Json power_json(const PowerCount& row);
Json sweep_point_json(const SweepPoint& point);

/// Every member of a check that is not in its header.
void add_results(Json& json, const CheckReport& report);

}  // namespace attest::reports
