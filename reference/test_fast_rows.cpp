#include "reference/test_fast_rows.hpp"

#include <limits>

namespace attest::reference {
namespace {

double normal(std::mt19937_64& random, double deviation, bool f32) {
  const double value = std::normal_distribution<double>(0, deviation)(random);
  return f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void equal_scores(Row& row, std::mt19937_64& /*random*/) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  for (std::size_t i = d; i < row.k.size(); ++i) row.k[i] = row.k[i - d];
}

/// Sets k_j = (x_j, 0, ...) and q = (1, 0, ...) for the scores x_j, with scale 1.
void set_scores(Row& row, const std::function<double(std::size_t)>& score) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  std::fill(row.q.begin(), row.q.end(), 0.0);
  std::fill(row.k.begin(), row.k.end(), 0.0);
  row.q[0] = row.scale = 1;
  for (std::size_t j = 0; j < row.keys.size(); ++j) row.k[j * d] = score(j);
}

void ascending(Row& row, std::mt19937_64& /*random*/) {
  set_scores(row, [](std::size_t j) { return 0.25 * static_cast<double>(j); });
}

/// Weights down to below the smallest double, and scores beyond every range.
void spread_beyond_exp(Row& row, std::mt19937_64& random) {
  set_scores(row, [&](std::size_t j) {
    return static_cast<double>(
        static_cast<float>(j % 7 == 0 ? -1e6 : -static_cast<double>(random() % 800000) / 1000));
  });
}

/// The same with scores that no double holds, so that a double-word is needed for s_j - M as well.
void spread_of_long_scores(Row& row, std::mt19937_64& random) {
  set_scores(
      row, [&](std::size_t /*j*/) { return 1e9 - static_cast<double>(random() % 2400000) / 1000; });
  row.scale = 1 / 3.0;
}

/// Distances to the maximum on both sides of where weights are dropped.
void around_the_edge(Row& row, std::mt19937_64& random) {
  set_scores(row, [&](std::size_t j) {
    return j == 0 ? 0.0 : -600 + (static_cast<double>(random() % 64) - 32) * 0x1p-44;
  });
}

/// Pairs of coordinates cancel in every score, up to the last bits.
void cancelling_scores(Row& row, std::mt19937_64& /*random*/) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  for (std::size_t c = 1; c < d; c += 2) {
    row.q[c] = -row.q[c - 1];
    for (std::size_t j = 0; j < row.keys.size(); ++j)
      row.k[j * d + c] = row.k[j * d + c - 1] * (1 + 0x1p-20);
  }
}

/// Equal keys in pairs with opposite values: outputs near zero.
void cancelling_values(Row& row, std::mt19937_64& /*random*/) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  for (std::size_t j = 1; j < row.keys.size(); j += 2) {
    std::copy_n(row.k.begin() + static_cast<Index>((j - 1) * d), d,
                row.k.begin() + static_cast<Index>(j * d));
    for (std::size_t c = 0; c < columns; ++c)
      row.v[j * columns + c] = -row.v[(j - 1) * columns + c] * (c % 3 == 0 ? 1 : 1 + 0x1p-23);
  }
}

void constant_values(Row& row, std::mt19937_64& /*random*/) {
  std::fill(row.v.begin(), row.v.end(), 0x1.921fb6p+1);
}

/// A mask of finite numbers before the softcap, and two addends after it.
void several_addends(Row& row, std::mt19937_64& random) {
  ScoreAddend mask{{}, true, false};
  ScoreAddend alibi{{}, false, true};
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    mask.value.push_back(random() % 4 == 0 ? -1e4 : normal(random, 1, false));
    alibi.value.push_back(-0.1 * static_cast<double>(j));
  }
  row.addends.push_back(std::move(mask));
  row.addends.push_back(std::move(alibi));
}

void zero_values(Row& row, std::mt19937_64& /*random*/) {
  std::fill(row.v.begin(), row.v.end(), 0.0);
}

}  // namespace

const std::vector<RowShape>& row_shapes() {
  static const std::vector<RowShape> all{
      {"f32", true, 1, 1},
      {"f32, tiny scores", true, 1e-3, 1e-3},
      {"f32, large scores", true, 30, 30},
      {"f32, huge scores", true, 1e3, 1e3},
      {"f64", false, 1, 1},
      {"f64, tiny scores", false, 1e-3, 1e-3},
      {"f64, large scores", false, 30, 30},
      {"f64, huge scores", false, 1e3, 1e3},
      {"f64, products underflow", false, 1e-160, 1e-160},
      {"f32, huge range of values", true, 1, 1, {-120, 120}},
      {"f32, subnormal values", true, 1, 1, {-149, -130}},
      {"f64, huge range of values", false, 1, 1, {-600, 600}},
      {"f64, largest values", false, 1, 1, {900, 980}},
      {"equal scores", true, 1, 1, {0, 0}, 0, 0, false, equal_scores},
      {"ascending scores", true, 1, 1, {0, 0}, 0, 0, false, ascending},
      {"spread beyond exp", true, 1, 1, {-40, 40}, 0, 0, false, spread_beyond_exp},
      {"spread of long scores", false, 1, 1, {-4, 4}, 0, 0, false, spread_of_long_scores},
      {"around the edge of dropped weights", false, 1, 1, {0, 0}, 0, 0, false, around_the_edge},
      {"cancelling scores", true, 10, 10, {0, 0}, 0, 0, false, cancelling_scores},
      {"cancelling scores, f64", false, 10, 10, {0, 0}, 0, 0, false, cancelling_scores},
      {"cancelling values", true, 1, 1, {0, 0}, 0, 0, false, cancelling_values},
      {"constant values", true, 1, 1, {0, 0}, 0, 0, false, constant_values},
      {"zero values", true, 1, 1, {0, 0}, 0, 0, false, zero_values},
      {"softcap", true, 3, 3, {0, 0}, 30},
      {"softcap, saturated", true, 100, 100, {0, 0}, -5, 1, true},
      {"softcap, nearly linear", false, 0.1, 0.1, {0, 0}, 50, 0, true},
      {"bias", false, 1, 1, {0, 0}, 0, 3},
      {"bias and sink", true, 1, 1, {0, 0}, 0, 100, true},
      {"addends", false, 1, 1, {0, 0}, 0, 3, false, several_addends},
      {"addends around a softcap", true, 2, 2, {0, 0}, 20, 3, true, several_addends},
      {"sink", true, 4, 4, {-10, 10}, 0, 0, true}};
  return all;
}

Row draw_row(const RowShape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed * 977 + static_cast<std::uint64_t>(shape.name[0]));
  const auto size = [&](std::size_t largest) {  // each power of two is as likely
    const std::size_t top = std::size_t{1} << (random() % 11);
    return 1 + random() % std::min(top, largest);
  };
  Row row;
  const std::size_t n = size(600);
  const std::size_t d = size(96);
  const std::size_t columns = size(40);
  row.head_dim = static_cast<Index>(d);
  row.head_dim_v = static_cast<Index>(columns);
  row.exact_products = shape.f32;
  row.scale = seed % 3 == 0 ? -0.7 : 1 / std::sqrt(static_cast<double>(d));
  row.softcap = shape.softcap;
  for (std::size_t j = 0; j < n; ++j) row.keys.push_back(static_cast<Index>(j));
  for (std::size_t i = 0; i < d; ++i) row.q.push_back(normal(random, shape.q, shape.f32));
  for (std::size_t i = 0; i < n * d; ++i) row.k.push_back(normal(random, shape.k, shape.f32));
  std::uniform_int_distribution<int> exponent(shape.v.first, shape.v.second);
  for (std::size_t i = 0; i < n * columns; ++i) {
    const double value = std::ldexp(normal(random, 1, shape.f32), exponent(random));
    row.v.push_back(shape.f32 ? static_cast<double>(static_cast<float>(value)) : value);
  }
  if (shape.bias != 0) {
    ScoreAddend& bias = row.addends.emplace_back();
    for (std::size_t j = 0; j < n; ++j) bias.value.push_back(normal(random, shape.bias, false));
  }
  if (shape.sink) row.sink = normal(random, 1, false);
  if (shape.arrange) shape.arrange(row, random);
  return row;
}

}  // namespace attest::reference
