#include "reference/visibility.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

using enum Causal::Alignment;

constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();

Problem problem_of(Index seq_q, Index seq_kv, std::vector<Index> key_lengths = {}) {
  Problem problem;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  if (!key_lengths.empty()) problem.batch = static_cast<Index>(key_lengths.size());
  problem.key_lengths = std::move(key_lengths);
  return problem;
}

Problem causal(Problem problem, Causal::Alignment alignment, Index offset = 0) {
  problem.mask.causal = Causal{alignment, offset};
  return problem;
}

/// Rows of 0 and 1, one a query or a single one for all.
Problem with_bits(Problem problem, const std::vector<std::string>& rows) {
  MaskBits bits{static_cast<Index>(rows.size()), problem.seq_kv, {}};
  for (const std::string& row : rows)
    for (const char bit : row) bits.visible.push_back(bit == '1');
  problem.mask.bits = std::move(bits);
  return problem;
}

/// One string of 0 and 1 a query, as the tables below are written.
std::vector<std::string> table(const Problem& problem, Index b = 0) {
  const Status status = validate(problem);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::string> rows;
  for (Index query = 0; query < problem.seq_q; ++query) {
    const std::vector<Index> keys = visible_keys(problem, b, query);
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    rows.emplace_back(static_cast<std::size_t>(problem.seq_kv), '0');
    for (const Index key : keys) rows.back().at(static_cast<std::size_t>(key)) = '1';
  }
  return rows;
}

TEST(VisibleKeys, WithoutAMaskEveryKeyIsSeenInAscendingOrder) {
  EXPECT_THAT(table(problem_of(2, 3)), ElementsAre("111", "111"));
  EXPECT_THAT(visible_keys(problem_of(1, 4), 0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(visible_keys(problem_of(1, 0), 0, 0), IsEmpty());
}

TEST(VisibleKeys, KeysFromTheKeyLengthOnAreNotSeen) {
  const Problem problem = problem_of(2, 3, {2, 0, 3});
  EXPECT_THAT(table(problem, 0), ElementsAre("110", "110"));
  EXPECT_THAT(table(problem, 1), ElementsAre("000", "000"));
  EXPECT_THAT(table(problem, 2), ElementsAre("111", "111"));
}

TEST(VisibleKeys, TopLeftLetsTheFirstQuerySeeTheFirstKeyOnly) {
  EXPECT_THAT(table(causal(problem_of(2, 4), top_left)), ElementsAre("1000", "1100"));
  EXPECT_THAT(table(causal(problem_of(3, 3), top_left)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(table(causal(problem_of(4, 2), top_left)), ElementsAre("10", "11", "11", "11"));
}

TEST(VisibleKeys, TopLeftDoesNotMoveWithTheKeyLength) {
  const Problem problem = causal(problem_of(3, 3, {3, 1, 0}), top_left);
  EXPECT_THAT(table(problem, 0), ElementsAre("100", "110", "111"));
  EXPECT_THAT(table(problem, 1), ElementsAre("100", "100", "100"));
  EXPECT_THAT(table(problem, 2), ElementsAre("000", "000", "000"));
}

TEST(VisibleKeys, BottomRightLetsTheLastQuerySeeEveryKey) {
  EXPECT_THAT(table(causal(problem_of(2, 4), bottom_right)), ElementsAre("1110", "1111"));
  EXPECT_THAT(table(causal(problem_of(3, 3), bottom_right)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(table(causal(problem_of(4, 2), bottom_right)), ElementsAre("00", "00", "10", "11"));
}

TEST(VisibleKeys, BottomRightIsTheCornerOfTheBatchMembersOwnKeys) {
  const Problem problem = causal(problem_of(2, 4, {3, 0, 1, 4}), bottom_right);
  EXPECT_THAT(table(problem, 0), ElementsAre("1100", "1110"));
  EXPECT_THAT(table(problem, 1), ElementsAre("0000", "0000"));
  EXPECT_THAT(table(problem, 2), ElementsAre("0000", "1000"));
  EXPECT_THAT(table(problem, 3), ElementsAre("1110", "1111"));
}

TEST(VisibleKeys, AnExplicitOffsetMovesTheDiagonal) {
  const auto shifted = [](Index offset) {
    return table(causal(problem_of(3, 4), explicit_offset, offset));
  };
  EXPECT_THAT(shifted(-4), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(shifted(-3), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(shifted(-2), ElementsAre("0000", "0000", "1000"));
  EXPECT_THAT(shifted(-1), ElementsAre("0000", "1000", "1100"));
  EXPECT_THAT(shifted(0), ElementsAre("1000", "1100", "1110"));
  EXPECT_THAT(shifted(1), ElementsAre("1100", "1110", "1111"));
  EXPECT_THAT(shifted(2), ElementsAre("1110", "1111", "1111"));
  EXPECT_THAT(shifted(3), ElementsAre("1111", "1111", "1111"));
  EXPECT_THAT(shifted(5), ElementsAre("1111", "1111", "1111"));
}

TEST(VisibleKeys, AnExplicitOffsetWorksWithMoreQueriesThanKeys) {
  EXPECT_THAT(table(causal(problem_of(4, 2), explicit_offset, -1)),
              ElementsAre("00", "10", "11", "11"));
  EXPECT_THAT(table(causal(problem_of(4, 2), explicit_offset, -3)),
              ElementsAre("00", "00", "00", "10"));
}

TEST(VisibleKeys, OffsetsAtTheEndsOfTheIndexRangeDoNotOverflow) {
  for (const Index offset : {kLargest, kLargest - 1}) {
    const Problem problem = causal(problem_of(3, 4, {4, 2, 0}), explicit_offset, offset);
    EXPECT_THAT(table(problem, 0), Each("1111"));
    EXPECT_THAT(table(problem, 1), Each("1100"));
    EXPECT_THAT(table(problem, 2), Each("0000"));
  }
  for (const Index offset : {kSmallest, kSmallest + 1})
    EXPECT_THAT(table(causal(problem_of(3, 4), explicit_offset, offset)), Each("0000"));
}

TEST(VisibleKeys, TheOffsetIsReadForAnExplicitOffsetOnly) {
  EXPECT_THAT(table(causal(problem_of(2, 2), top_left, 5)), ElementsAre("10", "11"));
  EXPECT_THAT(table(causal(problem_of(2, 2), bottom_right, -5)), ElementsAre("10", "11"));
}

TEST(VisibleKeys, BitsAreOneRowAQueryOrOneRowForAll) {
  EXPECT_THAT(table(with_bits(problem_of(3, 4), {"1010", "0000", "0111"})),
              ElementsAre("1010", "0000", "0111"));
  EXPECT_THAT(table(with_bits(problem_of(3, 4), {"0110"})), ElementsAre("0110", "0110", "0110"));
}

TEST(VisibleKeys, BitsAreSharedByAllBatchMembers) {
  const Problem problem = with_bits(problem_of(2, 3, {3, 3}), {"101", "010"});
  EXPECT_THAT(table(problem, 0), ElementsAre("101", "010"));
  EXPECT_THAT(table(problem, 1), ElementsAre("101", "010"));
}

TEST(VisibleKeys, AKeyIsSeenIffEveryPartOfTheMaskLetsItThrough) {
  const std::vector<std::string> bits{"1011", "1101", "0111"};
  EXPECT_THAT(table(with_bits(causal(problem_of(3, 4), top_left), bits)),
              ElementsAre("1000", "1100", "0110"));
  const Problem problem = with_bits(causal(problem_of(3, 4, {3, 1, 0}), bottom_right), bits);
  EXPECT_THAT(table(problem, 0), ElementsAre("1000", "1100", "0110"));
  EXPECT_THAT(table(problem, 1), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(table(problem, 2), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(table(with_bits(causal(problem_of(3, 4, {2}), explicit_offset, 1), {"0111"})),
              ElementsAre("0100", "0100", "0100"));
}

TEST(VisibleKeys, TheVocabularysVisibleSaysTheSameForEverySmallProblem) {
  std::vector<std::optional<Causal>> masks{std::nullopt, Causal{top_left, 0},
                                           Causal{bottom_right, 0}};
  for (Index offset = -6; offset <= 6; ++offset) masks.push_back(Causal{explicit_offset, offset});
  for (const Index offset : {kSmallest, kSmallest + 1, kLargest - 1, kLargest})
    masks.push_back(Causal{explicit_offset, offset});
  for (Index seq_q = 1; seq_q <= 4; ++seq_q)
    for (Index seq_kv = 0; seq_kv <= 4; ++seq_kv)
      for (Index length = 0; length <= seq_kv; ++length)
        for (const auto& mask : masks) {
          Problem problem = problem_of(seq_q, seq_kv, {length});
          problem.mask.causal = mask;
          for (Index query = 0; query < seq_q; ++query) {
            std::vector<Index> keys;
            for (Index key = 0; key < seq_kv; ++key)
              if (visible(problem, 0, query, key)) keys.push_back(key);
            EXPECT_EQ(visible_keys(problem, 0, query), keys)
                << seq_q << " queries, " << seq_kv << " keys, length " << length << ", query "
                << query << ", offset " << (mask ? mask->offset : 0);
          }
        }
}

}  // namespace
}  // namespace attest::reference
