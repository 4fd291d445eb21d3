// Moves do what their names say, and leave a case that could have been given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attest/element.hpp"
#include "properties/moves_values.hpp"
#include "properties/random_case.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

/// Six keys in three tiles and two splits, so that every move applies.
Case usual_case(Dtype dtype = Dtype::f32) {
  return case_of("1x1:1x6:2/2 " + std::string(to_string(dtype)) +
                 (is_fp8(dtype) ? " out=f32" : "") + " lse=ln tile=1x2 split=at:2,4 vals=normal:5");
}

const ValueMove& named(std::string_view name) {
  const auto moves = value_moves();
  return *std::find_if(moves.begin(), moves.end(),
                       [&](const ValueMove& one) { return one.name == name; });
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> all;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    all.push_back(tensor.get(b, h, row, column));
  });
  return all;
}

std::vector<double> numbers(const Case& of) {
  std::vector<double> all;
  for (const CaseTensor& tensor : case_tensors())
    for (const double value : numbers(of.*tensor.tensor)) all.push_back(value);
  return all;
}

/// The numbers in which two cases of one shape differ, with what they became.
std::vector<std::pair<double, double>> changes(const Case& from, const Case& to) {
  const std::vector<double> before = numbers(from);
  const std::vector<double> after = numbers(to);
  EXPECT_EQ(before.size(), after.size());
  std::vector<std::pair<double, double>> found;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) found.emplace_back(before[i], after[i]);
  return found;
}

/// The move, tried with other draws until it applies; each that does not leaves the case alone.
Case moved(const Case& from, std::string_view name, std::uint64_t seed, double step = 0.1) {
  constexpr int kTries = 100;
  SeededDraw draw(seed);
  for (int tried = 0; tried < kTries; ++tried) {
    Case to = from;
    if (named(name).apply(to, draw, step)) return to;
    EXPECT_TRUE(changes(from, to).empty() && to.tiling == from.tiling) << name;
  }
  ADD_FAILURE() << name << " did not apply with " << kTries << " draws";
  return from;
}

class EveryMove : public testing::TestWithParam<std::string> {};

TEST_P(EveryMove, ChangesTheCaseAndKeepsItValidInEveryType) {
  for (const Dtype dtype : kDtypes)
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Case from = usual_case(dtype);
      const Case to = moved(from, GetParam(), seed, 0.5);
      EXPECT_TRUE(!changes(from, to).empty() || to.tiling != from.tiling);
      EXPECT_TRUE(validate(to.tiling, to.problem.seq_kv).ok());
      for (const CaseTensor& tensor : case_tensors())
        for (const double value : numbers(to.*tensor.tensor)) {
          ASSERT_TRUE(std::isfinite(value));
          ASSERT_EQ(rounded_to(tensor.dtype(to.problem), value), value);
        }
      // What a text says of it makes the same numbers again.
      EXPECT_TRUE(changes(make_case(to_text(to), nullptr).value(), to).empty());
    }
}

/// One number of each tensor, all of them zero, and one key: most moves have nothing to change.
TEST_P(EveryMove, LeavesTheCaseAloneWhereItDoesNotApply) {
  const std::set<std::string> always_apply{"gaussian_one", "ulp_step", "sign_flip"};
  SeededDraw draw(3);
  const Case one_key = case_of("1x1:1x1:1 f32 tile=1 vals=lit:0;0;0");
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    Case to = one_key;
    if (named(GetParam()).apply(to, draw, 0.5)) continue;
    ++refused;
    EXPECT_TRUE(changes(one_key, to).empty());
    EXPECT_EQ(to.tiling, one_key.tiling);
  }
  EXPECT_EQ(refused == 0, always_apply.contains(GetParam())) << refused << " of 200";
}

TEST_P(EveryMove, KeepsWhatSharesMemoryEqual) {
  SeededDraw draw(11);
  const Case from = case_of("2x1:1x4:2 f32 v=view(k) kv=paged:2:3:0,1/0,2 tile=1x2 vals=normal:1");
  int applied = 0;
  for (int i = 0; i < 200; ++i) {
    Case to = from;
    applied += named(GetParam()).apply(to, draw, 0.5);
    EXPECT_EQ(numbers(to.v), numbers(to.k));
    for (Index column = 0; column < 2; ++column)
      EXPECT_EQ(to.k.get(0, 0, 1, column), to.k.get(1, 0, 1, column));
  }
  EXPECT_GT(applied, 0);
}

INSTANTIATE_TEST_SUITE_P(Values, EveryMove, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const ValueMove& one : value_moves()) names.emplace_back(one.name);
                           return names;
                         }()),
                         [](const auto& name) { return name.param; });

TEST(ValueMoves, GaussianStepsAreAsLargeAsTheyAreAskedToBe) {
  const Case from = usual_case();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto one = changes(from, moved(from, "gaussian_one", seed, 1e-3));
    ASSERT_EQ(one.size(), 1U);
    EXPECT_LT(std::abs(one[0].second / one[0].first - 1), 7e-3);
    for (const auto& [before, after] : changes(from, moved(from, "gaussian_some", seed, 1e-3)))
      EXPECT_LT(std::abs(after / before - 1), 7e-3);
  }
}

TEST(ValueMoves, StepsOfOneNumberAreThoseOfItsFormat) {
  const Case from = usual_case();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto ulp = changes(from, moved(from, "ulp_step", seed));
    ASSERT_EQ(ulp.size(), 1U);
    const auto [before, after] = ulp[0];
    EXPECT_EQ(static_cast<float>(after),
              std::nextafter(static_cast<float>(before), after > before ? 1e30F : -1e30F));

    const auto bit = changes(from, moved(from, "significand_bit", seed));
    ASSERT_EQ(bit.size(), 1U);
    EXPECT_EQ(std::ilogb(bit[0].first), std::ilogb(bit[0].second));
    const double difference = std::abs(bit[0].second - bit[0].first);
    EXPECT_EQ(difference, std::ldexp(1.0, std::ilogb(difference)));

    const auto exponent = changes(from, moved(from, "exponent_step", seed));
    ASSERT_EQ(exponent.size(), 1U);
    EXPECT_EQ(std::abs(std::ilogb(exponent[0].second) - std::ilogb(exponent[0].first)), 1);

    const auto sign = changes(from, moved(from, "sign_flip", seed));
    ASSERT_EQ(sign.size(), 1U);
    EXPECT_EQ(sign[0].second, -sign[0].first);
  }
}

std::vector<double> row(const Tensor& tensor, Index key) {
  return {tensor.get(0, 0, key, 0), tensor.get(0, 0, key, 1)};
}

TEST(ValueMoves, KeysAreExchangedAndCopied) {
  const Case from = usual_case();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto sorted = [](std::vector<double> all) {
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(sorted(numbers(moved(from, "key_swap", seed))), sorted(numbers(from)));

    const auto equal_pairs = [](const Case& of, bool values, bool across) {
      int count = 0;
      for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < i; ++j)
          count += row(of.k, i) == row(of.k, j) && (row(of.v, i) == row(of.v, j)) == values &&
                   (i / 2 != j / 2 || !across);
      return count;
    };
    EXPECT_EQ(equal_pairs(moved(from, "duplicate_key", seed), true, false), 1);
    EXPECT_EQ(equal_pairs(moved(from, "score_across_tiles", seed), false, true), 1);
  }
}

TEST(ValueMoves, AnExplicitMergeTreeDoesNotOutliveItsLeaves) {
  Case from = usual_case();
  from.tiling.merge = {MergeOrder::Kind::explicit_tree, 0, {{0, 1, 2, -1, -1}}};
  for (const char* const name : {"tile_boundary", "kv_split"})
    EXPECT_NE(moved(from, name, 1).tiling.merge.kind, MergeOrder::Kind::explicit_tree);
}

/// What is cut by number is then cut at keys: both at once would say two things.
TEST(ValueMoves, ACutTakesThePlaceOfANumberOfSplits) {
  Case from = usual_case();
  from.tiling.splits = {3, {}};
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const KvSplits splits = moved(from, "kv_split", seed).tiling.splits;
    if (splits.cuts.empty()) continue;
    ++cut;
    EXPECT_EQ(splits.count, 1);
  }
  EXPECT_GT(cut, 0);
}

TEST(NextNumber, IsTheNeighbourInTheFormat) {
  EXPECT_EQ(next_number(Dtype::f32, 1, true), 1 + 0x1p-23);
  EXPECT_EQ(next_number(Dtype::f32, 1, false), 1 - 0x1p-24);
  EXPECT_EQ(next_number(Dtype::f64, -1, false), -1 - 0x1p-52);
  EXPECT_EQ(next_number(Dtype::bf16, -1, true), -1 + 0x1p-8);
  EXPECT_EQ(next_number(Dtype::f16, 0, true), 0x1p-24);
  EXPECT_EQ(next_number(Dtype::f16, 0, false), -0x1p-24);
  EXPECT_EQ(next_number(Dtype::f16, 0x1p-24, false), 0.0);
  EXPECT_EQ(next_number(Dtype::e4m3, 416, true), 448.0);
  EXPECT_EQ(next_number(Dtype::e4m3, 448, true), std::nullopt);
  EXPECT_EQ(next_number(Dtype::e5m2, -57344, false), std::nullopt);
  EXPECT_EQ(next_number(Dtype::f32, 0x1.fffffep127, true), std::nullopt);
}

TEST(UlpNeighbours, AreEveryNumberOnceUpAndOnceDown) {
  const Case from = usual_case(Dtype::bf16);
  ASSERT_EQ(ulp_neighbours(from), 2 * (2 + 12 + 12));
  std::vector<std::vector<double>> seen;
  for (Index i = 0; i < ulp_neighbours(from); ++i) {
    const auto neighbour = ulp_neighbour(from, i);
    ASSERT_TRUE(neighbour);
    const auto changed = changes(from, *neighbour);
    ASSERT_EQ(changed.size(), 1U);
    EXPECT_EQ(next_number(Dtype::bf16, changed[0].first, i % 2 == 0), changed[0].second);
    seen.push_back(numbers(*neighbour));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(UlpNeighbours, EndAtTheLargestFiniteNumber) {
  const Case from = case_of("1x1:1x1:1 e4m3 out=f32 vals=lit:448;0;0");
  EXPECT_FALSE(ulp_neighbour(from, 0));
  EXPECT_TRUE(ulp_neighbour(from, 1));
}

}  // namespace
}  // namespace attest::properties
