// Which numbers are read, and from where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::Eq;

TEST(Oracle, AVisibleNumberThatIsNotFiniteHasNoExactRow) {
  const auto rule = [](const RowFacts& facts) { return uniform_bound(facts, 1, 1); };
  for (const double special : {kNan, kInfinity, -kInfinity})
    for (Tensor Case::*tensor : {&Case::q, &Case::k, &Case::v}) {
      Case drawn = random_case(families()[0], 5);
      (drawn.*tensor).set(0, 0, 0, 1, special);
      EXPECT_FALSE(drawn.enclose().has_value());
      EXPECT_FALSE(certify_row(drawn.inputs(), {}, rule).has_value());
    }
}

TEST(Oracle, AScoreBeyondTheDoublesHasNoExactRow) {
  Case drawn = scored(Dtype::f64, {0x1p1000, 1}, {1, 2});
  drawn.q.set(0, 0, 0, 0, 0x1p23);
  EXPECT_TRUE(drawn.enclose().has_value());
  drawn.q.set(0, 0, 0, 0, 0x1p24);
  EXPECT_FALSE(drawn.enclose().has_value());
}

TEST(Oracle, WhatAnExcludedKeyHoldsDoesNotMatter) {
  for (int part = 0; part < 3; ++part) {
    Case drawn = random_case(families()[0], 6);
    if (part == 0) drawn.problem.key_lengths = {8};
    if (part == 1) drawn.problem.mask.causal = Causal{Causal::Alignment::explicit_offset, 7};
    if (part == 2) {
      drawn.problem.mask.bits = MaskBits{1, 9, std::vector<bool>(9, true)};
      drawn.problem.mask.bits->visible[8] = false;
    }
    const RowFacts clean = drawn.facts();
    ASSERT_EQ(clean.visible_keys(), 8);
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      for (Index c = 0; c < 4; ++c) drawn.k.set(0, 0, 8, c, special);
      for (Index c = 0; c < 2; ++c) drawn.v.set(0, 0, 8, c, special);
      EXPECT_EQ(bits_of(drawn.facts()), bits_of(clean));
    }
  }
}

TEST(Oracle, AQueryHeadReadsTheKeyValueHeadOfItsGroup) {
  const Case all = grouped();
  for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
    Problem problem = all.problem;
    problem.batch = problem.heads_q = problem.heads_kv = 1;
    Case alone(problem);
    const Index kv_head = h < 2 ? 0 : 1;
    const auto copy = [b](const Tensor& from, Index head, Tensor& to) {
      for_each_index(to.extents(), [&](Index, Index, Index row, Index column) {
        to.set(0, 0, row, column, from.get(b, head, row, column));
      });
    };
    copy(all.q, h, alone.q);
    copy(all.k, kv_head, alone.k);
    copy(all.v, kv_head, alone.v);
    EXPECT_EQ(bits_of(all.facts({b, h, query})), bits_of(alone.facts({0, 0, query})));
  });
}

TEST(Oracle, StridesChangeNothing) {
  const Case dense = grouped();
  const auto scattered = [](const Tensor& from) {
    const Extents& extents = from.extents();  // columns outermost, a gap after every element
    const Strides strides{2, 2 * extents[0], 2 * extents[0] * extents[1],
                          2 * extents[0] * extents[1] * extents[2]};
    Tensor to(from.dtype(), extents, strides, 2 * extents[0] * strides[3]);
    for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
      to.set(b, h, row, column, from.get(b, h, row, column));
    });
    return to;
  };
  Case strided = dense;
  strided.q = scattered(dense.q);
  strided.k = scattered(dense.k);
  strided.v = scattered(dense.v);
  for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
    EXPECT_EQ(bits_of(strided.facts({b, h, query})), bits_of(dense.facts({b, h, query})));
  });
}

TEST(Oracle, RowsEvaluatedOnManyThreadsHaveTheBitsOfOneThread) {
  const Case drawn = grouped();
  const auto all_rows = [&] {
    std::vector<std::vector<std::uint64_t>> rows;
    for (const int bits : kPrecisionLadder)
      for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
        rows.push_back(bits_of(enclose_row(drawn.inputs(), {b, h, query}, bits).value()));
      });
    return rows;
  };
  const auto expected = all_rows();
  std::vector<std::vector<std::vector<std::uint64_t>>> found(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(found.size());
    for (auto& rows : found) threads.emplace_back([&rows, &all_rows] { rows = all_rows(); });
  }
  EXPECT_THAT(found, Each(Eq(expected)));
}

}  // namespace
}  // namespace attest::reference
