// How precise a certificate of gradients is, and that it holds for a whole forward and backward
// pass.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "reference/oracle.hpp"
#include "reference/test_gradient_checks.hpp"

namespace attest::reference {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(CertifyGradients, ThePrecisionRisesUntilTheEnclosuresAreNarrow) {
  const GradientInputs inputs = everything();
  const auto uniform = [](double limit) {
    return [limit](const GradientFacts& facts) {
      return GradientBound{Gradients<double>::of_size(facts.inputs, limit), {}};
    };
  };
  // Radii are about 2^-107 of results of the order of 1: the second half of a pair of doubles.
  const auto easy = certify_gradients(inputs, uniform(0x1p-66));
  ASSERT_TRUE(easy.has_value());
  EXPECT_TRUE(easy->narrow);
  EXPECT_EQ(easy->bits, kPrecisionLadder.front());
  const auto impossible = certify_gradients(inputs, uniform(0x1p-664));
  ASSERT_TRUE(impossible.has_value());
  EXPECT_FALSE(impossible->narrow);
  EXPECT_EQ(impossible->bits, kPrecisionLadder.back());
  const auto unproven = certify_gradients(inputs, [](const GradientFacts& facts) {
    return GradientBound{Gradients<double>::of_size(facts.inputs, 0), "the reason"};
  });
  ASSERT_TRUE(unproven.has_value());
  EXPECT_EQ(unproven->bits, kPrecisionLadder.front());
}

TEST(CertifyGradients, CancellingValuesNeedAndGetAHigherPrecision) {
  // p is the same for the two huge values, which cancel in o and, up to 2^300 2^-128, in dP - D.
  GradientInputs inputs = scored_gradients({0.5, 0.5, 0.25}, {0x1p300, -0x1p300, 1}, 1, 0);
  inputs.rows[0].q = {0.3};
  constexpr double kLimit = 0x1p-10;
  const auto certified = certify_gradients(inputs, [](const GradientFacts& facts) {
    Gradients<double> limit = Gradients<double>::of_size(facts.inputs, kInfinite);
    limit.dbias[2] = kLimit;
    return GradientBound{limit, {}};
  });
  ASSERT_TRUE(certified.has_value());
  EXPECT_TRUE(certified->narrow);
  EXPECT_GT(certified->bits, 192);
  EXPECT_LE(certified->facts.exact.dbias[2].radius, kLimit * kWidthShare);
}

TEST(CertifyGradients, AnExponentialWithoutAnEndAtTheFirstPrecisionIsFollowedByTheNext) {
  // The score is 3, added to and taken from 2^200: at 128 bits it is known to 2^73.
  GradientInputs inputs = scored_gradients({0, 0}, {1, 5}, 1, 0);
  inputs.head_dim = 3;
  inputs.rows[0].q = {0x1p100, 1, -0x1p100};
  inputs.k = {0x1p100, 3, 0x1p100, 0, 0, 0};
  EXPECT_FALSE(enclose_gradients(inputs, kPrecisionLadder.front()).has_value());
  const auto certified = certify_gradients(inputs, [](const GradientFacts& facts) {
    return GradientBound{Gradients<double>::of_size(facts.inputs, 0x1p60), {}};
  });
  ASSERT_TRUE(certified.has_value());
  EXPECT_GT(certified->bits, kPrecisionLadder.front());
  inputs.k[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(certify_gradients(inputs, [](const GradientFacts& facts) {
                 return GradientBound{Gradients<double>::of_size(facts.inputs, 1), {}};
               }).has_value());
}

TEST(CertifyGradients, ABackwardPassWithTheProvenBoundOfItsForwardPassHolds) {
  // Without softcap, bias and sink, where Theorems 1 and 2 bound the textbook forward pass.
  GradientDraw<float> draw(31);
  int proven = 0;
  for (int i = 0; i < 200; ++i) {
    GradientInputs inputs = draw.next();
    inputs.softcap = 0;
    for (GradientRow& row : inputs.rows) {
      row.addends.clear();
      row.sink.reset();
    }
    DeclaredAccuracy forward_accuracy;
    forward_accuracy.dot_roundings = inputs.head_dim + 1;
    forward_accuracy.exp_relative_error = 2 * kF32.unit_roundoff;
    forward_accuracy.exp_absolute_error = 2 * kF32.rounding_underflow;
    forward_accuracy.log_relative_error = 2 * kF32.unit_roundoff;
    std::vector<RowBound> bounds(inputs.rows.size());
    for (std::size_t r = 0; r < inputs.rows.size(); ++r) {
      const GradientRow& from = inputs.rows[r];
      if (from.keys.empty()) continue;
      Row row;
      row.q = from.q;
      row.scale = inputs.scale;
      row.head_dim = inputs.head_dim;
      row.head_dim_v = inputs.head_dim_v;
      std::vector<PathCounts> paths;
      for (const Index j : from.keys) {
        const auto at = static_cast<std::size_t>(j);
        const auto append = [&](std::vector<double>& to, const std::vector<double>& all, Index n) {
          const auto width = static_cast<std::size_t>(n);
          for (std::size_t c = 0; c < width; ++c) to.push_back(all[at * width + c]);
        };
        append(row.k, inputs.k, inputs.head_dim);
        append(row.v, inputs.v, inputs.head_dim_v);
        row.keys.push_back(j);
        paths.push_back({static_cast<Index>(from.keys.size()), 0});
      }
      const std::optional<RowFacts> facts = enclose_row(row, 128);
      ASSERT_TRUE(facts.has_value());
      bounds[r] = error_bound(forward_accuracy, *facts, paths);
    }
    const auto certified = certify_gradients(inputs, [&](const GradientFacts& facts) {
      return gradient_bound(ordinary(inputs), facts, bounds);
    });
    ASSERT_TRUE(certified.has_value());
    EXPECT_TRUE(certified->narrow);
    if (!certified->bound.proven()) continue;
    ++proven;
    BackwardKernel<float> kernel(inputs, {});
    std::vector<ForwardRow<float>> forward;
    for (const GradientRow& row : inputs.rows) forward.push_back(kernel.forward(row));
    GradientTally tally;
    compare(certified->facts, certified->bound, kernel.backward(forward), tally);
    ASSERT_EQ(tally.violations, 0U) << tally.worst;
  }
  EXPECT_GT(proven, 100);
}

}  // namespace
}  // namespace attest::reference
