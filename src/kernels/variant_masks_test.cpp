// Which keys count, by masks written out by hand. All scores are 0 and v(j) = 2^j: the output times
// the number of keys is the set of keys.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/test_variants.hpp"

namespace attest::kernels {
namespace {

using Alignment = Causal::Alignment;

struct MaskTable {
  std::string name;
  Mask mask;
  std::vector<std::string> rows;  ///< '1': visible
};

constexpr Causal kTopLeft{Alignment::top_left, 0};
constexpr Causal kBottomRight{Alignment::bottom_right, 0};

/// Masks of 4 queries and 6 keys; bottom right is an offset of 2.
std::vector<MaskTable> mask_tables() {
  std::vector<MaskTable> tables;
  const auto add = [&](std::string name, std::vector<std::string> rows) -> Mask& {
    tables.push_back({std::move(name), {}, std::move(rows)});
    return tables.back().mask;
  };
  Mask* mask = &add("left window", {"111111", "111111", "011111", "001111"});
  mask->alignment = kTopLeft;
  mask->window.left = 1;
  mask = &add("two-sided window", {"001100", "000110", "000011", "000001"});
  mask->alignment = kBottomRight;
  mask->window = {0, 1};
  mask = &add("causal window", {"011000", "001100", "000110", "000011"});
  mask->causal = kBottomRight;
  mask->window.left = 1;
  mask = &add("causal window with a first token", {"111000", "101100", "100110", "100011"});
  mask->causal = kBottomRight;
  mask->window.left = 1;
  mask->keep_first = 1;
  mask = &add("prefix", {"110000", "110000", "111000", "111100"});
  mask->causal = kTopLeft;
  mask->prefix = 2;
  mask = &add("chunks", {"110000", "110000", "001100", "001100"});
  mask->alignment = kTopLeft;
  mask->chunk = 2;
  mask = &add("causal chunks", {"111000", "000100", "000110", "000111"});
  mask->causal = kBottomRight;
  mask->chunk = 3;
  mask = &add("documents", {"100100", "100100", "011001", "000000"});
  mask->segments = Segments{{1, 1, 2, 3}, {1, 2, 2, 1, 0, 2}};
  mask = &add("blocks", {"110011", "110011", "001100", "001100"});
  mask->blocks = BlockMask{2, 2, 2, 3, {true, false, true, false, true, false}};
  mask = &add("additive", {"101011", "101011", "101011", "101011"});
  mask->additive = AdditiveMask{1, 6, {0, kMinusInfinity, 0, kMinusInfinity, 0, 0}};
  mask = &add("bits within a window", {"010000", "001000", "000110", "000001"});
  mask->causal = kBottomRight;
  mask->window.left = 1;
  mask->bits = MaskBits{4, 6, std::vector<bool>(24, true)};
  for (const int at : {2, 9, 23 - 1}) mask->bits->visible[static_cast<std::size_t>(at)] = false;
  return tables;
}

struct Expected {
  double output = 0;
  double lse = kMinusInfinity;
};

/// One division and one logarithm of small integers.
template <class Real>
Expected expected_of(const std::string& row) {
  Real sum = 0;
  Real count = 0;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (row[j] == '1') {
      sum += std::ldexp(Real(1), static_cast<int>(j));
      ++count;
    }
  if (count == 0) return {};
  return {static_cast<double>(sum / count), static_cast<double>(std::log(count))};
}

Expected expected_of(Dtype dtype, const std::string& row) {
  return with_real_type(dtype, [&](auto real) { return expected_of<decltype(real)>(row); });
}

TEST(EveryVariant, CountsTheKeysOfTheMaskAndReadsNoOther) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const MaskTable& table : mask_tables())
      for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
        SCOPED_TRACE(table.name);
        Problem problem = plain_problem(dtype, 4, 6);
        problem.mask = table.mask;
        problem.bias = Bias{.per_batch = false, .per_head = true, .per_query = true, .dtype = {}};
        for (Index query = 0; query < 4; ++query) {
          // Only what this query sees is no poison.
          const std::string& row = table.rows[static_cast<std::size_t>(query)];
          VariantCase call(problem, tiling);
          for_each_row(problem, [&](const RowIndex& of_row) {
            const auto [b, h, i] = of_row;
            call.set_row(call.q, {b, h, i}, 0, 0);
          });
          for (Index key = 0; key < 6; ++key) {
            if (row[static_cast<std::size_t>(key)] != '1') continue;
            call.set_key(call.k, 0, 0, key, 1);
            call.set_key(call.v, 0, 0, key, std::ldexp(1.0, static_cast<int>(key)));
            call.bias.set(0, 0, query, key, 0);
          }
          call.run(kernel);
          const Expected expected = expected_of(dtype, row);
          EXPECT_EQ(call.out_at({0, 0, query}), expected.output) << query;
          EXPECT_EQ(call.lse_at({0, 0, query}), expected.lse) << query;
        }
      }
  });
}

TEST(EveryVariant, RejectsARowOfAnyMaskThatSeesNothing) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 4, 6);
    problem.batch = problem.heads_q = 2;
    problem.mask.segments = Segments{{1, 1, 2, 3}, {1, 2, 2, 1, 0, 2}};
    problem.all_masked = AllMaskedPolicy::reject;
    VariantCase call(problem, tiling);
    const Tensor out = call.out;
    const Status status = call.forward(kernel);
    EXPECT_EQ(status.code(), StatusCode::all_masked_row);
    EXPECT_EQ(status.row(), (RowIndex{0, 0, 3}));
    EXPECT_EQ(call.out.bytes(), out.bytes());
    problem.query_lengths = {3, 3};  // the row does not exist
    VariantCase shorter(problem, tiling);
    shorter.set_scores(0, 0);
    shorter.set_values_to_powers();
    shorter.run(kernel);
  });
}

}  // namespace
}  // namespace attest::kernels
