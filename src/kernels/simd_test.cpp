// What only the SIMD kernels promise: the target that was asked for, the same bits for any number
// of threads, and memory that does not grow with the keys.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attest/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/simd_dispatch.hpp"
#include "kernels/simd_forward.hpp"
#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

template <class Body>
void for_each_simd_kernel(Body&& body) {
  for_each_kernel([&](const Kernel& kernel) {
    if (kernel.description().name.starts_with("builtin:simd")) body(kernel);
  });
}

TEST(Simd, EveryTargetIsAKernelAndRunsWhenItIsAskedFor) {
  ASSERT_FALSE(target_names().empty());
  for (const std::string& name : target_names()) {
    ASSERT_NE(find_builtin("builtin:simd/" + name), nullptr) << name;
    for (const char* dtype : {"f32", "f64"}) {
      Case one = random_case(std::string("1x1:3x5:4 ") + dtype);
      const std::int64_t target = find_target(name).value();
      std::int64_t ran_on = 0;
      const ForwardViews views = one.views();
      EXPECT_TRUE(
          simd_forward(
              target,
              {.problem = one.problem, .tiling = one.tiling, .views = views, .ran_on = &ran_on})
              .ok());
      EXPECT_EQ(ran_on, target) << name;
    }
  }
}

/// Restores the number of threads.
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

TEST(Simd, TheNumberOfThreadsChangesNoBit) {
  const std::vector<std::string> lines{
      "1x2:1x300:16 f32 lse=ln tile=16x32 split=7",          // decode, splits
      "1x8/2:2x200:8 f32 lse=ln split=5 merge=random:3",     // grouped heads
      "3x2:{40,7,0}x{50,9,3}:24 f32 mask=causal:br lse=ln",  // blocks
      "1x1:1500x20:256 f64 lse=ln tile=16x16 split=3 merge=balanced"};
  for_each_simd_kernel([&](const Kernel& kernel) {
    for (const std::string& line : lines) {
      Case alone = random_case(line);
      if (!supports(kernel, alone.problem)) continue;
      alone.run(kernel);
      for (const int count : {2, 3, 8}) {
        const Threads threads(count);
        Case together = random_case(line);
        together.run(kernel);
        EXPECT_EQ(together.out.bytes(), alone.out.bytes()) << line << " threads " << count;
        EXPECT_EQ(together.lse.bytes(), alone.lse.bytes()) << line << " threads " << count;
      }
    }
  });
}

/// A strip that is alone reads keys and values where they are stored, another one packed tiles.
TEST(Simd, ARowHasTheSameBitsWhateverRowsStandBesideIt) {
  for_each_simd_kernel([](const Kernel& kernel) {
    // The plain kernels have a faster order for up to four rows.
    const bool plain = kernel.description().capabilities.reproducible == Reproducible::no;
    const std::string fewest = plain ? "5" : "1";
    for (const char* dims : {":16", ":7/5", ":64"}) {
      Case many = random_case(std::string("1x1:50x300") + dims + " f32 lse=ln tile=16x96");
      many.run(kernel);
      Case one = random_case("1x1:" + fewest + "x300" + dims + " f32 lse=ln tile=16x96");
      for (const auto& [to, from] : {std::pair{&one.k, &many.k}, std::pair{&one.v, &many.v}})
        for_each_index(to->extents(),
                       [&into = *to, &source = *from](Index b, Index h, Index row, Index column) {
                         into.set(b, h, row, column, source.get(b, h, row, column));
                       });
      constexpr Index kRow = 37;
      for (Index c = 0; c < one.problem.head_dim; ++c)
        one.q.set(0, 0, 0, c, many.q.get(0, 0, kRow, c));
      one.run(kernel);
      for (Index c = 0; c < one.problem.head_dim_v; ++c)
        EXPECT_EQ(one.out.get(0, 0, 0, c), many.out.get(0, 0, kRow, c)) << dims;
      EXPECT_EQ(one.lse.get(0, 0, 0, 0), many.lse.get(0, 0, kRow, 0)) << dims;
    }
  });
}

/// Bytes that a call leaves allocated in a thread that has made none before: what it keeps.
std::size_t kept_by_first_call(const Kernel& kernel, Index seq_kv) {
  Problem problem;
  problem.seq_q = 64;
  problem.seq_kv = seq_kv;
  problem.head_dim = problem.head_dim_v = 128;
  Case one(problem);
  one.tiling = kernel.preferred_tiling(problem);
  std::size_t kept = 0;
  std::thread([&] {
    const auto allocated = [] {
      const struct mallinfo2 info = mallinfo2();
      return info.uordblks + info.hblkhd;
    };
    const std::size_t before = allocated();
    one.run(kernel);
    kept = allocated() - before;
  }).join();
  return kept;
}

TEST(Simd, TheMemoryOfAThreadIsBelowOneMebibyteAndDoesNotGrowWithTheKeys) {
  for_each_simd_kernel([](const Kernel& kernel) {
    const std::size_t kept = kept_by_first_call(kernel, 512);
    if (kept == 0) GTEST_SKIP() << "the allocator of this build does not count";
    EXPECT_LT(kept, std::size_t{1} << 20U);
    EXPECT_LT(kept_by_first_call(kernel, 16384), std::size_t{1} << 20U);
  });
}

TEST(Simd, ThePreferredTilingIsAFunctionOfTheProblemThatEveryCallAccepts) {
  for_each_simd_kernel([](const Kernel& kernel) {
    Problem problem;
    problem.seq_kv = 1 << 20;
    problem.head_dim = problem.head_dim_v = 128;
    const Tiling decode = kernel.preferred_tiling(problem);
    // Those whose bits no split may change have no use for one.
    const bool splits = kernel.description().capabilities.reproducible == Reproducible::no;
    EXPECT_EQ(decode.splits.count > 1, splits);
    EXPECT_TRUE(validate(decode, problem.seq_kv).ok());
    problem.seq_q = 512;
    const Tiling prefill = kernel.preferred_tiling(problem);
    EXPECT_EQ(prefill.splits.count, 1);
    // A tile lies within a block of a mask, unless bits hang on the tiles.
    problem.seq_kv = 512;
    problem.mask.blocks = BlockMask{64, 64, 8, 8, std::vector<bool>(64, true)};
    const Index blocked = splits ? std::min<Index>(prefill.tile_kv, 64) : prefill.tile_kv;
    EXPECT_EQ(kernel.preferred_tiling(problem).tile_kv, blocked);
  });
}

}  // namespace
}  // namespace attest::kernels
