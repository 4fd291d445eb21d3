// Parts of a row in the forms of other libraries, as written by hand.
#include "attest/partial.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace attest {
namespace {

using Row = NormalisedRow<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Result<Row> join(const Row& left, const Row& right, const PartForm& form) {
  return join_parts(left, right, form, [](const Row& a, const Row& b) { return merge(a, b); });
}

void expect_row(const Result<Row>& got, const Row& want) {
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got.value().lse, want.lse);
  EXPECT_EQ(got.value().output, want.output);
}

TEST(Parts, AnEmptyPartOfTheDeclaredFormIsTheIdentityWhateverItsOutputHolds) {
  const Row part{-60000, {3, 4}};
  for (const double empty : {-kInfinity, kInfinity, -5e4}) {
    const PartForm form{.empty_lse = empty};
    expect_row(join({empty, {kNan, 1e30}}, part, form), part);
    expect_row(join(part, {empty, {kNan, 1e30}}, form), part);
    expect_row(join({empty, {kNan, kNan}}, {empty, {7, 7}}, form), {empty, {0, 0}});
  }
}

TEST(Parts, AnInfiniteLseThatIsNotDeclaredIsRefused) {
  for (const double lse : {kInfinity, kNan}) {
    const Result<Row> joined = join({lse, {0}}, {1, {3}}, {});
    ASSERT_FALSE(joined.ok());
    EXPECT_EQ(joined.status().code(), StatusCode::invalid_argument);
  }
  EXPECT_FALSE(join({1, {3}}, {-kInfinity, {0}}, {.empty_lse = kInfinity}).ok());
}

TEST(Parts, AFiniteNumberThatIsNotDeclaredIsARealLse) {
  expect_row(join({-5e4, {9}}, {0, {3}}, {}), {0, {3}});
  expect_row(join({-5e4, {9}}, {-60000, {3}}, {}), {-5e4, {9}});
}

TEST(Parts, BaseTwoIsConvertedOnTheWayInAndOut) {
  // Two equal masses 2^3: the joined mass is 2^4.
  const Result<Row> joined = join({3, {1}}, {3, {5}}, {.base_two = true});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined.value().output, (std::vector<double>{3}));
  // lse: three roundings of 2^-53 at most of numbers below 4, one of ln 2 and one of log2 e.
  EXPECT_LE(std::abs(joined.value().lse - 4), 5 * 4 * 0x1p-53);
}

TEST(Parts, APartWithKeysIsNoEmptyOneBecauseItsLseOfBaseTwoIsBeyondTheNumbers) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const PartForm form{.base_two = true};
  for (const float lse : {-kLargest, kLargest}) {
    const NormalisedRow<float> encoded = encode_part<float>({lse, {7}}, form);
    EXPECT_EQ(encoded.lse, lse);
    const Result<NormalisedRow<float>> back = decode_part(encoded, form);
    ASSERT_TRUE(back.ok());
    EXPECT_FALSE(back.value().is_identity());
    EXPECT_EQ(back.value().output, std::vector<float>{7});
  }
}

TEST(Parts, WhatIsDecodedIsEncodedAgain) {
  const PartForm form{.empty_lse = kInfinity};
  const Result<Row> empty = decode_part<double>({kInfinity, {kNan}}, form);
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty.value().is_identity());
  EXPECT_EQ(encode_part(empty.value(), form).lse, kInfinity);
}

}  // namespace
}  // namespace attest
