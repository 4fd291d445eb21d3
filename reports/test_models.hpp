// Small hand-made models for the tests of the renderers.
#pragma once

#include <string>
#include <utility>

#include "reports/report.hpp"

namespace attest::reports::test {

/// Foreign text with everything that some format minds.
inline const std::string kHostile = "a|b<c>&\"\n`\x01\xFF";

inline LawRow row(std::string law, std::int64_t cases) {
  LawRow result;
  result.law = std::move(law);
  result.cases = cases;
  result.ok = cases;
  return result;
}

inline Witness drawn_witness() {
  Witness witness;
  witness.tensor = "out";
  witness.row = {1, 3, 40};
  witness.column = 17;
  witness.got = 0.4375;
  witness.want = {0.430293709, 0, 0x1p-90};
  witness.error = 0.0072063;
  witness.bound = 0x1p-19;
  return witness;
}

inline CaseResult drawn_case() {
  CaseResult result;
  result.law = "law.window";
  result.number = 57;
  result.problem = "2x8/2:97x1025:64 f32 mask=causal:br";
  result.seconds = 0.25;
  result.replay = "attest replay builtin:tiled '2x8/2:97x1025:64 f32 mask=causal:br'";
  result.seed = 0x5EED1A77;
  result.verdict.outcome = Outcome::fail;
  result.verdict.worst_ratio = 3840;
  result.verdict.rows_checked = 1552;
  result.verdict.rows_wrong = 97;
  result.verdict.witness = drawn_witness();
  return result;
}

inline Witness shrunk_witness() {
  Witness witness;
  witness.tensor = "out";
  witness.got = static_cast<double>(1.0F / 3.0F);
  witness.want = {0x1p-2, -0x1p-60, 0x1p-110};
  witness.error = witness.got - 0.25;
  witness.bound = 0x1p-20;
  return witness;
}

inline CaseResult shrunk_case() {
  CaseResult result = drawn_case();
  result.problem = "1x1:1x3:1 f32 vals=lit:0;0,0,0;1,0,0";
  result.replay = "attest replay builtin:tiled '1x1:1x3:1 f32 vals=lit:0;0,0,0;1,0,0'";
  result.verdict.rows_checked = 1;
  result.verdict.rows_wrong = 1;
  result.verdict.witness = shrunk_witness();
  return result;
}

inline Violation violation() {
  Violation result;
  result.found = drawn_case();
  result.shrunk = shrunk_case();
  result.values = "Q = 0 (0x0p+0)\nV = 1 0 0 (0x1p+0 0x0p+0 0x0p+0)\n";
  result.shrink_tries = 75;
  result.shrink_kept = 14;
  result.saved = "attest-out/latest/cases/9f3c1d";
  return result;
}

inline CheckReport failed_check() {
  CheckReport report;
  report.kernel = "builtin:tiled";
  report.declares = "f32 | causal br | lse ln";
  report.seed = 0x5EED1A77;
  report.tier = "smoke";
  report.jobs = 2;
  report.environment = {{"cpu", "a | b"}, {"compiler", "g++ 12"}};
  LawRow bound = row("bound.out", 600);
  bound.ok = 598;
  bound.weak = 2;
  bound.worst_ratio = 0.4123;
  bound.worst_problem = "2x8/2:97x1025:128 f32 mask=causal:br";
  LawRow window = row("law.window", 120);
  window.ok = 108;
  window.skipped = 11;
  window.violations = 1;
  window.worst_ratio = 3840;
  window.worst_problem = "2x8/2:97x1025:64 f32 mask=causal:br tile=16x64 split=4 merge=random:7";
  report.laws = {bound, window, row("bits.rerun", 100)};
  report.violations = {violation()};
  report.seconds = 47.6;
  report.out_directory = "attest-out/one";
  report.distribution = "mask causal 38 %, Lq=1 17 %";
  return report;
}

inline AccuracyRow accuracy_row(std::string kernel, std::string tensor, double ratio) {
  AccuracyRow result;
  result.kernel = std::move(kernel);
  result.tensor = std::move(tensor);
  result.problem = "1x2:8x8:4 f32 tile=4x4";
  result.dtype = "f32";
  result.outputs = 64;
  result.worst_error = 1.25e-7;
  result.worst_ratio = ratio;
  result.worst_lse_error = 6e-8;
  result.worst_lse_ratio = 0.25;
  result.ulp = {0.2, 0.49, 1.5};
  result.worst_element = "out[0,1,7,3]";
  return result;
}

inline AccuracyReport accuracy() {
  AccuracyReport report;
  report.environment = {{"cpu", "a | b"}};
  report.rows = {accuracy_row("plain", "layer0", 0.5), accuracy_row("plain", "layer1", 0.75),
                 accuracy_row("tiled", "layer0", 0.125)};
  report.rows[1].ulp.max = 230;
  report.rows[0].twin_ratio = 0.5;
  report.rows[1].twin_ratio = 1.25;
  report.seconds = 3.21;
  return report;
}

}  // namespace attest::reports::test
