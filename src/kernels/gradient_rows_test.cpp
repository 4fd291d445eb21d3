// What a backward pass reads and writes, and which calls it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_gradients.hpp"
#include "kernels/test_storages.hpp"

namespace attest::kernels {
namespace {

using testing::HasSubstr;

/// The problem of test_storages.hpp with a bias and gradients. Query 0 of member 0 sees no key
/// (bottom right of 4 queries and 3 keys), and so do all queries of member 2.
Problem ragged_gradients(Dtype dtype) {
  Problem problem = ragged_problem(dtype);
  problem.bias = Bias{.per_batch = true, .per_head = false, .per_query = true, .dtype = {}};
  problem.backward = Backward{.dbias = true, .dsink = false, .dlse = true};
  return problem;
}

bool sees_keys(Index b, Index query) {
  return b == 1 || (b == 0 && query > 0);
}

/// Rows without keys keep their poison in out, lse, dout and dlse; pairs that are not visible keep
/// it in the bias.
GradientCase numbered_gradients(const Problem& problem, const Tiling& tiling) {
  GradientCase call(problem, tiling);
  const Tensor out = call.forward.out;
  const Tensor lse = call.forward.lse;
  call.forward = numbered_case(problem, tiling);
  call.forward.out = out;
  call.forward.lse = lse;
  for_each_row(problem, [&](const RowIndex& of_row) {
    const auto [b, h, query] = of_row;
    for (Index key = 0; key < problem.key_length(b); ++key)
      if (visible(problem, b, query, key))
        call.forward.bias.set(b, 0, query, key, number_at(7, {b, 0, query}, key));
    if (!sees_keys(b, query)) return;
    const RowIndex row{b, h, query};
    call.set_row(call.forward.lse, row, number_at(4, row, 0));
    call.set_row(call.dlse, row, number_at(5, row, 0));
    for (Index c = 0; c < problem.head_dim_v; ++c) {
      call.forward.set_row(call.forward.out, row, c, number_at(6, row, c));
      call.forward.set_row(call.dout, row, c, number_at(8, row, c));
    }
  });
  return call;
}

TEST(GradientRows, HaveTheBitsOfTheDenseCallFromAnyStorage) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16}) {
      const Problem problem = ragged_gradients(dtype);
      GradientCase dense = numbered_gradients(problem, tiling);
      dense.run(kernel);
      for (const Storage& storage : storages()) {
        SCOPED_TRACE(storage.name);
        Problem other = problem;
        storage.apply(other);
        GradientCase stored = numbered_gradients(other, tiling);
        stored.run(kernel);
        for_each_row(problem, [&](const RowIndex& of_row) {
          const auto [b, h, query] = of_row;
          for (Index c = 0; c < problem.head_dim; ++c) {
            const double got = stored.row_of(stored.dq, {b, h, query}, c);
            EXPECT_EQ(got, dense.row_of(dense.dq, {b, h, query}, c));
            EXPECT_TRUE(sees_keys(b, query) || got == 0);
          }
        });
        for_each_key(problem, [&](Index b, Index h, Index key) {
          for (Index c = 0; c < problem.head_dim; ++c)
            EXPECT_EQ(stored.key_of(stored.dk, {b, h, key}, c),
                      dense.key_of(dense.dk, {b, h, key}, c));
          for (Index c = 0; c < problem.head_dim_v; ++c)
            EXPECT_EQ(stored.key_of(stored.dv, {b, h, key}, c),
                      dense.key_of(dense.dv, {b, h, key}, c));
        });
        EXPECT_EQ(stored.dbias.bytes(), dense.dbias.bytes());
        EXPECT_EQ(written_elements(stored.dq), 4 * (4 + 2 + 3) * problem.head_dim);
        EXPECT_EQ(written_elements(stored.dk), 2 * (3 + 5) * problem.head_dim);
        EXPECT_EQ(written_elements(stored.dv), 2 * (3 + 5) * problem.head_dim_v);
      }
      EXPECT_EQ(written_elements(dense.dbias), 3 * 4 * 5);
    }
  });
}

TEST(GradientRows, OfAPageThatTwoMembersShareAddUp) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 1, 4);
    problem.scale.value = 2;
    problem.batch = 2;
    problem.key_lengths = {4, 3};
    problem.kv = {KvStorage::Kind::paged, 2, 4, {{2, 0}, {2, 3}}};
    problem.backward = Backward{};
    GradientCase call(problem, tiling);
    call.forward.set_scores(1, 1);
    for_each_key(problem, [&](Index b, Index h, Index key) {
      call.forward.set_key(call.forward.v, b, h, key, 1);
    });
    for (Index b = 0; b < 2; ++b) {
      call.set_row(call.forward.out, {b, 0, 0}, 0);
      call.set_row(call.forward.lse, {b, 0, 0}, 2);  // the score of every pair: weights of 1
      call.set_row(call.dout, {b, 0, 0}, b == 0 ? 3 : 5);
    }
    call.run(kernel);
    const double sums[4][2] = {{3, 3}, {kBefore, kBefore}, {8, 8}, {5, kBefore}};
    for (Index page = 0; page < 4; ++page)
      for (Index slot = 0; slot < 2; ++slot) {
        const double sum = sums[page][slot];
        EXPECT_EQ(call.dv.get(page, 0, slot, 0), sum) << page << ", " << slot;
        EXPECT_EQ(call.dk.get(page, 0, slot, 0), sum == kBefore ? kBefore : 2 * sum)
            << page << ", " << slot;
      }
    EXPECT_EQ(call.row_of(call.dq, {0, 0, 0}), 2 * 4 * 3);
    EXPECT_EQ(call.row_of(call.dq, {1, 0, 0}), 2 * 3 * 5);
  });
}

TEST(GradientRows, OfKeysThatNobodySeesAreZero) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 2, 3);
    problem.mask.bits = MaskBits{1, 3, {true, false, true}};
    problem.backward = Backward{};
    GradientCase call(problem, tiling);
    call.forward.set_scores(1, 1);
    call.forward.set_values_to_powers();
    for (Tensor* tensor : {&call.forward.k, &call.forward.v})
      call.forward.set_key(*tensor, 0, 0, 1, kPoison);
    call.forward.run(kernel);
    for (Index query = 0; query < 2; ++query) call.set_row(call.dout, {0, 0, query}, 1);
    call.run(kernel);
    EXPECT_EQ(call.key_of(call.dk, {0, 0, 1}), 0);
    EXPECT_EQ(call.key_of(call.dv, {0, 0, 1}), 0);
    for (const Tensor* tensor : {&call.dq, &call.dk, &call.dv})
      for_each_index(tensor->extents(), [&](Index b, Index h, Index row, Index column) {
        EXPECT_TRUE(std::isfinite(tensor->get(b, h, row, column)));
      });
  });
}

/// Key 77 is seen by query 100 alone and query 3 sees key 5 alone; about half of all other pairs
/// are visible. More rows and keys than any block or tile of registers.
Problem scattered_problem(Dtype dtype) {
  Problem problem = plain_problem(dtype, 130, 150);
  problem.head_dim = 5;
  problem.head_dim_v = 7;
  problem.mask.bits = MaskBits{130, 150, {}};
  for (Index query = 0; query < 130; ++query)
    for (Index key = 0; key < 150; ++key) {
      bool visible = number_at(9, {0, 0, query}, key) > 0;
      if (key == 77) visible = query == 100;
      if (query == 3) visible = key == 5;
      problem.mask.bits->visible.push_back(visible);
    }
  problem.backward = Backward{};
  return problem;
}

TEST(GradientRows, KeepTheirBitsWhereWhatTheyDoNotSeeIsNotFinite) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const Problem problem = scattered_problem(dtype);
      GradientCase call(problem, tiling);
      const Tensor out = call.forward.out;
      const Tensor lse = call.forward.lse;
      call.forward = numbered_case(problem, tiling);
      call.forward.out = out;
      call.forward.lse = lse;
      call.forward.run(kernel);
      for (Index query = 0; query < 130; ++query)
        for (Index c = 0; c < 7; ++c)
          call.forward.set_row(call.dout, {0, 0, query}, c, number_at(8, {0, 0, query}, c));
      call.run(kernel);
      const GradientCase finite = call;
      for (Tensor* tensor : {&call.forward.k, &call.forward.v})
        call.forward.set_key(*tensor, 0, 0, 77, kPoison);
      call.set_row(call.forward.q, {0, 0, 3}, kPoison);
      call.set_row(call.dout, {0, 0, 3}, -kMinusInfinity);
      call.run(kernel);
      for (Index query = 0; query < 130; ++query)
        for (Index c = 0; c < 5 && query != 3 && query != 100; ++c)
          EXPECT_EQ(call.row_of(call.dq, {0, 0, query}, c),
                    finite.row_of(finite.dq, {0, 0, query}, c));
      for (Index key = 0; key < 150; ++key) {
        if (key == 77 || key == 5) continue;
        for (Index c = 0; c < 5; ++c)
          EXPECT_EQ(call.key_of(call.dk, {0, 0, key}, c), finite.key_of(finite.dk, {0, 0, key}, c));
        for (Index c = 0; c < 7; ++c)
          EXPECT_EQ(call.key_of(call.dv, {0, 0, key}, c), finite.key_of(finite.dv, {0, 0, key}, c));
      }
      EXPECT_TRUE(std::isnan(call.row_of(call.dq, {0, 0, 100})));
      EXPECT_TRUE(std::isnan(call.key_of(call.dk, {0, 0, 5})));
    }
  });
}

TEST(GradientRows, OfKAndVAreApartWhereVIsAViewOfK) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 1, 1);
    problem.head_dim = 3;
    problem.head_dim_v = 2;
    problem.v_is_k_view = true;
    problem.scale.value = 0;
    problem.bias = Bias{};
    problem.backward = Backward{.dbias = true, .dsink = false, .dlse = false};
    GradientCase call(problem, tiling);
    call.forward.set_scores(1, 3);
    VariantCase::set_all(call.forward.bias, 0);
    call.set_row(call.forward.out, {0, 0, 0}, 1);
    call.set_row(call.forward.lse, {0, 0, 0}, 0);
    call.set_row(call.dout, {0, 0, 0}, 2);
    call.run(kernel);
    EXPECT_EQ(call.dbias.get(0, 0, 0, 0), 2 * 2 * 3 - 2 * 2 * 1);
    EXPECT_EQ(written_elements(call.dk), 3);
    EXPECT_EQ(written_elements(call.dv), 2);
    EXPECT_EQ(call.dk.get(0, 0, 0, 2), 0);
    EXPECT_EQ(call.dv.get(0, 0, 0, 1), 2);
  });
}

TEST(GradientRows, AreRefusedAsAWholeWhereTheCallIs) {
  const auto expect_refused = [](const Kernel& kernel, GradientCase& call, StatusCode code,
                                 const char* text) {
    const Status status = call.backward(kernel);
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.message(), HasSubstr(text));
    for (const Tensor* result : {&call.dq, &call.dk, &call.dv})
      EXPECT_EQ(written_elements(*result), 0);
  };
  for (const Kernel* kernel : kernels_of_every_variant()) {
    Problem problem = ragged_gradients(Dtype::f32);
    problem.all_masked = AllMaskedPolicy::reject;
    GradientCase empty = numbered_gradients(problem, {});
    expect_refused(*kernel, empty, StatusCode::all_masked_row, "query 0");
    EXPECT_EQ(empty.backward(*kernel).row(), (RowIndex{0, 0, 0}));
    problem = ragged_gradients(Dtype::f32);
    problem.sink = Sink{.zero = false, .in_lse = false};
    GradientCase uncounted(problem);
    expect_refused(*kernel, uncounted, StatusCode::invalid_argument, "counts the sink");
    GradientCase null = numbered_gradients(ragged_gradients(Dtype::f32), {});
    BackwardViews views = null.views();
    views.dv.data = nullptr;
    EXPECT_EQ(kernel->backward(null.problem(), null.forward.tiling, views).code(),
              StatusCode::invalid_argument);
    EXPECT_EQ(written_elements(null.dq), 0);
  }
  Problem problem = plain_problem(Dtype::f32, 1, 1);
  problem.backward = Backward{};
  GradientCase call(problem);
  expect_refused(*find_builtin("builtin:flash_exp2"), call, StatusCode::unsupported, "backward");
}

TEST(GradientRows, AreDeclaredEachWithItsOwnFormat) {
  for (const Kernel* kernel : kernels_of_every_variant()) {
    Problem problem = plain_problem(Dtype::f32, 1, 1);
    problem.head_dim_v = 3;
    problem.backward = Backward{};
    DeclaredGradientAccuracy accuracy = kernel->gradient_accuracy(problem);
    for (const auto& format : {accuracy.output_format, accuracy.dk_format, accuracy.dv_format})
      EXPECT_EQ(format, kF32);
    EXPECT_EQ(accuracy.scale_roundings, 0);
    EXPECT_EQ(accuracy.delta_roundings, 3);
    EXPECT_EQ(accuracy.value_dot_roundings, 3);
    problem.scale.value = 0.3;
    problem.k_storage = Dtype::bf16;
    problem.v_storage = Dtype::f16;
    accuracy = kernel->gradient_accuracy(problem);
    EXPECT_EQ(accuracy.scale_roundings, 1);
    EXPECT_EQ(accuracy.output_format, kF32);
    EXPECT_EQ(accuracy.dk_format, kBf16);
    EXPECT_EQ(accuracy.dv_format, kF16);
  }
}

}  // namespace
}  // namespace attest::kernels
