// The accuracy report as one document, for machines. Runs line by line are in run_lines.cpp.
#include "reports/json_write.hpp"
#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

constexpr int kVersion = 1;

Json check_json(const CheckReport& report) {
  Json json = {{"kernel", report.kernel},
               {"declares", report.declares},
               {"seed", seed_text(report.seed)},
               {"tier", report.tier},
               {"jobs", report.jobs},
               {"environment", environment_json(report.environment)}};
  add_results(json, report);
  return json;
}

}  // namespace

std::string render_accuracy_json(const AccuracyReport& report) {
  Json json = {{"format", "attest-accuracy"}, {"version", kVersion}};
  json["seconds"] = json_number(report.seconds);
  json["environment"] = environment_json(report.environment);
  json["summary"] = array_of(summarize(report.rows), accuracy_summary_json);
  json["rows"] = array_of(report.rows, accuracy_row_json);
  json["checks"] = array_of(report.checks, check_json);
  return dump(json, 2) + '\n';
}

}  // namespace attest::reports
