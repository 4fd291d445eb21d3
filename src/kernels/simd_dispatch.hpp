// Calls the code of one named target, from any thread and without a choice for the whole process.
//
//   HWY_EXPORT(run);
//   const Result<std::int64_t> target = find_target("AVX2");
//   for_target(HWY_DISPATCH_TABLE(run), target.value())(arguments);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "kernels/simd_targets.hpp"  // before Highway

#include "hwy/targets.h"

namespace attest::kernels {

/// Targets that were compiled and that this machine has, best first.
std::vector<std::string> target_names();

/// A target of target_names(); the best one for "".
Result<std::int64_t> find_target(std::string_view name);

/// The entry of a table of HWY_EXPORT. The target is a result of find_target().
template <class Function, std::size_t Size>
Function for_target(Function const (&table)[Size], std::int64_t target) {
  if constexpr (Size == 1) return table[0];  // the only target that was compiled
  hwy::ChosenTarget chosen;                  // of this call alone
  chosen.Update(target);
  return table[chosen.GetIndex()];
}

}  // namespace attest::kernels
