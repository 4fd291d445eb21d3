// Tiles are classified as counting their visible pairs would.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attest/random.hpp"
#include "test_classes.hpp"
#include "test_problem.hpp"

namespace attest {
namespace {

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
          problem.mask.causal = causal;
          problem.mask.bits = bits;
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
