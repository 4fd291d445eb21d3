// The worst cases that the project keeps of its own kernels (data/worst; docs/fuzzing-climb.md says
// how they are made): no kernel or bound changes without being noticed.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "cli/case_store.hpp"
#include "kernels/registry.hpp"
#include "kernels/simd_dispatch.hpp"
#include "properties/check.hpp"
#include "properties/hash.hpp"

namespace attest::cli {
namespace {

/// All that kernels/simd_targets.hpp may compile on x86; a machine may lack some of them.
constexpr std::array<std::string_view, 5> kTargets{"AVX3_DL", "AVX2", "SSE4", "EMU128", "SCALAR"};

/// Whether the kernel is one of ours, though not of this machine.
bool is_of_another_machine(std::string_view kernel) {
  if (kernels::find_builtin(kernel) != nullptr) return false;
  for (const std::string_view family : {"simd", "simd_canonical", "simd_order_free"})
    for (const std::string_view target : kTargets)
      if (kernel == "builtin:" + std::string(family) + "/" + std::string(target)) return true;
  return false;
}

TEST(StoredWorst, KnowsTheTargetsOfThisMachine) {
#if HWY_ARCH_X86
  for (const std::string& target : kernels::target_names())
    EXPECT_NE(std::find(kTargets.begin(), kTargets.end(), target), kTargets.end()) << target;
#endif
  EXPECT_FALSE(is_of_another_machine("builtin:simd/AVX9"));
  EXPECT_FALSE(is_of_another_machine("builtin:simd"));
}

/// The bits of what kernels and bounds call of the C library.
std::uint64_t functions_here() {
  std::string bits;
  const auto append = [&](auto value) {
    char text[64];
    std::snprintf(text, sizeof text, "%La ", static_cast<long double>(value));
    bits += text;
  };
  for (int i = 0; i < 4096; ++i) {
    const double x = -40 + i * 0x1.3p-6;
    const auto narrow = static_cast<float>(x);
    append(std::exp(narrow));
    append(std::exp2(narrow));
    append(std::log(std::abs(narrow) + 0x1p-9F));
    append(std::log2(std::abs(narrow) + 0x1p-9F));
    append(std::exp(x));
    append(std::log(std::abs(x) + 0x1p-9));
    append(std::expm1(static_cast<long double>(x) / 40));
    append(std::log1p(std::abs(static_cast<long double>(x))));
  }
  return properties::fnv1a(bits);
}

/// Every rounding of a kernel and of its bound is fixed by IEEE 754 (-ffp-contract=off), and MPFR
/// decides what is near the bound, so that a ratio has the same bits wherever the C library's
/// functions have: those of glibc 2.36 on a processor with fused multiplications. Other functions
/// move an error a little; how far a ratio may be from the stored one is then no theorem, but the
/// alarm that a kernel or bound has changed.
constexpr std::uint64_t kFunctionsOfTheStore = 0xC9F082DBA78C5B56;
constexpr double kAlarmElsewhere = 0.02;

TEST(StoredWorst, AreReproducedAndWithinTheBound) {
  const bool same_functions = functions_here() == kFunctionsOfTheStore;
  if (!same_functions)
    std::printf("other functions than those of data/worst: 0x%llX\n",
                static_cast<unsigned long long>(functions_here()));
  const auto cases = load_cases(ATTEST_WORST_CASES);
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& [folder, stored] : cases.value()) {
    SCOPED_TRACE(folder.string());
    EXPECT_TRUE(seen.insert({stored.kernel, stored.law}).second) << "a second one";
    if (is_of_another_machine(stored.kernel)) continue;
    const Kernel* const kernel = kernels::find_builtin(stored.kernel);
    const properties::Law* const law = properties::find_law(stored.law);
    ASSERT_NE(kernel, nullptr) << stored.kernel;
    ASSERT_NE(law, nullptr) << stored.law;
    ASSERT_TRUE(stored.search);
    const Verdict verdict = properties::check_case(*kernel, *law, stored.value);
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
    EXPECT_LE(verdict.worst_ratio, 1);
    EXPECT_NEAR(verdict.worst_ratio, stored.search->ratio, same_functions ? 0 : kAlarmElsewhere)
        << "the kernel or its bound has changed: if that is meant, make data/worst again";
  }
  // Every kernel that is on all machines, and every other one that is there at all.
  std::set<std::string> wanted;
  for (const auto& [kernel, law] : seen) wanted.insert(kernel);
  for (const auto& kernel : kernels::builtin_kernels())
    if (const std::string& name = kernel->description().name; !name.starts_with("builtin:simd"))
      wanted.insert(name);
  for (const std::string& kernel : wanted)
    for (const char* const law : {"bound.out", "bound.lse"})
      EXPECT_TRUE(seen.contains({kernel, law})) << kernel << " " << law;
}

}  // namespace
}  // namespace attest::cli
