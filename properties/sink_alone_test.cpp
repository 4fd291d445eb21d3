// A row that sees no key but has a sink: the lse of a kernel in base two is a rounding off.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/own_arithmetic.hpp"
#include "properties/check.hpp"
#include "properties/laws.hpp"
#include "properties/run_kernel.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

template <class Real>
struct BaseTwo : mutants::OwnArithmetic<Real> {
  static constexpr Real log2e = std::numbers::log2e_v<Real>;

  Real weight_under(Real score, Real row_max) const override {
    return std::exp2(std::fma(score, log2e, -(row_max * log2e)));
  }
  Real lse(const RowSummary<Real>& summary) const override {
    if (summary.is_identity()) return attest::lse(summary);
    return (summary.row_max * log2e + std::log2(summary.row_sum)) * std::numbers::ln2_v<Real>;
  }
};

KernelDescription with_sinks() {
  KernelDescription description = mutants::describe("base_two", "works in base two");
  description.capabilities.features = {Feature::sink};
  return description;
}

class BaseTwoKernel : public kernels::TiledKernel<BaseTwo> {
 public:
  BaseTwoKernel() : TiledKernel(with_sinks(), SummaryScope::split) {}
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = TiledKernel::accuracy(problem);
    accuracy.exp_form = ExpForm::folded_base_two;
    return accuracy;
  }
};

TEST(SinkAlone, TheLseOfAKernelInBaseTwoIsWithinItsBound) {
  int rounded = 0;
  for (int number = 1; number < 20; ++number) {
    const std::string sink = std::to_string(number * 0.7);
    const Case on =
        case_of("1x1:1x2:1 f32 mask=bits:00 sink=head lse=ln vals=lit:1;0,0;1,3;sink=" + sink);
    const BaseTwoKernel base_two;
    if (run_kernel(base_two, on).lse_at({}) !=
        run_kernel(*kernels::find_builtin("builtin:textbook"), on).lse_at({}))
      ++rounded;
    for (const char* const law : {"bound.lse", "tiling.tile_size"}) {
      EXPECT_EQ(check_case(base_two, *find_law(law), on).outcome, Outcome::ok) << law << sink;
      for (const auto& kernel : kernels::builtin_kernels())
        EXPECT_FALSE(is_violation(check_case(*kernel, *find_law(law), on).outcome))
            << law << kernel->description().name << sink;
    }
  }
  EXPECT_GT(rounded, 0);
}

}  // namespace
}  // namespace attest::properties
