// Every move keeps a case one that a problem line says, is a function of its draw, and does
// something.
#include "properties/moves_structure.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "properties/random_case.hpp"

namespace attest::properties {
namespace {

std::string line_of(const Case& of) {
  return minimal_text(to_text(of));
}

CaseLimits small_limits() {
  CaseLimits limits = all_limits();
  limits.small = true;
  return limits;
}

void expect_valid(const Case& of, std::string_view what) {
  const std::string line = line_of(of);
  ProblemText text;
  TextError error;
  ASSERT_TRUE(parse_problem_text(line, text, error)) << what << "\n" << with_caret(line, error);
  EXPECT_EQ(text.problem, of.problem) << what << "\n" << line;
  EXPECT_EQ(text.tiling, of.tiling) << what << "\n" << line;
  const Result<Case> made = make_case(text, nullptr);
  ASSERT_TRUE(made.ok()) << what << "\n" << line;
  for (const CaseTensor& tensor : case_tensors()) {
    EXPECT_EQ((of.*tensor.tensor).extents(), tensor.extents(of.problem)) << what << tensor.name;
    if (tensor.extents(of.problem) != Extents{}) {
      EXPECT_EQ((of.*tensor.tensor).dtype(), tensor.dtype(of.problem)) << what << tensor.name;
    }
  }
  // Any NaN is a NaN in a text.
  EXPECT_EQ(line_of(made.value()), line) << what;
}

TEST(StructureMoves, EveryMoveFitsSomeCaseChangesItAndKeepsItValid) {
  std::map<std::string_view, int> fitted;
  std::map<std::string_view, int> changed;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SeededDraw draw(seed);
    Case of = draw_case(draw, small_limits());
    becomes_literal(of);
    for (const StructureMove& move : structure_moves()) {
      Case moved = of;
      const std::string before = line_of(moved);
      if (!apply(move, moved, draw)) {
        EXPECT_EQ(line_of(moved), before) << move.name << " changed a case that it did not fit";
        continue;
      }
      ++fitted[move.name];
      if (line_of(moved) != before) ++changed[move.name];
      expect_valid(moved, move.name);
    }
  }
  for (const StructureMove& move : structure_moves()) {
    EXPECT_GE(fitted[move.name], 5) << move.name;
    EXPECT_GE(changed[move.name], 5) << move.name;
  }
}

TEST(StructureMoves, LongWalksStayValidAndRepeatFromTheirSeed) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto walked = [&] {
      SeededDraw draw(seed);
      Case of = draw_case(draw, small_limits());
      for (int step = 0; step < 25; ++step)
        // Walks that grow without end would only make this slow.
        if (const Case before = of; apply(draw.one_of(structure_moves()), of, draw) &&
                                    of.problem.rows() * of.problem.seq_kv > 400)
          of = before;
      return of;
    };
    const Case once = walked();
    expect_valid(once, "walk");
    EXPECT_EQ(line_of(walked()), line_of(once));
  }
}

TEST(StructureMoves, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const StructureMove& move : structure_moves()) EXPECT_TRUE(names.insert(move.name).second);
  EXPECT_GE(names.size(), 20U);
}

TEST(StructureMoves, ACrossingIsValidAndTakesSomethingOfTheOther) {
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SeededDraw draw(seed);
    const Case first = draw_case(draw, small_limits());
    const Case second = draw_case(draw, small_limits());
    const Case both = crossed(first, second, draw);
    expect_valid(both, "crossing");
    if (line_of(both) != line_of(first)) ++mixed;
  }
  EXPECT_GE(mixed, 15);
}

}  // namespace
}  // namespace attest::properties
