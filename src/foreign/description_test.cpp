// What a plug-in may say about itself, member by member.
#include "foreign/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace attest::foreign {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

attest_description modest() {
  attest_description description{};
  description.size = sizeof description;
  std::strcpy(description.name, "mine");
  description.dtypes = ATTEST_BIT(ATTEST_F32);
  return description;
}

std::string refusal(const attest_description& description) {
  const auto read = read_description(&description);
  EXPECT_EQ(read.status().code(), read.ok() ? StatusCode::ok : StatusCode::invalid_argument);
  EXPECT_THAT(read.status().message(), Not(HasSubstr("\n")));
  return read.status().message();
}

/// The message for a modest description with one thing changed.
std::string refusal(const std::function<void(attest_description&)>& change) {
  attest_description description = modest();
  change(description);
  return refusal(description);
}

std::string accuracy_refusal(const std::function<void(attest_accuracy&)>& change) {
  attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  change(accuracy);
  attest_description description = modest();
  description.accuracy = &accuracy;
  return refusal(description);
}

TEST(Description, OfZerosBesideANameAndATypeIsAModestKernel) {
  const attest_description description = modest();
  const auto read = read_description(&description);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Described& described = read.value();
  EXPECT_EQ(described.name, "mine");
  EXPECT_EQ(described.capabilities.dtypes, std::vector{Dtype::f32});
  EXPECT_TRUE(described.capabilities.features.empty());
  for (const bool declared :
       {described.capabilities.lse, described.capabilities.tiles, described.capabilities.kv_splits,
        described.capabilities.grouped_heads, described.capabilities.key_lengths,
        described.capabilities.mask_bits, described.capabilities.reject,
        described.capabilities.threads, described.causal, described.strides,
        described.parallel_calls, described.summary_parts})
    EXPECT_FALSE(declared);
  EXPECT_EQ(described.capabilities.leaf, 1);
  EXPECT_EQ(described.accuracy.size, sizeof(attest_accuracy));
  EXPECT_EQ(described.accuracy.exp_ulp, 0);
}

TEST(Description, EveryBitOfAFeatureIsThatFeature) {
  for (const Feature feature : all_features()) {
    attest_description description = modest();
    description.features = ATTEST_BIT(static_cast<int>(feature));
    const auto read = read_description(&description);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read.value().capabilities.features, std::vector{feature});
  }
}

TEST(Description, SaysEverythingThatAKernelCanSay) {
  attest_description description = modest();
  description.dtypes = 0x7e;
  description.features = ((ATTEST_BIT(30) - 1) | (ATTEST_BIT(51) - ATTEST_BIT(40)));
  description.lse_base = ATTEST_BASE_TWO;
  description.empty_lse = ATTEST_EMPTY_LSE_PLUS_INFINITY;
  description.reproducible = ATTEST_REPRODUCIBLE_SPLITS;
  description.part_form = ATTEST_PART_SUMMARY;
  description.leaf = 32;
  description.tile_kv = 128;
  const auto read = read_description(&description);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Capabilities& can = read.value().capabilities;
  EXPECT_EQ(can.dtypes.size(), kDtypes.size());
  EXPECT_EQ(can.features.size(), all_features().size());
  EXPECT_TRUE(can.lse && can.tiles && can.kv_splits && can.grouped_heads && can.key_lengths &&
              can.mask_bits && can.reject && can.threads && read.value().causal &&
              read.value().strides && read.value().parallel_calls && read.value().summary_parts);
  EXPECT_EQ(can.conventions.lse_base, Conventions::LogBase::two);
  EXPECT_EQ(can.conventions.empty_lse, Conventions::EmptyLse::plus_infinity);
  EXPECT_EQ(can.reproducible, Reproducible::splits);
  EXPECT_EQ(can.leaf, 32);
  EXPECT_EQ(read.value().tile_kv, 128);
}

TEST(Description, WrongSizesAreRefused) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{8}, offsetof(attest_description, features) - 8,
        sizeof(attest_description) - 4, sizeof(attest_description) + 4, std::uint64_t{1} << 30,
        std::numeric_limits<std::uint64_t>::max()})
    EXPECT_THAT(refusal([&](attest_description& d) { d.size = size; }),
                AllOf(HasSubstr("description says that it has " + std::to_string(size) + " bytes"),
                      HasSubstr("at least 400")));
  EXPECT_THAT(read_description(nullptr).status().message(), HasSubstr("null pointer"));
}

TEST(Description, AnOlderOneIsReadUpToItsSize) {
  attest_description description = modest();
  description.features = ~std::uint64_t{0};
  description.leaf = -1;
  description.size = offsetof(attest_description, features);
  EXPECT_EQ(refusal(description), "");
}

TEST(Description, ALaterOneIsReadUpToWhatIsKnown) {
  struct Later {
    attest_description known = modest();
    std::uint64_t more[4] = {~std::uint64_t{0}};
  } later;
  later.known.size = sizeof later;
  EXPECT_EQ(refusal(later.known), "");
}

TEST(Description, TextIsCheckedAndMadeOneLine) {
  EXPECT_THAT(refusal([](attest_description& d) { std::memset(d.name, 'a', sizeof d.name); }),
              HasSubstr("description.name does not end"));
  EXPECT_THAT(refusal([](attest_description& d) { std::memset(d.version, 1, sizeof d.version); }),
              HasSubstr("description.version does not end"));
  EXPECT_THAT(refusal([](attest_description& d) { std::memset(d.summary, 1, sizeof d.summary); }),
              HasSubstr("description.summary does not end"));
  EXPECT_THAT(refusal([](attest_description& d) { d.name[0] = 0; }), HasSubstr("name"));
  EXPECT_THAT(refusal([](attest_description& d) { std::strcpy(d.name, "a b\n"); }),
              HasSubstr("is 'a b '"));
  attest_description description = modest();
  std::strcpy(description.summary, "two\nlines, \xc3\xa9");
  const auto read = read_description(&description);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().summary, "two lines, ??");
}

TEST(Description, UnknownBitsAndEnumeratorsAreRefused) {
  EXPECT_THAT(refusal([](attest_description& d) { d.dtypes = 0; }), HasSubstr("names no type"));
  EXPECT_THAT(refusal([](attest_description& d) { d.dtypes |= 1; }),
              HasSubstr("dtypes has unknown bits 0x1"));
  EXPECT_THAT(refusal([](attest_description& d) { d.features = ATTEST_BIT(63) | ATTEST_BIT(30); }),
              HasSubstr("features has unknown bits 0x8000000040000000"));
  EXPECT_THAT(refusal([](attest_description& d) { d.lse_base = 2; }), HasSubstr("lse_base is 2"));
  EXPECT_THAT(refusal([](attest_description& d) { d.empty_lse = -1; }),
              HasSubstr("empty_lse is -1"));
  EXPECT_THAT(refusal([](attest_description& d) { d.reproducible = 3; }),
              HasSubstr("reproducible is 3"));
  EXPECT_THAT(refusal([](attest_description& d) { d.part_form = 9; }), HasSubstr("part_form is 9"));
  EXPECT_THAT(refusal([](attest_description& d) { d.leaf = -5; }), HasSubstr("leaf is -5"));
  EXPECT_THAT(refusal([](attest_description& d) { d.tile_q = INT64_MAX; }), HasSubstr("tile_q"));
  EXPECT_THAT(refusal([](attest_description& d) { d.splits = INT64_MAX; }), HasSubstr("splits"));
}

TEST(Description, AccuracyIsChecked) {
  EXPECT_EQ(accuracy_refusal([](attest_accuracy&) {}), "");
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.size = 12; }), HasSubstr("12 bytes"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.accumulators = 8; }),
              HasSubstr("accuracy.accumulators is 8"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.scope = -1; }), HasSubstr("scope"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.exp_ulp = -1; }), HasSubstr("exp_ulp"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.tanh_ulp = std::nan(""); }),
              HasSubstr("tanh_ulp is nan"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.log_ulp = HUGE_VAL; }),
              HasSubstr("log_ulp is inf"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.lag_log2 = 1e9; }),
              HasSubstr("lag_log2"));
  EXPECT_THAT(accuracy_refusal([](attest_accuracy& a) { a.dot_roundings = -1; }),
              HasSubstr("dot_roundings"));
}

}  // namespace
}  // namespace attest::foreign
