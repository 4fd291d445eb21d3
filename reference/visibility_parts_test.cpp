// The parts of a mask beside causal and bits, against tables written by hand, and against the
// vocabulary's predicate on random masks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "reference/visibility.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

using enum Causal::Alignment;

constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();
constexpr double kExcluded = -std::numeric_limits<double>::infinity();

Problem problem_of(Index seq_q, Index seq_kv) {
  Problem problem;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  return problem;
}

Problem on_diagonal(Index seq_q, Index seq_kv, Index offset) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.mask.alignment = Causal{explicit_offset, offset};
  return problem;
}

Problem window(Index seq_q, Index seq_kv, Window window, Index offset) {
  Problem problem = on_diagonal(seq_q, seq_kv, offset);
  problem.mask.window = window;
  return problem;
}

Problem chunk(Index seq_q, Index seq_kv, Index size, Index offset) {
  Problem problem = on_diagonal(seq_q, seq_kv, offset);
  problem.mask.chunk = size;
  return problem;
}

std::vector<std::string> table(const Problem& problem, Index b = 0) {
  std::vector<std::string> rows;
  for (Index query = 0; query < problem.seq_q; ++query) {
    rows.emplace_back(static_cast<std::size_t>(problem.seq_kv), '0');
    Index before = -1;
    for (const Index key : visible_keys(problem, b, query)) {
      EXPECT_LT(before, key);
      before = key;
      rows.back().at(static_cast<std::size_t>(key)) = '1';
    }
  }
  return rows;
}

TEST(VisibleKeysOfParts, QueriesBeyondTheLengthOfTheMemberSeeNothing) {
  Problem problem = problem_of(2, 2);
  problem.batch = 2;
  problem.query_lengths = {1, 0};
  EXPECT_THAT(table(problem, 0), ElementsAre("11", "00"));
  EXPECT_THAT(table(problem, 1), ElementsAre("00", "00"));
}

TEST(VisibleKeysOfParts, TheLastQueryOfTheMemberStandsOnItsLastKey) {
  Problem problem = problem_of(3, 3);
  problem.mask.causal = Causal{bottom_right, 0};
  problem.batch = 3;
  problem.query_lengths = {2, 3, 1};
  problem.key_lengths = {3, 1, 2};
  EXPECT_THAT(table(problem, 0), ElementsAre("110", "111", "000"));
  EXPECT_THAT(table(problem, 1), ElementsAre("000", "000", "100"));
  EXPECT_THAT(table(problem, 2), ElementsAre("110", "000", "000"));
}

TEST(VisibleKeysOfParts, ThePrefixAddsToTheCausalPart) {
  Problem problem = problem_of(3, 5);
  problem.mask.causal = Causal{explicit_offset, -1};
  problem.mask.prefix = 1;
  EXPECT_THAT(table(problem), ElementsAre("10000", "10000", "11000"));
  problem.mask.prefix = 4;
  EXPECT_THAT(table(problem), Each("11110"));
  problem.mask.prefix = kLargest;
  EXPECT_THAT(table(problem), Each("11111"));
}

TEST(VisibleKeysOfParts, WindowsAreInclusiveOnBothSides) {
  EXPECT_THAT(table(window(3, 5, {1, 1}, 1)), ElementsAre("11100", "01110", "00111"));
  EXPECT_THAT(table(window(5, 3, {0, 1}, -2)), ElementsAre("000", "100", "110", "011", "001"));
  EXPECT_THAT(table(window(3, 3, {{}, 0}, 0)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(table(window(3, 3, {0, {}}, 0)), ElementsAre("111", "011", "001"));
}

TEST(VisibleKeysOfParts, ExtremeWindowsDoNotOverflow) {
  EXPECT_THAT(table(window(2, 3, {kLargest, kLargest}, 0)), Each("111"));
  EXPECT_THAT(table(window(2, 3, {kLargest - 1, kLargest}, kLargest)), ElementsAre("011", "001"));
  EXPECT_THAT(table(window(2, 3, {kLargest, kLargest}, kSmallest)), ElementsAre("000", "100"));
}

TEST(VisibleKeysOfParts, KeptTokensKnowNoLeftLimit) {
  Problem problem = window(5, 5, {0, 0}, 0);
  problem.mask.keep_first = 2;
  EXPECT_THAT(table(problem), ElementsAre("10000", "11000", "11100", "11010", "11001"));
  problem.mask.window.right = std::nullopt;
  EXPECT_THAT(table(problem), ElementsAre("11111", "11111", "11111", "11011", "11001"));
}

TEST(VisibleKeysOfParts, ChunksBeginAtMultiplesOfTheirSize) {
  EXPECT_THAT(table(chunk(4, 5, 3, 1)), ElementsAre("11100", "11100", "00011", "00011"));
  EXPECT_THAT(table(chunk(4, 2, 2, -2)), ElementsAre("00", "00", "11", "11"));
  EXPECT_THAT(table(chunk(2, 2, 2, -1)), ElementsAre("00", "11"));
  EXPECT_THAT(table(chunk(2, 2, kLargest, kSmallest)), Each("00"));
  EXPECT_THAT(table(chunk(2, 2, kLargest, kLargest - 1)), ElementsAre("11", "00"));
}

TEST(VisibleKeysOfParts, SegmentsBlocksAndAdditiveMasksAreTables) {
  Problem problem = problem_of(3, 4);
  problem.mask.segments = Segments{{5, 5, 2}, {2, 5, 5, 0}};
  EXPECT_THAT(table(problem), ElementsAre("0110", "0110", "1000"));
  problem.mask.segments.reset();
  problem.mask.blocks = BlockMask{2, 3, 2, 2, {false, true, true, true}};
  EXPECT_THAT(table(problem), ElementsAre("0001", "0001", "1111"));
  problem.mask.additive = AdditiveMask{1, 4, {-1e30, kExcluded, 0, 2}};
  EXPECT_THAT(table(problem), ElementsAre("0001", "0001", "1011"));
}

TEST(VisibleKeysOfParts, AllPartsTogether) {
  Problem problem = problem_of(4, 6);
  problem.mask.causal = Causal{bottom_right, 0};
  problem.mask.prefix = 4;
  problem.mask.window.left = 1;
  problem.mask.keep_first = 1;
  problem.mask.chunk = 4;
  //                      causal or prefix  111100  111100  111110  111111
  //                      window or kept    111111  101111  100111  100011
  //                      chunk             111100  111100  000011  000011
  EXPECT_THAT(table(problem), ElementsAre("111100", "101100", "000010", "000011"));
}

/// Every part is there with a chance of one half or less.
Problem random_problem(std::mt19937_64& random) {
  const auto below = [&](Index end) {
    return static_cast<Index>(random() % static_cast<std::uint64_t>(end));
  };
  Problem problem = problem_of(1 + below(6), 1 + below(8));
  if (below(2) == 0) problem.query_lengths = {below(problem.seq_q + 1)};
  if (below(2) == 0) problem.key_lengths = {below(problem.seq_kv + 1)};
  const Index offsets[] = {below(12) - 6, below(12) - 6, kSmallest, kLargest, kLargest - below(9)};
  const Causal diagonal{static_cast<Causal::Alignment>(below(3)), offsets[below(5)]};
  Mask& mask = problem.mask;
  const bool causal = below(2) == 0;
  (causal ? mask.causal : mask.alignment) = diagonal;
  if (causal && below(2) == 0) mask.prefix = below(8);
  if (below(2) == 0) mask.window.left = below(3) == 0 ? kLargest - below(3) : below(5);
  if (below(2) == 0) mask.window.right = below(3) == 0 ? kLargest - below(3) : below(5);
  if (mask.window.left && below(2) == 0) mask.keep_first = below(4);
  if (below(3) == 0) mask.chunk = below(4) == 0 ? kLargest - below(3) : 1 + below(5);
  const auto pairs = static_cast<std::size_t>(problem.seq_q * problem.seq_kv);
  if (below(3) == 0) {
    Segments segments;
    for (Index i = 0; i < problem.seq_q; ++i) segments.q.push_back(below(2));
    for (Index j = 0; j < problem.seq_kv; ++j) segments.k.push_back(below(2));
    mask.segments = segments;
  }
  if (below(3) == 0) {
    mask.bits = MaskBits{problem.seq_q, problem.seq_kv, {}};
    for (std::size_t at = 0; at < pairs; ++at) mask.bits->visible.push_back(below(4) != 0);
  }
  if (below(3) == 0) {
    const Index q = 1 + below(3);
    const Index kv = 1 + below(3);
    mask.blocks = BlockMask{q, kv, (problem.seq_q + q - 1) / q, (problem.seq_kv + kv - 1) / kv, {}};
    for (Index at = 0; at < mask.blocks->rows * mask.blocks->columns; ++at)
      mask.blocks->visible.push_back(below(4) != 0);
  }
  if (below(3) == 0) {
    mask.additive = AdditiveMask{1, problem.seq_kv, {}};
    for (Index j = 0; j < problem.seq_kv; ++j)
      mask.additive->value.push_back(below(4) == 0 ? kExcluded : static_cast<double>(j));
  }
  return problem;
}

TEST(VisibleKeysOfParts, TheVocabularysVisibleSaysTheSameForRandomMasks) {
  std::mt19937_64 random(11);
  std::size_t seen = 0;
  for (int draw = 0; draw < 20000; ++draw) {
    const Problem problem = random_problem(random);
    for (Index query = 0; query < problem.seq_q; ++query) {
      std::vector<Index> keys;
      for (Index key = 0; key < problem.seq_kv; ++key)
        if (visible(problem, 0, query, key)) keys.push_back(key);
      ASSERT_EQ(visible_keys(problem, 0, query), keys) << "draw " << draw << ", query " << query;
      seen += keys.size();
    }
  }
  EXPECT_GT(seen, 20000U);
}

}  // namespace
}  // namespace attest::reference
