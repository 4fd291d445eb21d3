// The worst cases that the project keeps of its own kernels (data/worst; docs/fuzzing.md says how
// they are made): no kernel or bound changes without being noticed.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cli/case_store.hpp"
#include "kernels/registry.hpp"
#include "properties/check.hpp"

namespace attest::cli {
namespace {

TEST(StoredWorst, AreReproducedAndWithinTheBound) {
  /// What another library of functions may change.
  constexpr double kSlack = 0.02;
  const auto folders = find_case_folders(ATTEST_WORST_CASES);
  ASSERT_TRUE(folders.ok()) << folders.status().message();
  std::set<std::string> judged;
  for (const std::filesystem::path& folder : folders.value()) {
    SCOPED_TRACE(folder.string());
    const Result<StoredCase> stored = load_case(folder);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    ASSERT_TRUE(stored.value().search);
    const Kernel* const kernel = kernels::find_builtin(stored.value().kernel);
    const properties::Law* const law = properties::find_law(stored.value().law);
    ASSERT_NE(law, nullptr);
    // Kernels of instruction sets that this machine lacks.
    if (kernel == nullptr && stored.value().kernel.starts_with("builtin:simd")) continue;
    ASSERT_NE(kernel, nullptr) << stored.value().kernel;
    const Verdict verdict = properties::check_case(*kernel, *law, stored.value().value);
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
    EXPECT_LE(verdict.worst_ratio, 1);
    EXPECT_NEAR(verdict.worst_ratio, stored.value().search->ratio, kSlack)
        << "the kernel or its bound has changed: if that is meant, make data/worst again";
    judged.insert(stored.value().kernel);
  }
  // Every kernel that is the same on all machines.
  for (const auto& kernel : kernels::builtin_kernels()) {
    const std::string& name = kernel->description().name;
    EXPECT_TRUE(name.starts_with("builtin:simd") || judged.contains(name)) << name;
  }
}

}  // namespace
}  // namespace attest::cli
