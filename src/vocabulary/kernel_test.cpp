// What a kernel does not declare is unsupported, with the reason; what it declares is accepted.
#include <gtest/gtest.h>

#include "attest/kernel.hpp"

namespace attest {
namespace {

Capabilities everything() {
  Capabilities capabilities;
  capabilities.dtypes = {Dtype::f32, Dtype::f64};
  return capabilities;
}

Problem demanding() {
  Problem problem;
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_kv = 3;
  problem.key_lengths = {3, 1};
  problem.mask.bits = MaskBits{1, 3, {true, false, true}};
  problem.all_masked = AllMaskedPolicy::reject;
  problem.lse = LseForm::natural;
  return problem;
}

std::string refusal(const Capabilities& capabilities) {
  const Status status = check_support(capabilities, demanding());
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  return status.message();
}

TEST(CheckSupport, AcceptsAProblemThatIsDeclared) {
  EXPECT_TRUE(check_support(everything(), demanding()).ok());
}

TEST(CheckSupport, NamesWhatIsNotDeclared) {
  Capabilities can = everything();
  can.dtypes = {Dtype::f64};
  EXPECT_EQ(refusal(can), "kernel does not declare dtype f32");
  can = everything();
  can.lse = false;
  EXPECT_EQ(refusal(can), "kernel does not declare an lse output");
  can = everything();
  can.grouped_heads = false;
  EXPECT_EQ(refusal(can), "kernel does not declare grouped heads");
  can = everything();
  can.key_lengths = false;
  EXPECT_EQ(refusal(can), "kernel does not declare key lengths per batch member");
  can = everything();
  can.mask_bits = false;
  EXPECT_EQ(refusal(can), "kernel does not declare mask bits");
  can = everything();
  can.reject = false;
  EXPECT_EQ(refusal(can), "kernel does not declare the policy reject");
}

TEST(CheckSupport, AnLseOfAnotherMeaningIsUnsupportedOnlyWhereAnLseIsAsked) {
  const std::string reason =
      "kernel does not declare a natural lse that is -inf for a row without visible keys";
  Capabilities base_two = everything();
  base_two.conventions.lse_base = Conventions::LogBase::two;
  EXPECT_EQ(refusal(base_two), reason);
  Capabilities plus_infinity = everything();
  plus_infinity.conventions.empty_lse = Conventions::EmptyLse::plus_infinity;
  EXPECT_EQ(refusal(plus_infinity), reason);
  Problem without_lse = demanding();
  without_lse.lse = LseForm::none;
  EXPECT_TRUE(check_support(base_two, without_lse).ok());
  EXPECT_TRUE(check_support(plus_infinity, without_lse).ok());
}

TEST(AllMaskedRow, NamesTheRowInTextAndData) {
  const Status status = all_masked_row({1, 2, 3});
  EXPECT_EQ(status.code(), StatusCode::all_masked_row);
  EXPECT_EQ(status.row(), (RowIndex{1, 2, 3}));
  EXPECT_EQ(status.message(), "row (batch 1, head 2, query 3) has no visible key");
}

}  // namespace
}  // namespace attest
