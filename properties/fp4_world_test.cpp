// Every FP4 (e2m1) input of one query, two keys and dimension 1; `attest world` does three keys.
#include "properties/fp4_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "attest/random.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/every_tiling.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

std::vector<Tiling> tilings_of(const Kernel& kernel, const Fp4World& world) {
  return every_tiling(kernel.description().capabilities,
                      scope_of_tree(kernel.accuracy(world.wide_case(0).problem)), world.keys());
}

WorldTally judge_all(const Fp4World& world, const Kernel& kernel, int jobs) {
  WorldTally total;
  WorldPlan plan{&world, &kernel, tilings_of(kernel, world), 0, jobs, nullptr};
  EXPECT_EQ(run_world(plan, [&](const WorldTally& one) { total.append(one); }), world.groups());
  return total;
}

int cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Outputs of one tiling whose bound may reach sum_j p_j |v_j| because of the cast of the weights.
/// A weight w_j, relative to the largest, is off by e_j = max(u w_j, om) after the cast; numerator
/// and row_sum may both be made of rounded weights, hence twice; what else is rounded takes less
/// than 2^-10 of the whole.
Index losable_outputs(const Fp4World& world, const WeightCast& cast) {
  const double offset = std::ldexp(1.0, cast.offset_log2);
  Index losable = 0;
  for (Index pair = 0; pair < world.pairs(); ++pair) {
    std::vector<double> weight;
    for (Index j = 0; j < world.keys(); ++j)
      weight.push_back(world.query(pair) * world.key(pair, j));
    const double largest = *std::max_element(weight.begin(), weight.end());
    for (double& each : weight) each = std::exp(each - largest);
    for (Index column = 0; column < world.columns(); ++column) {
      double whole = 0;
      double lost = 0;
      for (Index j = 0; j < world.keys(); ++j) {
        const double value = std::abs(world.value(column, j));
        const double own = weight[static_cast<std::size_t>(j)];
        whole += own * value;
        lost +=
            std::max(cast.format.unit_roundoff * own, own * offset < cast.format.min_normal
                                                          ? cast.format.rounding_underflow / offset
                                                          : 0.0) *
            value;
      }
      if (whole > 0 && 2 * lost >= whole * (1 - 0x1p-10)) ++losable;
    }
  }
  return losable;
}

/// The same because of a grid: every term moves by up to 2^-bits of the largest value.
Index losable_outputs(const Fp4World& world, Index grid_bits) {
  Index losable = 0;
  for (Index pair = 0; pair < world.pairs(); ++pair) {
    std::vector<double> score;
    for (Index j = 0; j < world.keys(); ++j)
      score.push_back(world.query(pair) * world.key(pair, j));
    const double row_max = *std::max_element(score.begin(), score.end());
    for (Index column = 0; column < world.columns(); ++column) {
      double whole = 0;
      double largest = 0;
      for (Index j = 0; j < world.keys(); ++j) {
        const double value = std::abs(world.value(column, j));
        whole += std::exp(score[static_cast<std::size_t>(j)] - row_max) * value;
        largest = std::max(largest, value);
      }
      const auto keys = static_cast<double>(world.keys());
      const double lost = keys * keys * std::ldexp(largest, -static_cast<int>(grid_bits));
      if (whole > 0 && 2 * lost >= whole * (1 - 0x1p-10)) ++losable;
    }
  }
  return losable;
}

Index losable_outputs(const Fp4World& world, const DeclaredAccuracy& accuracy) {
  if (accuracy.weight_cast) return losable_outputs(world, *accuracy.weight_cast);
  return accuracy.grid_bits > 0 ? losable_outputs(world, accuracy.grid_bits) : 0;
}

TEST(Fp4World, EveryInputOfTwoKeysStaysWithinTheBoundUnderEveryTiling) {
  const Fp4World world(2);
  ASSERT_EQ(world.inputs(), Index{1} << 20);
  for (const auto& kernel : kernels::builtin_kernels()) {
    SCOPED_TRACE(kernel->description().name);
    const WorldTally found = judge_all(world, *kernel, cores());
    const auto tilings = static_cast<Index>(tilings_of(*kernel, world).size());
    EXPECT_EQ(found.failure, "");
    EXPECT_EQ(found.violations, 0);
    EXPECT_EQ(found.undecided, 0);
    const DeclaredAccuracy accuracy = kernel->accuracy(world.wide_case(0).problem);
    EXPECT_LE(found.uninformative, losable_outputs(world, accuracy) * tilings);
    EXPECT_EQ(found.outputs, world.inputs() * tilings);
    EXPECT_EQ(found.lse_values, world.pairs() * tilings);
    ASSERT_TRUE(found.worst_out && found.worst_lse);
    EXPECT_GT(found.worst_out->ratio, 0);
    EXPECT_GT(found.worst_lse->ratio, 0);
    std::cout << kernel->description().name << "  " << found.outputs
              << " outputs, largest error / bound " << found.worst_out->ratio << ", of the lse "
              << found.worst_lse->ratio << "\n";
  }
}

TEST(Fp4World, GroupsHoldEveryPairOnceAndOnlyPairsOfTheSameScores) {
  for (Index keys = 1; keys <= 2; ++keys) {
    const Fp4World world(keys);
    std::set<Index> seen;
    for (Index number = 0; number < world.groups(); ++number)
      for (const Index pair : world.pairs_of(number)) {
        EXPECT_TRUE(seen.insert(pair).second);
        for (Index j = 0; j < keys; ++j)
          EXPECT_EQ(world.query(pair) * world.key(pair, j),
                    world.query(world.pairs_of(number).front()) *
                        world.key(world.pairs_of(number).front(), j));
      }
    EXPECT_EQ(static_cast<Index>(seen.size()), world.pairs());
  }
}

TEST(Fp4World, InputsAreAllTupleOfCodes) {
  const Fp4World world(1);
  std::set<std::vector<std::string>> seen;  // texts: 0 and -0 are two inputs
  for (Index pair = 0; pair < world.pairs(); ++pair)
    for (Index column = 0; column < world.columns(); ++column) {
      const Case single = world.single_case(pair, column, {});
      const auto text = [](const Tensor& tensor) {
        return number_text(tensor.get(0, 0, 0, 0), Dtype::f32);
      };
      seen.insert({text(single.q), text(single.k), text(single.v)});
    }
  EXPECT_EQ(seen.size(), 4096U);
}

/// A few pairs of a world, the same ones in every run.
std::vector<Index> sampled_pairs(const Fp4World& world, int count) {
  SplitMix64 random(7);
  std::vector<Index> pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back(static_cast<Index>(random.below(static_cast<std::uint64_t>(world.pairs()))));
  return pairs;
}

TEST(Fp4World, TheExactRowEnclosesWhatTheOracleEncloses) {
  for (Index keys = 1; keys <= 3; ++keys) {
    const Fp4World world(keys);
    for (const Index pair : sampled_pairs(world, keys == 3 ? 8 : 40)) {
      const auto row = world.exact_row(pair);
      ASSERT_TRUE(row);
      const Case wide = world.wide_case(pair);
      const reference::Inputs inputs{&wide.problem, wide.q.ref(), wide.k.ref(), wide.v.ref()};
      const auto oracle = reference::enclose_row(inputs, {0, 0, 0}, 192);
      ASSERT_TRUE(oracle);
      EXPECT_EQ(row->value, oracle->value);
      EXPECT_EQ(row->keys, oracle->keys);
      for (std::size_t c = 0; c < row->output.size(); ++c) {
        // The oracle's value lies in the enclosure, whose radius is some roundings of double.
        const Enclosure& exact = oracle->output[c];
        EXPECT_LE(exact.distance_lower(row->output[c].high), row->output[c].radius);
        EXPECT_LE(row->output[c].radius, 0x1p-50 * value_magnitude(*oracle, c));
      }
      EXPECT_LE(row->lse.distance_lower(oracle->lse.high),
                oracle->lse.radius + std::abs(oracle->lse.low));
    }
  }
}

/// The judge of the laws on one input alone.
TEST(Fp4World, AgreesWithTheLawsOnSingleInputs) {
  const Fp4World world(2);
  const Kernel& kernel = *kernels::find_builtin("builtin:scalar_tree");
  const std::vector<Tiling> tilings = tilings_of(kernel, world);
  SplitMix64 random(11);
  for (const Index pair : sampled_pairs(world, 50)) {
    const auto column = static_cast<Index>(random.below(256));
    const Tiling& tiling = tilings[random.below(tilings.size())];
    const Case single = world.single_case(pair, column, tiling);
    Case wide = world.wide_case(pair);
    wide.tiling = tiling;
    const Outputs alone = run_kernel(kernel, single);
    const Outputs together = run_kernel(kernel, wide);
    EXPECT_EQ(alone.out.get(0, 0, 0, 0), together.out.get(0, 0, 0, column));
    EXPECT_EQ(alone.lse.get(0, 0, 0, 0), together.lse.get(0, 0, 0, 0));
    const auto truth = Truth(kernel, single).row({0, 0, 0});
    const auto facts = world.exact_row(pair);
    ASSERT_TRUE(truth && facts);
    const auto at = static_cast<std::size_t>(column);
    // The column alone is the row of the single input, with the enclosures of the world.
    RowFacts one = *facts;
    one.output = {facts->output[at]};
    one.value.clear();
    for (std::size_t j = 0; j < one.keys.size(); ++j)
      one.value.push_back(facts->value[j * facts->output.size() + at]);
    EXPECT_EQ(one.value, truth->facts.value);
    EXPECT_TRUE(reference::consistent(one, truth->facts));
    const DeclaredAccuracy accuracy = kernel.accuracy(wide.problem);
    const RowBound bound = error_bound(accuracy, *facts, tiling, world.keys());
    const RowBound alone_bound =
        error_bound(kernel.accuracy(single.problem), one, tiling, world.keys());
    EXPECT_EQ(bound.output[at], alone_bound.output[0]);
    EXPECT_EQ(bound.lse, alone_bound.lse);
  }
}

TEST(Fp4World, TheBoundOfATilingIsThatOfItsSplitsThatAreNotEmpty) {
  const Fp4World world(3);
  for (const auto& kernel : kernels::builtin_kernels()) {
    Index compared = 0;
    const DeclaredAccuracy accuracy = kernel->accuracy(world.wide_case(0).problem);
    std::vector<Tiling> tilings = tilings_of(*kernel, world);
    for (const Index pair : sampled_pairs(world, 3)) {
      RowFacts facts = world.exact_row(pair).value();
      for (const Tiling& tiling : tilings) {
        const Tiling cut = without_empty_splits(tiling, scope_of_tree(accuracy), 3);
        if (cut == tiling) continue;
        ++compared;
        EXPECT_TRUE(validate(cut, 3).ok());
        const RowBound left = error_bound(accuracy, facts, tiling, 3);
        const RowBound right = error_bound(accuracy, facts, cut, 3);
        EXPECT_EQ(left.output, right.output) << kernel->description().name;
        EXPECT_EQ(left.lse, right.lse);
      }
      tilings.resize(std::min<std::size_t>(tilings.size(), 80));
    }
    // A kernel that does not cut its keys has one tiling, without an empty split.
    EXPECT_EQ(compared > 0, tilings.size() > 1) << kernel->description().name;
  }
}

TEST(Fp4World, TheTallyDoesNotDependOnTheNumberOfJobsNorOnAnInterruption) {
  const Fp4World world(2);
  const Kernel& kernel = *mutants::find("mutant:forgets_sum_rescale")->kernel;
  const auto same = [](const WorldTally& a, const WorldTally& b) {
    const auto same_element = [](const auto& x, const auto& y) {
      return x.has_value() == y.has_value() &&
             (!x || (x->pair == y->pair && x->column == y->column && x->tiling == y->tiling &&
                     x->ratio == y->ratio));
    };
    return a.outputs == b.outputs && a.violations == b.violations &&
           same_element(a.worst_out, b.worst_out) && same_element(a.worst_lse, b.worst_lse) &&
           same_element(a.first_violation, b.first_violation);
  };
  const WorldTally once = judge_all(world, kernel, 1);
  EXPECT_TRUE(same(once, judge_all(world, kernel, 3)));
  std::atomic<bool> stop{false};
  WorldTally in_two_parts;
  WorldPlan plan{&world, &kernel, tilings_of(kernel, world), 0, 2, &stop};
  const Index reached = run_world(plan, [&](const WorldTally& one) {
    in_two_parts.append(one);
    stop = true;
  });
  EXPECT_GT(reached, 0);
  EXPECT_LT(reached, world.groups());
  stop = false;
  plan.first_group = reached;
  EXPECT_EQ(run_world(plan, [&](const WorldTally& one) { in_two_parts.append(one); }),
            world.groups());
  EXPECT_TRUE(same(once, in_two_parts));
}

TEST(Fp4World, IsLargeEnoughToCatchWrongKernelsOnAnInputThatFailsAlone) {
  const Fp4World world(2);
  for (const char* const name :
       {"mutant:averages_tile_outputs", "mutant:forgets_sum_rescale", "mutant:lse_in_base_two",
        "mutant:rescale_rounded_to_eight_bits"}) {
    SCOPED_TRACE(name);
    const Kernel& kernel = *mutants::find(name)->kernel;
    const WorldTally found = judge_all(world, kernel, cores());
    EXPECT_GT(found.violations, 0);
    ASSERT_TRUE(found.first_violation);
    const WorldElement& first = *found.first_violation;
    const Case alone =
        world.single_case(first.pair, first.column, tilings_of(kernel, world)[first.tiling]);
    const Law* const law = find_law(first.part == Part::out ? "bound.out" : "bound.lse");
    ASSERT_NE(law, nullptr);
    EXPECT_EQ(law->check(kernel, alone).outcome, Outcome::fail);
    EXPECT_NE(law->check(*kernels::find_builtin("builtin:scalar_tree"), alone).outcome,
              Outcome::fail);
  }
}

}  // namespace
}  // namespace attest::properties
