// RapidCheck under GoogleTest: every law on every built-in kernel, with random cases.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "kernels/registry.hpp"
#include "properties/check.hpp"
#include "properties/generate_rapidcheck.hpp"
#include "properties/laws.hpp"
#include "tensors/library.hpp"

namespace attest::properties {
namespace {

/// A law may say "weak" or "unproven" in at most this many of 100 cases that it was asked about.
constexpr int kMaxUndecidedPercent = 20;

struct Counts {
  int judged = 0;
  int undecided = 0;
};

const tensors::TensorLibrary& real_tensors() {
  static const auto library = tensors::TensorLibrary::open({ATTEST_DATA_DIR});
  return library.value();
}

/// What RapidCheck prints beside the counterexample.
std::string explain(const Kernel& kernel, const Law& law, const Case& on, const Verdict& verdict) {
  std::string text = verdict.reason;
  if (verdict.witness)
    text += " " + verdict.witness->tensor + " got " +
            number_text(verdict.witness->got, on.problem.dtype) + " want " +
            number_text(verdict.witness->want.high, Dtype::f64) + " bound " +
            number_text(verdict.witness->bound, Dtype::f64);
  return text + "\nreplay: attest replay " + kernel.description().name + " '" +
         minimal_text(to_text(on, law.name)) + "'";
}

class Suite : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  const Law& law() const { return laws()[std::get<0>(GetParam())]; }
  const Kernel& kernel() const { return *kernels::builtin_kernels()[std::get<1>(GetParam())]; }
};

TEST_P(Suite, Holds) {
  Counts counts;
  const bool holds = rc::check(std::string(law().sentence), [&] {
    const Case on = *arbitrary_case(limits_for(kernel(), &real_tensors()));
    const Verdict verdict = check_case(kernel(), law(), on);
    if (verdict.outcome != Outcome::skipped) ++counts.judged;
    if (verdict.outcome == Outcome::weak || verdict.outcome == Outcome::unproven)
      ++counts.undecided;
    if (is_violation(verdict.outcome)) RC_FAIL(explain(kernel(), law(), on, verdict));
  });
  EXPECT_TRUE(holds);
  EXPECT_LE(100 * counts.undecided, kMaxUndecidedPercent * counts.judged)
      << "too many cases could not have failed";
}

std::string test_name(const testing::TestParamInfo<Suite::ParamType>& info) {
  std::string name = std::string(laws()[std::get<0>(info.param)].name) + "_" +
                     kernels::builtin_kernels()[std::get<1>(info.param)]->description().name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == ':'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Laws, Suite,
                         testing::Combine(testing::Range(std::size_t{0}, laws().size()),
                                          testing::Range(std::size_t{0},
                                                         kernels::builtin_kernels().size())),
                         test_name);

}  // namespace
}  // namespace attest::properties
