#include "kernels/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/kernels.hpp"
#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

using testing::StartsWith;

TEST(Registry, NamesAreUniqueAndSayThatTheKernelIsBuiltIn) {
  std::set<std::string> names;
  for_each_kernel([&](const Kernel& kernel) {
    EXPECT_THAT(kernel.description().name, StartsWith("builtin:"));
    EXPECT_TRUE(names.insert(kernel.description().name).second);
  });
  EXPECT_FALSE(names.empty());
}

TEST(Registry, EveryKernelIsFoundByItsNameAndNoOther) {
  for_each_kernel([](const Kernel& kernel) {
    const std::string& name = kernel.description().name;
    EXPECT_EQ(find_builtin(name), &kernel);
    EXPECT_EQ(find_builtin(name.substr(name.find(':') + 1)), nullptr);
    EXPECT_EQ(find_builtin(name + " "), nullptr);
  });
  EXPECT_EQ(find_builtin(""), nullptr);
  EXPECT_EQ(find_builtin("builtin:"), nullptr);
}

TEST(Registry, TheOrderIsStable) {
  EXPECT_EQ(builtin_kernels().data(), builtin_kernels().data());
  EXPECT_EQ(builtin_kernels().front()->description().name, make_textbook()->description().name);
}

}  // namespace
}  // namespace attest::kernels
