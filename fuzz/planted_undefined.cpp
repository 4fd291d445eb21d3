#include "fuzz/planted_undefined.hpp"

#include <limits>

#include "kernels/registry.hpp"

namespace attest::fuzz {
namespace {

class PlantedUndefined : public Kernel {
 public:
  const KernelDescription& description() const override { return inner_->description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return inner_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    volatile int largest = std::numeric_limits<int>::max();
    if (problem.seq_kv == 3) largest = largest + 1;
    return inner_->forward(problem, tiling, views);
  }

 private:
  const Kernel* inner_ = kernels::find_builtin("builtin:scalar_sequential");
};

}  // namespace

std::unique_ptr<Kernel> make_planted_undefined() {
  return std::make_unique<PlantedUndefined>();
}

}  // namespace attest::fuzz
