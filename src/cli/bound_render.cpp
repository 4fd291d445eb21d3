#include "cli/bound_render.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "properties/stand_ins.hpp"
#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

using reports::magnitude_text;
using Json = nlohmann::ordered_json;
using enum reports::Column::Kind;

std::string rule_name(const RuleFindings& rule) {
  if (rule.certified) return "certified bound";
  const auto exponent = [](double value) { return reports::decimal_text(value); };
  const Tolerance& tolerance = rule.tolerance;
  if (tolerance.rtol == 0) return "atol=" + exponent(tolerance.atol);
  if (tolerance.atol == 0) return "rtol=" + exponent(tolerance.rtol);
  return "atol=" + exponent(tolerance.atol) + " rtol=" + exponent(tolerance.rtol);
}

/// 100 % and 0 % are said only where they are exact.
std::string percent_text(Index part, Index whole) {
  if (whole == 0) return "-";
  if (part == whole) return "100 %";
  if (part == 0) return "0 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 1) return "< 1 %";
  if (percent > 99) return "> 99 %";
  return fmt::format("{:.0f} %", percent);
}

std::string scale_text(double error) {
  if (error >= kScaleNever) return "any";
  return error == 0 ? "0 %" : reports::ratio_text(100 * error) + " %";
}

void append_summary(reports::Table& table, const std::string& name, const ErrorSummary& summary,
                    std::string (&number_text)(double) = magnitude_text) {
  table.rows.push_back({name, number_text(summary.typical), number_text(summary.worst),
                        number_text(summary.limit_median), number_text(summary.limit_largest)});
}

std::string errors_text(const BoundTitle& title, const BoundFindings& findings) {
  reports::Table table;
  table.columns = {{"", text},
                   {"typical", number},
                   {"worst", number},
                   {"limit, median", number},
                   {"limit, largest", number}};
  table.rows.push_back({"|O| rms", reports::ratio_text(findings.output_rms), "", "", ""});
  append_summary(table, "err, abs", findings.absolute);
  append_summary(table, "err, ulp of " + title.dtype, findings.ulp, reports::ratio_text);
  if (findings.output_rms > 0) append_summary(table, "err / |O| rms", findings.relative);
  if (findings.has_lse) append_summary(table, "lse err, abs", findings.lse);
  return text_of(table);
}

std::string acceptance_text(const BoundFindings& findings) {
  reports::Table table;
  table.columns = {{"share of outputs accepted", text}};
  for (const RuleFindings& rule : findings.rules)
    table.columns.push_back({rule_name(rule), number});
  const auto append = [&](std::string name, auto&& cell) {
    std::vector<std::string> cells{std::move(name)};
    for (const RuleFindings& rule : findings.rules) cells.push_back(cell(rule));
    table.rows.push_back(std::move(cells));
  };
  append("this kernel", [](const RuleFindings& rule) {
    return percent_text(rule.kernel.accepted, rule.kernel.elements);
  });
  for (std::size_t i = 0; i < properties::stand_ins().size(); ++i) {
    if (findings.rules.front().stand_ins[i].different == 0) continue;  // right, or not applicable
    append(std::string(properties::stand_ins()[i].name), [i](const RuleFindings& rule) {
      const Acceptance& seen = rule.stand_ins[i];
      return percent_text(seen.accepted, seen.elements);
    });
  }
  append("scale too large, up to",
         [](const RuleFindings& rule) { return scale_text(rule.scale_error); });
  return text_of(table);
}

/// "atol=0.01 would pass as correct: mean of all V, scale too large by up to 38 %"
std::string passes_text(const RuleFindings& rule) {
  std::string passed;
  const auto append = [&](const std::string& what) {
    passed += (passed.empty() ? "" : ", ") + what;
  };
  for (std::size_t i = 0; i < rule.stand_ins.size(); ++i)
    if (rule.stand_ins[i].passes_everywhere()) append(std::string(properties::stand_ins()[i].name));
  if (rule.scale_error >= kScaleNever)
    append("any larger scale");
  else if (rule.scale_error > 0)
    append("a scale too large by up to " + scale_text(rule.scale_error));
  std::string line = fmt::format("{} would pass as correct: {}\n", rule_name(rule),
                                 passed.empty() ? "nothing of these" : passed);
  if (rule.kernel.accepted < rule.kernel.elements)
    line += fmt::format("{} refuses {} of {} outputs of this kernel\n", rule_name(rule),
                        rule.kernel.elements - rule.kernel.accepted, rule.kernel.elements);
  return line;
}

Json summary_json(const ErrorSummary& summary) {
  return {{"typical", summary.typical},
          {"worst", summary.worst},
          {"limit_median", summary.limit_median},
          {"limit_largest", summary.limit_largest}};
}

Json acceptance_json(const Acceptance& acceptance) {
  return {{"elements", acceptance.elements},
          {"accepted", acceptance.accepted},
          {"different", acceptance.different},
          {"accepted_different", acceptance.accepted_different},
          {"passes_everywhere", acceptance.passes_everywhere()}};
}

Json rule_json(const RuleFindings& rule) {
  Json stand_ins = Json::object();
  for (std::size_t i = 0; i < rule.stand_ins.size(); ++i)
    if (rule.stand_ins[i].elements > 0)
      stand_ins[std::string(properties::stand_ins()[i].name)] = acceptance_json(rule.stand_ins[i]);
  Json json{{"rule", rule.certified ? "bound" : "allclose"}};
  if (!rule.certified) {
    json["atol"] = rule.tolerance.atol;
    json["rtol"] = rule.tolerance.rtol;
  }
  json["kernel"] = acceptance_json(rule.kernel);
  json["stand_ins"] = std::move(stand_ins);
  // Null: no factor was refused.
  json["scale_too_large_by"] = rule.scale_error >= kScaleNever ? Json() : Json(rule.scale_error);
  return json;
}

}  // namespace

std::string render_bound_text(const BoundTitle& title, const BoundFindings& findings) {
  std::string text = fmt::format("{}  {}\n", title.kernel, reports::plain_text(title.problem));
  text += fmt::format("{} of {} rows, {}", findings.rows_looked_at, findings.rows,
                      reports::count_text(findings.columns, "column"));
  if (findings.rows_empty > 0) text += fmt::format("; {} see no key", findings.rows_empty);
  text += "\n\n" + errors_text(title, findings);
  text +=
      "typical: root mean square over the outputs, of ulps the median; limit: the certified "
      "bound\n";
  text += fmt::format("largest err/bound {}{}", reports::ratio_text(findings.worst_ratio),
                      findings.worst_element.empty() ? "" : " at " + findings.worst_element);
  if (findings.has_lse)
    text += fmt::format(", of the lse {}", reports::ratio_text(findings.worst_lse_ratio));
  text += fmt::format("\nprobable error (6 sigma, a warning level): median {}, {} beyond theirs",
                      reports::magnitude_text(findings.probable_median),
                      reports::count_text(findings.beyond_probable, "output"));
  text += "\n\n" + acceptance_text(findings) + "\n";
  for (const RuleFindings& rule : findings.rules) text += passes_text(rule);
  return text;
}

std::string render_bound_json(const BoundTitle& title, const BoundFindings& findings) {
  Json rules = Json::array();
  for (const RuleFindings& rule : findings.rules) rules.push_back(rule_json(rule));
  Json json{{"format", "attest-bound"},
            {"version", 1},
            {"kernel", title.kernel},
            {"problem", title.problem},
            {"dtype", title.dtype},
            {"rows", findings.rows},
            {"rows_looked_at", findings.rows_looked_at},
            {"rows_empty", findings.rows_empty},
            {"columns", findings.columns},
            {"output_rms", findings.output_rms},
            {"error_abs", summary_json(findings.absolute)},
            {"error_ulp", summary_json(findings.ulp)},
            {"error_relative", summary_json(findings.relative)},
            {"worst_ratio", findings.worst_ratio},
            {"worst_element", findings.worst_element},
            {"probable_error_median", findings.probable_median},
            {"beyond_probable", findings.beyond_probable}};
  if (findings.has_lse) {
    json["lse_error_abs"] = summary_json(findings.lse);
    json["worst_lse_ratio"] = findings.worst_lse_ratio;
  }
  json["rules"] = std::move(rules);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attest::cli
