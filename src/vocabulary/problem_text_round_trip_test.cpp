// What is written reads back as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attest/random.hpp"
#include "test_problem_text.hpp"

namespace attest {
namespace {

TEST(ProblemText, OfEveryKeyAndValueReadsBackFromBothForms) {
  for (const std::string& line : minimal_lines()) {
    expect_reads_back(parsed(line));
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemText, AcceptsNothingWhoseWrittenFormReadsAsAnotherKindOfValues) {
  for (const std::string values : {"lit", "real", "real:lit", "real:real"}) {
    const std::string line = "1x1:1x1:1 f32 vals=" + values;
    const ParseOutcome outcome = parse(line);
    if (!outcome.ok) continue;
    const ParseOutcome again = parse(canonical_text(outcome.result));
    EXPECT_TRUE(again.ok && same(again.result, outcome.result)) << line;
  }
}

TEST(ProblemText, SmallestAndLargestNumbersOfTheDtypeReadBack) {
  using Single = std::numeric_limits<float>;
  using Wide = std::numeric_limits<double>;
  ProblemText text;
  text.values.kind = ValueRecipe::Kind::literal;
  text.values.name = "";
  const auto expect_numbers_read_back = [&](double q, double k, double v) {
    text.values.q = {q};
    text.values.k = {k};
    text.values.v = {v};
    text.problem.scale = {false, v};
    expect_reads_back(text);
  };
  expect_numbers_read_back(static_cast<double>(Single::denorm_min()),
                           static_cast<double>(Single::min()), static_cast<double>(Single::max()));
  text.problem.dtype = Dtype::f64;
  expect_numbers_read_back(Wide::denorm_min(), Wide::min(), Wide::max());
}

TEST(ProblemText, ShortestFormOfAFloatThatIsClosestToAMidpointReadsBack) {
  // Rounded to double first, these digits fall on the midpoint of two floats.
  const float value = 7.038531e-26F;
  ProblemText text;
  text.values = {ValueRecipe::Kind::literal, "", 0, {static_cast<double>(value)}, {0}, {0}};
  text.problem.scale = {false, static_cast<double>(value)};
  expect_reads_back(text);
}

class RandomProblemText {
 public:
  explicit RandomProblemText(std::uint64_t seed) : random_(seed) {}

  ProblemText next() {
    ProblemText text;
    fill_shape(text.problem);
    fill_mask(text.problem);
    fill_choices(text.problem);
    fill_tiling(text);
    fill_values(text);
    if (chance(3)) text.law = pick({"bound.out", "bound.lse", "merge.order", "tile=x"});
    return text;
  }

 private:
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  Index between(Index low, Index high) {
    return low + static_cast<Index>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::string pick(const std::vector<std::string>& names) {
    return names[random_.below(names.size())];
  }

  void fill_shape(Problem& problem) {
    problem.batch = between(0, 3);
    problem.heads_kv = between(1, 2);
    problem.heads_q = problem.heads_kv * between(1, 2);
    problem.seq_q = between(0, 4);
    problem.seq_kv = between(0, 5);
    problem.head_dim = between(1, 3);
    problem.head_dim_v = chance(2) ? problem.head_dim : between(1, 3);
    problem.dtype = chance(2) ? Dtype::f32 : Dtype::f64;
    if (problem.batch == 0 || chance(2)) return;
    problem.seq_kv = 0;
    for (Index b = 0; b < problem.batch; ++b) {
      problem.key_lengths.push_back(between(0, 5));
      problem.seq_kv = std::max(problem.seq_kv, problem.key_lengths.back());
    }
  }

  void fill_mask(Problem& problem) {
    if (chance(2)) {
      Causal causal;
      causal.alignment = static_cast<Causal::Alignment>(random_.below(3));
      if (causal.alignment == Causal::Alignment::explicit_offset)
        causal.offset = chance(2) ? between(-5, 5) : std::bit_cast<Index>(random_.next());
      problem.mask.causal = causal;
    }
    if (!chance(2)) return;
    MaskBits bits{problem.seq_q == 0 || chance(2) ? 1 : problem.seq_q, problem.seq_kv, {}};
    for (Index i = 0; i < bits.rows * bits.columns; ++i) bits.visible.push_back(chance(2));
    problem.mask.bits = bits;
  }

  void fill_choices(Problem& problem) {
    if (chance(2)) {
      problem.scale.reciprocal_sqrt = false;
      do {
        problem.scale.value = number(problem.dtype);
      } while (!std::isfinite(problem.scale.value));
    }
    if (chance(2)) problem.all_masked = AllMaskedPolicy::reject;
    if (chance(2)) problem.lse = LseForm::natural;
  }

  void fill_tiling(ProblemText& text) {
    Tiling& tiling = text.tiling;
    const Index seq_kv = text.problem.seq_kv;
    tiling.tile_q = chance(8) ? static_cast<Index>(random_.next() >> 1) | 1 : between(1, 20);
    tiling.tile_kv = chance(2) ? tiling.tile_q : between(1, 20);
    tiling.splits.count = chance(8) ? between(1, KvSplits::max_count) : between(1, 6);
    if (chance(2)) {
      tiling.splits.count = 1;
      Index cut = 0;
      for (Index left = between(1, 4); left > 0; --left)
        tiling.splits.cuts.push_back(cut = between(cut, seq_kv));
    }
    MergeOrder& merge = tiling.merge;
    merge.kind = static_cast<MergeOrder::Kind>(random_.below(5));
    if (merge.kind == MergeOrder::Kind::random) merge.seed = random_.next();
    if (merge.kind != MergeOrder::Kind::explicit_tree) return;
    if (tiling.splits.count > 6) tiling.splits.count = 6;
    const std::size_t leaves =
        chance(2) ? split_ranges(tiling, seq_kv).size() : all_tiles(tiling, seq_kv).size();
    merge.tree =
        make_merge_tree({MergeOrder::Kind::random, random_.next(), {}}, static_cast<Index>(leaves))
            .value();
  }

  void fill_values(ProblemText& text) {
    const Problem& problem = text.problem;
    ValueRecipe& values = text.values;
    values.kind = static_cast<ValueRecipe::Kind>(random_.below(3));
    values.seed = chance(2) ? random_.below(10) : random_.next();
    if (values.kind == ValueRecipe::Kind::family) values.name = pick({"normal", "spike", "lits"});
    if (values.kind == ValueRecipe::Kind::real)
      values.name = pick({"rows", "a-b.c", "lit", "real"});
    if (values.kind != ValueRecipe::Kind::literal) return;
    values = {ValueRecipe::Kind::literal,
              "",
              0,
              numbers(problem.q_extents(), problem.dtype),
              numbers(problem.k_extents(), problem.dtype),
              numbers(problem.v_extents(), problem.dtype)};
  }

  std::vector<double> numbers(const Extents& extents, Dtype dtype) {
    std::vector<double> list(
        static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    for (double& element : list) element = number(dtype);
    return list;
  }

  /// Any bit pattern of the dtype, or a small whole number.
  double number(Dtype dtype) {
    if (chance(2)) return static_cast<double>(between(-9, 9));
    if (dtype == Dtype::f64) return std::bit_cast<double>(random_.next());
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(random_.next())));
  }

  SplitMix64 random_;
};

TEST(ProblemText, OfRandomProblemsReadsBackFromBothForms) {
  RandomProblemText random(11);
  for (int i = 0; i < 5000; ++i) {
    const ProblemText text = random.next();
    ASSERT_TRUE(validate(text.problem).ok());
    expect_reads_back(text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace attest
