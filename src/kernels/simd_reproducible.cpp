// The SIMD kernels whose results are the same bits however the work is split.
#include "kernels/simd_reproducible.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/canonical_plan.hpp"
#include "kernels/kernels.hpp"
#include "kernels/row_access.hpp"
#include "kernels/simd_dispatch.hpp"

namespace attest::kernels {
namespace {

using Forward = Status (*)(std::int64_t target, const SimdForwardCall& call);

bool is_of_backward_pass(Feature feature) {
  return feature == Feature::backward || feature == Feature::dbias || feature == Feature::dsink ||
         feature == Feature::dlse;
}

/// What a kernel adds to, and takes from, what the plain one of its target declares.
class ReproducibleKernel : public Kernel {
 public:
  ReproducibleKernel(std::unique_ptr<Kernel> plain, std::string_view name, Forward pass)
      : plain_(std::move(plain)), description_(plain_->description()), pass_(pass) {
    const std::string target_name = description_.name.substr(description_.name.find('/') + 1);
    target_ = find_target(target_name).value();
    description_.name = "builtin:" + std::string(name) + "/" + target_name;
    // Its bits may depend on the tiling.
    std::erase_if(description_.capabilities.features, is_of_backward_pass);
  }

  const KernelDescription& description() const override { return description_; }
  /// Without splits: they are no work for threads here, which share the rows.
  Tiling preferred_tiling(const Problem&) const override {
    Tiling tiling;
    tiling.tile_kv = leaf_keys(Dtype::f32);
    return tiling;
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = reject_all_masked(problem); !status.ok()) return status;
    return pass_(target_,
                 {.problem = problem, .tiling = tiling, .views = views, .one_order = true});
  }

 protected:
  const Kernel& plain() const { return *plain_; }
  KernelDescription& changed_description() { return description_; }

 private:
  std::unique_ptr<Kernel> plain_;
  KernelDescription description_;
  Forward pass_;
  std::int64_t target_ = 0;
};

class CanonicalKernel : public ReproducibleKernel {
 public:
  explicit CanonicalKernel(std::unique_ptr<Kernel> plain)
      : ReproducibleKernel(std::move(plain), "simd_canonical", simd_canonical) {
    KernelDescription& description = changed_description();
    description.summary = "leaves at absolute multiples of " +
                          std::to_string(leaf_keys(Dtype::f32)) +
                          " keys, merged by one tree whatever the splits are";
    description.capabilities.reproducible = Reproducible::splits;
    description.capabilities.leaf = leaf_keys(Dtype::f32);
  }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = plain().accuracy(problem);
    accuracy.scope = SummaryScope::tile;
    accuracy.longest_tile = 0;
    accuracy.own_tiling = canonical_tiling(problem.seq_kv, leaf_keys(problem.compute_dtype()));
    return accuracy;
  }
};

class OrderFreeKernel : public ReproducibleKernel {
 public:
  explicit OrderFreeKernel(std::unique_ptr<Kernel> plain)
      : ReproducibleKernel(std::move(plain), "simd_order_free", simd_order_free) {
    KernelDescription& description = changed_description();
    description.summary = "maximum first, then sums on a grid: any split and order of the keys";
    Capabilities& can = description.capabilities;
    can.reproducible = Reproducible::any_order;
    can.leaf = 1;
    std::erase(can.dtypes, Dtype::f64);
  }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = plain().accuracy(problem);
    accuracy.scope = SummaryScope::row;
    accuracy.longest_tile = 0;
    // A step of the grid is at most 2 n 2^-50 of the largest term: simd_grid-inl.h.
    accuracy.grid_bits = 49;
    // The quotient in double, and its own rounding to f32.
    accuracy.division_roundings = 2;
    return accuracy;
  }
};

template <class Made>
std::vector<std::unique_ptr<Kernel>> on_every_target() {
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (std::unique_ptr<Kernel>& plain : make_simd_kernels())
    kernels.push_back(std::make_unique<Made>(std::move(plain)));
  return kernels;
}

}  // namespace

std::vector<std::unique_ptr<Kernel>> make_simd_canonical_kernels() {
  return on_every_target<CanonicalKernel>();
}

std::vector<std::unique_ptr<Kernel>> make_simd_order_free_kernels() {
  return on_every_target<OrderFreeKernel>();
}

}  // namespace attest::kernels
