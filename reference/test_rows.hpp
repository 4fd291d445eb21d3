// Rows as numbers, by hand and at random.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "reference/row.hpp"

namespace attest::reference {

/// As many keys as k has rows of the length of q; head_dim_v is what v has left for a key.
inline Row row_of(std::vector<double> q, std::vector<double> k, std::vector<double> v) {
  Row row;
  const std::size_t keys = k.size() / q.size();
  for (std::size_t key = 0; key < keys; ++key) row.keys.push_back(static_cast<Index>(key));
  row.head_dim = static_cast<Index>(q.size());
  row.head_dim_v = static_cast<Index>(v.size() / keys);
  row.q = std::move(q);
  row.k = std::move(k);
  row.v = std::move(v);
  return row;
}

/// Keys of the given scores: head_dim 1, q = 1, scale 1.
inline Row scored_row(std::vector<double> scores, std::vector<double> values) {
  return row_of({1}, std::move(scores), std::move(values));
}

/// Exact numbers added after the softcap.
inline ScoreAddend added(std::vector<double> values) {
  return {std::move(values), false, false};
}
/// The same before the softcap.
inline ScoreAddend added_before(std::vector<double> values) {
  return {std::move(values), true, false};
}

/// Only a sink, over `columns` columns.
inline Row sink_row(double sink, Index columns) {
  Row row;
  row.sink = sink;
  row.head_dim_v = columns;
  return row;
}

/// A random double of 53 significant bits; its size is that of 2^exponent.
inline double random_double(std::mt19937_64& random, int exponent) {
  const double significand = 1 + std::ldexp(static_cast<double>(random() >> 12U), -52);
  return std::ldexp(random() % 2 == 0 ? significand : -significand, exponent);
}

/// Up to four keys, with and without softcap, addends and sink by the bits of the seed.
inline Row random_row(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t keys = 1 + random() % 4;
  const std::size_t d = 1 + random() % 3;
  const auto list = [&](std::size_t size, int spread) {
    std::vector<double> values(size);
    for (double& value : values)
      value = random_double(random, -static_cast<int>(random() % static_cast<unsigned>(spread)));
    return values;
  };
  std::vector<double> q = list(d, 30);
  std::vector<double> k = list(keys * d, 30);
  Row row = row_of(std::move(q), std::move(k), list(keys * 2, 10));
  row.scale = random_double(random, 1);
  if ((seed & 1U) != 0) row.softcap = random_double(random, 3);
  if ((seed & 2U) != 0) row.addends.push_back(added(list(keys, 4)));
  if ((seed & 8U) != 0) row.addends.push_back(added_before(list(keys, 4)));
  if ((seed & 16U) != 0) row.addends.push_back(added(list(keys, 6)));
  if ((seed & 4U) != 0) row.sink = random_double(random, -1);
  return row;
}

}  // namespace attest::reference
