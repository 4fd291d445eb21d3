// Runs laws on cases: the part that the attest command and its tests share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/laws.hpp"
#include "properties/random_case.hpp"

namespace attest::properties {

/// A case that is not drawn: given by a user or stored.
struct GivenCase {
  Case value;
  std::string law;  ///< only for this law; empty: for every law
};

/// Part `index` of `count`, from 1: the cases whose hash falls into it. A case's verdict, seed and
/// number do not depend on the parts.
struct ShardOfCases {
  Index index = 1;
  Index count = 1;
};

struct CheckPlan {
  std::vector<const Law*> laws;
  std::vector<GivenCase> given;  ///< run first, in this order
  Index drawn_cases = 0;         ///< a law
  std::uint64_t seed = 0;
  ShardOfCases shard;
  CaseLimits limits;
  int jobs = 1;
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< no new case after it
  const std::atomic<bool>* stop = nullptr;                        ///< set: no new case
};

struct CheckedCase {
  const Law* law = nullptr;
  Index number = 0;        ///< within its law, given cases first
  Index of = 0;            ///< planned cases of the law
  std::uint64_t seed = 0;  ///< of the draw; 0 for a given case
  Case value;
  Verdict verdict;
  double seconds = 0;
};

enum class AfterCase { next, leave_law, stop_run };

/// Hands every checked case to `sink` on the calling thread, law by law and in order of number,
/// whatever the number of jobs. Returns false when deadline, stop or the sink left cases undone.
bool run_check(const Kernel& kernel, const CheckPlan& plan,
               const std::function<AfterCase(CheckedCase&&)>& sink);

/// One law on one case; an exception becomes the verdict `crash`. The fast oracle may decide alone.
Verdict check_once(const Kernel& kernel, const Law& law, const Case& on);

/// Judges the case of the verdict `first` of check_once again, by both oracles. A violation that
/// does not repeat is `flaky`.
Verdict confirm(const Kernel& kernel, const Law& law, const Case& on, Verdict first);

/// check_once, and a violation, or a pass with something near its bound, confirmed. A timeout is
/// not waited for again.
Verdict check_case(const Kernel& kernel, const Law& law, const Case& on);

/// What a kernel can be asked for.
CaseLimits limits_for(const Kernel& kernel, const tensors::TensorLibrary* library);

/// The seed of drawn case `number` of a law: a function of these three alone.
std::uint64_t case_seed(std::uint64_t seed, const Law& law, Index number);

}  // namespace attest::properties
