#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/report.hpp"
#include "reports/test_models.hpp"

namespace attest::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// True if every tag is closed in turn, quotes are closed inside tags, and no character stands raw
/// that XML does not allow.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t position = 0;
  for (const char byte : xml) {
    if (static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t') return false;
  }
  while ((position = xml.find('<', position)) != std::string::npos) {
    std::size_t end = position + 1;
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      if (xml[end] == '<') return false;
    }
    if (end == xml.size()) return false;
    const std::string tag = xml.substr(position + 1, end - position - 1);
    const std::string name = tag.substr(0, tag.find(' '));
    if (name.front() == '/') {
      if (open.empty() || open.back() != name.substr(1)) return false;
      open.pop_back();
    } else if (name.front() != '?' && tag.back() != '/') {
      open.push_back(name);
    }
    position = end;
  }
  return open.empty();
}

TEST(Junit, OneSuiteALaw) {
  CheckReport report = test::failed_check();
  report.laws = {test::row("bound.out", 600)};
  report.violations.clear();
  EXPECT_EQ(render_check_junit(report), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="attest check builtin:tiled" tests="1" failures="0" errors="0" skipped="0" time="47.600">
  <testsuite name="bound.out" tests="1" failures="0" errors="0" skipped="0">
    <properties>
      <property name="seed" value="0x5EED1A77"/>
      <property name="cases" value="600"/>
      <property name="ok" value="600"/>
      <property name="weak" value="0"/>
      <property name="unproven" value="0"/>
      <property name="skipped" value="0"/>
      <property name="violations" value="0"/>
      <property name="worst_ratio" value="0"/>
      <property name="worst_problem" value=""/>
    </properties>
    <testcase classname="builtin:tiled" name="bound.out"/>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, FailureHoldsTheBlocks) {
  const std::string xml = render_check_junit(test::failed_check());
  EXPECT_TRUE(is_well_formed(xml)) << xml;
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"attest check builtin:tiled\" tests=\"3\" "
                             "failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"fail\" message=\"1 violation in 120 cases, first: "
                             "2x8/2:97x1025:64 f32 mask=causal:br\">FAIL law.window  case 57"));
  EXPECT_THAT(xml, HasSubstr("\nshrinking  75 tried, 14 kept, finished\n"));
}

TEST(Junit, UndecidedLawIsSkipped) {
  CheckReport report;
  LawRow weak = test::row("bound.lse", 50);
  weak.weak = 11;
  LawRow skipped = test::row("bits.batch", 4);
  skipped.skipped = 4;
  report.laws = {weak, skipped, test::row("bound.out", 50)};
  const std::string xml = render_check_junit(report);
  EXPECT_TRUE(is_well_formed(xml)) << xml;
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"bound.lse: 11 of 50 cases weak or unproven, more "
                             "than 20 %\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"nothing was checked\"/>"));
}

TEST(Junit, KnownFailuresAreThoseOfTheirLaw) {
  CheckReport report;
  for (const char* const law : {"bound.out", "bound.lse", "mask.tables"})
    report.laws.push_back(test::row(law, 50));
  for (LawRow& row : report.laws) row.known = 1;
  report.ledger = {
      "known   k.txt:1  law=bound.*: 2 of 9 cases failed  (#1, until 2099-12-31)",
      "known   k.txt:2  lk>4 law=mask.tables kernel=a*: 1 of 1 case failed  (#2, until "
      "2099-12-31)",
      "unused  k.txt:3  law=bound.out: no case matched  (#3, until 2099-12-31)"};
  const std::string xml = render_check_junit(report);
  EXPECT_TRUE(is_well_formed(xml)) << xml;
  std::vector<std::string> skipped;
  for (std::size_t at = xml.find("<skipped message="); at != std::string::npos;
       at = xml.find("<skipped message=", at + 1))
    skipped.push_back(xml.substr(at, xml.find("/>", at) - at));
  ASSERT_EQ(skipped.size(), 3U);
  for (std::size_t law : {0U, 1U})
    EXPECT_THAT(skipped[law], HasSubstr("1 known failure; known   k.txt:1"));
  for (std::size_t law : {0U, 1U}) EXPECT_THAT(skipped[law], Not(HasSubstr("k.txt:2")));
  EXPECT_THAT(skipped[2], AllOf(HasSubstr("k.txt:2"), Not(HasSubstr("k.txt:1"))));
  EXPECT_THAT(xml, Not(HasSubstr("k.txt:3")));
}

TEST(Junit, HostileStringsStayInside) {
  CheckReport report = test::failed_check();
  report.kernel = test::kHostile;
  report.laws[1].law = test::kHostile;
  report.laws[1].worst_problem = test::kHostile;
  Violation& violation = report.violations.front();
  violation.found.law = test::kHostile;
  violation.found.problem = test::kHostile;
  violation.shrunk.problem = test::kHostile;
  violation.values = test::kHostile;
  violation.shrunk.replay = test::kHostile;
  violation.saved = "]]>";
  const std::string xml = render_check_junit(report);
  EXPECT_TRUE(is_well_formed(xml)) << xml;
  EXPECT_THAT(xml, Not(HasSubstr("b<c")));
  EXPECT_THAT(xml, Not(HasSubstr("]]>")));
  EXPECT_THAT(xml, HasSubstr("classname=\"a|b&lt;c&gt;&amp;&quot;&#10;`\\x01\\xFF\""));
}

TEST(Junit, AViolationIsNeverLost) {
  CheckReport report = test::failed_check();
  report.laws.clear();
  EXPECT_THAT(render_check_junit(report), HasSubstr("tests=\"1\" failures=\"1\""));
  report = test::failed_check();
  report.violations.clear();
  EXPECT_THAT(render_check_junit(report), HasSubstr("message=\"1 violation in 120 cases\""));
}

}  // namespace
}  // namespace attest::reports
