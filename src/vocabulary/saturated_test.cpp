// Sums and differences of indices that have no place in 64 bits stop at the end of the range.
#include "attest/saturated.hpp"

#include <gtest/gtest.h>

namespace attest {
namespace {

constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();

TEST(Saturated, SumsStopAtBothEnds) {
  EXPECT_EQ(saturated_sum(2, -3), -1);
  EXPECT_EQ(saturated_sum(kLargest, 0), kLargest);
  EXPECT_EQ(saturated_sum(kLargest - 1, 1), kLargest);
  EXPECT_EQ(saturated_sum(kLargest, 1), kLargest);
  EXPECT_EQ(saturated_sum(kLargest, kLargest), kLargest);
  EXPECT_EQ(saturated_sum(kSmallest, -1), kSmallest);
  EXPECT_EQ(saturated_sum(kSmallest, kSmallest), kSmallest);
  EXPECT_EQ(saturated_sum(kSmallest, kLargest), -1);
}

TEST(Saturated, DifferencesKnowTheNumberThatHasNoNegative) {
  EXPECT_EQ(saturated_difference(2, -3), 5);
  EXPECT_EQ(saturated_difference(kSmallest, 1), kSmallest);
  EXPECT_EQ(saturated_difference(kLargest, -1), kLargest);
  EXPECT_EQ(saturated_difference(0, kSmallest), kLargest);
  EXPECT_EQ(saturated_difference(-1, kSmallest), kLargest);
  EXPECT_EQ(saturated_difference(-2, kSmallest), kLargest - 1);
  EXPECT_EQ(saturated_difference(kSmallest, kSmallest), 0);
}

}  // namespace
}  // namespace attest
