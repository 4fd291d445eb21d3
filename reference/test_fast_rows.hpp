// Random rows of hard shapes, and what the fast oracle must say of a row whose truth is known.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attest/error_bound.hpp"
#include "reference/row.hpp"

namespace attest::reference {

/// How the numbers of a row are drawn. `f32`: all of them are floats.
struct RowShape {
  const char* name;
  bool f32 = true;
  double q = 1, k = 1;             ///< standard deviations
  std::pair<int, int> v = {0, 0};  ///< binary exponents of the values, uniform
  double softcap = 0;
  double bias = 0;    ///< standard deviation of what is added after the softcap; 0: none
  bool sink = false;  ///< standard normal
  /// What is special, after all of it is drawn.
  std::function<void(Row&, std::mt19937_64&)> arrange = nullptr;
};

/// The rows whose truth the fast path must contain.
const std::vector<RowShape>& row_shapes();

/// n in [1, 600], head_dim in [1, 96], head_dim_v in [1, 40], mostly small.
Row draw_row(const RowShape& shape, std::uint64_t seed);

/// What `facts` says wrongly or too weakly, when `truth` is the row at 384 bits; one text each.
std::vector<std::string> weaknesses(const RowFacts& facts, const RowFacts& truth, const Row& row);

/// Whether the two enclosures of one number cannot both be right.
bool contradict(const Enclosure& left, const Enclosure& right);

}  // namespace attest::reference
