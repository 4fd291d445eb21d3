// A small world, exhaustively: every FP4 (e2m1) input of one query, two keys and dimension 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/judge.hpp"

namespace attest::properties {
namespace {

/// All 16 codes of e2m1 (OCP Microscaling Formats 1.0, 2023): exact in f32.
constexpr std::array<double, 16> kFp4{0,   0.5,  1,  1.5,  2,  3,  4,  6,
                                      -0., -0.5, -1, -1.5, -2, -3, -4, -6};
constexpr Index kCodes = 16;
constexpr Index kMembers = kCodes * kCodes * kCodes;  ///< second key and both values

/// One batch member a (k2, v1, v2), for a given q and first key.
Case world(double q, double first_key) {
  Case made;
  made.problem.batch = kMembers;
  made.problem.seq_kv = 2;
  made.problem.lse = LseForm::natural;
  becomes_literal(made);
  const auto code = [](Index number) { return kFp4[static_cast<std::size_t>(number % kCodes)]; };
  made.q =
      filled(Dtype::f32, made.problem.q_extents(), [&](Index, Index, Index, Index) { return q; });
  made.k = filled(Dtype::f32, made.problem.k_extents(),
                  [&](Index b, Index, Index key, Index) { return key == 0 ? first_key : code(b); });
  made.v = filled(Dtype::f32, made.problem.v_extents(), [&](Index b, Index, Index key, Index) {
    return code(key == 0 ? b / kCodes : b / (kCodes * kCodes));
  });
  return made;
}

struct Variant {
  const Kernel* kernel = nullptr;
  Tiling tiling;
};

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const auto& kernel : kernels::builtin_kernels()) {
    variants.push_back({kernel.get(), {2, 2, {}, {}}});
    if (!kernel->description().capabilities.tiles) continue;
    variants.push_back({kernel.get(), {1, 1, {}, {}}});
    variants.push_back({kernel.get(), {1, 1, {.count = 2, .cuts = {}}, {}}});
    variants.push_back(
        {kernel.get(), {1, 1, {.count = 2, .cuts = {}}, {MergeOrder::Kind::random, 1, {}}}});
  }
  return variants;
}

/// Judges every member under every variant; the enclosure of a row serves all of them.
Verdict judge_world(const Case& on, const std::vector<Variant>& variants) {
  std::vector<Outputs> outputs;
  for (const Variant& variant : variants) {
    Case tiled = on;
    tiled.tiling = variant.tiling;
    outputs.push_back(run_kernel(*variant.kernel, tiled));
    if (const auto verdict = stopped(outputs.back(), tiled)) return *verdict;
  }
  std::vector<Computation> computations;
  for (const Variant& variant : variants)
    computations.push_back({variant.kernel->accuracy(on.problem), variant.tiling});
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    auto shared = certify_for_all(on, row, computations);
    if (!shared || !shared->exact.narrow) {
      tally.undecided("a row has no enclosure that is narrow enough");
      return;
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
      shared->exact.bound = shared->bounds[i];
      judge_row(tally, shared->exact, row, Part::out, outputs[i]);
      judge_row(tally, shared->exact, row, Part::lse, outputs[i]);
    }
  });
  return tally.verdict();
}

TEST(Fp4World, EveryInputOfTwoKeysStaysWithinTheBoundUnderEveryTiling) {
  const std::vector<Variant> variants = all_variants();
  std::atomic<Index> next{0};
  std::mutex results;
  Index rows = 0;
  double worst = 0;
  const auto work = [&] {
    for (Index number = next++; number < kCodes * kCodes; number = next++) {
      const double q = kFp4[static_cast<std::size_t>(number / kCodes)];
      const double first_key = kFp4[static_cast<std::size_t>(number % kCodes)];
      const Verdict verdict = judge_world(world(q, first_key), variants);
      const std::lock_guard lock(results);
      EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason << " q " << q << " k " << first_key;
      rows += verdict.rows_checked;
      worst = std::max(worst, verdict.worst_ratio);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned job = 0; job < std::max(1U, std::thread::hardware_concurrency()); ++job)
      threads.emplace_back(work);
  }
  // 2^20 inputs; output and lse are a row each.
  EXPECT_EQ(rows, (Index{1} << 20) * 2 * static_cast<Index>(variants.size()));
  EXPECT_GT(worst, 0);
  RecordProperty("largest error / bound", std::to_string(worst));
  std::cout << rows << " rows, largest error / bound " << worst << "\n";
}

TEST(Fp4World, IsLargeEnoughToCatchWrongKernels) {
  for (const char* const name :
       {"mutant:averages_tile_outputs", "mutant:forgets_sum_rescale", "mutant:lse_in_base_two",
        "mutant:rescale_rounded_to_eight_bits"}) {
    const Variant variant{mutants::find(name)->kernel.get(), {1, 1, {}, {}}};
    EXPECT_EQ(judge_world(world(1.5, -2), {variant}).outcome, Outcome::fail) << name;
  }
}

}  // namespace
}  // namespace attest::properties
