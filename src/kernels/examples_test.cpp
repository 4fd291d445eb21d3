// Every kernel on the worked examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/test_cases.hpp"
#include "kernels/test_examples.hpp"

namespace attest::kernels {
namespace {

/// What narrow formats may add to the tolerance of an example of n keys with |v| <= largest.
/// Weights off by a share r of row_sum >= 1 move an average of v by at most 2 r / (1 - r) *
/// largest, as both sums may be off; the output format then rounds a number below largest + that.
double narrow_slack(const DeclaredAccuracy& accuracy, double n, double largest) {
  double slack = 0;
  if (accuracy.weight_cast) {
    const WeightCast& cast = *accuracy.weight_cast;
    const double share = cast.format.unit_roundoff +
                         n * std::ldexp(cast.format.rounding_underflow, -cast.offset_log2);
    slack = 2 * share / (1 - share) * largest;
  }
  if (accuracy.output_format)
    slack += accuracy.output_format->unit_roundoff * (largest + slack) +
             accuracy.output_format->rounding_underflow;
  return slack;
}

/// Under every tiling: tiles, kv splits (more than keys, and empty ones) and merge orders.
void expect_example(const Example& example) {
  const std::string shape = "1x1:" + std::to_string(example.seq_q) + "x" +
                            std::to_string(example.seq_kv) + ":" + std::to_string(example.head_dim);
  const std::string mask = example.causal ? " mask=causal:tl" : "";
  double largest = 0;
  for (const float value : example.v) largest = std::max(largest, std::abs(double{value}));
  for_each_kernel_and_dtype([&](const Kernel& kernel, const std::string& dtype) {
    const std::string problem = shape + " " + dtype + mask;
    for (const char* tile : {"1", "2", "3x4", "16"})
      for (const char* split : {"1", "2", "3", "9", "at:0,1,1,4"})
        for (const char* merge : {"left", "right", "balanced", "random:1", "random:2"}) {
          std::string line = problem;
          line.append(" tile=").append(tile).append(" split=").append(split);
          line.append(" merge=").append(merge);
          SCOPED_TRACE(line);
          Case read = random_case(line);
          const auto copy = [](const std::vector<float>& from, Tensor& to) {
            auto next = from.begin();
            Case::fill(to, [&] { return static_cast<double>(*next++); });
            EXPECT_EQ(next, from.end());
          };
          copy(example.q, read.q);
          copy(example.k, read.k);
          copy(example.v, read.v);
          read.run(kernel);
          const std::vector<double> output = values_of(read.out);
          ASSERT_EQ(output.size(), example.output.size());
          const double tolerance =
              example.tolerance + narrow_slack(kernel.accuracy(read.problem),
                                               static_cast<double>(example.seq_kv), largest);
          for (std::size_t i = 0; i < output.size(); ++i)
            EXPECT_NEAR(output[i], example.output[i], tolerance) << i;
        }
  });
}

TEST(EveryKernel, GivesThePrintedOutputOfTheDenseExample) {
  expect_example(dense_example());
}

TEST(EveryKernel, GivesThePrintedOutputOfTheCausalExample) {
  expect_example(causal_example());
}

TEST(EveryKernel, GivesThePrintedOutputOfScoresThatOverflowAPlainExp) {
  expect_example(large_scores_example());
}

}  // namespace
}  // namespace attest::kernels
