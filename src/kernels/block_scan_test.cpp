#include "attest/block_scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "kernels/registry.hpp"
#include "kernels/test_examples.hpp"

namespace attest::kernels {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Owns what a BlockScan looks at.
template <class Real>
struct Scan {
  Index seq_q = 0, seq_kv = 0, head_dim = 0, block_size = 0;
  bool causal = false;
  std::vector<Real> q, k, v;

  BlockScan<Real> view() const { return {q, k, v, seq_q, seq_kv, head_dim, block_size, causal}; }
};

template <class Real>
std::vector<Real> output_of(const Scan<Real>& scan) {
  const Result<std::vector<Real>> result = block_scan(scan.view());
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result.value() : std::vector<Real>{};
}

template <class Real>
class BlockScanOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockScanOf, Reals);

template <class Real>
void expect_example(const Example& example) {
  const auto stored = [](const std::vector<float>& values) {
    return std::vector<Real>(values.begin(), values.end());
  };
  const std::vector<Real> output =
      output_of<Real>({example.seq_q, example.seq_kv, example.head_dim, example.block_size,
                       example.causal, stored(example.q), stored(example.k), stored(example.v)});
  ASSERT_THAT(output, SizeIs(example.output.size()));
  for (std::size_t i = 0; i < output.size(); ++i)
    EXPECT_NEAR(static_cast<double>(output[i]), example.output[i], example.tolerance) << i;
}

TYPED_TEST(BlockScanOf, TwoDenseBlocksGiveThePrintedOutput) {
  expect_example<TypeParam>(dense_example());
}

TYPED_TEST(BlockScanOf, ThreeCausalBlocksGiveThePrintedOutput) {
  expect_example<TypeParam>(causal_example());
}

TYPED_TEST(BlockScanOf, ScoresThatOverflowAPlainExpGiveThePrintedOutput) {
  expect_example<TypeParam>(large_scores_example());
}

template <class Real>
Scan<Real> random_scan(Index seq_q, Index seq_kv, Index head_dim, Index block_size, bool causal,
                       std::uint64_t seed) {
  SplitMix64 random(seed);
  const auto draw = [&](Index rows) {
    std::vector<Real> values(static_cast<std::size_t>(rows * head_dim));
    for (Real& value : values)  // multiples of 2^-20 in [-4, 4)
      value = static_cast<Real>(static_cast<double>(random.below(1U << 23U)) * 0x1p-20 - 4);
    return values;
  };
  return {seq_q, seq_kv, head_dim, block_size, causal, draw(seq_q), draw(seq_kv), draw(seq_kv)};
}

/// The same scan through kernel builtin:scalar_sequential.
template <class Real>
std::vector<Real> by_kernel(const Scan<Real>& scan) {
  Problem problem;
  problem.seq_q = scan.seq_q;
  problem.seq_kv = scan.seq_kv;
  problem.head_dim = problem.head_dim_v = scan.head_dim;
  problem.dtype = dtype_of<Real>();
  if (scan.causal) problem.mask.causal = Causal{Causal::Alignment::top_left, 0};
  const auto tensor = [&](const std::vector<Real>& values, const Extents& extents) {
    Tensor filled(problem.dtype, extents);
    auto next = values.begin();
    for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
      filled.set(b, h, row, column, static_cast<double>(*next++));
    });
    return filled;
  };
  const Tensor q = tensor(scan.q, problem.q_extents());
  const Tensor k = tensor(scan.k, problem.k_extents());
  const Tensor v = tensor(scan.v, problem.v_extents());
  Tensor out(problem.dtype, problem.out_extents());
  Tiling tiling;
  tiling.tile_kv = scan.block_size;
  const Status status = find_builtin("builtin:scalar_sequential")
                            ->forward(problem, tiling, {q.ref(), k.ref(), v.ref(), out.ref(), {}});
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<Real> output;
  for_each_index(out.extents(), [&](Index b, Index h, Index row, Index column) {
    output.push_back(static_cast<Real>(out.get(b, h, row, column)));
  });
  return output;
}

template <class Real>
auto bits_of(const std::vector<Real>& values) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  std::vector<Bits> bits;
  bits.reserve(values.size());
  for (const Real value : values) bits.push_back(std::bit_cast<Bits>(value));
  return bits;
}

TYPED_TEST(BlockScanOf, TheScanHasTheBitsOfTheSequentialKernelWithTilesOfTheBlockSize) {
  for (const bool causal : {false, true})
    for (const Index block_size : {1, 2, 3, 6, 12})
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const Index seq_q = causal ? 12 : 7;
        const auto scan = random_scan<TypeParam>(seq_q, 12, 5, block_size, causal, seed);
        EXPECT_EQ(bits_of(output_of(scan)), bits_of(by_kernel(scan)))
            << (causal ? "causal, " : "dense, ") << "block_size " << block_size << ", seed "
            << seed;
      }
}

TYPED_TEST(BlockScanOf, NoQueriesGiveAnEmptyOutput) {
  EXPECT_THAT(output_of(random_scan<TypeParam>(0, 6, 2, 3, false, 1)), IsEmpty());
  EXPECT_THAT(output_of(random_scan<TypeParam>(0, 0, 2, 3, true, 1)), IsEmpty());
}

TYPED_TEST(BlockScanOf, NoKeysGiveZeros) {
  const auto output = output_of(random_scan<TypeParam>(3, 0, 2, 4, false, 1));
  EXPECT_THAT(output, SizeIs(6));
  EXPECT_THAT(output, Each(TypeParam(0)));
}

/// A scan that is right: 4 queries, 4 keys, head_dim 2, blocks of 2. `change` makes it wrong.
template <class Real, class Change>
void expect_error(const std::string& text, Change&& change) {
  Scan<Real> scan = random_scan<Real>(4, 4, 2, 2, false, 1);
  change(scan);
  const Result<std::vector<Real>> result = block_scan(scan.view());
  ASSERT_FALSE(result.ok()) << "expected: " << text;
  EXPECT_EQ(result.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(result.status().message(), HasSubstr(text));
}

TYPED_TEST(BlockScanOf, ABlockSizeThatDoesNotDivideTheKeysIsAnError) {
  for (const Index block_size : {3, 5, 8})
    expect_error<TypeParam>(
        "block_size " + std::to_string(block_size) + " does not divide the 4 keys",
        [&](auto& scan) { scan.block_size = block_size; });
}

TYPED_TEST(BlockScanOf, ACausalScanNeedsAsManyQueriesAsKeys) {
  for (const Index seq_q : {0, 3, 5})
    expect_error<TypeParam>("got " + std::to_string(seq_q) + " and 4", [&](auto& scan) {
      scan = random_scan<TypeParam>(seq_q, 4, 2, 2, true, 1);
    });
}

TYPED_TEST(BlockScanOf, ASpanOfAnotherSizeThanItsShapeIsAnError) {
  const std::string text = "another size than its shape";
  for (auto Scan<TypeParam>::*span :
       {&Scan<TypeParam>::q, &Scan<TypeParam>::k, &Scan<TypeParam>::v}) {
    expect_error<TypeParam>(text, [&](auto& scan) { (scan.*span).pop_back(); });
    expect_error<TypeParam>(text, [&](auto& scan) { (scan.*span).push_back(0); });
    expect_error<TypeParam>(text, [&](auto& scan) { (scan.*span).clear(); });
  }
}

TYPED_TEST(BlockScanOf, DimensionsBelowOneAndNegativeLengthsAreErrors) {
  const std::string text = "must be at least 1, lengths not negative";
  for (const Index wrong : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()}) {
    expect_error<TypeParam>(text, [&](auto& scan) { scan.head_dim = wrong; });
    expect_error<TypeParam>(text, [&](auto& scan) { scan.block_size = wrong; });
    if (wrong == 0) continue;
    expect_error<TypeParam>(text, [&](auto& scan) { scan.seq_q = wrong; });
    expect_error<TypeParam>(text, [&](auto& scan) { scan.seq_kv = wrong; });
  }
}

TYPED_TEST(BlockScanOf, AShapeWhoseSizeOverflowsIsAnError) {
  expect_error<TypeParam>("", [](auto& scan) {
    scan.seq_q = Index{1} << 62U;  // times head_dim is 0 modulo 2^64, the size of an empty span
    scan.head_dim = 4;
    scan.q.clear();
    scan.k.resize(16);
    scan.v.resize(16);
  });
}

TYPED_TEST(BlockScanOf, AnEmptyShapeWithMoreColumnsThanAProblemMayHaveIsAnError) {
  expect_error<TypeParam>("more than 2^56 elements", [](auto& scan) {
    scan.seq_q = scan.seq_kv = 0;
    scan.head_dim = Index{1} << 57U;
    scan.q.clear();
    scan.k.clear();
    scan.v.clear();
  });
}

}  // namespace
}  // namespace attest::kernels
