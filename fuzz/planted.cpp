#include "fuzz/planted.hpp"

#include "kernels/registry.hpp"

namespace attest::fuzz {
namespace {

class Planted : public Kernel {
 public:
  explicit Planted(void (*fault)(const Problem&)) : fault_(fault) {}

  const KernelDescription& description() const override { return inner_->description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return inner_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (problem.seq_kv == 3) fault_(problem);
    return inner_->forward(problem, tiling, views);
  }

 private:
  const Kernel* inner_ = kernels::find_builtin("builtin:scalar_sequential");
  void (*fault_)(const Problem&);
};

}  // namespace

std::unique_ptr<Kernel> make_planted(void (*fault)(const Problem&)) {
  return std::make_unique<Planted>(fault);
}

}  // namespace attest::fuzz
