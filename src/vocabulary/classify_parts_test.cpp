// Tiles are classified as counting their visible pairs would, for every part of a mask.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

#include "attest/random.hpp"
#include "test_classes.hpp"

namespace attest {
namespace {

using enum Causal::Alignment;

/// A problem of two members with other lengths, and the diagonal of its window and chunk.
Problem two_members(Index seq_q, Index seq_kv, const Causal& diagonal, bool causal) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.batch = 2;
  problem.query_lengths = {seq_q, seq_q / 2};
  problem.key_lengths = {seq_kv, seq_kv - 1};
  (causal ? problem.mask.causal : problem.mask.alignment) = diagonal;
  return problem;
}

std::vector<Causal> diagonals() {
  std::vector<Causal> all{{top_left, 0}, {bottom_right, 0}};
  for (const Index offset : {kSmallestIndex, Index{-3}, Index{-1}, Index{2}, kLargestIndex - 1})
    all.push_back({explicit_offset, offset});
  return all;
}

TEST(ClassifyParts, WindowsAgreeWithCounting) {
  for (const Causal& diagonal : diagonals())
    for (const std::optional<Index> left : {std::optional<Index>{}, {0}, {2}, {kLargestIndex}})
      for (const std::optional<Index> right : {std::optional<Index>{}, {0}, {1}, {kLargestIndex}})
        for (const Index keep : {0, 1, 3}) {
          if (!left && (!right || keep > 0)) continue;
          Problem problem = two_members(4, 5, diagonal, false);
          problem.mask.window = {left, right};
          problem.mask.keep_first = keep;
          expect_classes_as_counted(problem);
          if (HasFatalFailure()) return;
        }
}

TEST(ClassifyParts, PrefixesAndKeptTokensUnderACausalMaskAgreeWithCounting) {
  for (const Causal& diagonal : diagonals())
    for (const Index prefix : {0, 1, 3, 5})
      for (const Index keep : {0, 2, 4}) {
        Problem problem = two_members(5, 5, diagonal, true);
        problem.mask.prefix = prefix;
        problem.mask.window.left = 1;
        problem.mask.keep_first = keep;
        expect_classes_as_counted(problem);
        if (HasFatalFailure()) return;
      }
}

TEST(ClassifyParts, ChunksAgreeWithCounting) {
  for (const bool causal : {false, true})
    for (const Causal& diagonal : diagonals())
      for (const Index chunk : {Index{1}, Index{2}, Index{3}, Index{7}, kLargestIndex}) {
        Problem problem = two_members(5, 6, diagonal, causal);
        problem.mask.chunk = chunk;
        expect_classes_as_counted(problem);
        if (HasFatalFailure()) return;
      }
}

TEST(ClassifyParts, ListsAgreeWithCounting) {
  SplitMix64 random(3);
  for (int draw = 0; draw < 20; ++draw) {
    Problem problem = two_members(4, 4, Causal{bottom_right, 0}, draw % 2 == 0);
    const auto bit = [&] { return random.next() % 4 != 0; };
    if (draw % 3 == 0)
      problem.mask.segments = Segments{{0, bit(), 1, 1}, {0, 0, bit(), 1}};
    else if (draw % 3 == 1)
      problem.mask.blocks = BlockMask{3, 2, 2, 2, {bit(), bit(), bit(), bit()}};
    else
      problem.mask.additive = AdditiveMask{
          1, 4, {0, bit() ? 1 : -std::numeric_limits<double>::infinity(), -1, bit() ? 1.0 : 0}};
    expect_classes_as_counted(problem);
    if (HasFatalFailure()) return;
  }
}

TEST(ClassifyParts, NeedNoLoopOverPairsWithoutLists) {
  const Index length = Index{1} << 50;
  Problem problem = causal_problem(length, length, top_left);
  problem.mask.window.left = length / 4;
  problem.mask.keep_first = 16;
  problem.mask.prefix = 8;
  EXPECT_EQ(name_of(classify(problem, 0, length / 2, length, 0, length / 8)), "partial");
  EXPECT_EQ(name_of(classify(problem, 0, length / 2, length, 0, 16)), "full");
  EXPECT_EQ(name_of(classify(problem, 0, length / 2, length, 16, length / 8)), "empty");
  problem.mask.chunk = length / 2;
  EXPECT_EQ(name_of(classify(problem, 0, length / 2, length, 0, length / 2)), "empty");
  problem.mask.chunk = 1;
  EXPECT_EQ(name_of(classify(problem, 0, 5, 6, 0, length)), "partial");
}

}  // namespace
}  // namespace attest
