// What is measured beside verdicts: stand-ins, tiles of a case, bit equality, the plain twin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "attest/element.hpp"
#include "attest/threads.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/bit_equality.hpp"
#include "properties/check.hpp"
#include "properties/heat_map.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/stand_in_trials.hpp"
#include "properties/twin.hpp"

namespace attest::properties {
namespace {

Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
  return make_case(text, nullptr).value();
}

const Kernel& builtin(const std::string& name) {
  return *kernels::find_builtin("builtin:" + name);
}
const Kernel& mutant(const std::string& name) {
  return *mutants::find("mutant:" + name)->kernel;
}

const StandInTrial* trial_of(const Verdict& verdict, std::string_view name) {
  const auto found = std::find_if(verdict.stand_ins.begin(), verdict.stand_ins.end(),
                                  [&](const StandInTrial& one) { return one.stand_in == name; });
  return found == verdict.stand_ins.end() ? nullptr : &*found;
}

TEST(StandInTrials, AreRefusedWhereTheBoundIsNarrow) {
  const Verdict verdict = bound_out(builtin("textbook"), made("1x1:4x40:8 f32 mask=causal:br"));
  // Every one that there is without softcap, additions, a sink, a window and groups of heads.
  EXPECT_EQ(verdict.stand_ins.size(), 16U);
  for (const StandInTrial& trial : verdict.stand_ins)
    EXPECT_FALSE(trial.accepted) << trial.stand_in;
}

TEST(StandInTrials, AreAcceptedWhereTheBoundIsWiderThanTheDifference) {
  // The second key weighs exp(-20), far below the rounding of bf16: nobody sees that it is missing.
  const std::string line = "1x1:1x2:1 bf16 scale=1 vals=lit:1;0,-20;1,2";
  const Verdict verdict = bound_out(builtin("textbook"), made(line));
  const StandInTrial* const dropped = trial_of(verdict, "last key dropped");
  const StandInTrial* const zeros = trial_of(verdict, "all zeros");
  ASSERT_NE(dropped, nullptr);
  ASSERT_NE(zeros, nullptr);
  EXPECT_TRUE(dropped->accepted);
  EXPECT_FALSE(zeros->accepted);
}

TEST(StandInTrials, LeaveOutWhatIsRightOnTheCase) {
  // Equal values: whatever the weights are, the mean is the answer.
  const Verdict verdict =
      bound_out(builtin("textbook"), made("1x1:1x3:1 f32 vals=lit:1;0,1,2;5,5,5"));
  EXPECT_EQ(trial_of(verdict, "uniform weights"), nullptr);
  EXPECT_EQ(trial_of(verdict, "V of the last key"), nullptr);
  EXPECT_NE(trial_of(verdict, "all zeros"), nullptr);
}

TEST(TileMap, NamesTheTileThatIsSkipped) {
  const Case on = made("1x2:20x40:8 f32 tile=16x16 vals=normal:5");
  const TileMap map = tile_map(mutant("skips_last_partial_tile"), on, {});
  ASSERT_EQ(map.tiles, (std::vector<KeyRange>{{0, 16}, {16, 32}, {32, 40}}));
  ASSERT_FALSE(map.rows.empty());
  EXPECT_LE(map.rows.size(), 48U);
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    EXPECT_GT(map.whole[i], 1);
    EXPECT_LE(map.ratio[3 * i], 1);
    EXPECT_LE(map.ratio[3 * i + 1], 1);
    EXPECT_GT(map.ratio[3 * i + 2], 1);
  }
  const TileMap right = tile_map(builtin("scalar_tree"), on, {});
  for (const double ratio : right.ratio) EXPECT_LE(ratio, 1);
}

TEST(TileMap, HasNoNumberWhereARowSeesNothingOfATile) {
  const TileMap map = tile_map(builtin("scalar_tree"),
                               made("1x1:6x6:4 f32 mask=causal:tl tile=2x2 vals=normal:1"), {});
  ASSERT_EQ(map.tiles.size(), 3U);
  ASSERT_EQ(map.rows.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t t = 0; t < 3; ++t)
      EXPECT_EQ(std::isnan(map.ratio[3 * i + t]), map.tiles[t].begin > map.rows[i].query) << i << t;
}

TEST(TileMap, SaysWhenNoTileIsWrongByItself) {
  // Ascending scores: every tile raises the maximum, and the rescale is forgotten.
  const Case on = made("1x1:4x64:8 f32 tile=16x16 vals=ascending:2");
  const TileMap map = tile_map(mutant("forgets_numerator_rescale"), on, {});
  ASSERT_FALSE(map.whole.empty());
  EXPECT_GT(*std::max_element(map.whole.begin(), map.whole.end()), 1);
  for (const double ratio : map.ratio) EXPECT_LE(ratio, 1);
  EXPECT_NE(map.note.find("between tiles"), std::string::npos) << map.note;
}

TEST(TileMap, KeepsTheMaskBitsOfTheCaseAndJoinsTiles) {
  const Case on = made("1x1:2x200:4 f32 tile=2 vals=normal:1 mask=bits:" + std::string(200, '1') +
                       "/" + std::string(100, '0') + std::string(100, '1'));
  const TileMap map = tile_map(builtin("scalar_tree"), on, {});
  ASSERT_EQ(map.tiles.size(), 50U);
  EXPECT_EQ(map.tiles[1], (KeyRange{4, 8}));
  for (std::size_t t = 0; t < 50; ++t) {
    EXPECT_FALSE(std::isnan(map.ratio[t]));
    EXPECT_EQ(std::isnan(map.ratio[50 + t]), t < 25);
  }
}

TEST(TileMap, CutsALargeCaseToTheHeadThatIsNamed) {
  const Case on = made("2x2:64x4096:64 f32 tile=64 vals=normal:1");
  const TileMap map = tile_map(builtin("simd/SCALAR"), on, {1, 0, 3});
  ASSERT_FALSE(map.rows.empty()) << map.note;
  for (const RowIndex& row : map.rows) {
    EXPECT_EQ(row.batch, 1);
    EXPECT_EQ(row.head, 0);
  }
  EXPECT_NE(map.note.find("one head"), std::string::npos) << map.note;
}

BitCount counted(const Kernel& kernel, BitKind kind) {
  CaseLimits limits = limits_for(kernel, nullptr);
  limits.small = true;
  BitCount sum{Dtype::f32, kind, 0, 0, {}};
  for (const BitCount& count : count_bit_equality(kernel, limits, 12, 5)) {
    if (count.kind != kind) continue;
    sum.equal += count.equal;
    sum.differ += count.differ;
    sum.reason = count.reason;
  }
  return sum;
}

TEST(BitEquality, TellsAKernelThatDiffersNowAndThenFromOneThatDoesNot) {
  for (const char* const name : {"order_depends_on_call", "dq_differs_now_and_then"}) {
    EXPECT_GT(counted(mutant(name), BitKind::rerun).differ, 0) << name;
    EXPECT_TRUE(must_be_equal(mutant(name), BitKind::rerun));
  }
  const BitCount right = counted(builtin("textbook"), BitKind::rerun);
  EXPECT_EQ(right.differ, 0);
  EXPECT_GT(right.equal, 20);
}

TEST(BitEquality, OfPositionIsLostByAKernelThatReadsItsNeighbour) {
  EXPECT_GT(counted(mutant("reads_keys_of_last_member"), BitKind::position).differ, 0);
  EXPECT_GT(counted(mutant("reads_keys_of_last_member"), BitKind::batch).differ, 0);
  for (const BitKind kind : {BitKind::position, BitKind::batch}) {
    const BitCount right = counted(builtin("scalar_tree"), kind);
    EXPECT_EQ(right.differ, 0);
    EXPECT_GT(right.equal, 0);
  }
}

TEST(BitEquality, OfSplitsIsMeasuredAndDemandedOnlyOfThoseThatDeclareIt) {
  const BitCount plain = counted(builtin("scalar_tree"), BitKind::split);
  EXPECT_GT(plain.differ, 0);
  EXPECT_FALSE(must_be_equal(builtin("scalar_tree"), BitKind::split));
  const BitCount free = counted(builtin("simd_order_free/SCALAR"), BitKind::split);
  EXPECT_EQ(free.differ, 0);
  EXPECT_GT(free.equal, 0);
  EXPECT_TRUE(must_be_equal(builtin("simd_order_free/SCALAR"), BitKind::split));
}

TEST(BitEquality, HasAReasonWhereItIsNoQuestion) {
  const BitCount split = counted(builtin("textbook"), BitKind::split);
  EXPECT_EQ(split.equal + split.differ, 0);
  EXPECT_EQ(split.reason, "the kernel does not cut the keys");
  EXPECT_EQ(counted(builtin("textbook"), BitKind::threads).reason,
            "the kernel works on one thread");
  EXPECT_FALSE(must_be_equal(builtin("textbook"), BitKind::threads));
}

TEST(BitEquality, OfThreadsIsMeasuredOnKernelsThatHaveThem) {
  const BitCount count = counted(builtin("simd/SCALAR"), BitKind::threads);
  EXPECT_EQ(count.differ, 0);
  EXPECT_GT(count.equal, 0);
  EXPECT_TRUE(must_be_equal(builtin("simd/SCALAR"), BitKind::threads));
  EXPECT_EQ(thread_count(), 1);
}

TEST(Twin, RoundsScoresAndWeightsToTheDtype) {
  // Scores 101.2539 and 100.625, in bf16 (steps of 0.5) 101.5 and 100.5: apart by 1, not by 0.63.
  const std::string values = " scale=1 vals=lit:10.0625;10.0625,10;1,0";
  const auto narrow = twin_row(made("1x1:1x2:1 bf16" + values), {});
  const auto wide = twin_row(made("1x1:1x2:1 f32" + values), {});
  ASSERT_TRUE(narrow && wide);
  const auto weight = [](float difference) {
    return static_cast<double>(1.0F / (1.0F + std::exp(-difference)));
  };
  EXPECT_EQ(narrow->front(), rounded_to(Dtype::bf16, weight(1)));
  EXPECT_EQ(wide->front(), weight(10.0625F * 10.0625F - 100.625F));
}

TEST(Twin, OfARowThatSeesNothingIsNothing) {
  EXPECT_FALSE(twin_row(made("1x1:2x1:1 f32 mask=causal:off=-1"), {0, 0, 0}));
  EXPECT_TRUE(twin_row(made("1x1:2x1:1 f32 mask=causal:off=-1"), {0, 0, 1}));
}

TEST(Twin, CountsASinkInTheWeightsAlone) {
  const auto row = twin_row(made("1x1:1x1:1 f32 scale=1 sink=head vals=lit:0;0;8;sink=0"), {});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->front(), 4);
}

}  // namespace
}  // namespace attest::properties
