// Every public report is covered by a wrong kernel, or says why none can have it.
#include "mutants/bug_reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mutants/mutants.hpp"
#include "properties/laws.hpp"

namespace attest::mutants {
namespace {

using testing::Contains;
using testing::ElementsAre;

/// Rows of the list of reports: those about kernels, then those about tests.
constexpr std::size_t kKernelReports = 119;
constexpr std::size_t kTestReports = 13;

TEST(BugReports, AreAllThereAndUnique) {
  std::set<std::string_view> kernels;
  std::set<std::string_view> tests;
  for (const BugReport& report : bug_reports())
    (report.id.front() == 'B' ? kernels : tests).insert(report.id);
  EXPECT_EQ(kernels.size(), kKernelReports);
  EXPECT_EQ(tests.size(), kTestReports);
  EXPECT_EQ(bug_reports().size(), kKernelReports + kTestReports);
}

TEST(BugReports, HaveAWrongKernelOrAReasonWhyNone) {
  for (const BugReport& report : bug_reports()) {
    EXPECT_FALSE(report.mechanism.empty()) << report.id;
    EXPECT_NE(report.mutants.empty(), report.out_of_reach.empty()) << report.id;
    for (const std::string_view name : report.mutants)
      EXPECT_NE(find("mutant:" + std::string(name)), nullptr) << report.id << " " << name;
  }
}

TEST(BugReports, OutOfReachAreOnlyDropoutATotalAndDefectsOfTests) {
  std::vector<std::string> ids;
  for (const BugReport& report : bug_reports())
    if (report.mutants.empty() && report.id.front() == 'B') ids.emplace_back(report.id);
  EXPECT_THAT(ids, ElementsAre("B162", "B175", "B177"));
}

TEST(BugReports, AreFoundByTheNameOfAWrongKernel) {
  EXPECT_THAT(reports_of("mutant:dead_first_tile_stores_zero"), ElementsAre("B79", "O13"));
  EXPECT_TRUE(reports_of("mutant:no_such_kernel").empty());
}

TEST(WrongKernels, AreAtLeastAHundredWithAMistakeInOneLine) {
  EXPECT_GE(all().size(), 100U);
  for (const Mutant& mutant : all()) {
    const KernelDescription& description = mutant.kernel->description();
    EXPECT_FALSE(description.summary.empty()) << description.name;
    EXPECT_EQ(description.summary.find('\n'), std::string::npos) << description.name;
  }
}

TEST(Laws, AreEachNamedByAWrongKernelSoThatNoneCanBeDeletedInSilence) {
  std::set<std::string_view> named;
  for (const Mutant& mutant : all()) named.insert(mutant.killed_by);
  for (const properties::Law& law : properties::laws()) EXPECT_THAT(named, Contains(law.name));
}

}  // namespace
}  // namespace attest::mutants
