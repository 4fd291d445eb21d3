#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/test_cases.hpp"

namespace attest::reference {
namespace {

/// An example of shared/data/seed/online-softmax-examples.json, row-major.
struct Example {
  Index seq_q = 0, seq_kv = 0, head_dim = 0;
  bool causal = false;
  int decimals = 0;
  std::vector<double> q, k, v, output;
};

Example two_blocks_dense() {
  return {.seq_q = 2,
          .seq_kv = 4,
          .head_dim = 2,
          .decimals = 5,
          .q = {1, 0, 0, 1},
          .k = {1, 0, 0, 1, 1, 1, -1, 0},
          .v = {1, 2, 3, 4, 5, 6, 7, 8},
          .output = {3.35541, 4.35541, 4.0, 5.0}};
}

Example three_blocks_causal() {
  return {.seq_q = 6,
          .seq_kv = 6,
          .head_dim = 2,
          .causal = true,
          .decimals = 6,
          .q = {0.5, -1, 1, 0.5, -0.5, 0.5, 2, 0, 0, -2, 1, 1},
          .k = {1, 0, 0, 1, -1, 1, 0.5, 0.5, 2, -1, 0, 0},
          .v = {1, 0, 0, 1, 1, 1, -1, 2, 3, -1, 0.5, 0.5},
          .output = {1.0, 0.0, 0.587479, 0.412521, 0.657204, 0.830978, 0.31529, 0.717633, 2.148492,
                     -0.43346, 0.75, 0.549444}};
}

Example scores_near_1847() {
  return {.seq_q = 1,
          .seq_kv = 4,
          .head_dim = 3,
          .decimals = 5,
          .q = {40, 40, 0},
          .k = {40, 40, 0, -40, 40, 0, 40, 39.9, 0, 0, -40, 40},
          .v = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1},
          .output = {0.90965, 0.0, 0.09035}};
}

TEST(Oracle, TheWorkedExamplesComeOutToEveryPrintedDigit) {
  for (const Example& example : {two_blocks_dense(), three_blocks_causal(), scores_near_1847()}) {
    Problem problem;
    problem.seq_q = example.seq_q;
    problem.seq_kv = example.seq_kv;
    problem.head_dim = problem.head_dim_v = example.head_dim;
    if (example.causal) problem.mask.causal = Causal{};
    Case read(problem);
    fill(read.q, example.q);
    fill(read.k, example.k);
    fill(read.v, example.v);
    const double half_a_unit = std::pow(10.0, -example.decimals) / 2;
    auto printed = example.output.begin();
    for (Index query = 0; query < problem.seq_q; ++query)
      for (const Enclosure& output : read.facts({0, 0, query}).output)
        EXPECT_LE(output.distance_lower(*printed++), half_a_unit)
            << example.seq_q << " queries, query " << query << ": " << output.high;
    EXPECT_EQ(printed, example.output.end());
  }
}

}  // namespace
}  // namespace attest::reference
