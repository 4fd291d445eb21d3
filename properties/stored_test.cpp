// Packing, poison, backward runs, and the spelled-out form of a case.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/registry.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/random_case.hpp"
#include "properties/run_kernel.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

constexpr int kCases = 400;

Case draw_any_number(int number) {
  SeededDraw draw(mixed_seed(19, 1, static_cast<std::uint64_t>(number)));
  return draw_case(draw, all_limits());
}

TEST(Poison, IsANanOfEveryTypeThatStoringANanDoesNotGive) {
  for (const Dtype dtype : kDtypes) {
    EXPECT_TRUE(std::isnan(poison(dtype))) << to_string(dtype);
    Tensor tensor(dtype, {1, 1, 1, 3});
    fill_with_poison(tensor);
    tensor.set(0, 0, 0, 1, std::nan(""));
    EXPECT_TRUE(is_poison(tensor, 0, 0, 0, 0)) << to_string(dtype);
    EXPECT_FALSE(is_poison(tensor, 0, 0, 0, 1)) << to_string(dtype);
    EXPECT_TRUE(is_poison(tensor, 0, 0, 0, 2)) << to_string(dtype);
  }
}

/// Rows or keys of every member that exist come back bit for bit; the others are poison.
void expect_unpacked(const Tensor& got, const Tensor& want, const std::vector<Index>& lengths,
                     bool dense) {
  ASSERT_EQ(got.extents(), want.extents());
  for_each_index(want.extents(), [&](Index b, Index h, Index row, Index column) {
    if (row < lengths[static_cast<std::size_t>(b)] || dense) {
      EXPECT_EQ(got.get(b, h, row, column), want.get(b, h, row, column));
    } else {
      EXPECT_TRUE(is_poison(got, b, h, row, column));
    }
  });
}

TEST(Stored, EveryStorageGivesBackTheRowsAndKeysThatExist) {
  for (int number = 0; number < kCases; ++number) {
    const Case on = draw_any_number(number);
    const Problem& problem = on.problem;
    std::vector<Index> queries;
    std::vector<Index> keys;
    for (Index b = 0; b < problem.batch; ++b) {
      queries.push_back(problem.query_length(b));
      keys.push_back(problem.key_length(b));
    }
    expect_unpacked(unpack_rows(problem, pack_rows(problem, on.q)), on.q, queries,
                    stores_rows_densely(problem));
    expect_unpacked(unpack_keys(problem, pack_keys(problem, on.k)), on.k, keys,
                    stores_keys_densely(problem));
  }
}

TEST(Stored, BackwardWritesEveryGradientThatIsAskedFor) {
  const Kernel& kernel = *kernels::find_builtin("builtin:scalar_sequential");
  int judged = 0;
  for (int number = 0; number < 4 * kCases; ++number) {
    const Case on = draw_any_number(number);
    if (!on.problem.backward) continue;
    const GradientOutputs got = run_backward(kernel, on);
    if (got.status.code() == StatusCode::unsupported) continue;
    ASSERT_TRUE(got.status.ok()) << got.status.message();
    ++judged;
    for_each_row(on.problem, [&](const RowIndex& row) {
      EXPECT_FALSE(is_poison(got.dq, row.batch, row.head, row.query, 0));
    });
    for (Index b = 0; b < on.problem.batch; ++b)
      for (Index key = 0; key < on.problem.key_length(b); ++key) {
        EXPECT_FALSE(is_poison(got.dk, b, 0, key, 0));
        EXPECT_FALSE(is_poison(got.dv, b, 0, key, 0));
      }
    EXPECT_EQ(got.dbias.extents(), on.problem.backward->dbias ? on.bias.extents() : Extents{});
    EXPECT_EQ(got.dsink.extents(), on.problem.backward->dsink ? on.sink.extents() : Extents{});
  }
  EXPECT_GT(judged, 20);
}

/// The row's facts, without any bound to be narrow for.
std::optional<RowFacts> facts_of(const Case& on, const RowIndex& row) {
  return reference::enclose_row(inputs_of(on), row, reference::kPrecisionLadder[0]);
}

TEST(SpelledOut, IsTheSameRowWhereNothingIsRounded) {
  int compared = 0;
  for (int number = 0; number < kCases; ++number) {
    const Case on = plain_empty_rows(exactly_spellable(draw_any_number(number)));
    for (const RowIndex& row : all_rows(on.problem)) {
      if (row.query > 1 || row.head > 1) continue;
      const auto whole = facts_of(on, row);
      const auto alone = facts_of(single_row(on, row), {});
      ASSERT_EQ(whole.has_value(), alone.has_value());
      if (!whole) continue;
      ++compared;
      EXPECT_EQ(whole->keys, alone->keys);
      EXPECT_EQ(whole->score, alone->score);
      EXPECT_EQ(whole->value, alone->value);
      EXPECT_EQ(whole->lse.high, alone->lse.high);
    }
  }
  EXPECT_GT(compared, kCases);
}

}  // namespace
}  // namespace attest::properties
