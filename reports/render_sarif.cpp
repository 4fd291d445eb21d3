// SARIF 2.1.0 for code scanning: a rule a law, a result a violation. The place is where the kernel
// is registered, for an error has no line of its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/escape.hpp"
#include "reports/json_write.hpp"
#include "reports/numbers.hpp"
#include "reports/page_data.hpp"
#include "reports/render_run.hpp"

namespace attest::reports {
namespace {

constexpr std::size_t kMaxMessage = 8000;
/// What a violation on a recorded tensor breaks.
constexpr const char* kTensorRule = "tensors.bound";

std::string value_of(const Environment& environment, std::string_view wanted) {
  for (const auto& [name, value] : environment)
    if (name == wanted) return value;
  return {};
}

Json text_json(const std::string& text) {
  return {{"text", plain_lines(text)}};
}

Json rule_json(const LawText& text) {
  return {
      {"id", plain_text(text.law)},
      {"shortDescription", text_json(text.sentence.empty() ? text.law : text.sentence)},
      {"help", text_json(fmt::format("{}\n\n{}", text.sentence.empty() ? text.law : text.sentence,
                                     text.formula))},
      {"defaultConfiguration", {{"level", "error"}}}};
}

/// Every law of the run, and those of violations that it does not name.
std::vector<LawText> rules_of(const Run& run) {
  std::vector<LawText> rules = run.header.laws;
  const auto need = [&](const std::string& law, const std::string& sentence) {
    if (std::none_of(rules.begin(), rules.end(),
                     [&](const LawText& one) { return one.law == law; }))
      rules.push_back({law, sentence, {}});
  };
  for (const CheckReport& check : run.checks)
    for (const Violation& violation : check.violations) need(violation.found.law, {});
  if (std::any_of(run.accuracy.begin(), run.accuracy.end(),
                  [](const AccuracyRow& row) { return row.violations > 0; }))
    need(kTensorRule, "Every output on a recorded tensor lies within its bound.");
  return rules;
}

/// A path as it stands in a URI.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json locations_of(const Run& run, const std::string& kernel) {
  for (const KernelEntry& entry : run.header.kernels) {
    if (entry.name != kernel || entry.source.empty()) continue;
    Json physical = {{"artifactLocation", {{"uri", uri_of(entry.source)}, {"uriBaseId", "ROOT"}}}};
    if (entry.line > 0) physical["region"] = {{"startLine", entry.line}};
    return Json::array({{{"physicalLocation", std::move(physical)},
                         {"logicalLocations", Json::array({{{"name", plain_text(kernel)}}})}}});
  }
  return Json::array({{{"logicalLocations", Json::array({{{"name", plain_text(kernel)}}})}}});
}

class Results {
 public:
  explicit Results(const Run& run) : run_(run), rules_(rules_of(run)) {
    for (std::size_t i = 0; i < rules_.size(); ++i) index_.try_emplace(rules_[i].law, i);
  }

  void add(const std::string& kernel, const std::string& law, const std::string& message,
           const std::string& identity) {
    if (json_.size() >= kMaxSarifResults) {
      ++more_;
      return;
    }
    json_.push_back({{"ruleId", plain_text(law)},
                     {"ruleIndex", index_.at(law)},
                     {"level", "error"},
                     {"message", text_json(cut(message, kMaxMessage))},
                     {"locations", locations_of(run_, kernel)},
                     // The case, so that a reader knows it again in the next run.
                     {"partialFingerprints", {{"attestCase/v1", plain_text(identity)}}}});
  }

  const std::vector<LawText>& rules() const { return rules_; }
  std::size_t more() const { return more_; }
  Json take() { return std::move(json_); }

 private:
  const Run& run_;
  std::vector<LawText> rules_;
  std::map<std::string, std::size_t> index_;
  Json json_ = Json::array();
  std::size_t more_ = 0;
};

void add_tensor_result(Results& results, const AccuracyRow& row) {
  if (row.violations == 0) return;
  results.add(row.kernel, kTensorRule,
              fmt::format("{} on {}: {} of {} outputs beyond their bound, worst {} ({} x bound)\n"
                          "problem    {}\nreplay     {}",
                          row.kernel, row.tensor, row.violations, row.outputs, row.worst_element,
                          ratio_text(row.worst_ratio), row.problem, row.replay),
              fmt::format("{} {} {}", row.kernel, row.tensor, cut(row.problem, 500)));
}

}  // namespace

std::string render_run_sarif(const RunHistory& history) {
  const Run& run = history.latest;
  Results results(run);
  for (const CheckReport& check : run.checks)
    for (const Violation& violation : check.violations)
      results.add(check.kernel, violation.found.law,
                  fmt::format("{}\n{}", check.kernel, render_violation_text(violation)),
                  fmt::format("{} {} {}", check.kernel, violation.found.law,
                              cut(violation.found.problem, 500)));
  for (const AccuracyRow& row : run.accuracy) add_tensor_result(results, row);

  Json driver = {{"name", "attest"}, {"rules", array_of(results.rules(), rule_json)}};
  if (const std::string version = value_of(run.header.environment, "attest"); !version.empty())
    driver["version"] = version;
  Json invocation = {{"executionSuccessful", run.unfinished.empty() && !run.interrupted},
                     {"commandLine", plain_text(run.header.command)}};
  if (run.header.started.size() == 20) invocation["startTimeUtc"] = plain_text(run.header.started);
  Json properties = {{"outcome", to_string(run_outcome(run))},
                     {"outcomeLine", plain_text(run_outcome_line(run))}};
  if (results.more() > 0) properties["resultsLeftOut"] = results.more();
  const Json one = {{"tool", {{"driver", std::move(driver)}}},
                    {"columnKind", "unicodeCodePoints"},
                    {"originalUriBaseIds",
                     {{"ROOT", {{"description", {{"text", "the repository of the kernels"}}}}}}},
                    {"invocations", Json::array({std::move(invocation)})},
                    {"results", results.take()},
                    {"properties", std::move(properties)}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({one})}};
  return dump(log, 1) + '\n';
}

}  // namespace attest::reports
