#include "fuzz/planted_overrun.hpp"

#include <vector>

#include "kernels/registry.hpp"

namespace attest::fuzz {
namespace {

class PlantedOverrun : public Kernel {
 public:
  const KernelDescription& description() const override { return inner_->description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return inner_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    const std::vector<float> scratch(static_cast<std::size_t>(problem.seq_kv));
    const volatile float* const end = scratch.data() + scratch.size();
    if (problem.seq_kv == 3 && *end > 1) return {};
    return inner_->forward(problem, tiling, views);
  }

 private:
  const Kernel* inner_ = kernels::find_builtin("builtin:scalar_sequential");
};

}  // namespace

std::unique_ptr<Kernel> make_planted_overrun() {
  return std::make_unique<PlantedOverrun>();
}

}  // namespace attest::fuzz
