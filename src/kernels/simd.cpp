// The SIMD kernels, one for each instruction set that was compiled and that this machine has.
#include "kernels/backward.hpp"
#include "kernels/kernels.hpp"
#include "kernels/row_access.hpp"
#include "kernels/simd_backward.hpp"
#include "kernels/simd_dispatch.hpp"
#include "kernels/simd_forward.hpp"
#include "kernels/simd_math_accuracy.hpp"
#include "kernels/simd_summary.hpp"

namespace attest::kernels {
namespace {

class SimdKernel : public Kernel {
 public:
  SimdKernel(std::int64_t target, const std::string& target_name)
      : target_(target),
        fused_(has_fused_multiply_add(target_name).value()),
        description_{"builtin:simd/" + target_name, "1",
                     "tiled online softmax in register blocks, compiled for " + target_name,
                     scalar_capabilities()} {
    description_.capabilities.threads = true;
  }

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = scalar_accuracy(problem, SummaryScope::split);
    const double scale = scale_value(problem);
    if (!is_power_of_two(scale)) {
      accuracy.dot_roundings -= 1;
      accuracy.scaled_query_error = accuracy.format.unit_roundoff;
    }
    with_real_type(problem.compute_dtype(), [&](auto real) {
      using Real = decltype(real);
      const double u = accuracy.format.unit_roundoff;
      const bool fused = fused_;
      const MathError exp = declared_error<Real>(MathFunction::exp_non_positive, fused);
      accuracy.exp_relative_error = exp.relative * u;
      accuracy.exp_absolute_error = exp.subnormal * 2 * accuracy.format.rounding_underflow;
      if (problem.softcap != 0)
        accuracy.tanh_relative_error = declared_error<Real>(MathFunction::tanh, fused).relative * u;
    });
    accuracy.ordered_sums = false;
    accuracy.longest_tile = longest_simd_tile(problem);
    return accuracy;
  }
  /// Few rows would leave most threads without work: then the keys are split, by their number
  /// alone.
  Tiling preferred_tiling(const Problem& problem) const override {
    constexpr Index kKeysOfSplit = 4096;
    constexpr Index kMostPieces = 64;
    constexpr Index kLeastTile = 64;
    Tiling tiling;
    tiling.tile_kv = longest_simd_tile(problem);
    // Tiles that are visible in part cost as much as whole ones.
    if (const auto& blocks = problem.mask.blocks; blocks && blocks->block_kv >= kLeastTile)
      tiling.tile_kv = std::min(tiling.tile_kv, blocks->block_kv);
    tiling.merge.kind = MergeOrder::Kind::balanced;
    const Index pieces = std::max(problem.batch * problem.heads_kv, Index{1});
    if (is_decode(problem))
      tiling.splits.count = std::clamp<Index>(
          std::min(problem.seq_kv / kKeysOfSplit, kMostPieces / pieces), 1, KvSplits::max_count);
    return tiling;
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = reject_all_masked(problem); !status.ok()) return status;
    return simd_forward(target_, {problem, tiling, views});
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    DeclaredGradientAccuracy accuracy = scalar_gradient_accuracy(problem);
    accuracy.exp_relative_error = 4 * accuracy.format.unit_roundoff;
    return accuracy;
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = check_backward(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    simd_backward(target_, {problem, tiling, views});
    return {};
  }

  const SummaryOps<float>* summary_ops_f32() const override { return ops_f32_.get(); }
  const SummaryOps<double>* summary_ops_f64() const override { return ops_f64_.get(); }

 private:
  std::int64_t target_;
  bool fused_;
  KernelDescription description_;
  std::unique_ptr<SummaryOps<float>> ops_f32_ = simd_summary_ops_f32(target_);
  std::unique_ptr<SummaryOps<double>> ops_f64_ = simd_summary_ops_f64(target_);
};

}  // namespace

std::vector<std::unique_ptr<Kernel>> make_simd_kernels() {
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const std::string& name : target_names())
    kernels.push_back(std::make_unique<SimdKernel>(find_target(name).value(), name));
  return kernels;
}

}  // namespace attest::kernels
