// The log-sum-exp in the form that a problem asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "reference/interval.hpp"
#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using Number = Interval<256>;

Number ln2() {
  return log(Number(2));
}

/// Whether the enclosure holds a number that is known to 256 bits.
bool encloses(const Enclosure& enclosure, const Number& exact) {
  const Number distance = abs(exact - Number(enclosure.high) - Number(enclosure.low));
  return std::isfinite(enclosure.radius) && upper_double<256>(distance) <= enclosure.radius;
}

RowBound rule_of(const RowFacts& facts) {
  RowBound bound = uniform_bound(facts, 1, 0.5);
  // Another number where the sink is there: the tests tell whose bound it is.
  bound.lse_base_two = facts.has_sink() ? 0.75 : 0.25;
  return bound;
}

/// One query over keys of the given scores, with a sink of 1 where there is one.
CertifiedRow certified(const std::vector<double>& scores,
                       const std::function<void(Problem&)>& set) {
  Case drawn = scored(Dtype::f64, scores, std::vector<double>(scores.size(), 1));
  set(drawn.problem);
  Tensor sink(Dtype::f64, drawn.problem.sink_extents());
  for_each_index(sink.extents(), [&](Index, Index h, Index, Index) { sink.set(0, h, 0, 0, 1); });
  Inputs inputs = drawn.inputs();
  inputs.sink = std::as_const(sink).ref();
  std::optional<CertifiedRow> row = certify_row(inputs, {}, rule_of);
  EXPECT_TRUE(row.has_value());
  return std::move(row).value_or(CertifiedRow{});
}

void hide_all(Problem& problem) {
  problem.mask.bits = MaskBits{1, problem.seq_kv,
                               std::vector<bool>(static_cast<std::size_t>(problem.seq_kv), false)};
}

TEST(AskedLse, IsNotLookedAtWithoutAForm) {
  EXPECT_FALSE(certified({1, 2}, [](Problem&) {}).asked_lse.has_value());
}

TEST(AskedLse, OfTheNaturalFormAndOfMaxSumIsThatOfTheRow) {
  for (const LseForm form : {LseForm::natural, LseForm::max_sum}) {
    const CertifiedRow row = certified({1, 1}, [&](Problem& problem) { problem.lse = form; });
    EXPECT_EQ(row.asked_lse->high, row.facts.lse.high);
    EXPECT_EQ(row.asked_lse->high, 1 + std::numbers::ln2);
    EXPECT_EQ(row.asked_lse_bound, 0.5);
  }
}

TEST(AskedLse, OfBaseTwoIsDividedByLn2) {
  // Scores ln 2 up to 2^-54: an lse of log2(2 + 2) = 2 up to 2^-53.
  const double score = std::numbers::ln2;
  const CertifiedRow row =
      certified({score, score}, [](Problem& problem) { problem.lse = LseForm::base_two; });
  EXPECT_TRUE(encloses(*row.asked_lse, (Number(score) + ln2()) / ln2()));
  EXPECT_FALSE(encloses(*row.asked_lse, Number(2)));
  EXPECT_EQ(row.asked_lse_bound, 0.25);
  EXPECT_EQ(row.bound.lse, 0.5);
  // 64 keys of score 0: exactly 6.
  const CertifiedRow zeros = certified(std::vector<double>(64, 0.0),
                                       [](Problem& problem) { problem.lse = LseForm::base_two; });
  EXPECT_THAT(*zeros.asked_lse, Contains(6.0));
}

TEST(AskedLse, CountsTheSinkOnlyWhereTheProblemSaysSo) {
  for (const LseForm form : {LseForm::natural, LseForm::base_two}) {
    const bool two = form == LseForm::base_two;
    const Number unit = two ? ln2() : Number(1);
    const auto with_sink = [&](bool in_lse) {
      return certified({1, 1, 1}, [&](Problem& problem) {
        problem.lse = form;
        problem.sink = Sink{false, in_lse};
      });
    };
    EXPECT_TRUE(encloses(*with_sink(true).asked_lse, (Number(1) + log(Number(4))) / unit));
    EXPECT_EQ(with_sink(true).asked_lse_bound, two ? 0.75 : 0.5);
    EXPECT_TRUE(encloses(*with_sink(false).asked_lse, (Number(1) + log(Number(3))) / unit));
    EXPECT_EQ(with_sink(false).asked_lse_bound, two ? 0.25 : 0.5);
    // The output is that of the row with the sink in both cases.
    EXPECT_THAT(with_sink(false).facts.output[0], Contains(0.75));
  }
}

TEST(AskedLse, OfASinkAloneIsTheSinkOrMinusInfinity) {
  const auto alone = [&](LseForm form, bool in_lse) {
    return certified({1, 1}, [&](Problem& problem) {
      problem.lse = form;
      problem.sink = Sink{false, in_lse};
      problem.empty_lse = 7;  // not of this row
      hide_all(problem);
    });
  };
  EXPECT_THAT(*alone(LseForm::natural, true).asked_lse, IsExactly(1));
  // A kernel may multiply the sink by log2 e and then by ln 2.
  EXPECT_EQ(alone(LseForm::natural, true).asked_lse_bound, 0.5);
  EXPECT_EQ(alone(LseForm::natural, true).bound.output, std::vector<double>{0});
  EXPECT_TRUE(encloses(*alone(LseForm::base_two, true).asked_lse, Number(1) / ln2()));
  EXPECT_EQ(alone(LseForm::base_two, true).asked_lse_bound, 0.75);
  for (const LseForm form : {LseForm::natural, LseForm::base_two}) {
    EXPECT_THAT(*alone(form, false).asked_lse, IsExactly(-kInfinity));
    EXPECT_EQ(alone(form, false).asked_lse_bound, 0);
  }
}

TEST(AskedLse, OfAnEmptyRowIsWhatTheProblemStates) {
  for (const AllMaskedPolicy policy : {AllMaskedPolicy::zero, AllMaskedPolicy::mean})
    for (const LseForm form : {LseForm::natural, LseForm::base_two})
      for (const std::optional<double> stated :
           {std::optional<double>(-kInfinity), {kInfinity}, {-5e4}, {}}) {
        const CertifiedRow row = certified({1, 1}, [&](Problem& problem) {
          problem.lse = form;
          problem.all_masked = policy;
          problem.empty_lse = stated;
          hide_all(problem);
        });
        ASSERT_EQ(row.asked_lse.has_value(), stated.has_value());
        if (stated) {
          EXPECT_THAT(*row.asked_lse, IsExactly(*stated));
        }
        EXPECT_EQ(row.asked_lse_bound, 0);
      }
}

TEST(InBaseTwo, ContainsTheQuotientOfEveryPoint) {
  const Enclosure wide = in_base_two({3, 0x1p-60, 0.5});
  for (const double end : {2.5, 3.0, 3.5})
    EXPECT_TRUE(encloses(wide, (Number(end) + Number(0x1p-60)) / ln2()));
  const double least = upper_double<256>(Number(0.5) / ln2());
  EXPECT_GE(wide.radius, least);
  EXPECT_LE(wide.radius, std::nextafter(least, kInfinity));
  EXPECT_THAT(in_base_two({-kInfinity, 0, 0}), IsExactly(-kInfinity));
  EXPECT_THAT(in_base_two({}), IsExactly(0));
}

}  // namespace
}  // namespace attest::reference
