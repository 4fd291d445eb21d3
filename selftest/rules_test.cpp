#include "selftest/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attest/element.hpp"

namespace attest::selftest {
namespace {

const Rule& rule(std::string_view name) {
  for (const Rule& found : rules())
    if (found.name == name) return found;
  throw std::out_of_range(std::string(name));
}

TEST(Rules, AcceptTheTruthAndRejectNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Rule& each : rules()) {
    EXPECT_TRUE(each.accepts({{1, -2}, {1, -2}, {1, -2}, Dtype::f32})) << each.name;
    EXPECT_FALSE(each.accepts({{1, nan}, {1, -2}, {1, -2}, Dtype::f32})) << each.name;
    EXPECT_FALSE(each.accepts({{nan, -2}, {1, -2}, {1, -2}, Dtype::f32})) << each.name;
  }
}

TEST(Rules, AllcloseAcceptsOnePercentOfEachElementBesideOnePercent) {
  EXPECT_TRUE(rule("allclose 1e-2").accepts({{2.029}, {2}, {2}, Dtype::f32}));
  EXPECT_FALSE(rule("allclose 1e-2").accepts({{2.031}, {2}, {2}, Dtype::f32}));
}

TEST(Rules, TheTwinRuleIsTwiceTheErrorOfThePlainEvaluationBesideTwoRoundings) {
  // 0.5 + 0.3 - 0.3 is 0.5 again up to 2^-24 in f32.
  EXPECT_TRUE(rule("twin 2x").accepts({{0.52}, {0.51}, {0.5}, Dtype::f32}));
  EXPECT_FALSE(rule("twin 2x").accepts({{0.5201}, {0.51}, {0.5}, Dtype::f32}));
  // 1 + 0.3 - 0.3 in bf16 (spacing 2^-7 from 1 on): 1.296875 or 1.3046875, then 1 or beside it.
  const double moved = rounded_to(Dtype::bf16, rounded_to(Dtype::bf16, 1 + 0.3) - 0.3);
  const double allowed = 2 * std::abs(moved - 1);
  EXPECT_TRUE(rule("twin 2x").accepts({{1 + allowed}, {1}, {1}, Dtype::bf16}));
  EXPECT_FALSE(rule("twin 2x").accepts({{1 + allowed + 0x1p-20}, {1}, {1}, Dtype::bf16}));
}

TEST(Rules, FiveTimesHasAFloorOf1e5) {
  EXPECT_TRUE(rule("plain 5x").accepts({{1.000009}, {1}, {1}, Dtype::f32}));
  EXPECT_FALSE(rule("plain 5x").accepts({{1.000011}, {1}, {1}, Dtype::f32}));
  EXPECT_TRUE(rule("plain 5x").accepts({{1.049}, {1.01}, {1}, Dtype::f32}));
  EXPECT_FALSE(rule("plain 5x").accepts({{1.051}, {1.01}, {1}, Dtype::f32}));
}

TEST(Rules, NmseLooksAtTheWholeTensorOnly) {
  const Rule& nmse = rule("NMSE 5e-4");
  // One row of a hundred is set to 0, and each of the others is 10 times as large.
  std::vector<double> truth(100, 10);
  truth[0] = 1;
  std::vector<double> got = truth;
  got[0] = 0;
  EXPECT_TRUE(nmse.accepts({got, truth, truth, Dtype::f32}));
  got[1] = 0;
  EXPECT_FALSE(nmse.accepts({got, truth, truth, Dtype::f32}));
  EXPECT_TRUE(nmse.accepts({{0, 0}, {0, 0}, {0, 0}, Dtype::f32}));
  EXPECT_FALSE(nmse.accepts({{0, 1}, {0, 0}, {0, 0}, Dtype::f32}));
}

}  // namespace
}  // namespace attest::selftest
