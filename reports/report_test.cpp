// The decision at its limits, escaping, and the formats that machines read.
#include "reports/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/run_lines.hpp"
#include "reports/test_models.hpp"
#include "reports/test_runs.hpp"

namespace attest::reports {
namespace {

using nlohmann::json;

CheckReport one_law(const LawRow& row) {
  CheckReport report;
  report.laws = {row};
  return report;
}

TEST(RunOutcome, ExactlyTheAllowedShareIsAllowed) {
  for (const std::int64_t fifth : {1, 3, 7, 11, 20, 333, 1'000'003}) {
    LawRow row = test::row("bound.out", 5 * fifth + 9);
    row.skipped = 9;
    row.weak = fifth - fifth / 2;
    row.unproven = fifth / 2;
    EXPECT_EQ(run_outcome(one_law(row)), RunOutcome::passed) << fifth;
    EXPECT_EQ(undecided_reason(one_law(row)), "");
    ++row.unproven;
    EXPECT_EQ(run_outcome(one_law(row)), RunOutcome::undecided) << fifth;
  }
}

TEST(RunOutcome, NamesTheLawsWithTooManyUndecidedCases) {
  LawRow weak = test::row("bound.lse", 60);
  weak.skipped = 10;
  weak.weak = 11;
  CheckReport report = one_law(test::row("bound.out", 50));
  report.laws.push_back(weak);
  EXPECT_EQ(undecided_reason(report), "bound.lse: 11 of 50 cases weak or unproven, more than 20 %");
  report.laws.push_back(weak);
  EXPECT_EQ(undecided_reason(report),
            "bound.lse: 11 of 50 cases weak or unproven, more than 20 % (and 1 more law)");
}

TEST(RunOutcome, NothingCheckedIsUndecided) {
  LawRow skipped = test::row("bound.out", 40);
  skipped.ok = 0;
  skipped.skipped = 40;
  for (const CheckReport& report :
       {CheckReport{}, one_law(test::row("bound.out", 0)), one_law(skipped)}) {
    EXPECT_EQ(run_outcome(report), RunOutcome::undecided);
    EXPECT_EQ(undecided_reason(report), "nothing was checked");
  }
  CheckReport partly = one_law(skipped);
  partly.laws.push_back(test::row("bound.lse", 1));
  EXPECT_EQ(run_outcome(partly), RunOutcome::passed);
}

TEST(RunOutcome, AViolationOutweighsEverything) {
  LawRow row = test::row("bound.out", 10);
  row.weak = 9;
  row.violations = 1;
  EXPECT_EQ(run_outcome(one_law(row)), RunOutcome::violated);
  EXPECT_EQ(undecided_reason(one_law(row)), "");
  CheckReport uncounted;
  uncounted.violations.emplace_back();
  EXPECT_EQ(run_outcome(uncounted), RunOutcome::violated);
}

TEST(Escape, PlainTextShowsWhatIsNotPrintable) {
  EXPECT_EQ(plain_text(test::kHostile), "a|b<c>&\"\\n`\\x01\\xFF");
  EXPECT_EQ(plain_text("\x1B[31m \u00E9 \u202E \u009B"), "\\x1B[31m \u00E9 \\u202E \\u009B");
  EXPECT_EQ(plain_text("\xC0\xAF \xED\xA0\x80"), "\\xC0\\xAF \\xED\\xA0\\x80");
  EXPECT_EQ(plain_text("\xE2\x82"), "\\xE2\\x82");
  EXPECT_EQ(plain_text(std::string(1, '\0')), "\\x00");
}

TEST(Escape, CutKeepsWholeCharacters) {
  EXPECT_EQ(cut("\u00E9\u00E9\u00E9", 3), "\u00E9\u00E9\u00E9");
  EXPECT_EQ(cut("\u00E9\u00E9\u00E9\u00E9", 3), "\u00E9\u00E9…");
}

TEST(Escape, MarkdownCodeOutlastsItsBackticks) {
  EXPECT_EQ(markdown_code(""), "");
  EXPECT_EQ(markdown_code("a``b"), "```a``b```");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
  EXPECT_EQ(markdown_code_cell(test::kHostile), "``a\\|b<c>&\"\\n`\\x01\\xFF``");
  EXPECT_EQ(markdown_block("a ``` b"), "````\na ``` b\n````\n");
}

TEST(Escape, XmlHoldsNoRawControls) {
  EXPECT_EQ(xml_attribute(test::kHostile), "a|b&lt;c&gt;&amp;&quot;&#10;`\\x01\\xFF");
  EXPECT_EQ(xml_text("a\nb\r\uFFFE"), "a\nb&#13;\\uFFFE");
}

TEST(Numbers, ReadWell) {
  EXPECT_EQ(magnitude_text(0.0072), "7.2e-3");
  EXPECT_EQ(magnitude_text(3800), "3.8e3");
  EXPECT_EQ(magnitude_text(0), "0");
  EXPECT_EQ(ratio_text(0.0080001), "0.008");
  EXPECT_EQ(ratio_text(1.00004), "1.00004");
  EXPECT_EQ(ratio_text(1), "1");
  EXPECT_EQ(ratio_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(decimal_text(-std::nan("")), "nan");
  EXPECT_EQ(decimal_text(0.1), "0.1");
  EXPECT_EQ(decimal_text(static_cast<double>(0.1F)), "0.1");
  EXPECT_EQ(decimal_text(1e300), "1e300");
  EXPECT_EQ(hexadecimal_text(-0.0), "-0x0p+0");
  EXPECT_EQ(seconds_text(9.94), "9.9 s");
  EXPECT_EQ(seconds_text(9.96), "10 s");
}

TEST(Json, CaseLineReadsBack) {
  CaseResult result = test::drawn_case();
  result.problem = test::kHostile;
  Witness broken = test::drawn_witness();
  broken.got = std::nan("");
  broken.error = std::numeric_limits<double>::infinity();
  broken.want.high = -std::numeric_limits<double>::infinity();
  result.verdict.witness = broken;
  const std::string line = case_line(result);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const json parsed = json::parse(line);
  EXPECT_EQ(parsed["type"], "case");
  EXPECT_EQ(parsed["law"], "law.window");
  EXPECT_EQ(parsed["case"], 57);
  EXPECT_EQ(parsed["problem"], "a|b<c>&\"\n`\x01\uFFFD");
  EXPECT_EQ(parsed["outcome"], "fail");
  EXPECT_EQ(parsed["seed"], "0x5EED1A77");
  const json& witness = parsed["witness"];
  EXPECT_EQ(witness["row"], json::array({1, 3, 40}));
  EXPECT_EQ(witness["column"], 17);
  EXPECT_EQ(witness["got"], "nan");
  EXPECT_EQ(witness["error"], "inf");
  EXPECT_EQ(witness["want"]["high"], "-inf");
  EXPECT_EQ(witness["bound"].get<double>(), 0x1p-19);
}

TEST(Json, NumbersKeepTheirBits) {
  const json witness = json::parse(case_line(test::shrunk_case()))["witness"];
  const Witness expected = test::shrunk_witness();
  EXPECT_EQ(witness["got"].get<double>(), expected.got);
  EXPECT_EQ(std::stod(witness["got_hex"].get<std::string>()), expected.got);
  EXPECT_EQ(witness["want"]["low"].get<double>(), expected.want.low);
  EXPECT_EQ(std::stod(witness["want"]["low_hex"].get<std::string>()), expected.want.low);
  EXPECT_EQ(witness["want"]["radius"].get<double>(), expected.want.radius);
}

TEST(Json, AnLseOfOneNumberHasNoColumn) {
  CaseResult result = test::drawn_case();
  Witness witness = test::drawn_witness();
  witness.tensor = "lse";
  witness.column = 0;
  result.verdict.witness = witness;
  EXPECT_FALSE(json::parse(case_line(result))["witness"].contains("column"));
  result.verdict.witness->column = 1;
  EXPECT_EQ(json::parse(case_line(result))["witness"]["column"], 1);
}

TEST(Json, FirstAndLastLineOfARun) {
  const test::WrittenRun written = test::written_run();
  const json first = json::parse(written.text.substr(0, written.text.find('\n')));
  EXPECT_EQ(first["type"], "environment");
  EXPECT_EQ(first["format"], "attest-run");
  EXPECT_EQ(first["version"], 2);
  EXPECT_EQ(first["environment"]["cpu"], "a | b");
  const json last =
      json::parse(written.text.substr(written.text.rfind('\n', written.text.size() - 2) + 1));
  EXPECT_EQ(last["type"], "summary");
  EXPECT_EQ(last["outcome"], "violated");
  EXPECT_EQ(last["laws"].size(), 2U);
  EXPECT_EQ(last["laws"][0]["violations"], 1);
  EXPECT_EQ(last["cases"], 41);
  EXPECT_EQ(last["violations"], 1);
  EXPECT_EQ(last["interrupted"], false);
}

TEST(Json, AccuracyDocument) {
  AccuracyReport report = test::accuracy();
  report.rows[2].kernel = test::kHostile;
  report.rows[2].worst_ratio = std::nan("");
  report.checks = {test::failed_check()};
  const json parsed = json::parse(render_accuracy_json(report));
  EXPECT_EQ(parsed["format"], "attest-accuracy");
  EXPECT_EQ(parsed["version"], 1);
  EXPECT_EQ(parsed["rows"].size(), 3U);
  EXPECT_EQ(parsed["rows"][2]["worst_ratio"], "nan");
  EXPECT_EQ(parsed["summary"][0]["worst_tensor"], "layer1");
  EXPECT_EQ(parsed["summary"][0]["outputs"], 128);
  EXPECT_EQ(parsed["summary"][1]["worst_ratio"], "nan");
  EXPECT_EQ(parsed["checks"][0]["outcome"], "violated");
}

}  // namespace
}  // namespace attest::reports
