#include <limits>

#include "kernels/flash_steps.hpp"
#include "kernels/kernels.hpp"

namespace attest::kernels {
namespace {

/// The offset with which FlashAttention-3 and -4 cast weights to 8 bits: 2^8 <= 448.
constexpr int kOffsetLog2 = 8;
/// The lag of FlashAttention-4 for weights of 16 bits or more.
constexpr double kLagLog2 = 8;

// The parts of three kernels have the forms of other libraries, so that every form is tested.
constexpr PartForm kPlusInfinityParts{.empty_lse = std::numeric_limits<double>::infinity()};
constexpr PartForm kFiniteParts{.empty_lse = -5e4};
constexpr PartForm kBaseTwoParts{.base_two = true};

template <template <class> class Steps = FlashSteps>
std::unique_ptr<Kernel> flash(const char* name, const char* summary, const FlashForm& form) {
  return std::make_unique<FlashKernel<Steps>>(
      KernelDescription{name, "1", summary, {.dtypes = {Dtype::f32, Dtype::f64}}}, form);
}

}  // namespace

std::unique_ptr<Kernel> make_flash_bf16p() {
  return flash("builtin:flash_bf16p",
               "weights rounded to bf16 before v, row_sum adds them unrounded",
               {.weight_cast = WeightCast{kBf16, 0, false}});
}

std::unique_ptr<Kernel> make_flash_bf16p_sum() {
  return flash("builtin:flash_bf16p_sum", "weights rounded to bf16 for v and for row_sum",
               {.weight_cast = WeightCast{kBf16, 0, true}, .part_form = kBaseTwoParts});
}

std::unique_ptr<Kernel> make_flash_f16p() {
  return flash("builtin:flash_f16p", "weights rounded to f16 before v, row_sum adds them unrounded",
               {.weight_cast = WeightCast{kF16, 0, false}});
}

std::unique_ptr<Kernel> make_flash_e4m3p() {
  return flash(
      "builtin:flash_e4m3p", "weights times 2^8 rounded to e4m3, with saturation",
      {.weight_cast = WeightCast{kE4m3, kOffsetLog2, false}, .cast_overflow = Overflow::saturate});
}

std::unique_ptr<Kernel> make_flash_e5m2p() {
  return flash(
      "builtin:flash_e5m2p", "weights times 2^8 rounded to e5m2, with saturation",
      {.weight_cast = WeightCast{kE5m2, kOffsetLog2, false}, .cast_overflow = Overflow::saturate});
}

std::unique_ptr<Kernel> make_flash_exp2() {
  return flash("builtin:flash_exp2",
               "weights are exp2 with scale * log2(e) folded into the exponent",
               {.exp_form = ExpForm::folded_base_two});
}

std::unique_ptr<Kernel> make_flash_lazy() {
  return flash("builtin:flash_lazy",
               "rescales only where the maximum rises by more than 8 log2 units",
               {.lag_log2 = kLagLog2});
}

std::unique_ptr<Kernel> make_flash_reciprocal() {
  return flash("builtin:flash_reciprocal", "the output is numerator * (1 / row_sum)",
               {.by_reciprocal = true, .part_form = kPlusInfinityParts});
}

std::unique_ptr<Kernel> make_flash_bf16out() {
  return flash("builtin:flash_bf16out", "the output is rounded to bf16",
               {.output_format = kBf16, .part_form = kFiniteParts});
}

std::unique_ptr<Kernel> make_flash_flush() {
  return flash<FlushSteps>("builtin:flash_flush", "results below the normal range become 0 (FTZ)",
                           {.underflow = Underflow::flush_results});
}

std::unique_ptr<Kernel> make_flash_combined() {
  return flash("builtin:flash_combined",
               "folded exp2, lag of 8, bf16 weights, reciprocal, bf16 output: all at once",
               {.exp_form = ExpForm::folded_base_two,
                .lag_log2 = kLagLog2,
                .weight_cast = WeightCast{kBf16, 0, false},
                .by_reciprocal = true,
                .output_format = kBf16});
}

}  // namespace attest::kernels
