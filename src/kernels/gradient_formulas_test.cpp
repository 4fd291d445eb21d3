// Gradients by closed forms. The backward pass takes the lse as it is given, so an lse that equals
// a score makes its weight exactly 1, and all numbers below are exact.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_gradients.hpp"

namespace attest::kernels {
namespace {

Problem gradient_problem(Dtype dtype, Index seq_q, Index seq_kv) {
  Problem problem = plain_problem(dtype, seq_q, seq_kv);
  problem.backward = Backward{};
  return problem;
}

template <class Body>
void for_each_call(Body&& body) {
  for_each_kernel_and_tiling([&](const Kernel& kernel, const Tiling& tiling) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(to_string(dtype));
      body(kernel, tiling, dtype);
    }
  });
}

/// Equal, but for functions of a kernel's own that are within `relative` of those of the library.
void expect_computed(const Kernel& kernel, double got, double want, double relative) {
  if (is_simd(kernel))
    EXPECT_LE(std::abs(got - want), relative * std::abs(want));
  else
    EXPECT_EQ(got, want);
}
/// What exp and tanh of the library are off by, in units of u: 1 ulp, and 3 (row_access.hpp).
constexpr double kLibraryExp = 2;
constexpr double kLibraryTanh = 6;

/// q = 1, k(j) = j, v(j) = 2^j; out, dout, lse as given for all rows.
GradientCase powers_case(const Problem& problem, const Tiling& tiling, double out, double lse) {
  GradientCase call(problem, tiling);
  call.forward.set_scores(1, 0);
  for_each_key(problem, [&](Index b, Index h, Index key) {
    call.forward.set_key(call.forward.k, b, h, key, static_cast<double>(key));
  });
  call.forward.set_values_to_powers();
  for_each_row(problem, [&](const RowIndex& of_row) {
    const auto [b, h, query] = of_row;
    call.set_row(call.forward.out, {b, h, query}, out);
    call.set_row(call.forward.lse, {b, h, query}, lse);
    call.set_row(call.dout, {b, h, query}, 1);
  });
  return call;
}

TEST(Gradients, OfOneKeyAreThoseOfItsValueAlone) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    Problem problem = gradient_problem(dtype, 3, 1);
    problem.head_dim = problem.head_dim_v = 2;
    GradientCase call(problem, tiling);
    call.forward.set_scores(1.5, 0.75);
    for (Index c = 0; c < 2; ++c) call.forward.v.set(0, 0, 0, c, c == 0 ? 3 : -7);
    call.forward.run(kernel);
    for (Index query = 0; query < 3; ++query)
      for (Index c = 0; c < 2; ++c)
        call.forward.set_row(call.dout, {0, 0, query}, c, static_cast<double>(query + 2 * c + 1));
    call.run(kernel);
    for (Index c = 0; c < 2; ++c) {
      for (Index query = 0; query < 3; ++query)
        EXPECT_EQ(call.row_of(call.dq, {0, 0, query}, c), 0);
      EXPECT_EQ(call.key_of(call.dk, {0, 0, 0}, c), 0);
      EXPECT_EQ(call.key_of(call.dv, {0, 0, 0}, c), c == 0 ? 1 + 2 + 3 : 3 + 4 + 5);
    }
  });
}

TEST(Gradients, OfScoresVanishWhereAllValuesAreEqual) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    GradientCase call(gradient_problem(dtype, 2, 5), tiling);
    call.forward.set_scores(0.5, 0);
    for (Index key = 0; key < 5; ++key) {
      call.forward.set_key(call.forward.k, 0, 0, key, static_cast<double>(key));
      call.forward.set_key(call.forward.v, 0, 0, key, 1);
    }
    call.forward.run(kernel);
    for (Index query = 0; query < 2; ++query) {
      // Not of every kernel: weights and values may be added up in different orders.
      if (is_simd(kernel)) call.set_row(call.forward.out, {0, 0, query}, 1);
      EXPECT_EQ(call.row_of(call.forward.out, {0, 0, query}), 1);
      call.set_row(call.dout, {0, 0, query}, 3);
    }
    call.run(kernel);
    for (Index query = 0; query < 2; ++query) EXPECT_EQ(call.row_of(call.dq, {0, 0, query}), 0);
    for (Index key = 0; key < 5; ++key) EXPECT_EQ(call.key_of(call.dk, {0, 0, key}), 0);
  });
}

TEST(Gradients, FollowTheFormulas) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    // Scores 0 and lse 0: weights 1. D = 4, T = 2^j - 4.
    Problem problem = gradient_problem(dtype, 2, 4);
    problem.scale.value = 0;
    GradientCase zero = powers_case(problem, tiling, 4, 0);
    zero.run(kernel);
    EXPECT_EQ(zero.row_of(zero.dq, {0, 0, 1}), 0);
    EXPECT_EQ(zero.key_of(zero.dv, {0, 0, 3}), 2);
    // A bias that undoes the scores keeps the weights 1 at a scale of 0.5.
    problem.scale.value = 0.5;
    problem.bias = Bias{};
    problem.backward->dbias = true;
    GradientCase call = powers_case(problem, tiling, 4, 0);
    for (Index key = 0; key < 4; ++key)
      call.forward.bias.set(0, 0, 0, key, -0.5 * static_cast<double>(key));
    call.run(kernel);
    const double t[] = {1 - 4, 2 - 4, 4 - 4, 8 - 4};
    for (Index query = 0; query < 2; ++query)
      EXPECT_EQ(call.row_of(call.dq, {0, 0, query}), 0.5 * (t[1] + 2 * t[2] + 3 * t[3]));
    for (Index key = 0; key < 4; ++key) {
      EXPECT_EQ(call.key_of(call.dk, {0, 0, key}), 0.5 * 2 * t[key]);
      EXPECT_EQ(call.key_of(call.dv, {0, 0, key}), 2);
      EXPECT_EQ(call.dbias.get(0, 0, 0, key), 2 * t[key]);
    }
  });
}

TEST(Gradients, ThroughTheLseAreTheWeights) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    Problem problem = gradient_problem(dtype, 1, 2);
    problem.bias = Bias{};
    problem.backward = Backward{.dbias = true, .dsink = false, .dlse = true};
    GradientCase call = powers_case(problem, tiling, 1, 0);
    // Scores 0 and ln 3: weights 1/4 and 3/4, but for the roundings of log and exp.
    const auto check = [&](auto real) {
      using Real = decltype(real);
      const Real scores[] = {0, std::log(Real(3))};
      const Real lse = std::log(Real(4));
      call.forward.set_scores(0, 0);
      for (Index key = 0; key < 2; ++key)
        call.forward.bias.set(0, 0, 0, key, static_cast<double>(scores[key]));
      call.set_row(call.forward.lse, {0, 0, 0}, static_cast<double>(lse));
      call.set_row(call.dout, {0, 0, 0}, 0);
      call.set_row(call.dlse, {0, 0, 0}, 1);
      call.run(kernel);
      const DeclaredGradientAccuracy declared = kernel.gradient_accuracy(problem);
      const double u = declared.format.unit_roundoff;
      const double relative = (declared.exp_relative_error + kLibraryExp * u) * (1 + 16 * u);
      for (Index key = 0; key < 2; ++key)
        expect_computed(kernel, call.dbias.get(0, 0, 0, key),
                        static_cast<double>(std::exp(scores[key] - lse)), relative);
    };
    with_real_type(dtype, check);
  });
}

TEST(Gradients, PassTheSoftcapByItsDerivative) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    for (const bool before : {false, true}) {
      Problem problem = gradient_problem(dtype, 1, 1);
      problem.softcap = 2;
      problem.bias = Bias{};
      problem.order.bias_before_softcap = before;
      problem.backward->dbias = true;
      const auto check = [&](auto real) {
        using Real = decltype(real);
        // The score before the softcap is 3, or 3 and a bias of 1; D = 0 and T = 2^0 = 1.
        const Real ratio_before = Real(before ? 4 : 3) / 2;
        const Real capped = 2 * std::tanh(ratio_before);
        const Real lse = before ? capped : capped + 1;
        GradientCase call = powers_case(problem, tiling, 0, static_cast<double>(lse));
        call.forward.set_scores(3, 1);
        VariantCase::set_all(call.forward.bias, 1);
        call.run(kernel);
        const Real ratio = capped / 2;
        const Real slope = 1 - ratio * ratio;
        // Relative: c of either side, exp(c - lse) where c is off, and the slope; each with the
        // roundings around it, and a factor for terms of second order.
        const DeclaredGradientAccuracy declared = kernel.gradient_accuracy(problem);
        const double u = declared.format.unit_roundoff;
        const double of_c = declared.tanh_relative_error + (kLibraryTanh + 4) * u;
        const double of_weight =
            (static_cast<double>(capped) * of_c + declared.exp_relative_error + 4 * u) * 1.01;
        const auto square = static_cast<double>(ratio * ratio);
        const double of_slope =
            of_weight + (2 * square * of_c + 6 * u) / static_cast<double>(slope) * 1.01;
        expect_computed(kernel, call.key_of(call.dk, {0, 0, 0}), static_cast<double>(slope * 3),
                        of_slope);
        expect_computed(kernel, call.row_of(call.dq, {0, 0, 0}), static_cast<double>(slope),
                        of_slope);
        expect_computed(kernel, call.dbias.get(0, 0, 0, 0),
                        static_cast<double>(before ? slope : Real(1)),
                        before ? of_slope : of_weight);
      };
      with_real_type(dtype, check);
    }
  });
}

TEST(Gradients, OfASinkAreMinusItsWeightTimesDelta) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    for (const Index keys : {Index{0}, Index{3}}) {
      Problem problem = gradient_problem(dtype, 3, 3);
      problem.heads_q = 2;
      problem.key_lengths = {keys};
      problem.sink = Sink{};
      problem.backward = Backward{.dbias = false, .dsink = true, .dlse = true};
      GradientCase call = powers_case(problem, tiling, 5, 1);
      VariantCase::set_all(call.forward.sink, 1);  // the weight of the sink is 1
      for_each_row(problem, [&](const RowIndex& of_row) {
        const auto [b, h, query] = of_row;
        call.set_row(call.dlse, {b, h, query}, static_cast<double>(h * query));
      });
      call.run(kernel);
      EXPECT_EQ(call.dsink.get(0, 0, 0, 0), -(5 * 3));
      EXPECT_EQ(call.dsink.get(0, 1, 0, 0), -(5 * 3 - 0 - 1 - 2));
    }
  });
}

TEST(Gradients, OfKeysAddUpOverTheHeadsOfAGroup) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    Problem problem = gradient_problem(dtype, 2, 2);
    problem.batch = 2;
    problem.heads_q = 6;
    problem.heads_kv = 2;
    problem.scale.value = 0;
    GradientCase call = powers_case(problem, tiling, 1, 0);
    for_each_row(problem, [&](const RowIndex& of_row) {
      const auto [b, h, query] = of_row;
      call.set_row(call.dout, {b, h, query}, static_cast<double>((b + 1) * (1 << h)));
    });
    call.run(kernel);
    for_each_key(problem, [&](Index b, Index h, Index key) {
      EXPECT_EQ(call.key_of(call.dv, {b, h, key}), 2 * static_cast<double>((b + 1) * (7 << 3 * h)));
    });
  });
}

TEST(Gradients, OfABiasAddUpOverTheAxesThatItDoesNotHave) {
  for_each_call([](const Kernel& kernel, const Tiling& tiling, Dtype dtype) {
    for (int axes = 0; axes < 8; ++axes) {
      Problem problem = gradient_problem(dtype, 3, 2);
      problem.batch = problem.heads_q = 2;
      problem.query_lengths = {3, 2};
      problem.scale.value = 0;
      problem.bias = Bias{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, {}};
      problem.backward->dbias = true;
      GradientCase call = powers_case(problem, tiling, 0, 0);
      VariantCase::set_all(call.forward.bias, 0);
      Tensor expected(problem.compute_dtype(), problem.bias_extents());
      const auto gradient = [](Index b, Index h, Index query) {
        return static_cast<double>(1 << (6 * b + 3 * h + query));
      };
      for_each_row(problem, [&](const RowIndex& of_row) {
        const auto [b, h, query] = of_row;
        call.set_row(call.dout, {b, h, query}, gradient(b, h, query));
        for (Index key = 0; key < 2; ++key) {
          const Index at[] = {problem.bias->per_batch ? b : 0, problem.bias->per_head ? h : 0,
                              problem.bias->per_query ? query : 0};
          const double sum = expected.get(at[0], at[1], at[2], key);
          expected.set(at[0], at[1], at[2], key, sum + gradient(b, h, query) * (key == 0 ? 1 : 2));
        }
      });
      call.run(kernel);
      for_each_index(expected.extents(), [&](Index b, Index h, Index row, Index key) {
        EXPECT_EQ(call.dbias.get(b, h, row, key), expected.get(b, h, row, key));
      });
    }
  });
}

}  // namespace
}  // namespace attest::kernels
