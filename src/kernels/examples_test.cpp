// Every kernel on the worked examples.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/test_cases.hpp"
#include "kernels/test_examples.hpp"

namespace attest::kernels {
namespace {

/// Under every tiling: tiles, kv splits (more than keys, and empty ones) and merge orders.
void expect_example(const Example& example) {
  const std::string shape = "1x1:" + std::to_string(example.seq_q) + "x" +
                            std::to_string(example.seq_kv) + ":" + std::to_string(example.head_dim);
  const std::string mask = example.causal ? " mask=causal:tl" : "";
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
          for (std::size_t i = 0; i < output.size(); ++i)
            EXPECT_NEAR(output[i], example.output[i], example.tolerance) << i;
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
