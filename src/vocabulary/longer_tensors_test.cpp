// Problem texts beside the lengths of tensors that are longer than every batch member.
#include "attest/longer_tensors.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attest {
namespace {

/// What is wrong; empty: nothing.
std::string error_of(const std::string& text, TensorLengths tensors) {
  ProblemText read;
  TextError error;
  return parse_problem_text(text, tensors, read, error) ? "" : error.message;
}

/// Masks, segments and cuts have the lengths of the tensors, and the text of such a problem is read
/// as the problem.
TEST(LongerTensors, EverythingInATextFitsTheTensors) {
  for (const std::string more :
       {" split=at:5", " mask=bits:100110/110011", " mask=bits:100110", " mask=doc:0,1/0,0,0,1,1,1",
        " mask=block:1x4:10/11", " mask=add:0,0,0,0,-inf,0",
        " tile=1 merge=tree:0.1.+.2.+.3.+.4.+.5.+", " layout=thd", " kv=leftpad"}) {
    const std::string text = "2x1:{0,1}x{3,4}:2 f32" + more;
    ProblemText read;
    TextError error;
    ASSERT_TRUE(parse_problem_text(text, {2, 6}, read, error)) << text << ": " << error.message;
    EXPECT_EQ(read.problem.seq_q, 2) << text;
    EXPECT_EQ(read.problem.seq_kv, 6) << text;
    EXPECT_TRUE(validate(read.problem).ok()) << text;
    ProblemText again;
    ASSERT_TRUE(parse_problem_text(canonical_text(read), {2, 6}, again, error)) << text;
    EXPECT_EQ(again.problem, read.problem) << text;
    EXPECT_EQ(again.tiling, read.tiling) << text;
  }
}

TEST(LongerTensors, WhatFitsTheMembersAloneDoesNotFitTheTensors) {
  EXPECT_NE(error_of("1x1:2x{4}:2 f32 mask=bits:1001", {2, 6}), "");
  EXPECT_EQ(error_of("1x1:2x{4}:2 f32 mask=bits:1001", {2, 4}), "");
}

TEST(LongerTensors, LengthsThatAreTooShortOrTooLargeAreRefused) {
  const std::string text = "2x1:{1,2}x{3,4}:2 f32";
  EXPECT_EQ(error_of(text, {2, 4}), "");
  EXPECT_EQ(error_of(text, {1, 4}), "query length 2 is outside [0, 1]");
  EXPECT_EQ(error_of(text, {2, 3}), "key length 4 is outside [0, 3]");
  EXPECT_EQ(error_of(text, {2, -4}), "batch and lengths must not be negative");
  EXPECT_EQ(error_of(text, {Index{1} << 60, 4}),
            "a tensor of this problem has more than 2^56 elements");
  EXPECT_EQ(error_of("2x1:2x4:2 f32", {3, 4}), "the tensors have 3 queries, every batch member 2");
}

}  // namespace
}  // namespace attest
