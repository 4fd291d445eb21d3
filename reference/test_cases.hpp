// Problems with their tensors: hand-made, and drawn from families of random rows.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "attest/tensor.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A problem with its tensors, all zero at first.
struct Case {
  explicit Case(Problem asked)
      : problem(std::move(asked)),
        q(problem.dtype, problem.q_extents()),
        k(problem.dtype, problem.k_extents()),
        v(problem.dtype, problem.v_extents()) {
    const Status status = validate(problem);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Inputs inputs() const { return {&problem, q.ref(), k.ref(), v.ref()}; }
  std::optional<RowFacts> enclose(const RowIndex& row = {}, int bits = 128) const {
    return enclose_row(inputs(), row, bits);
  }
  RowFacts facts(const RowIndex& row = {}, int bits = 128) const {
    std::optional<RowFacts> facts = enclose(row, bits);
    EXPECT_TRUE(facts.has_value());
    return std::move(facts).value_or(RowFacts{});
  }

  Problem problem;
  Tensor q, k, v;
};

/// Sets all elements, in the order batch, head, row, column.
inline void fill(Tensor& tensor, const std::vector<double>& values) {
  auto next = values.begin();
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    tensor.set(b, h, row, column, next == values.end() ? kNan : *next++);
  });
  EXPECT_EQ(next, values.end());
}

/// One query over keys of the given scores, which are exact: head_dim 1, q = 1, scale 1.
inline Case scored(Dtype dtype, const std::vector<double>& scores,
                   const std::vector<double>& values) {
  Problem problem;
  problem.dtype = dtype;
  problem.scale = {false, 1.0};
  problem.seq_kv = static_cast<Index>(scores.size());
  problem.head_dim_v = static_cast<Index>(values.size() / scores.size());
  Case scored(problem);
  fill(scored.q, {1.0});
  fill(scored.k, scores);
  fill(scored.v, values);
  return scored;
}

/// Signs and significands at random, binary exponents uniform in [lowest, highest].
struct Magnitudes {
  int lowest = -2;
  int highest = 1;
};

inline void fill_random(Tensor& tensor, Magnitudes magnitudes, std::mt19937_64& random) {
  const auto choices = 1 + static_cast<std::uint64_t>(magnitudes.highest - magnitudes.lowest);
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    const double significand = 1 + std::ldexp(static_cast<double>(random() >> 12U), -52);
    const int exponent = magnitudes.lowest + static_cast<int>(random() % choices);
    const double sign = random() % 2 == 0 ? 1 : -1;
    tensor.set(b, h, row, column, sign * std::ldexp(significand, exponent));
  });
}

/// A family of random rows.
struct Family {
  const char* name;
  Dtype dtype;
  Index head_dim;
  Magnitudes q, k, v;
  Scale scale;
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"f32", Dtype::f32, 4, {}, {}, {}, {}},
      {"f32 spread", Dtype::f32, 3, {0, 12}, {0, 12}, {-20, 20}, {}},
      {"f32 subnormal", Dtype::f32, 2, {-149, -126}, {-149, -126}, {-149, -140}, {false, 1e38}},
      {"f32 huge", Dtype::f32, 2, {58, 60}, {58, 60}, {120, 126}, {false, 0x1.8p-118}},
      {"f64", Dtype::f64, 5, {}, {}, {}, {}},
      {"f64 spread", Dtype::f64, 3, {0, 24}, {0, 24}, {-60, 60}, {false, 0.7}},
      {"f64 subnormal", Dtype::f64, 2, {-1074, -1000}, {1000, 1020}, {-1074, -1060}, {}},
      {"f64 huge", Dtype::f64, 2, {498, 500}, {498, 500}, {1000, 1022}, {false, 0x1.4p-998}},
      {"f64 negative scale", Dtype::f64, 1, {}, {}, {}, {false, -3.1}},
      {"f64 scale zero", Dtype::f64, 4, {}, {}, {}, {false, 0}}};
  return all;
}

inline Case random_case(const Family& family, std::uint64_t seed) {
  Problem problem;
  problem.dtype = family.dtype;
  problem.scale = family.scale;
  problem.seq_kv = 9;
  problem.head_dim = family.head_dim;
  problem.head_dim_v = 2;
  Case drawn(problem);
  std::mt19937_64 random(seed);
  fill_random(drawn.q, family.q, random);
  fill_random(drawn.k, family.k, random);
  fill_random(drawn.v, family.v, random);
  return drawn;
}

template <class Body>
void for_each_random_case(Body&& body) {
  for (const Family& family : families())
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(std::string(family.name) + ", seed " + std::to_string(seed));
      body(random_case(family, seed));
    }
}

/// Two batch members, four query heads on two key/value heads.
inline Case grouped() {
  Problem problem;
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_q = 3;
  problem.seq_kv = 5;
  problem.head_dim = 3;
  problem.head_dim_v = 2;
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  Case drawn(problem);
  std::mt19937_64 random(11);
  for (Tensor* tensor : {&drawn.q, &drawn.k, &drawn.v}) fill_random(*tensor, {}, random);
  return drawn;
}

}  // namespace attest::reference
