// The worked examples of shared/data/seed/online-softmax-examples.json.
#pragma once

#include <vector>

#include "attest/problem.hpp"

namespace attest::kernels {

/// Row-major; the inputs are stored as float. The tolerance is the file's own.
struct Example {
  Index seq_q = 0, seq_kv = 0, head_dim = 0, block_size = 2;
  bool causal = false;
  std::vector<float> q, k, v;
  std::vector<double> output;
  double tolerance = 0;
};

inline Example dense_example() {
  return {.seq_q = 2,
          .seq_kv = 4,
          .head_dim = 2,
          .q = {1, 0, 0, 1},
          .k = {1, 0, 0, 1, 1, 1, -1, 0},
          .v = {1, 2, 3, 4, 5, 6, 7, 8},
          .output = {3.35541, 4.35541, 4.0, 5.0},
          .tolerance = 6e-6};
}

inline Example causal_example() {
  return {.seq_q = 6,
          .seq_kv = 6,
          .head_dim = 2,
          .causal = true,
          .q = {0.5, -1, 1, 0.5, -0.5, 0.5, 2, 0, 0, -2, 1, 1},
          .k = {1, 0, 0, 1, -1, 1, 0.5, 0.5, 2, -1, 0, 0},
          .v = {1, 0, 0, 1, 1, 1, -1, 2, 3, -1, 0.5, 0.5},
          .output = {1.0, 0.0, 0.587479, 0.412521, 0.657204, 0.830978, 0.31529, 0.717633, 2.148492,
                     -0.43346, 0.75, 0.549444},
          .tolerance = 1e-6};
}

/// Scores near 1847, so that a plain exp overflows.
inline Example large_scores_example() {
  return {.seq_q = 1,
          .seq_kv = 4,
          .head_dim = 3,
          .q = {40, 40, 0},
          .k = {40, 40, 0, -40, 40, 0, 40, 39.9F, 0, 0, -40, 40},
          .v = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1},
          .output = {0.90965, 0.0, 0.09035},
          .tolerance = 3e-5};
}

}  // namespace attest::kernels
