// Rules of users: their text, what they let pass, and what that says of them.
#include "properties/rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

ComparisonRule read(const std::string& text) {
  ComparisonRule rule;
  TextError error;
  EXPECT_TRUE(parse_rule(text, rule, error)) << with_caret(text, error);
  return rule;
}

Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
  return make_case(text, nullptr).value();
}

const Kernel& mutant(const std::string& name) {
  return *mutants::find("mutant:" + name)->kernel;
}

bool accepts(const Verdict& verdict, std::string_view stand_in) {
  const auto found =
      std::find_if(verdict.stand_ins.begin(), verdict.stand_ins.end(),
                   [&](const StandInTrial& one) { return one.stand_in == stand_in; });
  EXPECT_NE(found, verdict.stand_ins.end()) << stand_in;
  return found != verdict.stand_ins.end() && found->accepted;
}

TEST(RuleText, IsReadAndWritten) {
  EXPECT_EQ(read("bound"), ComparisonRule{});
  EXPECT_EQ(to_text(read("twin:2")), "twin:2");
  EXPECT_EQ(read("abs:1e-2,rel:0.5"),
            (ComparisonRule{ComparisonRule::Kind::tolerance, 0, 1e-2, 0.5}));
  EXPECT_EQ(read("rel:0.5,abs:1e-2"), read("abs:1e-2,rel:0.5"));
  EXPECT_EQ(read("rel:0.5").absolute, 0);
  for (const char* const text : {"bound", "twin:2", "abs:0.01,rel:0.5"})
    EXPECT_EQ(read(to_text(read(text))), read(text));
}

TEST(RuleText, ThatIsNoneIsRefusedWhereItGoesWrong) {
  const auto position = [](const std::string& text) {
    ComparisonRule rule;
    TextError error;
    EXPECT_FALSE(parse_rule(text, rule, error)) << text;
    EXPECT_FALSE(error.message.empty());
    return error.position;
  };
  EXPECT_EQ(position(""), 0U);
  EXPECT_EQ(position("twins:2"), 0U);
  EXPECT_EQ(position("twin:"), 5U);
  EXPECT_EQ(position("twin:2x"), 5U);
  EXPECT_EQ(position("twin:-1"), 5U);
  EXPECT_EQ(position("abs:1e-2,"), 9U);
  EXPECT_EQ(position("abs:1e-2,abs:1"), 9U);
  EXPECT_EQ(position("abs:1e-2,rel:x"), 13U);
  EXPECT_EQ(position("abs:nan"), 4U);
}

// Outputs near 1 / 256: a tolerance of 1e-2 sees nothing of them.
const std::string kSmallOutputs = "1x2:8x64:16 f32 mask=causal:br lse=ln vals=normal:3";

TEST(RuleInForce, ReplacesTheBoundOfOutputs) {
  const Case on = made("1x1:1x4:1 f32 vals=lit:1;0,1,2,3;0.001,0.002,0.003,0.004");
  const Kernel& wrong = mutant("forgets_the_scale");
  const Case scaled = made("1x1:1x4:4 f32 vals=normal:1");
  EXPECT_EQ(bound_out(wrong, scaled).outcome, Outcome::fail);
  {
    const RuleInForce loose(read("abs:100"));
    EXPECT_EQ(bound_out(wrong, scaled).outcome, Outcome::weak);
    const Verdict verdict = bound_out(*kernels::find_builtin("builtin:textbook"), on);
    EXPECT_TRUE(accepts(verdict, "all zeros"));
    EXPECT_TRUE(accepts(verdict, "V of the last key"));
    EXPECT_EQ(verdict.outcome, Outcome::weak);
  }
  EXPECT_EQ(bound_out(wrong, scaled).outcome, Outcome::fail);
  EXPECT_FALSE(accepts(bound_out(*kernels::find_builtin("builtin:textbook"), on), "all zeros"));
}

TEST(RuleInForce, ReplacesTheBoundOfTheLse) {
  const Case on = made(kSmallOutputs);
  EXPECT_EQ(bound_lse(mutant("lse_in_base_two"), on).outcome, Outcome::fail);
  const RuleInForce loose(read("rel:0.5"));
  EXPECT_EQ(bound_lse(mutant("lse_in_base_two"), on).outcome, Outcome::ok);
  const Verdict verdict = bound_lse(*kernels::find_builtin("builtin:textbook"), on);
  EXPECT_TRUE(accepts(verdict, "lse in the other base"));
}

TEST(RuleInForce, ATwinLetsPassWhatItsOwnTypeBlurs) {
  // In bf16 a kernel may be off by twice what plain bf16 evaluation is off by.
  const Case on = made("1x2:8x64:16 bf16 mask=causal:br vals=normal:3");
  const Kernel& textbook = *kernels::find_builtin("builtin:textbook");
  const RuleInForce twin(read("twin:2"));
  const Verdict verdict = bound_out(textbook, on);
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
  EXPECT_FALSE(accepts(verdict, "all zeros"));
}

TEST(RuleInForce, ATwinOfFactorZeroRefusesWhateverIsRounded) {
  const Case on = made("1x2:8x64:16 f32 vals=normal:3");
  const RuleInForce twin(read("twin:0"));
  EXPECT_EQ(bound_out(*kernels::find_builtin("builtin:scalar_tree"), on).outcome, Outcome::fail);
}

}  // namespace
}  // namespace attest::properties
