// The C form of a problem against the functions of the vocabulary that it stands for.
#include "foreign/marshal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "attest/problem_text.hpp"

namespace attest::foreign {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ProblemText parsed(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  return text;
}

/// As the comments of attest/kernel_abi.h have it.
bool visible_in_c(const attest_problem& p, Index b, Index query, Index key) {
  const Index at = query + p.diagonal[b];
  const auto has = [&](int part) { return (p.mask & part) != 0; };
  const auto floored = [&](Index position) {
    return static_cast<Index>(
        std::floor(static_cast<double>(position) / static_cast<double>(p.chunk)));
  };
  if (query >= p.query_lengths[b] || key >= p.key_lengths[b]) return false;
  if (has(ATTEST_MASK_CAUSAL) && key > at && key >= p.prefix) return false;
  if (has(ATTEST_MASK_WINDOW_LEFT) && key < at - p.window_left && key >= p.keep_first) return false;
  if (has(ATTEST_MASK_WINDOW_RIGHT) && key > at + p.window_right) return false;
  if (has(ATTEST_MASK_CHUNK) && floored(at) != floored(key)) return false;
  if (has(ATTEST_MASK_SEGMENTS) && p.segments_q[query] != p.segments_k[key]) return false;
  if (has(ATTEST_MASK_BITS) && p.bits[(p.bits_rows == 1 ? 0 : query) * p.bits_columns + key] == 0)
    return false;
  if (has(ATTEST_MASK_BLOCKS) &&
      p.blocks[query / p.block_q * p.block_columns + key / p.block_kv] == 0)
    return false;
  return !has(ATTEST_MASK_ADDITIVE) ||
         p.additive[(p.additive_rows == 1 ? 0 : query) * p.additive_columns + key] != -HUGE_VAL;
}

class MarshalledMask : public testing::TestWithParam<const char*> {};

TEST_P(MarshalledMask, ShowsTheSameKeys) {
  const Problem problem = parsed(GetParam()).problem;
  const CProblem c(problem);
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.seq_q; ++query)
      for (Index key = 0; key < problem.seq_kv; ++key)
        EXPECT_EQ(visible_in_c(*c.get(), b, query, key), visible(problem, b, query, key))
            << b << " " << query << " " << key;
}

INSTANTIATE_TEST_SUITE_P(
    Every, MarshalledMask,
    testing::Values(
        "2x1:5x7:1 f32", "2x1:{5,3}x{7,0}:1 f32 mask=causal:br", "1x1:5x7:1 f32 mask=causal:tl",
        "1x1:5x7:1 f32 mask=causal:off=-2", "1x1:5x7:1 f32 mask=causal:tl+prefix:3",
        "2x1:5x{7,4}:1 f32 mask=causal:br win=1:0", "1x1:5x7:1 f32 align=br win=1:1",
        "1x1:5x9:1 f32 mask=causal:br win=2:* keep=first:2", "1x1:6x9:1 f32 mask=causal:br+chunk:4",
        "1x1:6x9:1 f32 align=off=-3 mask=chunk:2", "1x1:4x4:1 f32 mask=doc:0,0,1,1",
        "1x1:2x3:1 f32 mask=bits:101/010", "1x1:2x3:1 f32 mask=bits:101",
        "1x1:4x6:1 f32 mask=block:2x3:10/01", "1x1:2x3:1 f32 mask=add:0,-inf,1/-inf,2,0"));

class MarshalledStorage : public testing::TestWithParam<const char*> {};

TEST_P(MarshalledStorage, PutsEveryRowWhereTheVocabularyDoes) {
  const Problem problem = parsed(GetParam()).problem;
  const CProblem c(problem);
  const auto place = [&](const Extents& stored) {
    return CTensor(
        ConstTensorRef{&problem, Dtype::f32, stored, layout_strides(problem.layout, stored)});
  };
  const Extents stored_q = stored_q_extents(problem, problem.head_dim);
  const Extents stored_k = stored_kv_extents(problem, problem.head_dim);
  const CTensor q = place(stored_q);
  const CTensor k = place(stored_k);
  for (Index b = 0; b < problem.batch; ++b) {
    for (Index query = 0; query < problem.query_length(b); ++query) {
      const StoredRow row = stored_query(problem, b, query);
      EXPECT_EQ(attest_query_row(c.get(), q.get(), b, 1, query),
                element_offset(layout_strides(problem.layout, stored_q), row.b, 1, row.row, 0));
    }
    for (Index key = 0; key < problem.key_length(b); ++key) {
      const StoredRow row = stored_key(problem, b, key);
      EXPECT_EQ(attest_key_row(c.get(), k.get(), b, 1, key),
                element_offset(layout_strides(problem.layout, stored_k), row.b, 1, row.row, 0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, MarshalledStorage,
    testing::Values("2x2:3x4:2 f32", "2x2:3x4:2 f32 layout=bhsd", "2x2:3x4:2 f32 layout=sbhd:pad=3",
                    "2x2:{3,1}x{4,2}:2 f32 layout=thd", "2x2:3x{4,2}:2 f32 kv=leftpad",
                    "2x2:3x{7,2}:2 f32 kv=paged:2:6:5,0,3,1/4",
                    "2x2:3x{7,2}:2 f32 layout=bhsd:col=2 kv=paged:3:random:4"));

TEST(Marshal, FillsInDefaultsAndKeepsTheText) {
  const CProblem c(parsed("2x4/2:3x5:16 bf16 mask=causal:br lse=ln vals=ascending:9").problem);
  const attest_problem& p = *c.get();
  EXPECT_EQ(p.size, sizeof(attest_problem));
  EXPECT_THAT(p.text, HasSubstr("2x4/2:3x5:16 bf16 mask=causal:br"));
  EXPECT_THAT(p.text, Not(HasSubstr("vals")));
  ProblemText again;
  TextError error;
  EXPECT_TRUE(parse_problem_text(p.text, again, error)) << error.message;
  EXPECT_THAT((std::vector<Index>{p.batch, p.heads_q, p.heads_kv, p.seq_q, p.seq_kv, p.head_dim,
                                  p.head_dim_v}),
              ElementsAre(2, 4, 2, 3, 5, 16, 16));
  EXPECT_EQ(p.scale, 0.25);
  EXPECT_EQ(p.dtype_out, ATTEST_BF16);
  EXPECT_EQ(p.dtype_compute, ATTEST_F32);
  EXPECT_EQ(p.dtype_bias, ATTEST_DTYPE_UNSAID);
  EXPECT_EQ(p.alignment, ATTEST_ALIGN_BOTTOM_RIGHT);
  EXPECT_EQ(p.lse, ATTEST_LSE_LN);
  EXPECT_EQ(p.all_masked, ATTEST_EMPTY_ZERO);
  EXPECT_EQ(p.empty_lse, -HUGE_VAL);
  EXPECT_EQ(p.bits, nullptr);
  EXPECT_EQ(p.page_table, nullptr);
  EXPECT_EQ(p.descale_q, nullptr);
}

TEST(Marshal, HasTermsOfScores) {
  const Problem problem = parsed(
                              "2x2:3x{5,4}:2 f32 cap=5 order=scale,bias,cap,alibi,mask bias=h2d "
                              "alibi=abs:br:0.5,0.25 sink=head:out")
                              .problem;
  const CProblem c(problem);
  const attest_problem& p = *c.get();
  EXPECT_EQ(p.softcap, 5);
  EXPECT_EQ(p.before_softcap, ATTEST_BEFORE_BIAS);
  EXPECT_EQ(p.bias_axes, ATTEST_BIAS_HEAD | ATTEST_BIAS_QUERY);
  EXPECT_EQ(p.sink, ATTEST_SINK_TENSOR);
  EXPECT_EQ(p.sink_in_lse, 0);
  EXPECT_EQ(p.alibi, ATTEST_ALIBI_ABSOLUTE);
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index key = 0; key < problem.key_length(b); ++key)
        EXPECT_EQ(-p.alibi_slopes[h] * static_cast<double>(std::abs(1 + p.alibi_diagonal[b] - key)),
                  alibi_term(problem, b, h, 1, key));
}

TEST(Marshal, SpreadsOneDescaleOverAllHeads) {
  const CProblem c(parsed("2x2:3x4:2 e4m3 descale=0.5;1,2,4,8;2").problem);
  EXPECT_THAT(std::vector<double>(c.get()->descale_q, c.get()->descale_q + 4),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(std::vector<double>(c.get()->descale_k, c.get()->descale_k + 4),
              ElementsAre(1, 2, 4, 8));
}

TEST(Marshal, HasSplitsAndTrees) {
  const ProblemText text = parsed("1x1:1x10:1 f32 tile=2 split=at:3,8 merge=right");
  const CTiling with_tiles(text.problem, text.tiling, true);
  const attest_tiling& t = *with_tiles.get();
  ASSERT_EQ(t.splits, 3);
  EXPECT_THAT(std::vector<Index>(t.split_bounds, t.split_bounds + 4), ElementsAre(0, 3, 8, 10));
  EXPECT_THAT(std::vector<Index>(t.merge_splits, t.merge_splits + t.merge_splits_count),
              ElementsAre(0, 1, 2, -1, -1));
  EXPECT_EQ(t.merge_tiles_count, 2 * 6 - 1);  // 2 + 3 + 1 tiles
  const CTiling without(text.problem, text.tiling, false);
  EXPECT_EQ(without.get()->merge_tiles, nullptr);

  const ProblemText fitted = parsed("1x1:1x10:1 f32 tile=5 split=1 merge=tree:1.0.+");
  const CTiling explicit_tree(fitted.problem, fitted.tiling, true);
  EXPECT_EQ(explicit_tree.get()->merge_splits, nullptr);
  EXPECT_EQ(explicit_tree.get()->merge_tiles_count, 3);
}

TEST(Marshal, BroadcastsABiasByStridesOfZero) {
  const Problem problem = parsed("2x3:4x5:1 f32 bias=h1d").problem;
  const std::vector<float> numbers(15);
  ForwardViews views;
  views.bias = {numbers.data(), Dtype::f32, problem.bias_extents(),
                bshd_strides(problem.bias_extents())};
  const CForward c(problem, views);
  ASSERT_NE(c.get()->bias, nullptr);
  EXPECT_THAT(c.get()->bias->extents, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(c.get()->bias->strides, ElementsAre(0, 5, 0, 1));
  EXPECT_EQ(c.get()->lse, nullptr);
  EXPECT_EQ(c.get()->sink, nullptr);
}

}  // namespace
}  // namespace attest::foreign
