// The bound of the gradients holds for correct kernels on hard inputs and flags wrong ones.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/test_gradient_checks.hpp"

namespace attest::reference {
namespace {

void print(const std::string& name, const GradientTally& tally) {
  std::cout << "  " << name << ": " << tally.outputs << " outputs, " << tally.violations
            << " violations, " << tally.unproven << " of " << tally.problems
            << " problems unproven, largest ratios";
  for (std::size_t list = 0; list < kGradientNames.size(); ++list)
    std::cout << ' ' << kGradientNames[list] << ' ' << tally.largest[list];
  std::cout << '\n';
}

struct NamedForm {
  std::string name;
  KernelForm form;
};

/// Forms that every type can take.
std::vector<NamedForm> forms() {
  std::vector<NamedForm> all(4);
  all[0].name = "textbook";
  all[1].name = "tiled";
  all[1].form.tiled = true;
  all[2].name = "textbook, folded";
  all[2].form.folded = true;
  all[2].form.slope_by_factors = true;
  all[3].name = "tiled, folded";
  all[3].form.tiled = all[3].form.folded = true;
  return all;
}

/// Forms with narrower formats.
std::vector<NamedForm> narrow_forms() {
  std::vector<NamedForm> all;
  const std::vector<std::pair<std::string, Format>> formats{
      {"bf16", kBf16}, {"f16", kF16}, {"e4m3", kE4m3}, {"e5m2", kE5m2}};
  for (const auto& [name, format] : formats)
    for (const bool tiled : {false, true}) {
      NamedForm named{name + (tiled ? " casts, tiled" : " casts, textbook"), {}};
      named.form.tiled = tiled;
      named.form.weight_cast = format;
      if (format.unit_roundoff <= kBf16.unit_roundoff) {
        named.form.gradient_cast = format;
        named.form.output_format = format;
      }
      all.push_back(named);
    }
  NamedForm mixed{"outputs of three formats", {}};
  mixed.form.output_format = kBf16;
  mixed.form.dk_format = kF32;
  mixed.form.dv_format = kF16;
  all.push_back(mixed);
  return all;
}

template <class Real>
void expect_no_violations(const std::vector<NamedForm>& list, std::uint64_t seed, int problems) {
  using Drawn = std::conditional_t<std::is_same_v<Real, double>, double, float>;
  std::vector<GradientTally> tallies(list.size());
  GradientTally own;  // with the kernel's own forward pass
  GradientDraw<Drawn> draw(seed);
  for (int i = 0; i < problems; ++i) {
    const GradientInputs inputs = draw.next();
    const GradientFacts facts = gradient_facts(inputs);
    const double disturbance = draw.one_in(3) ? std::ldexp(1, -8 - static_cast<int>(i % 14)) : 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
      const GradientTally tally = check_gradients<Real>(facts, list[at].form, disturbance);
      tallies[at].add(tally);
      if (disturbance == 0) own.add(tally);
    }
  }
  GradientTally total;
  for (std::size_t at = 0; at < list.size(); ++at) {
    print(list[at].name, tallies[at]);
    total.add(tallies[at]);
    EXPECT_EQ(tallies[at].violations, 0U) << list[at].name << ": " << tallies[at].worst;
    EXPECT_LT(2 * tallies[at].unproven, tallies[at].problems) << list[at].name;
  }
  print("all", total);
  print("all with their own forward pass", own);
  for (const double ratio : own.largest) EXPECT_GT(ratio, 0.1) << "the bound is far from sharp";
}

TEST(GradientBound, HoldsForKernelsInF32) {
  expect_no_violations<float>(forms(), 21, 1000);
}
TEST(GradientBound, HoldsForKernelsInF64) {
  expect_no_violations<double>(forms(), 22, 1000);
}
TEST(GradientBound, HoldsForKernelsThatFlushToZero) {
  expect_no_violations<Flushed>(forms(), 23, 500);
}
TEST(GradientBound, HoldsForKernelsWithNarrowWeightsAndGradients) {
  expect_no_violations<float>(narrow_forms(), 24, 500);
}

TEST(GradientBound, HoldsForLongRows) {
  GradientDraw<float> draw(25);
  GradientTally total;
  for (int i = 0; i < 20; ++i) {
    const GradientFacts facts = gradient_facts(draw.long_rows());
    for (const NamedForm& named : forms()) total.add(check_gradients<float>(facts, named.form));
  }
  print("long rows", total);
  EXPECT_EQ(total.violations, 0U) << total.worst;
  EXPECT_LT(10 * total.unproven, total.problems);
}

TEST(GradientBound, FlagsEveryPlantedFault) {
  const std::vector<std::string> names{"none",
                                       "delta missing",
                                       "dlse missing",
                                       "scale missing in dk",
                                       "scale missing in dq",
                                       "own sum without the last key",
                                       "slope of softcap missing",
                                       "slope of the biased score",
                                       "masked key leaks into dv",
                                       "last row missing in dk",
                                       "sign of dsink",
                                       "delta of an output rounded to bf16",
                                       "exp off by 2^-12",
                                       "dq summed in bf16",
                                       "undeclared cast of p to bf16"};
  ASSERT_EQ(names.size(), kFaults + 1U);
  GradientDraw<float> draw(26);
  std::vector<GradientFacts> problems;
  for (int i = 0; i < 300; ++i) problems.push_back(gradient_facts(draw.next()));
  for (const bool tiled : {false, true})
    for (int fault = 0; fault <= kFaults; ++fault) {
      KernelForm form;
      form.tiled = tiled;
      form.fault = static_cast<Fault>(fault);
      int flagged = 0;
      for (const GradientFacts& facts : problems)
        flagged += check_gradients<float>(facts, form).violations > 0 ? 1 : 0;
      std::cout << "  " << names[static_cast<std::size_t>(fault)] << (tiled ? ", tiled" : "")
                << ": " << flagged << " of " << problems.size() << " problems flagged\n";
      if (fault == 0)
        EXPECT_EQ(flagged, 0);
      else
        EXPECT_GE(flagged, 10) << names[static_cast<std::size_t>(fault)];
    }
}

}  // namespace
}  // namespace attest::reference
