// Scores, sinks and forms of the lse, by closed forms. Where a row sees one key its lse is the
// score of this key, because ln 1 = 0.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "kernels/test_variants.hpp"

namespace attest::kernels {
namespace {

constexpr Index kQueries = 2;
constexpr Index kKeys = 3;
constexpr double kBias[kQueries][kKeys] = {{0.5, -1, 2}, {3, 0.25, -4}};
constexpr double kMask[kQueries][kKeys] = {{1, -2, 0.5}, {0, 8, -0.75}};
constexpr double kSlope = 0.375;
/// q k of every pair, with scale 0.5.
constexpr double kDot = 3;

/// Score of a pair from its place.
using ScoreOf = std::function<double(Index query, Index key)>;

/// What tanh of a kernel and of the library (6 u) may put between two scores: each caps at
/// `softcap` and rounds beside it. Additions of at most 16 in all follow.
double capped_difference(const Kernel& kernel, const Problem& problem) {
  if (!is_simd(kernel) || problem.softcap == 0) return 0;
  const DeclaredAccuracy accuracy = kernel.accuracy(problem);
  const double u = accuracy.format.unit_roundoff;
  return problem.softcap * (accuracy.tanh_relative_error + 10 * u) + 4 * u * (problem.softcap + 16);
}

/// Checks the score of every pair: a mask leaves one key a row.
void expect_scores(const Kernel& kernel, Problem problem, const ScoreOf& score) {
  problem.scale.value = 0.5;
  for (Index key = 0; key < kKeys; ++key) {
    problem.mask.bits = MaskBits{1, kKeys, std::vector<bool>(kKeys)};
    problem.mask.bits->visible[static_cast<std::size_t>(key)] = true;
    VariantCase call(problem);
    call.set_scores(1.5, 4);
    call.set_values_to_powers();
    if (problem.bias)
      for_each_index(call.bias.extents(), [&](Index b, Index h, Index row, Index column) {
        call.bias.set(b, h, row, column, kBias[row][column]);
      });
    call.run(kernel);
    for (Index query = 0; query < kQueries; ++query)
      EXPECT_LE(std::abs(call.lse_at({0, 0, query}) - score(query, key)),
                capped_difference(kernel, problem))
          << query << ", " << key;
  }
}

Problem problem_of_terms(Dtype dtype) {
  return plain_problem(dtype, kQueries, kKeys);
}

void add_bias(Problem& problem) {
  problem.bias = Bias{.per_batch = false, .per_head = false, .per_query = true, .dtype = {}};
}

void add_mask(Problem& problem) {
  AdditiveMask mask{kQueries, kKeys, {}};
  for (const auto& row : kMask) mask.value.insert(mask.value.end(), row, row + kKeys);
  problem.mask.additive = mask;
}

template <class Body>
void for_each_kernel_of_every_variant(Body&& body) {
  for (const Kernel* kernel : kernels_of_every_variant())
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(kernel->description().name + ", " + std::string(to_string(dtype)));
      body(*kernel, dtype);
    }
}

/// cap * tanh(x / cap) in the arithmetic of a type.
double softcapped(Dtype dtype, double cap, double x) {
  return with_real_type(dtype, [&](auto real) {
    using Real = decltype(real);
    const auto to = static_cast<Real>(cap);
    return static_cast<double>(to * std::tanh(static_cast<Real>(x) / to));
  });
}

TEST(EveryVariant, AddsBiasAndMaskToTheScore) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    Problem problem = problem_of_terms(dtype);
    expect_scores(kernel, problem, [](Index, Index) { return kDot; });
    add_bias(problem);
    expect_scores(kernel, problem, [](Index i, Index j) { return kDot + kBias[i][j]; });
    add_mask(problem);
    expect_scores(kernel, problem,
                  [](Index i, Index j) { return kDot + kBias[i][j] + kMask[i][j]; });
  });
}

TEST(EveryVariant, ReadsBiasesOfNarrowTypes) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    Problem problem = problem_of_terms(dtype);
    add_bias(problem);
    for (const Dtype narrow : {Dtype::bf16, Dtype::f16}) {
      problem.bias->dtype = narrow;  // every number of kBias is one of it
      expect_scores(kernel, problem, [](Index i, Index j) { return kDot + kBias[i][j]; });
    }
  });
}

TEST(EveryVariant, AddsAlibiInEveryForm) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    Problem problem = problem_of_terms(dtype);
    using Form = Alibi::Form;
    const auto term = [](Form form, Index distance, Index key) {
      if (form == Form::column) return kSlope * static_cast<double>(key);
      return -kSlope * static_cast<double>(form == Form::absolute ? std::abs(distance) : distance);
    };
    for (const Form form : {Form::absolute, Form::relative, Form::column})
      for (const bool bottom_right : {false, true}) {
        const auto alignment =
            bottom_right ? Causal::Alignment::bottom_right : Causal::Alignment::top_left;
        problem.alibi = Alibi{{kSlope}, form, alignment};
        const Index offset = bottom_right ? kKeys - kQueries : 0;
        expect_scores(kernel, problem,
                      [&](Index i, Index j) { return kDot + term(form, i + offset - j, j); });
      }
  });
}

TEST(EveryVariant, CapsBetweenTheAdditionsThatComeBeforeAndAfter) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    Problem problem = problem_of_terms(dtype);
    problem.softcap = 2;
    const auto cap = [&](double x) { return softcapped(dtype, 2, x); };
    const auto rounded = [&](double x) { return rounded_to(dtype, x); };
    expect_scores(kernel, problem, [&](Index, Index) { return cap(kDot); });
    add_bias(problem);
    add_mask(problem);
    problem.alibi = Alibi{{kSlope}, Alibi::Form::column, Causal::Alignment::top_left};
    const auto alibi = [](Index j) { return kSlope * static_cast<double>(j); };
    expect_scores(kernel, problem, [&](Index i, Index j) {
      return rounded(rounded(rounded(cap(kDot) + kBias[i][j]) + alibi(j)) + kMask[i][j]);
    });
    problem.order.bias_before_softcap = true;
    expect_scores(kernel, problem, [&](Index i, Index j) {
      return rounded(rounded(cap(kDot + kBias[i][j]) + alibi(j)) + kMask[i][j]);
    });
    problem.order = {.alibi_before_softcap = true};
    expect_scores(kernel, problem, [&](Index i, Index j) {
      return rounded(rounded(cap(kDot + alibi(j)) + kBias[i][j]) + kMask[i][j]);
    });
    problem.order = {true, true, true};
    expect_scores(kernel, problem, [&](Index i, Index j) {
      return cap(kDot + kBias[i][j] + alibi(j) + kMask[i][j]);
    });
  });
}

TEST(EveryVariant, BroadcastsTheBiasOverTheAxesThatItDoesNotHave) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    for (int axes = 0; axes < 8; ++axes) {
      Problem problem = plain_problem(dtype, 2, 1);
      problem.batch = problem.heads_q = 2;
      problem.bias = Bias{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, {}};
      VariantCase call(problem);
      call.set_scores(0, 0);
      call.set_values_to_powers();
      const auto place = [](Index b, Index h, Index row) {
        return static_cast<double>(100 * b + 10 * h + row + 1);
      };
      for_each_index(call.bias.extents(), [&](Index b, Index h, Index row, Index column) {
        call.bias.set(b, h, row, column, place(b, h, row));
      });
      call.run(kernel);
      for_each_row(problem, [&](const RowIndex& of_row) {
        const auto [b, h, query] = of_row;
        EXPECT_EQ(call.lse_at({b, h, query}),
                  place(problem.bias->per_batch ? b : 0, problem.bias->per_head ? h : 0,
                        problem.bias->per_query ? query : 0));
      });
    }
  });
}

TEST(EveryVariant, AddsTheSecondDotProductBeforeTheScale) {
  for_each_kernel_of_every_variant([](const Kernel& kernel, Dtype dtype) {
    Problem problem = plain_problem(dtype, 1, 1);
    problem.qv = true;
    problem.head_dim_v = 2;
    problem.scale.value = 0.5;
    VariantCase call(problem);
    call.set_scores(3, 5);
    call.set_key(call.v, 0, 0, 0, 7);
    call.set_row(call.qv, {0, 0, 0}, 0, 2);
    call.set_row(call.qv, {0, 0, 0}, 1, -4);
    call.run(kernel);
    EXPECT_EQ(call.lse_at({0, 0, 0}), 0.5 * (3 * 5 + 2 * 7 - 4 * 7));
    EXPECT_EQ(call.out_at({0, 0, 0}, 1), 7);
  });
}

/// Three keys of score 0 and value 1, and the logit of the sink.
VariantCase sink_case(Dtype dtype, const Tiling& tiling, const Sink& sink, double logit) {
  Problem problem = plain_problem(dtype, 1, 3);
  problem.sink = sink;
  VariantCase call(problem, tiling);
  call.set_scores(0, 0);
  for_each_key(problem, [&](Index b, Index h, Index key) { call.set_key(call.v, b, h, key, 1); });
  VariantCase::set_all(call.sink, logit);
  return call;
}

TEST(EveryVariant, CountsTheSinkOnceAndInTheLseOnlyWhereSaid) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const auto log_of = [&](double x) {
        return with_real_type(dtype, [&](auto real) {
          return static_cast<double>(std::log(static_cast<decltype(real)>(x)));
        });
      };
      for (const bool zero : {false, true}) {
        VariantCase counted = sink_case(dtype, tiling, {zero, true}, 0);
        counted.run(kernel);
        EXPECT_EQ(counted.out_at({0, 0, 0}), 0.75);
        EXPECT_EQ(counted.lse_at({0, 0, 0}), log_of(4));
        VariantCase left_out = sink_case(dtype, tiling, {zero, false}, 0);
        left_out.run(kernel);
        EXPECT_EQ(left_out.out_at({0, 0, 0}), 0.75);
        EXPECT_EQ(left_out.lse_at({0, 0, 0}), log_of(3));
      }
      // exp(-1000) is 0 in both types.
      VariantCase dominant = sink_case(dtype, tiling, {false, true}, 1000);
      dominant.run(kernel);
      EXPECT_EQ(dominant.out_at({0, 0, 0}), 0);
      EXPECT_EQ(dominant.lse_at({0, 0, 0}), 1000);
      VariantCase hidden = sink_case(dtype, tiling, {false, false}, 1000);
      hidden.run(kernel);
      EXPECT_EQ(hidden.lse_at({0, 0, 0}), log_of(3));
      VariantCase negligible = sink_case(dtype, tiling, {false, true}, -1000);
      negligible.run(kernel);
      EXPECT_EQ(negligible.out_at({0, 0, 0}), 1);
      EXPECT_EQ(negligible.lse_at({0, 0, 0}), log_of(3));
    }
  });
}

TEST(EveryVariant, GivesARowOfTheSinkAloneZeroAndItsLogit) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    for (const bool in_lse : {false, true}) {
      Problem problem = plain_problem(Dtype::f32, 2, 3);
      problem.heads_q = 2;
      problem.sink = Sink{false, in_lse};
      problem.key_lengths = {0};
      problem.all_masked = AllMaskedPolicy::reject;  // no row is empty
      VariantCase call(problem, tiling);
      call.set_scores(0, 0);
      call.sink.set(0, 0, 0, 0, 2.5);
      call.sink.set(0, 1, 0, 0, -3);
      call.run(kernel);
      for_each_row(problem, [&](const RowIndex& of_row) {
        const auto [b, h, query] = of_row;
        EXPECT_EQ(call.out_at({b, h, query}), 0);
        EXPECT_EQ(call.lse_at({b, h, query}), in_lse ? (h == 0 ? 2.5 : -3) : kMinusInfinity);
      });
    }
  });
}

TEST(EveryVariant, WritesTheFormOfTheLseThatIsAskedFor) {
  for_each_kernel_and_tiling([](const Kernel& kernel, const Tiling& tiling) {
    Problem problem = plain_problem(Dtype::f32, 2, 3);
    problem.mask.bits = MaskBits{2, 3, {true, true, true, false, false, false}};
    const auto run = [&](LseForm form) {
      problem.lse = form;
      VariantCase call(problem, tiling);
      call.set_scores(2, 4);
      call.set_values_to_powers();
      call.run(kernel);
      return call;
    };
    const float natural = 8 + std::log(3.0F);
    const VariantCase base_e = run(LseForm::natural);
    EXPECT_EQ(base_e.lse_at({0, 0, 0}), static_cast<double>(natural));
    EXPECT_EQ(base_e.lse_at({0, 0, 1}), kMinusInfinity);
    const VariantCase base_two = run(LseForm::base_two);
    EXPECT_EQ(base_two.lse_at({0, 0, 0}),
              static_cast<double>(natural * std::numbers::log2e_v<float>));
    EXPECT_EQ(base_two.lse_at({0, 0, 1}), kMinusInfinity);
    const VariantCase pair = run(LseForm::max_sum);
    EXPECT_EQ(pair.lse_at({0, 0, 0}, 0), 8);
    EXPECT_EQ(pair.lse_at({0, 0, 0}, 1), 3);
    EXPECT_EQ(pair.lse_at({0, 0, 1}, 0), kMinusInfinity);
    EXPECT_EQ(pair.lse_at({0, 0, 1}, 1), 0);
  });
}

}  // namespace
}  // namespace attest::kernels
