// Layouts, lengths, paged and padded caches, element types: the numbers are those of a dense call,
// what belongs to no row is neither read nor written.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/stored_places.hpp"
#include "kernels/test_storages.hpp"

namespace attest::kernels {
namespace {

bool same_place(const StoredRow& left, const StoredRow& right) {
  return left.b == right.b && left.row == right.row;
}

TEST(StoredPlaces, AreThoseOfTheProblem) {
  std::vector<Problem> problems{ragged_problem(Dtype::f32)};
  for (const Storage& storage : storages()) {
    problems.push_back(ragged_problem(Dtype::f32));
    storage.apply(problems.back());
  }
  Problem even = ragged_problem(Dtype::f32);
  even.layout.order = Layout::Order::thd;
  even.query_lengths.clear();
  even.key_lengths.clear();
  problems.push_back(even);
  Index packed = 0;
  for (const Problem& problem : problems) {
    const StoredPlaces places(problem);
    if (problem.layout.order == Layout::Order::thd) ++packed;
    for (Index b = 0; b < problem.batch; ++b) {
      for (Index query = 0; query < problem.query_length(b); ++query)
        EXPECT_TRUE(same_place(places.query(b, query), stored_query(problem, b, query)));
      for (Index key = 0; key < problem.key_length(b); ++key)
        EXPECT_TRUE(same_place(places.key(b, key), stored_key(problem, b, key)));
    }
  }
  EXPECT_GE(packed, 2) << "no ragged and packed storage was compared";
}

TEST(EveryVariant, GivesTheBitsOfTheDenseCallFromAnyStorage) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16}) {
      const Problem problem = ragged_problem(dtype);
      VariantCase dense = numbered_case(problem, tiling);
      dense.run(kernel);
      const Index rows = 4 * (4 + 2 + 3);
      EXPECT_EQ(written_elements(dense.out), 2 * rows);
      EXPECT_EQ(written_elements(dense.lse), rows);
      for (const Storage& storage : storages()) {
        SCOPED_TRACE(storage.name);
        Problem other = problem;
        storage.apply(other);
        VariantCase stored = numbered_case(other, tiling);
        stored.run(kernel);
        for_each_row(problem, [&](const RowIndex& of_row) {
          const auto [b, h, query] = of_row;
          const RowIndex row{b, h, query};
          for (Index c = 0; c < 2; ++c) EXPECT_EQ(stored.out_at(row, c), dense.out_at(row, c));
          EXPECT_EQ(stored.lse_at(row), dense.lse_at(row));
        });
        EXPECT_EQ(written_elements(stored.out), 2 * rows);
        EXPECT_EQ(written_elements(stored.lse), rows);
      }
    }
  });
}

TEST(EveryVariant, ReadsAPageThatTwoMembersShare) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 1, 4);
    problem.batch = 2;
    problem.key_lengths = {4, 3};
    problem.kv = {KvStorage::Kind::paged, 2, 4, {{2, 0}, {2, 3}}};
    VariantCase call(problem, tiling);
    call.set_scores(0, 0);
    const double values[] = {1, 2, 4, 8, 16};  // page 2, page 0, first slot of page 3
    for (Index key = 0; key < 4; ++key) call.set_key(call.v, 0, 0, key, values[key]);
    call.set_key(call.v, 1, 0, 2, values[4]);
    call.run(kernel);
    EXPECT_EQ(call.out_at({0, 0, 0}), 15.0 / 4);
    EXPECT_EQ(call.out_at({1, 0, 0}), static_cast<double>(19.0F / 3));
  });
}

TEST(EveryVariant, ReadsVFromK) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::bf16, 1, 2);
    problem.head_dim = 3;
    problem.head_dim_v = 2;
    problem.v_is_k_view = true;
    VariantCase call(problem, tiling);
    call.set_scores(0, 0);
    for (Index key = 0; key < 2; ++key)
      for (Index c = 0; c < 3; ++c) call.k.set(0, 0, key, c, static_cast<double>(10 * key + c));
    call.run(kernel);
    EXPECT_EQ(call.out_at({0, 0, 0}, 0), 5);
    EXPECT_EQ(call.out_at({0, 0, 0}, 1), 6);
  });
}

TEST(EveryVariant, AppliesDescalesOfMembersAndHeads) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::e4m3, Dtype::e5m2}) {
      Problem problem = plain_problem(dtype, 1, 1);
      problem.batch = problem.heads_kv = 2;
      problem.heads_q = 4;
      problem.descales = Descales{{1, 2, 4, 8}, {3}, {0.5, 0.25, 1, 6}};
      problem.out_storage = Dtype::f32;
      VariantCase call(problem, tiling);
      call.set_scores(1.5, 2);
      for_each_key(problem,
                   [&](Index b, Index h, Index key) { call.set_key(call.v, b, h, key, 14); });
      call.run(kernel);
      for_each_row(problem, [&](const RowIndex& of_row) {
        const auto [b, h, query] = of_row;
        const auto at = static_cast<std::size_t>(2 * b + h / 2);
        EXPECT_EQ(call.lse_at({b, h, query}), 1.5 * problem.descales->q[at] * 2 * 3);
        EXPECT_EQ(call.out_at({b, h, query}), 14 * problem.descales->v[at]);
      });
    }
  });
}

TEST(EveryVariant, RoundsTheOutputOnceToItsType) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype out : {Dtype::bf16, Dtype::f16, Dtype::f32, Dtype::f64})
      for (const Dtype input : {Dtype::f32, Dtype::f64}) {
        Problem problem = plain_problem(input, 1, 2);
        problem.out_storage = out;
        VariantCase call(problem, tiling);
        call.set_scores(0, 0);
        // The mean, 1 + 2^-8 + 2^-20, is a little more than half of a spacing of bf16 above 1.
        call.set_key(call.v, 0, 0, 0, 1);
        call.set_key(call.v, 0, 0, 1, 1 + 0x1p-7 + 0x1p-19);
        call.run(kernel);
        EXPECT_EQ(call.out_at({0, 0, 0}), rounded_to(out, 1 + 0x1p-8 + 0x1p-20));
      }
  });
}

TEST(EveryVariant, ReadsEveryInputInItsOwnType) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    const Dtype narrow[] = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::e4m3, Dtype::e5m2};
    for (const Dtype of_q : narrow)
      for (const Dtype of_k : narrow)
        for (const Dtype of_v : narrow) {
          Problem problem = plain_problem(of_q, 1, 1);
          problem.k_storage = of_k;
          problem.v_storage = of_v;
          VariantCase call(problem, tiling);
          call.set_scores(1.5, -1.25);
          call.set_key(call.v, 0, 0, 0, 1.75);
          call.run(kernel);
          EXPECT_EQ(call.lse_at({0, 0, 0}), 1.5 * -1.25);
          EXPECT_EQ(call.out_at({0, 0, 0}), 1.75);
        }
  });
}

TEST(EveryVariant, DeclaresTheRoundingsOfItsReads) {
  // A scale that multiplies the queries is counted apart.
  const auto dot_roundings = [](const Kernel& kernel, const Problem& problem) {
    const DeclaredAccuracy accuracy = kernel.accuracy(problem);
    return accuracy.dot_roundings + (accuracy.scaled_query_error == 0 ? 0 : 1);
  };
  for (const Kernel* kernel : kernels_of_every_variant()) {
    Problem problem = plain_problem(Dtype::e4m3, 1, 1);
    problem.head_dim = 5;
    problem.head_dim_v = 3;
    problem.descales = Descales{{2}, {4}, {8}};
    EXPECT_EQ(dot_roundings(*kernel, problem), 5);
    EXPECT_EQ(kernel->accuracy(problem).value_relative_error, 0);
    EXPECT_EQ(kernel->accuracy(problem).output_format, kBf16);
    problem.descales = Descales{{3}, {5}, {7}};
    problem.scale.value = 0.3;
    EXPECT_EQ(dot_roundings(*kernel, problem), 5 + 2 + 1);
    EXPECT_EQ(kernel->accuracy(problem).value_relative_error, kF32.unit_roundoff);
    EXPECT_EQ(kernel->accuracy(problem).bias_relative_error, 0);
    problem.qv = true;
    problem.alibi = Alibi{};
    problem.out_storage = Dtype::f64;
    EXPECT_EQ(dot_roundings(*kernel, problem), 8 + 2 + 1);
    EXPECT_EQ(kernel->accuracy(problem).bias_relative_error, kF32.unit_roundoff);
    EXPECT_EQ(kernel->accuracy(problem).output_format, std::nullopt);
  }
}

}  // namespace
}  // namespace attest::kernels
