// What the keys of attention variants mean.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "test_problem_text.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ProblemText, QueryLengthsGiveTheNumberOfQueriesAndTheBatch) {
  const Problem problem = parsed("*x1:{0,7,2}x{3,0,5}:8 f32").problem;
  EXPECT_EQ(problem.batch, 3);
  EXPECT_EQ(problem.seq_q, 7);
  EXPECT_EQ(problem.query_lengths, (std::vector<Index>{0, 7, 2}));
  EXPECT_EQ(problem.seq_kv, 5);
  EXPECT_EQ(parsed("*x1:{0,7,2}x4:8 f32").problem.batch, 3);
  EXPECT_TRUE(parsed("2x1:{1,2}x4:8 f32").problem.key_lengths.empty());
}

TEST(ProblemText, TypesOfKAndVFollowThoseBeforeThem) {
  const Problem one = parsed("1x1:1x1:1 f16").problem;
  EXPECT_EQ(one.k_dtype(), Dtype::f16);
  EXPECT_FALSE(one.k_storage.has_value());
  const Problem two = parsed("1x1:1x1:1 bf16/e4m3").problem;
  EXPECT_EQ(two.k_dtype(), Dtype::e4m3);
  EXPECT_EQ(two.v_dtype(), Dtype::e4m3);
  EXPECT_FALSE(two.v_storage.has_value());
  const Problem three = parsed("1x1:1x1:1 bf16/e4m3/bf16").problem;
  EXPECT_EQ(three.k_dtype(), Dtype::e4m3);
  EXPECT_EQ(three.v_dtype(), Dtype::bf16);
}

TEST(ProblemText, FillsEveryPartOfTheMask) {
  const Mask mask =
      parsed(
          "1x1:2x3:1 f32 mask=causal:br+prefix:1+chunk:2+doc:0,1/0,1,1+block:1x2:10/01+"
          "add:0,-inf,0.5 win=1:* keep=first:2")
          .problem.mask;
  Mask expected;
  expected.causal = Causal{Causal::Alignment::bottom_right, 0};
  expected.prefix = 1;
  expected.chunk = 2;
  expected.segments = Segments{{0, 1}, {0, 1, 1}};
  expected.blocks = BlockMask{1, 2, 2, 2, {true, false, false, true}};
  expected.additive = AdditiveMask{1, 3, {0, -kInfinity, 0.5}};
  expected.window.left = 1;
  expected.keep_first = 2;
  EXPECT_EQ(mask, expected);
  const Mask aligned = parsed("1x1:2x3:1 f32 align=off=-2 win=*:0").problem.mask;
  EXPECT_EQ(aligned.alignment, (Causal{Causal::Alignment::explicit_offset, -2}));
  EXPECT_EQ(aligned.window, (Window{std::nullopt, 0}));
}

TEST(ProblemText, FillsEveryTermOfTheScore) {
  const Problem problem = parsed(
                              "2x2:2x3:4 f32 cap=30 bias=b2d:f16 alibi=rel:tl:0.5,0.25 "
                              "order=scale,alibi,mask,cap,bias sink=head:out qv=yes")
                              .problem;
  EXPECT_EQ(problem.softcap, 30);
  EXPECT_EQ(problem.bias, (Bias{true, false, true, Dtype::f16}));
  EXPECT_EQ(problem.alibi,
            (Alibi{{0.5, 0.25}, Alibi::Form::relative, Causal::Alignment::top_left}));
  EXPECT_EQ(problem.order, (ScoreOrder{false, true, true}));
  EXPECT_EQ(problem.sink, (Sink{false, false}));
  EXPECT_TRUE(problem.qv);
}

TEST(ProblemText, WhatAnOrderLeavesOutComesAfterTheCap) {
  const auto order = [](const std::string& words) {
    return parsed("1x1:2x3:4 f32 cap=30 order=" + words).problem.order;
  };
  EXPECT_EQ(order("scale,cap"), ScoreOrder{});
  EXPECT_EQ(order("scale,mask,cap,alibi"), (ScoreOrder{false, false, true}));
  EXPECT_EQ(order("scale,alibi,bias,cap,mask"), order("scale,bias,alibi,cap"));
}

TEST(ProblemText, FillsStorageAndResults) {
  const Problem problem = parsed(
                              "1x2:2x3:4 bf16/e4m3 descale=1;0.5,2;1 out=f32 empty=zero:inf lse=ln "
                              "layout=bhsd:col=2:pad=3 kv=leftpad")
                              .problem;
  EXPECT_EQ(problem.descales, (Descales{{1}, {0.5, 2}, {1}}));
  EXPECT_EQ(problem.out_dtype(), Dtype::f32);
  EXPECT_EQ(problem.empty_lse, kInfinity);
  EXPECT_EQ(problem.layout, (Layout{Layout::Order::bhsd, 3, 2}));
  EXPECT_EQ(problem.kv.kind, KvStorage::Kind::left_padded);
  EXPECT_EQ(parsed("1x1:2x3:4 f32 bwd=dq,dk,dv,dlse").problem.backward,
            (Backward{false, false, true}));
  EXPECT_EQ(parsed("1x1:2x3:4 f32 empty=mean:any").problem.empty_lse, std::nullopt);
  EXPECT_EQ(parsed("1x1:2x3:4 f32 empty=nan:-inf").problem.empty_lse, -kInfinity);
}

TEST(ProblemText, PagesInOrderGoToTheMembersOneAfterTheOther) {
  const KvStorage kv = parsed("*x1:1x{5,0,2}:1 f32 kv=paged:2").problem.kv;
  EXPECT_EQ(kv, (KvStorage{KvStorage::Kind::paged, 2, 4, {{0, 1, 2}, {}, {3}}}));
}

TEST(ProblemText, RandomPagesAreTheSameOnesShuffledAndSomeThatHoldNothing) {
  const KvStorage kv = parsed("*x1:1x{9,0,4}:1 f32 kv=paged:1:random:7").problem.kv;
  EXPECT_EQ(kv.pages, 13 + 13 / 4 + 1);
  ASSERT_EQ(kv.page_table.size(), 3U);
  EXPECT_EQ(kv.page_table[0].size(), 9U);
  EXPECT_EQ(kv.page_table[1].size(), 0U);
  std::set<Index> pages(kv.page_table[0].begin(), kv.page_table[0].end());
  pages.insert(kv.page_table[2].begin(), kv.page_table[2].end());
  EXPECT_EQ(pages.size(), 13U);
  EXPECT_FALSE(std::is_sorted(kv.page_table[0].begin(), kv.page_table[0].end()));
  EXPECT_EQ(parsed("*x1:1x{9,0,4}:1 f32 kv=paged:1:random:7").problem.kv, kv);
  EXPECT_NE(parsed("*x1:1x{9,0,4}:1 f32 kv=paged:1:random:8").problem.kv, kv);
}

TEST(ProblemText, MembersMayShareAPageAndHaveMoreThanTheyNeed) {
  const KvStorage kv = parsed("2x1:1x{3,2}:1 f32 kv=paged:2:5:4,0/4,1,2").problem.kv;
  EXPECT_EQ(kv, (KvStorage{KvStorage::Kind::paged, 2, 5, {{4, 0}, {4, 1, 2}}}));
}

TEST(ProblemText, NumbersAreRoundedToTheDtypeOfTheirTensor) {
  const ValueRecipe values =
      parsed(
          "1x1:1x1:1 bf16/f16/f32 bias=1d:f16 sink=head bwd=dq,dk,dv,dlse out=f32 "
          "vals=lit:0.1;0.1;0.1;bias=0.1;sink=0.1;dout=0.1;dlse=0.1")
          .values;
  EXPECT_EQ(values.q[0], 0x1.9ap-4);
  EXPECT_EQ(values.k[0], 0x1.998p-4);
  EXPECT_EQ(values.v[0], 0x1.99999ap-4);
  EXPECT_EQ(values.bias[0], 0x1.998p-4);
  for (const double single : {values.sink[0], values.dout[0], values.dlse[0]})
    EXPECT_EQ(single, static_cast<double>(0.1F));
}

TEST(ProblemText, ALiteralMayStandBeforeTheKeysThatSayItsTensors) {
  EXPECT_TRUE(same(parsed("1x1:1x1:2/1 bf16 vals=lit:1,2;3,4;;qv=5;7 qv=yes v=view(k)"),
                   parsed("1x1:1x1:2/1 bf16 qv=yes v=view(k) vals=lit:1,2;3,4;;qv=5;7")));
}

}  // namespace
}  // namespace attest
