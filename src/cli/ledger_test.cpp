// What a ledger says, line by line.
#include "cli/ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/inputs.hpp"
#include "kernels/registry.hpp"
#include "properties/run_kernel.hpp"

namespace attest::cli {
namespace {

using std::chrono::sys_days;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Day kDay = sys_days{std::chrono::year{2026} / 12 / 1};

std::string refusal(std::string_view text) {
  const auto ledger = Ledger::parse(text, "known.txt", kDay);
  return ledger.ok() ? std::string() : ledger.status().message();
}

Ledger parsed(std::string_view text) {
  auto ledger = Ledger::parse(text, "known.txt", kDay);
  EXPECT_TRUE(ledger.ok()) << ledger.status().message();
  return ledger.ok() ? std::move(ledger).value() : Ledger();
}

properties::Case case_of(const std::string& line) {
  return parse_given(line, nullptr).value().value;
}

/// Whether an entry with these conditions is about a case.
bool holds(const std::string& conditions, const std::string& problem) {
  const Ledger ledger = parsed(conditions + " law=* issue=#1 until=2099-01-01 run");
  return ledger.entries().size() == 1 && ledger.entries().front()->is_about(case_of(problem));
}

TEST(Ledger, ReadsEntriesAndComments) {
  const Ledger ledger = parsed(
      "# all of them\n"
      "\n"
      "dtype=bf16 lk>=1024 law=bound.* kernel=builtin:* issue=https://x.org/#7 until=2026-12-01 "
      "run  # why\n"
      "law=* issue=#8 until=2026-11-30 never-launch\n");
  ASSERT_EQ(ledger.entries().size(), 2U);
  const KnownFailure& first = *ledger.entries()[0];
  EXPECT_EQ(first.place, "known.txt:3");
  EXPECT_EQ(first.about, "dtype=bf16 lk>=1024 law=bound.* kernel=builtin:*");
  EXPECT_EQ(first.issue, "https://x.org/#7");
  EXPECT_FALSE(first.expired) << "the day counts";
  EXPECT_FALSE(first.never_launch);
  EXPECT_TRUE(first.is_about("builtin:textbook"));
  EXPECT_FALSE(first.is_about("mutant:swaps_rows"));
  EXPECT_TRUE(ledger.entries()[1]->expired);
  EXPECT_TRUE(ledger.entries()[1]->never_launch);
}

TEST(Ledger, ABadLineHasItsPlaceAndACaret) {
  const std::string line = "dtype=bf16 speed=fast law=* issue=#1 until=2099-01-01 run";
  const std::string message = refusal("# one\n" + line + "\n");
  EXPECT_THAT(message, StartsWith("known.txt:2: this is no known failure:\n" + line + "\n" +
                                  std::string(11, ' ') + "^"));
  EXPECT_THAT(message, HasSubstr("unknown key 'speed'"));
}

TEST(Ledger, SaysWhatIsWrongWithALine) {
  const auto with = [](const std::string& words) { return refusal(words + "\n"); };
  EXPECT_THAT(with("law=* until=2099-01-01 run"), HasSubstr("issue= is missing"));
  EXPECT_THAT(with("law=* issue=#1 run"), HasSubstr("until= is missing"));
  EXPECT_THAT(with("issue=#1 until=2099-01-01 run"), HasSubstr("law= is missing"));
  EXPECT_THAT(with("law=* issue=#1 until=2099-01-01"), HasSubstr("run or never-launch"));
  EXPECT_THAT(with("law=* issue=#1 until=2099-02-30 run"), HasSubstr("no date YYYY-MM-DD"));
  EXPECT_THAT(with("law=* issue=#1 until=soon run"), HasSubstr("no date YYYY-MM-DD"));
  EXPECT_THAT(with("law=nothing.* issue=#1 until=2099-01-01 run"), HasSubstr("no law matches"));
  EXPECT_THAT(with("law=* law=* issue=#1 until=2099-01-01 run"), HasSubstr("law= is there twice"));
  EXPECT_THAT(with("lk>=many law=* issue=#1 until=2099-01-01 run"), HasSubstr(">= needs a number"));
  EXPECT_THAT(with("lk=>7 law=* issue=#1 until=2099-01-01 run"),
              HasSubstr("unknown comparison =>"));
  EXPECT_THAT(with("bf16 law=* issue=#1 until=2099-01-01 run"), HasSubstr("neither KEY=VALUE"));
  EXPECT_THAT(with("law=* issue=#1 until=2099-01-01 run run"), HasSubstr("nothing may follow"));
  EXPECT_THAT(with("law=bound.out issue=#1 until=2099-01-01 never-launch"), HasSubstr("law=*"));
}

TEST(Ledger, ConditionsAreAboutTheWordsOfTheProblem) {
  const std::string problem = "2x8/2:97x1025:64/32 bf16 mask=causal:br win=127:0 cap=30 lse=ln";
  for (const char* true_here : {"",
                                "b=2",
                                "hq=8 hkv=2",
                                "lq=97 lk>1024",
                                "lk>=1025",
                                "lk<=1025",
                                "lk<1026",
                                "lk!=1024",
                                "d=64 dv=32",
                                "dtype=bf16",
                                "dtype=b*",
                                "mask=causal:br",
                                "mask=causal*",
                                "win=127:0",
                                "cap=30",
                                "cap=30.0",
                                "cap>=29.5",
                                "lse=ln",
                                "lse!=none",
                                "bias=none",
                                "kv=dense",
                                "layout=bshd",
                                "tile=16",
                                "mask!=*bits*"})
    EXPECT_TRUE(holds(true_here, problem)) << true_here;
  for (const char* false_here :
       {"b=3", "lk>1025", "lk<1025", "dtype=f16", "dtype=f*", "mask=causal", "mask=none",
        "lse=none", "lse!=ln", "cap<30", "bias>0", "lk>=1024 d=128"})
    EXPECT_FALSE(holds(false_here, problem)) << false_here;
}

Verdict judged(LedgerCheck& check, const std::string& problem, Verdict verdict) {
  check.judge(*properties::find_law("bound.out"), case_of(problem), verdict);
  return verdict;
}

TEST(Ledger, AViolationThatIsListedIsKnown) {
  const Ledger ledger = parsed("dtype=bf16 law=bound.out issue=#9 until=2099-01-01 run\n");
  LedgerCheck check(ledger, "builtin:textbook");
  const Verdict known = judged(check, "1x1:1x1:1 bf16", Verdict::fail("too far"));
  EXPECT_EQ(known.outcome, Outcome::known);
  EXPECT_EQ(known.reason, "known failure (#9): too far");
  EXPECT_EQ(judged(check, "1x1:1x1:1 f32", Verdict::fail("")).outcome, Outcome::fail);
  EXPECT_EQ(judged(check, "1x1:1x1:1 bf16", Verdict::ok()).outcome, Outcome::ok);
  EXPECT_EQ(judged(check, "1x1:1x1:1 bf16", Verdict::of(Outcome::crash, "")).outcome,
            Outcome::known);
  EXPECT_THAT(check.lines(true),
              ElementsAre("known   known.txt:1  dtype=bf16 law=bound.out: 2 of 3 cases failed  "
                          "(#9, until 2099-01-01)"));
  EXPECT_TRUE(check.unexpected_passes().empty());
}

TEST(Ledger, OnlyAllCasesJudgedAndNoneFailedIsAnUnexpectedPass) {
  const Ledger ledger = parsed("dtype=bf16 law=bound.* issue=#9 until=2099-01-01 run\n");
  const auto passes = [&](const std::vector<Verdict>& verdicts) {
    LedgerCheck check(ledger, "builtin:textbook");
    for (const Verdict& verdict : verdicts) judged(check, "1x1:1x1:1 bf16", verdict);
    return check.unexpected_passes().size();
  };
  EXPECT_EQ(passes({}), 0U);
  EXPECT_EQ(passes({Verdict::skipped("")}), 0U);
  EXPECT_EQ(passes({Verdict::ok()}), 1U);
  EXPECT_EQ(passes({Verdict::ok(), Verdict::skipped("")}), 1U);
  EXPECT_EQ(passes({Verdict::ok(), Verdict::fail("")}), 0U);
  EXPECT_EQ(passes({Verdict::ok(), Verdict::weak("")}), 0U);
  LedgerCheck cut(ledger, "builtin:textbook");
  judged(cut, "1x1:1x1:1 bf16", Verdict::ok());
  cut.leave(*properties::find_law("bound.lse"));
  EXPECT_TRUE(cut.unexpected_passes().empty());
}

TEST(Ledger, AnExpiredEntryCountsForNothing) {
  const Ledger ledger = parsed("law=* issue=#9 until=2026-11-30 run\n");
  LedgerCheck check(ledger, "builtin:textbook");
  EXPECT_EQ(judged(check, "1x1:1x1:1 bf16", Verdict::fail("")).outcome, Outcome::fail);
  EXPECT_THAT(check.lines(true), ElementsAre(StartsWith("expired known.txt:1  law=*: ")));
}

TEST(Ledger, ANeverLaunchedCallDoesNotReachTheKernel) {
  const Ledger ledger = parsed("lk>2 law=* issue=#9 until=2099-01-01 never-launch\n");
  const Kernel& kernel = *kernels::find_builtin("builtin:textbook");
  const auto launched = without_never_launched(kernel, ledger);
  ASSERT_NE(launched, nullptr);
  LedgerCheck check(ledger, "builtin:textbook");
  EXPECT_THAT(check.lines(true), ElementsAre(StartsWith("unused ")));
  EXPECT_TRUE(properties::run_kernel(*launched, case_of("1x1:1x2:1 f32")).status.ok());
  const Status refused = properties::run_kernel(*launched, case_of("1x1:1x3:1 f32")).status;
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_EQ(refused.message(), "known failure, never launched: #9");
  EXPECT_THAT(check.lines(true), ElementsAre(HasSubstr("1 call was not launched")));
  EXPECT_EQ(without_never_launched(kernel, parsed("")), nullptr);
}

}  // namespace
}  // namespace attest::cli
