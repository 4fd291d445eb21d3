// The generators that properties of other projects use.
#include <gtest/gtest.h>

#include "attest/rapidcheck.hpp"

namespace attest::harness {
namespace {

TEST(Generators, MakeValidProblemsAndTilings) {
  EXPECT_TRUE(rc::check("problems are valid", [](const Problem& problem) {
    RC_ASSERT(validate(problem).ok());
    const Tiling tiling = *properties::arbitrary_tiling(problem.seq_kv);
    RC_ASSERT(validate(tiling, problem.seq_kv).ok());
  }));
}

TEST(Generators, FillAProblemWithValues) {
  EXPECT_TRUE(rc::check("the problem is the given one", [](const Problem& problem) {
    const Tiling tiling = *properties::arbitrary_tiling(problem.seq_kv);
    const properties::Case of = *properties::arbitrary_values(problem, tiling);
    RC_ASSERT(of.problem == problem);
    RC_ASSERT(of.tiling == tiling);
    RC_ASSERT(of.q.extents() == problem.q_extents());
  }));
}

/// The smallest value that breaks a property, as RapidCheck ends with it.
template <class Value, class Breaks>
Value shrunk(const rc::Gen<Value>& gen, const Breaks& breaks) {
  rc::Random random(7);
  rc::Shrinkable<Value> found = gen(random, 100);
  while (!breaks(found.value())) {
    random.next();
    found = gen(random, 100);
  }
  for (bool smaller = true; smaller;) {
    smaller = false;
    auto candidates = found.shrinks();
    while (const auto candidate = candidates.next()) {
      if (!breaks(candidate->value())) continue;
      found = *candidate;
      smaller = true;
      break;
    }
  }
  return found.value();
}

TEST(Generators, ShrinkProblemsToTheSmallestOne) {
  const Problem problem = shrunk(properties::arbitrary_problem(plain_limits()),
                                 [](const Problem& of) { return of.seq_kv >= 2; });
  EXPECT_EQ(problem.rows(), 1);
  EXPECT_EQ(problem.seq_kv, 2);
  EXPECT_EQ(problem.head_dim, 1);
  EXPECT_TRUE(problem.mask.none());
}

TEST(Generators, ShrinkTilingsPartByPart) {
  const Tiling tiling = shrunk(properties::arbitrary_tiling(20),
                               [](const Tiling& of) { return of.splits.count > 1; });
  EXPECT_EQ(tiling.merge, MergeOrder{});
  EXPECT_EQ(tiling.tile_kv, Tiling{}.tile_kv);
}

TEST(Generators, ShrinkValuesAloneWhereTheProblemIsGiven) {
  Problem problem;
  problem.seq_kv = 3;
  const properties::Case of =
      shrunk(properties::arbitrary_values(problem, {}),
             [](const properties::Case& on) { return on.v.get(0, 0, 2, 0) != 0; });
  EXPECT_EQ(of.problem, problem);
  EXPECT_EQ(of.v.get(0, 0, 0, 0), 0);
  EXPECT_EQ(of.v.get(0, 0, 2, 0), 1);
}

TEST(Generators, FollowTheirSeed) {
  const auto line = [](std::uint64_t seed) {
    const auto of = properties::arbitrary_case(plain_limits())(rc::Random(seed), 100).value();
    return minimal_text(properties::to_text(of));
  };
  EXPECT_EQ(line(1), line(1));
  EXPECT_NE(line(1), line(2));
}

}  // namespace
}  // namespace attest::harness
