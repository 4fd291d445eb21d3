#include "attest/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attest/random.hpp"

namespace attest {
namespace {

using ::testing::ElementsAre;

constexpr Index kSmallestIndex = std::numeric_limits<Index>::min();
constexpr Index kLargestIndex = std::numeric_limits<Index>::max();

Problem problem_of(Index seq_q, Index seq_kv) {
  Problem problem;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  return problem;
}

Problem causal_problem(Index seq_q, Index seq_kv, Causal::Alignment alignment, Index offset = 0) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.mask.causal = Causal{alignment, offset};
  return problem;
}

/// One string of 0 and 1 a row.
MaskBits bits_of(const std::vector<std::string>& rows) {
  MaskBits bits{static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()), {}};
  for (const std::string& row : rows)
    for (const char bit : row) bits.visible.push_back(bit == '1');
  return bits;
}

/// What `visible` says, in the form of bits_of.
std::vector<std::string> visibility_table(const Problem& problem, Index b = 0) {
  std::vector<std::string> rows(static_cast<std::size_t>(problem.seq_q));
  for (Index query = 0; query < problem.seq_q; ++query)
    for (Index key = 0; key < problem.seq_kv; ++key)
      rows[static_cast<std::size_t>(query)] += visible(problem, b, query, key) ? '1' : '0';
  return rows;
}

std::string name_of(TileClass tile_class) {
  switch (tile_class) {
    case TileClass::empty:
      return "empty";
    case TileClass::partial:
      return "partial";
    case TileClass::full:
      return "full";
  }
  return "?";
}

std::string refusal(const Problem& problem) {
  const Status status = validate(problem);
  return status.code() == StatusCode::invalid_argument ? status.message() : "not refused";
}

TEST(ProblemValidation, AcceptsTheDefaultProblem) {
  EXPECT_TRUE(validate(Problem{}).ok());
}

TEST(ProblemValidation, AcceptsEmptyBatchesQueriesAndKeys) {
  Problem no_batch;
  no_batch.batch = 0;
  EXPECT_TRUE(validate(no_batch).ok());
  EXPECT_TRUE(validate(problem_of(0, 3)).ok());
  EXPECT_TRUE(validate(problem_of(3, 0)).ok());
  Problem empty_member = problem_of(2, 0);
  empty_member.key_lengths = {0};
  EXPECT_TRUE(validate(empty_member).ok());
}

TEST(ProblemValidation, RefusesANegativeBatchOrLength) {
  const std::string message = "batch and lengths must not be negative";
  Problem negative_batch;
  negative_batch.batch = -1;
  EXPECT_EQ(refusal(negative_batch), message);
  EXPECT_EQ(refusal(problem_of(-1, 1)), message);
  EXPECT_EQ(refusal(problem_of(1, -1)), message);
  EXPECT_EQ(refusal(problem_of(kSmallestIndex, kSmallestIndex)), message);
}

TEST(ProblemValidation, RefusesAHeadDimBelowOne) {
  const std::string message = "head_dim and head_dim_v must be at least 1";
  for (const Index bad : {Index{0}, Index{-1}, kSmallestIndex}) {
    Problem problem;
    problem.head_dim = bad;
    EXPECT_EQ(refusal(problem), message);
    problem = Problem{};
    problem.head_dim_v = bad;
    EXPECT_EQ(refusal(problem), message);
  }
}

TEST(ProblemValidation, RefusesQueryHeadsThatAreNoMultipleOfKeyHeads) {
  const auto refusal_of_heads = [](Index heads_q, Index heads_kv) {
    Problem problem;
    problem.heads_q = heads_q;
    problem.heads_kv = heads_kv;
    return refusal(problem);
  };
  EXPECT_EQ(refusal_of_heads(4, 3), "query heads (4) must be a multiple of key/value heads (3)");
  EXPECT_EQ(refusal_of_heads(2, 4), "query heads (2) must be a multiple of key/value heads (4)");
  EXPECT_EQ(refusal_of_heads(0, 1), "query heads (0) must be a multiple of key/value heads (1)");
  EXPECT_EQ(refusal_of_heads(1, 0), "query heads (1) must be a multiple of key/value heads (0)");
  EXPECT_EQ(refusal_of_heads(-2, -1),
            "query heads (-2) must be a multiple of key/value heads (-1)");
  EXPECT_EQ(refusal_of_heads(8, 2), "not refused");
}

TEST(ProblemValidation, RefusesEachTensorOfMoreThanTwoToThe56Elements) {
  const std::string message = "a tensor of this problem has more than 2^56 elements";
  const Index most = Index{1} << 56;

  EXPECT_EQ(refusal(problem_of(most, 1)), "not refused");
  EXPECT_EQ(refusal(problem_of(most + 1, 1)), message);
  EXPECT_EQ(refusal(problem_of(1, most)), "not refused");
  EXPECT_EQ(refusal(problem_of(1, most + 1)), message);

  Problem values_too_large = problem_of(1, most / 4);
  values_too_large.head_dim_v = 4;
  EXPECT_EQ(refusal(values_too_large), "not refused");
  values_too_large.head_dim_v = 5;
  EXPECT_EQ(refusal(values_too_large), message);

  Problem output_too_large = problem_of(most / 4, 1);
  output_too_large.head_dim_v = 5;
  EXPECT_EQ(refusal(output_too_large), message);

  Problem everything_huge = problem_of(kLargestIndex, kLargestIndex);
  everything_huge.batch = everything_huge.heads_q = everything_huge.heads_kv = kLargestIndex;
  everything_huge.head_dim = everything_huge.head_dim_v = kLargestIndex;
  EXPECT_EQ(refusal(everything_huge), message);
}

TEST(ProblemValidation, RefusesExtentsWhoseProductOverflowsEvenBesideAnExtentOfZero) {
  Problem no_queries = problem_of(0, 0);
  no_queries.batch = Index{1} << 62;
  no_queries.heads_q = no_queries.heads_kv = 4;
  EXPECT_FALSE(validate(no_queries).ok());  // rows() multiplies batch * heads_q first

  Problem no_batch = problem_of(Index{1} << 62, 1);
  no_batch.batch = 0;
  no_batch.heads_q = no_batch.heads_kv = 4;
  EXPECT_FALSE(validate(no_batch).ok());  // so does the batch stride of bshd_strides
}

TEST(ProblemValidation, RefusesAScaleThatIsNotFiniteInTheDtype) {
  const std::string message = "scale must be finite in the problem's dtype";
  Problem problem;
  problem.scale = {false, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(refusal(problem), message);
  problem.scale.value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(problem), message);
  problem.scale.value = 0x1p128;  // finite in f64 only
  EXPECT_EQ(refusal(problem), message);
  problem.dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.scale = {true, std::numeric_limits<double>::quiet_NaN()};  // not read
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesKeyLengthsThatDoNotFitTheBatchOrTheKeys) {
  Problem problem = problem_of(1, 5);
  problem.batch = 3;
  problem.key_lengths = {1, 2};
  EXPECT_EQ(refusal(problem), "key_lengths has 2 entries, the batch has 3");
  problem.key_lengths = {1, 6, 2};
  EXPECT_EQ(refusal(problem), "key length 6 is outside [0, 5]");
  problem.key_lengths = {1, -1, 2};
  EXPECT_EQ(refusal(problem), "key length -1 is outside [0, 5]");
  problem.key_lengths = {0, 5, 2};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesMaskBitsOfAnotherShape) {
  Problem problem = problem_of(3, 2);
  problem.mask.bits = bits_of({"10", "01"});
  EXPECT_EQ(refusal(problem), "mask bits have 2 rows, the problem 3 queries");
  problem.mask.bits = MaskBits{0, 2, {}};
  EXPECT_EQ(refusal(problem), "mask bits have 0 rows, the problem 3 queries");
  problem.mask.bits = MaskBits{-1, 2, {}};
  EXPECT_EQ(refusal(problem), "mask bits have -1 rows, the problem 3 queries");
  problem.mask.bits = bits_of({"101"});
  EXPECT_EQ(refusal(problem), "mask bits have 3 columns, the problem 2 keys");
  problem.mask.bits = MaskBits{1, 2, {true}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
  problem.mask.bits = MaskBits{1, 2, {true, true, true}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
  problem.mask.bits = bits_of({"10"});
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.bits = bits_of({"10", "01", "11"});
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesMaskBitsWhoseDeclaredShapeNoMemoryHolds) {
  const Index huge = Index{1} << 50;
  Problem problem = problem_of(huge, huge);
  problem.mask.bits = MaskBits{huge, huge, {}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
}

TEST(ProblemShape, GivesEveryTensorItsExtentsAndEveryQueryHeadItsKeyHead) {
  Problem problem = problem_of(5, 7);
  problem.batch = 2;
  problem.heads_q = 6;
  problem.heads_kv = 3;
  problem.head_dim = 8;
  problem.head_dim_v = 4;
  EXPECT_THAT(problem.q_extents(), ElementsAre(2, 6, 5, 8));
  EXPECT_THAT(problem.k_extents(), ElementsAre(2, 3, 7, 8));
  EXPECT_THAT(problem.v_extents(), ElementsAre(2, 3, 7, 4));
  EXPECT_THAT(problem.out_extents(), ElementsAre(2, 6, 5, 4));
  EXPECT_THAT(problem.lse_extents(), ElementsAre(2, 6, 5, 1));
  EXPECT_EQ(problem.rows(), 2 * 6 * 5);
  const std::vector<Index> key_heads{0, 0, 1, 1, 2, 2};
  for (Index head = 0; head < problem.heads_q; ++head)
    EXPECT_EQ(problem.kv_head(head), key_heads[static_cast<std::size_t>(head)]);
}

TEST(ScaleValue, IsTheReciprocalSquareRootOfTheHeadDimByDefault) {
  Problem problem;
  problem.scale.value = 17;  // not read
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    problem.dtype = dtype;
    problem.head_dim = 1;
    EXPECT_EQ(scale_value(problem), 1.0);
    problem.head_dim = 64;
    EXPECT_EQ(scale_value(problem), 0.125);
    problem.head_dim = 256;
    EXPECT_EQ(scale_value(problem), 0.0625);
  }
}

TEST(ScaleValue, DoesNotDependOnTheHeadDimOfTheValues) {
  Problem problem;
  problem.head_dim = 4;
  problem.head_dim_v = 16;
  EXPECT_EQ(scale_value(problem), 0.5);
}

TEST(ScaleValue, OfF32IsTheFloatNearestToTheExactFactor) {
  Problem problem;
  for (Index head_dim = 1; head_dim <= 4096; ++head_dim) {
    problem.head_dim = head_dim;
    const double value = scale_value(problem);
    const auto rounded = static_cast<float>(value);
    ASSERT_EQ(static_cast<double>(rounded), value) << head_dim;
    // 1/sqrt(d) lies below the midpoint m of two floats iff m^2 d > 1; m^2 has at most 50 bits and
    // d has 13, so the product is exact in 64 bits.
    const auto midpoint_to = [&](float direction) {
      return (static_cast<long double>(rounded) + std::nextafter(rounded, direction)) / 2;
    };
    const long double above = midpoint_to(2);
    const long double below = midpoint_to(0);
    ASSERT_GT(above * above * static_cast<long double>(head_dim), 1) << head_dim;
    ASSERT_LT(below * below * static_cast<long double>(head_dim), 1) << head_dim;
  }
}

TEST(ScaleValue, RoundsAGivenNumberToTheDtype) {
  Problem problem;
  problem.scale = {false, 0.1};
  EXPECT_EQ(scale_value(problem), static_cast<double>(0.1F));
  problem.dtype = Dtype::f64;
  EXPECT_EQ(scale_value(problem), 0.1);
  problem.scale.value = -3;
  EXPECT_EQ(scale_value(problem), -3.0);
  problem.scale.value = 0;
  EXPECT_EQ(scale_value(problem), 0.0);
}

TEST(CausalOffset, FollowsTheAlignmentAndTheKeyLengthOfTheBatchMember) {
  Problem problem = causal_problem(4, 6, Causal::Alignment::top_left, 99);
  problem.batch = 3;
  problem.key_lengths = {6, 2, 0};
  for (Index b = 0; b < 3; ++b) EXPECT_EQ(causal_offset(problem, b), 0);
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 99};
  EXPECT_EQ(causal_offset(problem, 0), 2);
  EXPECT_EQ(causal_offset(problem, 1), -2);
  EXPECT_EQ(causal_offset(problem, 2), -4);
  problem.mask.causal = Causal{Causal::Alignment::explicit_offset, 99};
  for (Index b = 0; b < 3; ++b) EXPECT_EQ(causal_offset(problem, b), 99);
}

TEST(Visible, WithoutAMaskIsEveryKey) {
  EXPECT_THAT(visibility_table(problem_of(2, 3)), ElementsAre("111", "111"));
}

TEST(Visible, TopLeftCausalStartsAtTheFirstKey) {
  const auto alignment = Causal::Alignment::top_left;
  EXPECT_THAT(visibility_table(causal_problem(3, 3, alignment)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(visibility_table(causal_problem(2, 4, alignment)), ElementsAre("1000", "1100"));
  EXPECT_THAT(visibility_table(causal_problem(4, 2, alignment)),
              ElementsAre("10", "11", "11", "11"));
}

TEST(Visible, BottomRightCausalEndsAtTheLastKey) {
  const auto alignment = Causal::Alignment::bottom_right;
  EXPECT_THAT(visibility_table(causal_problem(3, 3, alignment)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(visibility_table(causal_problem(2, 4, alignment)), ElementsAre("1110", "1111"));
  EXPECT_THAT(visibility_table(causal_problem(4, 2, alignment)),
              ElementsAre("00", "00", "10", "11"));
}

TEST(Visible, BottomRightCausalUsesTheKeyLengthOfTheBatchMember) {
  Problem problem = causal_problem(3, 4, Causal::Alignment::bottom_right);
  problem.batch = 4;
  problem.key_lengths = {4, 3, 1, 0};
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("1100", "1110", "1111"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("1000", "1100", "1110"));
  EXPECT_THAT(visibility_table(problem, 2), ElementsAre("0000", "0000", "1000"));
  EXPECT_THAT(visibility_table(problem, 3), ElementsAre("0000", "0000", "0000"));
}

TEST(Visible, ExplicitCausalOffsetMovesTheDiagonal) {
  const auto table = [](Index offset) {
    return visibility_table(causal_problem(3, 4, Causal::Alignment::explicit_offset, offset));
  };
  EXPECT_THAT(table(-3), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(table(-2), ElementsAre("0000", "0000", "1000"));
  EXPECT_THAT(table(-1), ElementsAre("0000", "1000", "1100"));
  EXPECT_THAT(table(0), ElementsAre("1000", "1100", "1110"));
  EXPECT_THAT(table(1), ElementsAre("1100", "1110", "1111"));
  EXPECT_THAT(table(3), ElementsAre("1111", "1111", "1111"));
}

TEST(Visible, ExtremeCausalOffsetsShowNothingOrEverything) {
  const auto table = [](Index offset) {
    return visibility_table(causal_problem(2, 3, Causal::Alignment::explicit_offset, offset));
  };
  EXPECT_THAT(table(kSmallestIndex), ElementsAre("000", "000"));
  EXPECT_THAT(table(kSmallestIndex + 1), ElementsAre("000", "000"));
  EXPECT_THAT(table(kLargestIndex), ElementsAre("111", "111"));
  EXPECT_THAT(table(kLargestIndex - 1), ElementsAre("111", "111"));
}

TEST(Visible, NoKeyAtOrBehindTheKeyLengthIsSeen) {
  Problem problem = problem_of(2, 3);
  problem.batch = 4;
  problem.key_lengths = {3, 2, 1, 0};
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("111", "111"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("110", "110"));
  EXPECT_THAT(visibility_table(problem, 2), ElementsAre("100", "100"));
  EXPECT_THAT(visibility_table(problem, 3), ElementsAre("000", "000"));
}

TEST(Visible, OneRowOfBitsServesEveryQuery) {
  Problem problem = problem_of(3, 4);
  problem.mask.bits = bits_of({"0110"});
  EXPECT_THAT(visibility_table(problem), ElementsAre("0110", "0110", "0110"));
}

TEST(Visible, BitsOfEveryRowServeTheirOwnQuery) {
  Problem problem = problem_of(3, 2);
  problem.mask.bits = bits_of({"01", "10", "00"});
  EXPECT_THAT(visibility_table(problem), ElementsAre("01", "10", "00"));
}

TEST(Visible, IsTheConjunctionOfCausalBitsAndKeyLength) {
  Problem problem = causal_problem(3, 4, Causal::Alignment::top_left);
  problem.batch = 2;
  problem.key_lengths = {4, 2};
  problem.mask.bits = bits_of({"1111", "0111", "1010"});
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("1000", "0100", "1010"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("1000", "0100", "1000"));
}

/// The definition of TileClass, pair by pair.
TileClass counted_class(const Problem& problem, Index b, Index query_begin, Index query_end,
                        Index key_begin, Index key_end) {
  Index pairs = 0;
  Index seen = 0;
  for (Index query = query_begin; query < query_end; ++query)
    for (Index key = key_begin; key < key_end; ++key) {
      ++pairs;
      if (visible(problem, b, query, key)) ++seen;
    }
  if (seen == 0) return TileClass::empty;
  return seen == pairs ? TileClass::full : TileClass::partial;
}

/// Every rectangle of every batch member, those of no pair and with swapped ends included.
void expect_classes_as_counted(const Problem& problem) {
  ASSERT_EQ(refusal(problem), "not refused");
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query_begin = 0; query_begin <= problem.seq_q; ++query_begin)
      for (Index query_end = 0; query_end <= problem.seq_q; ++query_end)
        for (Index key_begin = 0; key_begin <= problem.seq_kv; ++key_begin)
          for (Index key_end = 0; key_end <= problem.seq_kv; ++key_end) {
            const TileClass want =
                counted_class(problem, b, query_begin, query_end, key_begin, key_end);
            const TileClass got = classify(problem, b, query_begin, query_end, key_begin, key_end);
            ASSERT_EQ(name_of(got), name_of(want))
                << "batch member " << b << ", queries [" << query_begin << ", " << query_end
                << "), keys [" << key_begin << ", " << key_end << ")";
          }
}

std::vector<std::optional<Causal>> causal_masks(Index seq_q, Index seq_kv) {
  std::vector<std::optional<Causal>> masks{std::nullopt, Causal{Causal::Alignment::top_left, 0},
                                           Causal{Causal::Alignment::bottom_right, 0}};
  for (Index offset = -seq_q - 1; offset <= seq_kv + 1; ++offset)
    masks.push_back(Causal{Causal::Alignment::explicit_offset, offset});
  for (const Index offset : {kSmallestIndex, kLargestIndex})
    masks.push_back(Causal{Causal::Alignment::explicit_offset, offset});
  return masks;
}

/// All patterns where they are few, else some chosen by a seed.
std::vector<MaskBits> bit_patterns(Index rows, Index columns) {
  const Index bits = rows * columns;
  const Index few = 6;
  const std::uint64_t patterns = bits <= few ? std::uint64_t{1} << bits : 24;
  SplitMix64 random(1);
  std::vector<MaskBits> masks;
  for (std::uint64_t pattern = 0; pattern < patterns; ++pattern) {
    const std::uint64_t source = bits <= few ? pattern : random.next();
    MaskBits mask{rows, columns, {}};
    for (Index bit = 0; bit < bits; ++bit) mask.visible.push_back(((source >> bit) & 1) != 0);
    masks.push_back(mask);
  }
  return masks;
}

std::vector<std::optional<MaskBits>> bit_masks(Index seq_q, Index seq_kv) {
  std::vector<std::optional<MaskBits>> masks{std::nullopt};
  for (const MaskBits& mask : bit_patterns(1, seq_kv)) masks.emplace_back(mask);
  if (seq_q < 2) return masks;
  for (const MaskBits& mask : bit_patterns(seq_q, seq_kv)) masks.emplace_back(mask);
  return masks;
}

TEST(Classify, AgreesWithCountingForAllRectanglesOfAllSmallProblems) {
  for (Index seq_q = 0; seq_q <= 3; ++seq_q)
    for (Index seq_kv = 0; seq_kv <= 3; ++seq_kv) {
      Problem problem = problem_of(seq_q, seq_kv);
      problem.batch = seq_kv + 1;
      for (Index length = 0; length <= seq_kv; ++length) problem.key_lengths.push_back(length);
      for (const auto& causal : causal_masks(seq_q, seq_kv))
        for (const auto& bits : bit_masks(seq_q, seq_kv)) {
          problem.mask = {causal, bits};
          expect_classes_as_counted(problem);
          if (HasFatalFailure()) return;
        }
    }
}

TEST(Classify, AgreesWithCountingForAllRectanglesOfLongerRows) {
  for (const auto& [seq_q, seq_kv] : {std::pair<Index, Index>{5, 7}, {7, 5}, {6, 6}})
    for (const auto& causal : causal_masks(seq_q, seq_kv)) {
      Problem problem = problem_of(seq_q, seq_kv);
      problem.batch = 2;
      problem.key_lengths = {seq_kv, seq_kv / 2};
      problem.mask.causal = causal;
      expect_classes_as_counted(problem);
      if (HasFatalFailure()) return;
    }
}

TEST(Classify, NeedsNoLoopOverPairsWithoutBits) {
  const Index length = Index{1} << 50;
  const Problem problem = causal_problem(length, length, Causal::Alignment::top_left);
  ASSERT_EQ(refusal(problem), "not refused");
  EXPECT_EQ(name_of(classify(problem, 0, 0, length, 0, length)), "partial");
  EXPECT_EQ(name_of(classify(problem, 0, length / 2, length, 0, length / 2)), "full");
  EXPECT_EQ(name_of(classify(problem, 0, 0, length / 2, length / 2, length)), "empty");
  EXPECT_EQ(name_of(classify(problem, 0, length - 1, length, 0, length)), "full");
}

}  // namespace
}  // namespace attest
