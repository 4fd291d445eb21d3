// attest under GoogleTest, for tests of other projects: link attest::gtest.
//
//   EXPECT_ATTENTION(problem, views);             one call for people with loops of their own
//   EXPECT_ATTENTION(problem, views, accuracy);   with what the kernel declares of its arithmetic
//   ATTEST_ATTENTION_TEST(Mine, Forward, make_kernel());               one test a law
//   ATTEST_ATTENTION_TEST(Mine, Short, make_kernel(), {.laws = {"bound.*"}});
//
// Macros, for GoogleTest has to be told file and line; everything behind them is a function.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "harness/attention.hpp"
#include "harness/law_tests.hpp"

namespace attest::harness {

/// For EXPECT_PRED_FORMAT1: its message is the one of harness/attention.hpp.
inline testing::AssertionResult attention_holds(const char*, const Attention& computed) {
  const AttentionVerdict verdict = judge(computed);
  if (verdict.holds) return testing::AssertionSuccess();
  return testing::AssertionFailure() << verdict.message;
}

/// One law on one kernel.
class LawTest : public testing::Test {
 public:
  LawTest(std::shared_ptr<const Kernel> kernel, const properties::Law& law, LawTests tests)
      : kernel_(std::move(kernel)), law_(law), tests_(std::move(tests)) {}

  void TestBody() override {
    const LawResult result = run_law(*kernel_, law_, tests_);
    if (result.outcome == LawOutcome::no_matter) GTEST_SKIP() << result.text;
    EXPECT_TRUE(result.outcome == LawOutcome::holds) << law_.sentence << "\n" << result.text;
  }

 private:
  std::shared_ptr<const Kernel> kernel_;
  const properties::Law& law_;
  LawTests tests_;
};

/// What is wrong with the options of a set of tests, as a test that fails.
class WrongLawTests : public testing::Test {
 public:
  explicit WrongLawTests(std::string why) : why_(std::move(why)) {}
  void TestBody() override { ADD_FAILURE() << why_; }

 private:
  std::string why_;
};

/// Where a set of tests stands, and its name: "Mine_Forward".
struct TestPlace {
  std::string name;
  const char* file;
  int line;
};

/// One test a law, "Mine_Forward.bound_out".
inline bool register_law_tests(const TestPlace& place, std::shared_ptr<const Kernel> kernel,
                               const LawTests& tests = {}) {
  const auto laws = selected_laws(tests);
  if (!laws.ok()) {
    testing::RegisterTest(
        (place.name + "_options").c_str(), "are_wrong", nullptr, nullptr, place.file, place.line,
        [why = laws.status().message()]() -> testing::Test* { return new WrongLawTests(why); });
    return false;
  }
  for (const properties::Law* const law : laws.value()) {
    std::string name(law->name);
    for (char& c : name)
      if (c == '.') c = '_';
    testing::RegisterTest(place.name.c_str(), name.c_str(), nullptr, nullptr, place.file,
                          place.line,
                          [=]() -> testing::Test* { return new LawTest(kernel, *law, tests); });
  }
  return true;
}

}  // namespace attest::harness

#define EXPECT_ATTENTION(...)                             \
  EXPECT_PRED_FORMAT1(::attest::harness::attention_holds, \
                      (::attest::harness::Attention{__VA_ARGS__}))
#define ASSERT_ATTENTION(...)                             \
  ASSERT_PRED_FORMAT1(::attest::harness::attention_holds, \
                      (::attest::harness::Attention{__VA_ARGS__}))

#define ATTEST_ATTENTION_TEST(suite, name, ...)                           \
  [[maybe_unused]] static const bool attest_registered_##suite##_##name = \
      ::attest::harness::register_law_tests({#suite "_" #name, __FILE__, __LINE__}, __VA_ARGS__)
