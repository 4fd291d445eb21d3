// When there is no bound, and how bounds follow what is declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reference/oracle.hpp"
#include "reference/test_gradient_checks.hpp"

namespace attest::reference {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<RowBound> forward_bounds(const GradientFacts& facts, double output, double lse) {
  return {facts.rows.size(),
          RowBound{std::vector<double>(facts.rows[0].output.size(), output), lse, {}}};
}

GradientBound bound_of(const DeclaredGradientAccuracy& accuracy, const GradientInputs& inputs) {
  const GradientFacts facts = gradient_facts(inputs);
  return gradient_bound(accuracy, facts, forward_bounds(facts, 0x1p-22, 0x1p-22));
}

TEST(GradientBoundRules, EveryErrorThatIsDeclaredCounts) {
  const GradientInputs inputs = everything();
  const DeclaredGradientAccuracy base = ordinary(inputs);
  const GradientBound before = bound_of(base, inputs);
  ASSERT_TRUE(before.proven()) << before.unproven;
  using Change = std::function<void(DeclaredGradientAccuracy&)>;
  // The gradients that must have a larger limit, in the order of kGradientNames.
  const std::vector<std::pair<Change, std::string>> changes{
      {[](auto& a) { a.dot_roundings += 1; }, "11110"},
      {[](auto& a) { a.value_dot_roundings += 1; }, "11010"},
      {[](auto& a) { a.delta_roundings += 1; }, "11011"},
      {[](auto& a) { a.softcap_roundings += 1; }, "11110"},
      {[](auto& a) { a.tanh_relative_error *= 2; }, "11110"},
      {[](auto& a) { a.tanh_absolute_error = 1e-8; }, "11110"},
      {[](auto& a) { a.bias_relative_error = 1e-7; }, "11110"},
      {[](auto& a) { a.exp_form = ExpForm::folded_base_two; }, "11111"},
      {[](auto& a) { a.exp_relative_error *= 2; }, "11111"},
      {[](auto& a) { a.exp_absolute_error = 1e-8; }, "11111"},
      {[](auto& a) { a.key_additions = 5; }, "10000"},
      {[](auto& a) { a.row_additions = 5; }, "01100"},
      {[](auto& a) { a.scale_roundings += 1; }, "11000"},
      {[](auto& a) { a.weight_cast = kBf16; }, "00100"},
      {[](auto& a) { a.gradient_cast = kBf16; }, "11000"},
      {[](auto& a) { a.output_format = kBf16; }, "11100"},
      {[](auto& a) { a.dk_format = kBf16; }, "01100"},
      {[](auto& a) { a.dv_format = kBf16; }, "00100"},
      {[](auto& a) { a.output_format = kBf16, a.dk_format = a.format; }, "10000"},
      {[](auto& a) { a.format.min_normal = 1e-9, a.underflow = Underflow::flush_results; },
       "11111"}};
  for (std::size_t at = 0; at < changes.size(); ++at) {
    DeclaredGradientAccuracy accuracy = base;
    changes[at].first(accuracy);
    const GradientBound after = bound_of(accuracy, inputs);
    ASSERT_TRUE(after.proven()) << at << after.unproven;
    for (std::size_t list = 0; list < kGradientNames.size(); ++list)
      for (std::size_t e = 0; e < before.limit.lists()[list]->size(); ++e) {
        const double old_limit = (*before.limit.lists()[list])[e];
        const double new_limit = (*after.limit.lists()[list])[e];
        if (old_limit == 0 || changes[at].second[list] == '0')
          EXPECT_EQ(new_limit, old_limit) << at << kGradientNames[list];
        else
          EXPECT_GT(new_limit, old_limit) << at << kGradientNames[list];
      }
  }
}

TEST(GradientBoundRules, WithoutOtherErrorsTheRoundingsOfTheKernelAreLeft) {
  // Two equal scores, p = 1/2, T = -2 and 2, ds = -1 and 1; the softcap's slope is f = 1 - y^2.
  GradientInputs inputs = scored_gradients({1, 1}, {3, 7}, 1, 0);
  inputs.softcap = 2;
  DeclaredGradientAccuracy accuracy;
  accuracy.softcap_roundings = 0;
  const GradientFacts facts = gradient_facts(inputs);
  const Gradients<double> limit =
      gradient_bound(accuracy, facts, forward_bounds(facts, 0, 0)).limit;
  const double u = kF32.unit_roundoff;
  const double f = 1 - std::tanh(0.5) * std::tanh(0.5);
  // To first order; terms in u^2 are below 100 u of these.
  const auto expect_about = [&](double got, double in_u) {
    EXPECT_GE(got, in_u * u);
    EXPECT_LE(got, in_u * u * (1 + 100 * u));
  };
  const double of_weight = std::log(2.0);  // the argument s - lse = -ln 2
  const double of_ds = of_weight + 1 + 1;  // dP - D, and the product
  const double of_dx = of_ds * f + 3 + f;  // y, y^2 and 1 - y^2; the product
  expect_about(limit.dbias[0], of_ds);
  expect_about(limit.dk[0], of_dx + 2 * f);        // times q, times the scale
  expect_about(limit.dq[0], 2 * (of_dx + 3 * f));  // two keys, one addition
  expect_about(limit.dv[0], (of_weight + 1) / 2);

  // A gradient of the lse adds the rounding of D = 5 - 0.5; now T = -1.5.
  inputs.rows[0].lse_gradient = 0.5;
  const GradientFacts with_lse = gradient_facts(inputs);
  expect_about(gradient_bound(accuracy, with_lse, forward_bounds(with_lse, 0, 0)).limit.dbias[0],
               (1.5 * (of_weight + 2) + 4.5) / 2);
}

TEST(GradientBoundRules, TheErrorsOfTheForwardPassCount) {
  const GradientInputs inputs = everything();
  const GradientFacts facts = gradient_facts(inputs);
  const auto bound = [&](double output, double lse) {
    return gradient_bound(ordinary(inputs), facts, forward_bounds(facts, output, lse)).limit;
  };
  EXPECT_GT(bound(1e-3, 0).dq[0], 10 * bound(0, 0).dq[0]);
  EXPECT_GT(bound(1e-3, 0).dsink[0], 10 * bound(0, 0).dsink[0]);
  EXPECT_EQ(bound(1e-3, 0).dv, bound(0, 0).dv);
  EXPECT_GT(bound(0, 1e-3).dv[0], 10 * bound(0, 0).dv[0]);
  EXPECT_GT(bound(0, 1e-3).dk[0], 10 * bound(0, 0).dk[0]);
}

TEST(GradientBoundRules, WhatIsMaskedHasALimitOfZero) {
  GradientInputs inputs = everything();
  inputs.rows[0].keys = {0, 2};
  inputs.rows[0].addends[0].value.pop_back();
  inputs.rows.push_back({{1, 1}, {1, 1}, 1, {}, {}, {}});
  const GradientBound bound = bound_of(ordinary(inputs), inputs);
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  for (const std::size_t masked : {1U, 4U, 6U, 7U, 8U}) EXPECT_EQ(bound.limit.dbias[masked], 0);
  for (const std::size_t of_key_1 : {2U, 3U}) {
    EXPECT_EQ(bound.limit.dk[of_key_1], 0);
    EXPECT_EQ(bound.limit.dv[of_key_1], 0);
  }
  for (const std::size_t of_row_2 : {4U, 5U}) EXPECT_EQ(bound.limit.dq[of_row_2], 0);
  EXPECT_EQ(bound.limit.dsink[2], 0);
}

void expect_infinite(const std::vector<double>& list, Index row, Index width) {
  for (Index at = row * width; at < (row + 1) * width; ++at)
    EXPECT_EQ(list[static_cast<std::size_t>(at)], kInfinite) << at;
}

/// No limit for what a row gives and for what belongs to the keys that it sees.
void expect_unproven(const GradientBound& bound, const std::string& reason,
                     const GradientInputs& inputs, Index row) {
  EXPECT_EQ(bound.unproven, reason);
  EXPECT_FALSE(bound.proven());
  expect_infinite(bound.limit.dq, row, inputs.head_dim);
  if (inputs.rows[static_cast<std::size_t>(row)].sink) expect_infinite(bound.limit.dsink, row, 1);
  for (const Index key : inputs.rows[static_cast<std::size_t>(row)].keys) {
    expect_infinite(bound.limit.dbias, row * inputs.keys + key, 1);
    expect_infinite(bound.limit.dk, key, inputs.head_dim);
    expect_infinite(bound.limit.dv, key, inputs.head_dim_v);
  }
}

/// A call that no row of can be bounded.
void expect_all_unproven(const GradientBound& bound, const std::string& reason) {
  EXPECT_EQ(bound.unproven, reason);
  for (const auto* list : bound.limit.lists()) EXPECT_THAT(*list, testing::Each(kInfinite));
}

TEST(GradientBoundRules, WhatMayOverflowHasNoBound) {
  using Change = std::function<void(GradientInputs&, DeclaredGradientAccuracy&)>;
  struct ChangeOfRow {
    Change change;
    std::string reason;
    Index row = 0;
  };
  const std::vector<ChangeOfRow> changes_of_rows{
      {[](auto& i, auto&) { i.k[0] = 0x1p127, i.rows[0].q[0] = 2; }, "a score may overflow"},
      {[](auto& i, auto&) { i.scale = 0x1p127, i.rows[0].q[0] = 2; }, "a score may overflow"},
      {[](auto& i, auto&) { i.softcap = 0x1p-140; }, "a score may overflow"},
      {[](auto& i, auto&) { i.rows[0].addends[0].value[0] = 0x1p127; }, "a score may overflow"},
      {[](auto& i, auto&) { i.rows[0].lse_gradient = 0x1.fffffep127; },
       "the dot product of dout and out may overflow"},
      {[](auto& i, auto&) { i.v[0] = 0x1p126, i.rows[0].addends[0].value[0] = -300; },
       "the dot product of dout and v may overflow", 1},
      {[](auto&, auto& a) { a.gradient_cast = kE4m3, a.gradient_cast->max_finite = 1e-3; },
       "a gradient of a score may overflow its format"},
      {[](auto&, auto& a) { a.weight_cast = kE4m3, a.weight_cast->max_finite = 1e-3; },
       "a weight may overflow its format"},
      {[](auto&, auto& a) { a.output_format = kBf16, a.output_format->max_finite = 1e-3; },
       "a gradient may overflow its format"}};
  for (const auto& [change, reason, row] : changes_of_rows) {
    GradientInputs inputs = everything();
    DeclaredGradientAccuracy accuracy = ordinary(inputs);
    change(inputs, accuracy);
    SCOPED_TRACE(reason);
    ASSERT_TRUE(enclose_gradients(inputs, 128).has_value());
    expect_unproven(bound_of(accuracy, inputs), reason, inputs, row);
  }
}

TEST(GradientBoundRules, AScaleThatIsLostHasNoBound) {
  using Change = std::function<void(GradientInputs&, DeclaredGradientAccuracy&)>;
  const std::vector<std::pair<Change, std::string>> changes{
      {[](auto& i, auto& a) { i.scale = 0x1p-140, a.exp_form = ExpForm::folded_base_two; },
       "the folded scale may be subnormal"},
      {[](auto& i, auto& a) { i.scale = 0x1p127, a.exp_form = ExpForm::folded_base_two; },
       "the folded scale may overflow"},
      {[](auto& i, auto& a) {
         i.scale = 0x1p-140, a.underflow = Underflow::flush_results_and_inputs;
       },
       "the scale or the softcap may be flushed to zero"},
      {[](auto& i, auto& a) {
         i.softcap = 0x1p-130, a.underflow = Underflow::flush_results_and_inputs;
       },
       "the scale or the softcap may be flushed to zero"}};
  for (const auto& [change, reason] : changes) {
    GradientInputs inputs = everything();
    DeclaredGradientAccuracy accuracy = ordinary(inputs);
    change(inputs, accuracy);
    SCOPED_TRACE(reason);
    ASSERT_TRUE(enclose_gradients(inputs, 128).has_value());
    expect_all_unproven(bound_of(accuracy, inputs), reason);
  }
}

TEST(GradientBoundRules, WithoutABoundOfTheForwardPassThereIsNone) {
  const GradientInputs inputs = everything();
  const GradientFacts facts = gradient_facts(inputs);
  std::vector<RowBound> forward = forward_bounds(facts, 0x1p-22, 0x1p-22);
  forward[1] = {{kInfinite, kInfinite}, kInfinite, "the reason"};
  expect_unproven(gradient_bound(ordinary(inputs), facts, forward), "the reason", inputs, 1);
}

TEST(GradientBoundRules, ARowWithoutABoundTakesThoseOfItsKeysOnly) {
  GradientInputs inputs = everything();
  ASSERT_EQ(inputs.keys, 3);
  inputs.rows[1].keys = {2};
  for (ScoreAddend& addend : inputs.rows[1].addends) addend.value = {addend.value.back()};
  inputs.rows[1].sink = 0.5;
  const GradientFacts facts = gradient_facts(inputs);
  std::vector<RowBound> forward = forward_bounds(facts, 0x1p-22, 0x1p-22);
  const GradientBound all = gradient_bound(ordinary(inputs), facts, forward);
  ASSERT_TRUE(all.proven()) << all.unproven;
  forward[1] = {{kInfinite, kInfinite}, kInfinite, "the reason"};
  const GradientBound bound = gradient_bound(ordinary(inputs), facts, forward);
  EXPECT_EQ(bound.unproven, "the reason");
  const auto expect = [](const std::vector<double>& got, const std::vector<double>& proven,
                         const std::vector<std::size_t>& infinite) {
    std::vector<double> want = proven;
    for (const std::size_t at : infinite) want[at] = kInfinite;
    EXPECT_EQ(got, want);
  };
  expect(bound.limit.dq, all.limit.dq, {2, 3});
  expect(bound.limit.dk, all.limit.dk, {4, 5});
  expect(bound.limit.dv, all.limit.dv, {4, 5});
  expect(bound.limit.dbias, all.limit.dbias, {5});
  expect(bound.limit.dsink, all.limit.dsink, {1});
}

TEST(GradientBoundRules, AFiniteMaskLeavesABoundThatKnowsItsWeightIsNothing) {
  for (const double masked :
       {-1e5, -1e10, -1e30, -static_cast<double>(std::numeric_limits<float>::max())}) {
    SCOPED_TRACE(masked);
    GradientInputs inputs = scored_gradients({0, 1, 2}, {1, 2, 3}, 1, 0);
    inputs.rows[0].addends = {{{0, masked, 0}, false, false}};
    inputs.rows.push_back(inputs.rows[0]);
    const GradientBound bound = bound_of(ordinary(inputs), inputs);
    ASSERT_TRUE(bound.proven()) << bound.unproven;
    EXPECT_LT(bound.limit.dbias[1], 0x1p-120);
    EXPECT_LT(bound.limit.dv[1], 0x1p-120);
    EXPECT_LT(bound.limit.dbias[0], 0x1p-15);
    // Masked without exception, the scores of a row are lost; those of the other are not.
    inputs.rows[1].addends[0].value = {masked, masked, masked};
    const GradientBound lost = bound_of(ordinary(inputs), inputs);
    EXPECT_EQ(lost.limit.dq[0], bound.limit.dq[0]);
    EXPECT_TRUE(masked == -1e5 || lost.limit.dq[1] == kInfinite);
  }
}

TEST(GradientBoundRules, AnErrorOfTheLseThatIsTooLargeHasNoFiniteBound) {
  const GradientInputs inputs = everything();
  const GradientFacts facts = gradient_facts(inputs);
  EXPECT_FALSE(gradient_bound(ordinary(inputs), facts, forward_bounds(facts, 0, 1e6)).proven());
}

}  // namespace
}  // namespace attest::reference
