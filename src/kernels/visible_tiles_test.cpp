// The masks of tiles against the definition, key by key.
#include "kernels/visible_tiles.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

Problem problem_of(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  return text.problem;
}

class VisibleTilesOf : public testing::TestWithParam<const char*> {};

/// Every rectangle that begins at a multiple of 5 and every row of it.
TEST_P(VisibleTilesOf, AreThoseOfTheDefinition) {
  const Problem problem = problem_of(GetParam());
  Index certain = 0;
  for (Index b = 0; b < problem.batch; ++b) {
    const VisibleTiles tiles(problem, b);
    for (Index q = 0; q < problem.query_length(b); q += 5)
      for (Index k = 0; k < problem.key_length(b); k += 5)
        for (const Index size : {1, 5, 11}) {
          const KeyRange queries{q, std::min(q + size, problem.query_length(b))};
          const KeyRange keys{k, std::min(k + size, problem.key_length(b))};
          Index seen = 0;
          for (Index query = queries.begin; query < queries.end; ++query) {
            const TileBits bits = tiles.row(query, keys);
            for (Index key = keys.begin; key < keys.end; ++key) {
              ASSERT_EQ(bits.at(key - keys.begin), visible(problem, b, query, key))
                  << b << ' ' << query << ' ' << key;
              seen += visible(problem, b, query, key) ? 1 : 0;
            }
          }
          const Index pairs = (queries.end - queries.begin) * (keys.end - keys.begin);
          const TileClass found = tiles.tile_class(queries, keys);
          if (found == TileClass::partial) continue;
          EXPECT_EQ(seen, found == TileClass::full ? pairs : 0) << q << ' ' << k << ' ' << size;
          ++certain;
        }
  }
  EXPECT_GT(certain, 0) << "no tile is ever skipped, or computed without its mask";
}

INSTANTIATE_TEST_SUITE_P(Masks, VisibleTilesOf,
                         testing::Values("2x1:{40,33}x{61,30}:1 f32",
                                         "1x1:40x61:1 f32 mask=causal:tl",
                                         "2x1:{40,7}x{33,60}:1 f32 mask=causal:br",
                                         "1x1:40x61:1 f32 mask=causal:off=-9",
                                         "1x1:40x61:1 f32 mask=causal:off=9223372036854775807",
                                         "1x1:40x61:1 f32 mask=causal:br win=7:*",
                                         "1x1:40x61:1 f32 mask=causal:br win=7:* keep=first:4",
                                         "1x1:40x61:1 f32 mask=causal:tl win=3:2 keep=first:30",
                                         "1x1:61x40:1 f32 mask=causal:br+prefix:12",
                                         "1x1:61x40:1 f32 mask=causal:br+chunk:8",
                                         "1x1:40x61:1 f32 mask=causal:off=-20+chunk:7"));

/// Lists of single pairs: what is drawn at random, with everything else.
TEST(VisibleTiles, AgreeWithTheDefinitionForListsOfPairs) {
  SplitMix64 random(7);
  for (int round = 0; round < 40; ++round) {
    Problem problem;
    problem.seq_q = 23;
    problem.seq_kv = 37;
    problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
    if (round % 4 == 0) {
      BlockMask blocks{4, 8, 6, 5, {}};
      for (Index at = 0; at < 30; ++at) blocks.visible.push_back(random.below(2) == 0);
      problem.mask.blocks = blocks;
    } else if (round % 4 == 1) {
      Segments segments;
      for (Index q = 0; q < 23; ++q) segments.q.push_back(q / 6);
      for (Index k = 0; k < 37; ++k) segments.k.push_back(k / 9);
      problem.mask.segments = segments;
    } else if (round % 4 == 2) {
      MaskBits bits{23, 37, {}};
      for (Index at = 0; at < 23 * 37; ++at) bits.visible.push_back(random.below(3) != 0);
      problem.mask.bits = bits;
    } else {
      AdditiveMask additive{1, 37, {}};
      for (Index at = 0; at < 37; ++at)
        additive.value.push_back(random.below(3) == 0 ? -kInfinity : 1.0);
      problem.mask.additive = additive;
    }
    ASSERT_TRUE(validate(problem).ok()) << validate(problem).message();
    const VisibleTiles tiles(problem, 0);
    for (Index q = 0; q < 23; ++q)
      for (Index k = 0; k < 37; ++k) {
        const KeyRange keys{k, std::min<Index>(k + 9, 37)};
        const TileBits bits = tiles.row(q, keys);
        for (Index key = keys.begin; key < keys.end; ++key)
          ASSERT_EQ(bits.at(key - k), visible(problem, 0, q, key)) << round;
        const TileClass found = tiles.tile_class({q, std::min<Index>(q + 5, 23)}, keys);
        const TileClass exact = classify(problem, 0, q, std::min<Index>(q + 5, 23), k, keys.end);
        EXPECT_TRUE(found == TileClass::partial || found == exact) << round << ' ' << q << ' ' << k;
      }
  }
}

}  // namespace
}  // namespace attest::kernels
